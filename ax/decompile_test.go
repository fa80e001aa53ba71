package ax

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
)

var testNames = Names{
	Register: func(r arch.Reg) string {
		return [...]string{"$rax", "$rbx", "$rcx", "$rdx", "$rsi", "$rdi", "$rbp", "$rsp"}[r&7]
	},
	Variable: func(n uint16) string { return fmt.Sprintf("$v%d", n) },
}

func TestDecompile(t *testing.T) {
	for code, want := range map[string]string{
		"reg 6; const8 16; add; const8 220; ext 8; add; const8 4; trace; end":                        "trace *(int *)($rbp - 20)",
		"reg 6; const8 16; add; const8 224; ext 8; add; trace_quick 8; ref64; const8 40; trace; end": "trace_quick *(long *)($rbp - 16), trace {char[40]}*(long *)($rbp - 16)",
		"reg 5; const8 2; trace; end":                                          "trace *(short *)$rdi",
		"reg 5; const8 8; add; ref8; const8 7; bit_and; end":                   "end *(unsigned char *)($rdi + 8) & 7",
		"const32 4210816; const8 32; trace; end":                               "trace {char[32]}0x404080 at 0x404080",
		"const32 4210816; const8 1; const8 16; mul; add; const8 1; trace; end": "trace *(char *)0x404090 at 0x404090",
		"getv 2; tracev 2; pop; end":                                           "tracev $v2, pop $v2",
		"getv 2; const8 1; add; ext 64; setv 2; end":                           "setv $v2 = $v2 + 1, end $v2 + 1",
		"reg 5; ref64; const16 200; tracenz; end":                              "tracenz (char *)*(long *)$rdi",
		"reg 0; ref32; ext 32; const8 5; swap; less_signed; end":               "end 5 < *(int *)$rax",
		"reg 0; ref32; ext 16; end":                                            "end (short)*(unsigned int *)$rax",
		"reg 0; zero_ext 8; reg 1; reg 2; add; mul; end":                       "end (unsigned char)$rax * ($rbx + $rcx)",
		"reg 0; reg 1; reg 2; sub; sub; const8 3; add; const8 10; mul; end":    "end ($rax - ($rbx - $rcx) + 3) * 10",
		"reg 0; const8 0; sub; bit_not; log_not; end":                          "end !~$rax",
		"const8 0; reg 0; sub; const8 2; lsh; end":                             "end -$rax << 2",
		"reg 0; reg 1; less_unsigned; end":                                     "end (unsigned long)$rax < $rbx",
		"reg 0; reg 1; div_unsigned; reg 2; rem_signed; end":                   "end ((unsigned long)$rax / $rbx) % $rcx",
		"reg 0; reg 1; bit_or; reg 2; bit_and; end":                            "end ($rax | $rbx) & $rcx",
		"reg 0; reg 1; reg 2; rot; sub; sub; end":                              "end $rcx - ($rax - $rbx)",
		"reg 0; reg 1; pick 1; sub; sub; dup; equal; end":                      "end $rax - ($rbx - $rax) == $rax - ($rbx - $rax)",
		"const8 128; ext 8; end":                                               "end -128",
		"const8 2; const8 3; lsh; end":                                         "end 16",
		"reg 0; reg 1; trace; end":                                             "trace $rax",
		"end":                                                                  "",
		"reg 0; if_goto 6; end":                                                "not followed",
		"const8 1; const8 1; div_signed; end":                                  "end 1 / 1",
		"add; end":                                                             "not followed",
	} {
		assembled, err := Assemble(strings.ReplaceAll(code, "; ", "\n"))
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		if got := effectsOf(t, assembled); got != want {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}

// effectsOf decompiles code and writes the effects in one line.
func effectsOf(t *testing.T, code []byte) string {
	program, err := Decode(code)
	if err != nil {
		t.Fatal(err)
	}
	effects, ok := program.Decompile(testNames)
	if !ok {
		return "not followed"
	}
	var all []string
	for _, e := range effects {
		text := e.Op.String() + " " + e.Text
		if e.Fixed {
			text += " at " + e.Addr.String()
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// FuzzDecompile: no program makes a text without end, or goes on for ever.
func FuzzDecompile(f *testing.F) {
	f.Add([]byte{0x26, 0, 6, 0x22, 16, 0x02, 0x22, 220, 0x16, 8, 0x02, 0x22, 4, 0x0c, 0x27})
	f.Add([]byte{0x26, 0, 0, 0x28, 0x02, 0x28, 0x02, 0x28, 0x02, 0x28, 0x04, 0x27})
	f.Add([]byte{0x22, 1, 0x32, 0, 0x33, 0x27})
	f.Fuzz(func(t *testing.T, code []byte) {
		program, err := Decode(code)
		if err != nil {
			return
		}
		effects, _ := program.Decompile(testNames)
		for _, e := range effects {
			if len(e.Text) > 10*maxText {
				t.Errorf("%v of %d bytes", e.Op, len(e.Text))
			}
		}
	})
}
