package match

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/generate"
)

// trace makes a trace of instructions one behind the other, each with what follows it in the same line, separated by semicolons. An
// instruction is its address and its disassembly; an @ before it gives the processor.
func trace(instructions ...string) string {
	var text strings.Builder
	for i, in := range instructions {
		parts := strings.Split(in, ";")
		cpu, head := "0", parts[0]
		if number, rest, ok := strings.Cut(head, "@"); ok {
			cpu, head = number, rest
		}
		pc, disasm, _ := strings.Cut(head, " ")
		fmt.Fprintf(&text, "%d clk %s IT (%d) %s 00000000 A svc : %s\n", i, cpu, i, pc, disasm)
		for _, e := range parts[1:] {
			fmt.Fprintf(&text, "%d clk %s\n", i, strings.TrimSpace(e))
		}
	}
	return text.String()
}

// block is n instructions that follow one another, each of which writes a register.
func block(pc, n int) (instructions []string) {
	for i := range n {
		instructions = append(instructions, fmt.Sprintf("%x addiu s0,s0,1; R s0 %x", pc+4*i, pc+i))
	}
	return instructions
}

func classes(r *Report) (all []Class) {
	for _, d := range r.Differences {
		all = append(all, d.Class)
	}
	return all
}

func fired(r *Report, prefix string) int64 {
	i := slices.IndexFunc(r.Rules, func(u RuleUse) bool { return strings.HasPrefix(u.Rule, prefix) })
	if i < 0 {
		return -1
	}
	return r.Rules[i].Fired
}

// ruleTests are pairs of traces that differ without options, and what they come to with them.
var ruleTests = []struct {
	name         string
	ref, oth     string
	without      []Class // differences without the options
	options      Options
	with         []Class // and with them
	rule         string  // the beginning of the rule that has fired
	fired        int64   // how often
	instructions int64   // compared, if not 0
}{
	{
		name:    "an effect one record late",
		ref:     trace("100 lw t0,0(a0); R t0 1", "104 nop", "108 nop"),
		oth:     trace("100 lw t0,0(a0)", "104 nop; R t0 1", "108 nop"),
		without: []Class{ClassReordered}, options: Options{Window: 2}, rule: "--window-size 2", fired: 1,
	}, {
		name:    "an effect one record early",
		ref:     trace("100 nop", "104 lw t0,0(a0); R t0 1", "108 nop"),
		oth:     trace("100 nop; R t0 1", "104 lw t0,0(a0)", "108 nop"),
		without: []Class{ClassReordered}, options: Options{Window: 2}, rule: "--window-size 2", fired: 1,
	}, {
		name:    "an effect three records late",
		ref:     trace("100 lw t0,0(a0); R t0 1", "104 nop", "108 nop", "10c nop", "110 nop"),
		oth:     trace("100 lw t0,0(a0)", "104 nop", "108 nop", "10c nop; R t0 1", "110 nop"),
		without: []Class{ClassReordered}, options: Options{Window: 4}, rule: "--window-size 4", fired: 1,
	}, {
		name:    "an effect four records late with a window of four",
		ref:     trace("100 lw t0,0(a0); R t0 1", "104 nop", "108 nop", "10c nop", "110 nop"),
		oth:     trace("100 lw t0,0(a0)", "104 nop", "108 nop", "10c nop", "110 nop; R t0 1"),
		without: []Class{ClassReordered}, options: Options{Window: 4}, with: []Class{ClassReordered}, rule: "--window-size 4",
	}, {
		name:    "an effect behind a later one on the same register",
		ref:     trace("100 lw t0,0(a0); R t0 1", "104 lw t0,4(a0); R t0 2", "108 nop", "10c addu t1,t0,t0; R t1 4"),
		oth:     trace("100 lw t0,0(a0)", "104 lw t0,4(a0); R t0 2; R t0 1", "108 nop", "10c addu t1,t0,t0; R t1 4"),
		without: []Class{ClassReordered}, options: Options{Window: 9}, with: []Class{ClassReordered}, rule: "--window-size 9",
	}, {
		name:    "equal effects of two instructions, the first late",
		ref:     trace("100 lw t0,0(a0); R t0 0", "104 lw t0,0(a0); R t0 0", "108 nop"),
		oth:     trace("100 lw t0,0(a0)", "104 lw t0,0(a0); R t0 0; R t0 0", "108 nop"),
		without: []Class{ClassReordered}, options: Options{Window: 2}, rule: "--window-size 2", fired: 1,
	}, {
		name:    "a late effect with another value",
		ref:     trace("100 lw t0,0(a0); R t0 1", "104 nop", "108 nop"),
		oth:     trace("100 lw t0,0(a0)", "104 nop; R t0 2", "108 nop"),
		without: []Class{ClassRegister}, options: Options{Window: 9}, with: []Class{ClassRegister}, rule: "--window-size 9",
	}, {
		name:    "two late effects of one instruction",
		ref:     trace("100 lw t0,0(a0); MR4 40 1; R t0 1", "104 nop", "108 nop", "10c nop"),
		oth:     trace("100 lw t0,0(a0)", "104 nop", "108 nop; MR4 40 1; R t0 1", "10c nop"),
		without: []Class{ClassReordered}, options: Options{Window: 4}, rule: "--window-size 4", fired: 2,
	}, {
		name:    "only the first difference",
		ref:     trace("100 ori t0,zero,1; R t0 1", "104 ori t1,zero,1; R t1 1", "108 ori t2,zero,1; R t2 1"),
		oth:     trace("100 ori t0,zero,1; R t0 1", "104 ori t1,zero,1; R t1 5", "108 ori t2,zero,1; R t2 5"),
		without: []Class{ClassRegister, ClassRegister}, options: Options{FirstOnly: true}, with: []Class{ClassRegister},
	}, {
		name:    "boot section",
		ref:     trace(append([]string{"0 nop", "4 nop"}, block(0x100, 20)...)...),
		oth:     trace(append([]string{"8000 nop", "8004 nop; R t0 1"}, block(0x100, 20)...)...),
		without: []Class{ClassPC}, options: Options{Boot: 2}, rule: "--boot-size 2", fired: 4, instructions: 20,
	}, {
		name:    "start address in one trace's middle",
		ref:     trace(append([]string{"0 nop", "4 nop", "8 nop"}, block(0x100, 20)...)...),
		oth:     trace(block(0x100, 20)...),
		without: []Class{ClassMissing}, options: Options{Start: at(0x100)}, rule: "--start-addr 0x100", fired: 3, instructions: 20,
	}, {
		name:    "start address in the boot section and right behind it",
		ref:     trace(append([]string{"0 nop", "4 nop"}, block(0x100, 20)...)...),
		oth:     trace(append([]string{"0 nop"}, block(0x100, 20)...)...),
		without: []Class{ClassMissing}, options: Options{Start: at(0x100), Boot: 2}, rule: "--start-addr 0x100", fired: 3, instructions: 20,
	}, {
		name:    "a stalled instruction written again and again",
		ref:     trace(append(block(0x100, 3), block(0x200, 20)...)...),
		oth:     again(trace(append(block(0x100, 3), block(0x200, 20)...)...), 5, 3),
		without: []Class{ClassLoop}, options: Options{SkipEqual: true}, rule: "--skip-equal", fired: 3,
	}, {
		name:    "the rest of the longer trace",
		ref:     trace(block(0x100, 30)...),
		oth:     trace(block(0x100, 20)...),
		without: []Class{ClassTail}, options: Options{SkipRest: true}, rule: "--skip-rest", fired: 20, instructions: 20,
	}, {
		name:    "aliases, a chain and a circle of them, in any case",
		ref:     trace("100 addu t0,a,a; R r8 1; R A 2; R P 3; R q 3", "104 nop"),
		oth:     trace("100 addu t0,a,a; R T0 1; R c 2; R q 3; R p 3", "104 nop"),
		without: []Class{ClassRegister},
		options: Options{Aliases: []Alias{{"R8", "t0"}, {"a", "b"}, {"b", "C"}, {"p", "q"}, {"q", "P"}}},
		rule:    "--alias", fired: 3,
	}, {
		name:    "a narrow register write is that of a wide one with zeros",
		ref:     trace("100 mov w1,w2; R W1 0000000a"),
		oth:     trace("100 mov w1,w2; R X1 000000000000000A"),
		without: []Class{ClassRegister}, options: Options{Aliases: AliasSets["arm"]}, rule: "--alias", fired: 1,
	}, {
		name:    "a register ignored",
		ref:     trace("100 csrr t0,cycle; R t0 1; R cycle 5", "104 nop; R cycleh 5"),
		oth:     trace("100 csrr t0,cycle; R t0 1; R CYCLE 6", "104 nop; R cycleh 6"),
		without: []Class{ClassRegister, ClassRegister}, options: ignore("reg:cycle*"), rule: "--ignore reg:cycle*", fired: 4,
	}, {
		name:    "bits of a register ignored",
		ref:     trace("100 csrr t0,mip; R mip f0"),
		oth:     trace("100 csrr t0,mip; R mip 80"),
		without: []Class{ClassRegister}, options: ignore("reg:mip&0x70"), rule: "--ignore reg:mip&0x70", fired: 1,
	}, {
		name:    "other bits of a register ignored",
		ref:     trace("100 csrr t0,mip; R mip f0"),
		oth:     trace("100 csrr t0,mip; R mip 80"),
		without: []Class{ClassRegister}, options: ignore("reg:mip&0x60"), with: []Class{ClassRegister}, rule: "--ignore reg:mip", fired: 1,
	}, {
		name:    "bits that are not known ignored",
		ref:     trace("100 csrr t0,mip; R mip x0"),
		oth:     trace("100 csrr t0,mip; R mip 81"),
		without: []Class{ClassRegister}, options: ignore("reg:mip&f"), rule: "--ignore reg:mip&f", fired: 1,
	}, {
		name:    "memory ignored",
		ref:     trace("100 sw t0,0(a0); MW4 1000 1", "104 lw t0,0(a0); MR4 1ffc 1; R t0 1", "108 sw t0,0(a0); MW4 2000 1"),
		oth:     trace("100 sw t0,0(a0); MW4 1000 2", "104 lw t0,0(a0); MR4 1ffc 2; R t0 1", "108 sw t0,0(a0); MW4 2000 1"),
		without: []Class{ClassMemory, ClassMemory}, options: ignore("mem:1000-1FFF"), rule: "--ignore mem", fired: 4,
	}, {
		name:    "reads of memory ignored",
		ref:     trace("100 sw t0,0(a0); MW4 1000 1", "104 lw t0,0(a0); MR4 1ffc 1; R t0 1"),
		oth:     trace("100 sw t0,0(a0); MW4 1000 2", "104 lw t0,0(a0); MR4 1ffc 2; R t0 1"),
		without: []Class{ClassMemory, ClassMemory}, options: ignore("read:0x1000-0x1fff"), with: []Class{ClassMemory}, rule: "--ignore read", fired: 2,
	}, {
		name:    "writes of memory ignored",
		ref:     trace("100 sw t0,0(a0); MW4 1000 1", "104 lw t0,0(a0); MR4 1ffc 1; R t0 1"),
		oth:     trace("100 sw t0,0(a0); MW4 1000 2", "104 lw t0,0(a0); MR4 1ffc 2; R t0 1"),
		without: []Class{ClassMemory, ClassMemory}, options: ignore("write"), with: []Class{ClassMemory}, rule: "--ignore write", fired: 2,
	}, {
		name:    "one of two traces shows memory",
		ref:     trace("100 sw t0,0(a0); MW4 1000 1", "104 nop", "108 lw t0,0(a0); MR4 1000 1; R t0 1"),
		oth:     trace("100 sw t0,0(a0)", "104 nop", "108 lw t0,0(a0); R t0 1"),
		without: []Class{ClassMemory, ClassMemory}, options: ignore("mem"), rule: "--ignore mem", fired: 2,
	}, {
		name:    "one of two traces shows registers",
		ref:     trace("100 ori t0,zero,1; R t0 1", "104 nop"),
		oth:     trace("100 ori t0,zero,1", "104 nop"),
		without: []Class{ClassRegister}, options: ignore("reg"), rule: "--ignore reg", fired: 1,
	}, {
		name:    "instructions at some addresses ignored",
		ref:     trace(append(block(0x100, 20), block(0x9000, 5)...)...),
		oth:     trace(append(append([]string{"8ffc nop; R t0 7"}, block(0x9000, 1)...), block(0x100, 20)...)...),
		without: []Class{ClassExtra, ClassTail}, options: ignore("pc:8000-9fff"), rule: "--ignore pc", fired: 7, instructions: 20,
	}, {
		name:    "a register ignored where one place writes it",
		ref:     trace("100 rdcycle t0; R t0 1", "104 ori t0,zero,1; R t0 1"),
		oth:     trace("100 rdcycle t0; R t0 2", "104 ori t0,zero,1; R t0 2"),
		without: []Class{ClassRegister, ClassRegister},
		options: Options{Ignores: []Ignore{{Text: "t0 at 100", Kind: itrace.Register, Register: "t0", PC: &Range{0x100, 0x100}}}},
		with:    []Class{ClassRegister}, rule: "--ignore t0 at 100", fired: 2,
	}, {
		name:    "times compared",
		ref:     trace("100 nop", "104 nop"),
		oth:     strings.Replace(trace("100 nop", "104 nop"), "1 clk", "1 ns", 1),
		options: Options{Fields: []Field{FieldTime}}, with: []Class{ClassTime}, rule: "--compare time", fired: 1,
	}, {
		name:    "numbers of instructions compared",
		ref:     trace("100 nop", "104 nop"),
		oth:     strings.Replace(trace("100 nop", "104 nop"), "(1)", "(2)", 1),
		options: Options{Fields: []Field{FieldID}}, with: []Class{ClassID}, rule: "--compare id", fired: 1,
	}, {
		name:    "disassemblies compared, but for blanks",
		ref:     trace("100 nop", "104 addu  t0, t1", "108 jr ra"),
		oth:     trace("100 nop", "104 addu t0,  t1", "108 ret"),
		options: Options{Fields: []Field{FieldDisasm}}, with: []Class{ClassDisassembly}, rule: "--compare disasm", fired: 1,
	}, {
		name:    "privilege compared",
		ref:     trace("100 lw t0,0(a0); MR4X 40 1; R t0 1"),
		oth:     trace("100 lw t0,0(a0); MR4T 40 1; R t0 1"),
		options: Options{Fields: []Field{FieldPrivilege}}, with: []Class{ClassMemory}, rule: "--compare privilege", fired: 1,
	}, {
		name:    "security compared",
		ref:     strings.Replace(trace("100 nop", "104 nop"), "svc", "svc_s", 1),
		oth:     strings.Replace(trace("100 nop", "104 nop"), "svc", "svc_ns", 1),
		options: Options{Fields: []Field{FieldSecurity}}, with: []Class{ClassMode}, rule: "--compare security", fired: 1,
	}, {
		name:    "security compared where one trace does not tell",
		ref:     strings.ReplaceAll(trace("100 nop", "104 nop"), "svc", "svc_s"),
		oth:     trace("100 nop", "104 nop"),
		options: Options{Fields: []Field{FieldSecurity}}, rule: "--compare security",
	}, {
		name:    "digits that are not known",
		ref:     strings.Replace(trace("100 lw t0,0(a0); R t0 12345678; MR4 40 12..5678", "104 nop"), "00000000", "0000xxxx", 1),
		oth:     strings.Replace(trace("100 lw t0,0(a0); R t0 1234-X#8; MR4 40 12345678", "104 nop"), "00000000", "00001234", 1),
		options: Options{}, rule: "digits", fired: 1,
	}, {
		name:    "a known digit that differs beside some that are not known",
		ref:     trace("100 lw t0,0(a0); R t0 1x", "104 nop"),
		oth:     trace("100 lw t0,0(a0); R t0 2x", "104 nop"),
		without: []Class{ClassRegister}, options: Options{}, with: []Class{ClassRegister}, rule: "digits",
	}, {
		name:    "numbers in any case and width",
		ref:     trace("100 lw t0,0(a0); R t0 0000abcd; MR4 40 0000ABCD; R v0 00000000000000000000000123456789abcdef00"),
		oth:     trace("0000000000000100 lw t0,0(a0); R t0 ABCD; MR4 00000040 abcd; R v0 123456789ABCDEF00"),
		options: Options{}, rule: "digits",
	}, {
		name:    "a store of eight bytes and two of four, in either byte order",
		ref:     trace("100 sd t0,0(a0); MW8 1000 1122334455667788", "104 sd t0,0(a0); MW8 2000 1122334455667788"),
		oth:     trace("100 sd t0,0(a0); MW4 1004 55667788; MW4 1000 11223344", "104 sd t0,0(a0); MW4 2004 11223344; MW4 2000 55667788"),
		options: Options{}, rule: "accesses split", fired: 2,
	}, {
		name:    "a split store with other data",
		ref:     trace("100 sd t0,0(a0); MW8 1000 1122334455667788", "104 nop"),
		oth:     trace("100 sd t0,0(a0); MW4 1004 55667788; MW4 1000 11223345", "104 nop"),
		without: []Class{ClassMemory}, options: Options{}, with: []Class{ClassMemory}, rule: "accesses split",
	}, {
		name:    "another register is written",
		ref:     trace("100 ori t0,zero,1; R t0 1", "104 nop"),
		oth:     trace("100 ori t0,zero,1; R t1 1", "104 nop"),
		without: []Class{ClassRegister}, options: Options{}, with: []Class{ClassRegister},
	},
}

func at(addr uint64) *uint64 { return &addr }

func ignore(text string) Options {
	i, err := ParseIgnore(text)
	if err != nil {
		panic(err)
	}
	return Options{Ignores: []Ignore{i}}
}

// again gives a trace in which a line comes so many times more, each at another time.
func again(text string, line, more int) string {
	lines := strings.SplitAfter(text, "\n")
	_, rest, _ := strings.Cut(lines[line-1], " ")
	for i := range more {
		lines = slices.Insert(lines, line, fmt.Sprintf("%d %s", 900+i, rest))
	}
	return strings.Join(lines, "")
}

func TestRules(t *testing.T) {
	for _, test := range ruleTests {
		if r := compare(t, test.ref, test.oth, Options{}); !slices.Equal(classes(r), test.without) {
			t.Errorf("%s: without options %v, want %v: %s", test.name, classes(r), test.without, show(r))
		}
		r := compare(t, test.ref, test.oth, test.options)
		want := Equal
		if len(test.with) > 0 {
			want = Different
		}
		if !slices.Equal(classes(r), test.with) || r.Verdict != want {
			t.Errorf("%s: %v, want %v: %s", test.name, classes(r), test.with, show(r))
		}
		if test.rule != "" && fired(r, test.rule) != test.fired {
			t.Errorf("%s: rules %v, want %s to have fired %d times", test.name, r.Rules, test.rule, test.fired)
		}
		if test.instructions != 0 && r.Compared.Instructions != test.instructions {
			t.Errorf("%s: compared %v, want %d instructions", test.name, r.Compared, test.instructions)
		}
	}
}

// TestContextIsBounded: what is shown before a difference takes no memory for what the traces do not have.
func TestContextIsBounded(t *testing.T) {
	ref, _ := generated(t, generate.Options{Instructions: 20_000})
	if r := compare(t, ref, ref, Options{Context: math.MaxInt}); r.Verdict != Equal {
		t.Error(show(r))
	}
}
