package ax

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name, code string
		kind       error
		text       string
	}{
		{"empty", "", ErrEmptyExpression, "empty expression"},
		{"opcode 0", "00", ErrUnknownOp, "unrecognized opcode: 0x00 at offset 0"},
		{"invalid2", "22 01 31 27", ErrUnknownOp, "unrecognized opcode: 0x31 at offset 2"},
		{"behind the last", "35", ErrUnknownOp, "unrecognized opcode: 0x35 at offset 0"},
		{"unreachable rubbish", "27 ff", ErrUnknownOp, "unrecognized opcode: 0xff at offset 1"},
		{"operand missing", "22", ErrTruncated, "truncated instruction: const8 at offset 0: operand needs 1 bytes, 0 left"},
		{"operand cut", "28 25 00000000000000", ErrTruncated,
			"truncated instruction: const64 at offset 1: operand needs 8 bytes, 7 left"},
		{"printf cut", "34", ErrTruncated, "truncated instruction: printf at offset 0: operand needs 1 bytes, 0 left"},
		{"printf length cut", "34 00 00", ErrTruncated,
			"truncated instruction: printf at offset 0: format length needs 2 bytes, 1 left"},
		{"printf format cut", "34 00 0004 414243", ErrTruncated,
			"truncated instruction: printf at offset 0: format needs 4 bytes, 3 left"},
		{"printf without format", "34 00 0000 27", ErrFormat,
			`unterminated printf format: printf at offset 0: "" does not end in NUL`},
		{"printf without NUL", "34 00 0002 4142 27", ErrFormat,
			`unterminated printf format: printf at offset 0: "AB" does not end in NUL`},
		{"jump out", "21 0003", ErrInvalidGoto,
			"invalid goto: goto at offset 0: target 3 is outside the 3 bytes of the expression"},
		{"jump far out", "22 01 20 ffff 27", ErrInvalidGoto,
			"invalid goto: if_goto at offset 2: target 65535 is outside the 6 bytes of the expression"},
		{"jump into operand", "21 0001", ErrInvalidGoto, "invalid goto: goto at offset 0: target 1 is inside an instruction"},
		{"no end", "22 01", ErrNoEnd, "missing end: const8 at offset 0: control runs off the end at offset 2"},
		{"end is conditional", "22 01 20 0000", ErrNoEnd,
			"missing end: if_goto at offset 2: control runs off the end at offset 5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := Decode(mustHex(test.code))
			if !errors.Is(err, test.kind) {
				t.Fatalf("Decode = %v, %v, want error %v", p, err, test.kind)
			}
			if err.Error() != test.text {
				t.Errorf("error %q\n want %q", err, test.text)
			}
		})
	}
}

func TestDecodeAccepts(t *testing.T) {
	tests := []struct{ name, code, text string }{
		{"end alone", "27", "   0  end\n"},
		{"float", "01 27", "   0  float\n   1  end\n"},
		{"endless loop", "21 0000", "   0  goto 0\n"},
		{"ends in a jump back", "27 21 0000", "   0  end\n   1  goto 0\n"},
		{"dead code", "27 29 27", "   0  end\n   1  pop\n   2  end\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := Decode(mustHex(test.code))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.text, p.String()); diff != "" {
				t.Errorf("disassembly (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(mustHex(test.code), p.Code()); diff != "" {
				t.Errorf("Code (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProgramIsImmutable(t *testing.T) {
	code := mustHex("22 05 27")
	p, err := Decode(code)
	if err != nil {
		t.Fatal(err)
	}
	code[1] = 6
	p.Code()[1] = 7
	v, err := new(Machine).Value(p, &world{})
	if err != nil || v != 5 || p.String() != "   0  const8 5\n   2  end\n" {
		t.Errorf("after changes to what went in and came out: %d, %v, %s", v, err, p)
	}
}

func TestInstructions(t *testing.T) {
	p := mustAssemble(t, "const8 1; if_goto 11; printf 1 `a`; end")
	var got []Instruction
	for in := range p.Instructions() {
		got = append(got, in)
		if in.Op == OpPrintf {
			break
		}
	}
	want := []Instruction{
		{Offset: 0, Op: OpConst8, Operand: 1},
		{Offset: 2, Op: OpIfGoto, Operand: 11},
		{Offset: 5, Op: OpPrintf, Operand: 1, Format: "a"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("Instructions: %v, want %v", got, want)
	}
}

func TestDisassembleStopsAtFault(t *testing.T) {
	text, err := Disassemble(mustHex("22 01 21 ffff 31 27"))
	if want := "   0  const8 1\n   2  goto 65535\n"; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	if want := "unrecognized opcode: 0x31 at offset 5"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
