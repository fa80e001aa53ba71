package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/itrace/generate"
)

// with puts instructions into others, before one of them.
func with(instructions []string, at int, more ...string) []string {
	return slices.Insert(slices.Clone(instructions), at, more...)
}

// namingTests are stretches that one trace has, put into a straight run of instructions from 0x100 on before the one at 0x150.
var namingTests = []struct {
	name  string
	more  []string
	class Class
	note  string
}{
	{"one instruction from nowhere", []string{"9000 nop"}, ClassExtra, "the reference lacks 1 instruction"},
	{"some that do not jump back", []string{"9000 nop", "9004 nop"}, ClassExtra, "the reference lacks 2 instructions"},
	{"a handler", []string{"9000 addiu k1,k1,1; R k1 1", "9004 eret"}, ClassHandler, "the reference lacks a handler at 0x9000 of 2 instructions"},
	{"a handler with a delay slot behind", []string{"9000 addiu k1,k1,1; R k1 1", "9004 jr k0", "9008 nop"}, ClassHandler, ""},
	{"a handler that takes the pc from memory", []string{"9000 addiu k1,k1,1; R k1 1", "9004 ldmfd sp!, {r0, pc}^; MR4 40 1"}, ClassHandler, ""},
	{"a handler without disassembly", []string{"9000 ; R k1 1", "9004 "}, ClassHandler, ""},
	{"one that calls and loops", []string{"9000 nop", "9004 nop", "9000 nop", "9004 nop", "9008 mret"}, ClassHandler, ""},
	{"instructions in between", []string{"14e addiu t0,t0,1; R t0 1"}, ClassExtra, ""},
	{"the last instruction again", []string{"14c addiu s0,s0,1; R s0 113"}, ClassExtra, ""},
	{"the last four again", block(0x100, 20)[16:], ClassLoop, "the reference lacks 4 instructions of a loop at 0x140"},
	{"the last four again, twice", slices.Concat(block(0x100, 20)[16:], block(0x100, 20)[16:]), ClassLoop, ""},
}

func TestNames(t *testing.T) {
	straight := block(0x100, 60)
	for _, test := range namingTests {
		other := with(straight, 20, test.more...)
		r := compare(t, trace(straight...), trace(other...), Options{})
		if len(r.Differences) != 1 || r.Differences[0].Class != test.class || !strings.HasPrefix(r.Differences[0].Note, test.note) ||
			r.Differences[0].Groups != int64(len(test.more)) || r.Differences[0].Side != "other" {
			t.Errorf("%s: want %s: %s", test.name, test.class, show(r))
		}
		// The other way round it is the other trace that lacks it.
		class := test.class
		if class == ClassExtra {
			class = ClassMissing
		}
		r = compare(t, trace(other...), trace(straight...), Options{})
		if len(r.Differences) != 1 || r.Differences[0].Class != class || !strings.HasPrefix(r.Differences[0].Note, strings.Replace(test.note, "the reference", "the other trace", 1)) ||
			r.Differences[0].Side != "reference" {
			t.Errorf("%s, the other way round: want %s: %s", test.name, class, show(r))
		}
	}
}

// TestNamesAhead has stretches ahead of anything that both traces have, where nothing says where the program was.
func TestNamesAhead(t *testing.T) {
	straight := trace(block(0x100, 60)...)
	for _, kind := range []generate.FaultKind{generate.FaultInterrupt, generate.FaultInsert} {
		ref, _ := generated(t, generate.Options{Instructions: 500})
		oth, _ := generated(t, generate.Options{Instructions: 500, Faults: []generate.Fault{{Kind: kind}}})
		r := compare(t, ref, oth, Options{})
		if len(r.Differences) != 1 || r.Differences[0].Class != ClassExtra || !strings.HasSuffix(r.Differences[0].Note, "ahead of its first") {
			t.Errorf("%s: %s", kind, show(r))
		}
	}
	r := compare(t, straight, "1 clk R t0 1\n"+straight, Options{})
	if len(r.Differences) != 1 || r.Differences[0].Class != ClassExtra || r.Differences[0].Records != 1 || !strings.Contains(r.Differences[0].Note, "effects ahead of the first instruction") {
		t.Error(show(r))
	}
}

// TestDifferentWays has a stretch on both sides, and behind it both go on alike.
func TestDifferentWays(t *testing.T) {
	ref := slices.Concat(block(0x100, 20), block(0x2000, 12), block(0x500, 40))
	oth := slices.Concat(block(0x100, 20), block(0x3000, 7), block(0x500, 40))
	r := compare(t, trace(ref...), trace(oth...), Options{})
	if len(r.Differences) != 1 {
		t.Fatal(show(r))
	}
	d := r.Differences[0]
	if d.Class != ClassPC || d.Expected != "0x2000" || d.Got != "0x3000" || d.Groups != 19 || d.Records != 38 || d.Side != "" || r.Compared.Instructions != 60 {
		t.Error(show(r))
	}
}

// TestNothingInCommon compares two traces of which nothing can be paired behind some point, for longer than is looked ahead.
func TestNothingInCommon(t *testing.T) {
	ref := slices.Concat(block(0x100, 20), block(0x10000, 5000))
	oth := slices.Concat(block(0x100, 20), block(0x80000, 4000))
	r := compare(t, trace(ref...), trace(oth...), Options{Lookahead: 100})
	if len(r.Differences) != 1 || r.Differences[0].Class != ClassPC || r.Differences[0].Groups != 9000 {
		t.Error(show(r))
	}
	behind := slices.Concat(ref[:1000], block(0x40000, 200))
	r = compare(t, trace(slices.Concat(block(0x100, 20), block(0x40000, 200))...), trace(behind...), Options{Lookahead: 2000})
	if !slices.Equal(classes(r), []Class{ClassExtra}) || r.Compared.Instructions != 220 {
		t.Errorf("within sight: %s", show(r))
	}
}

// blameTests are pairs of traces with one root, or more.
var blameTests = []struct {
	name         string
	ref, oth     []string
	roots        []Class
	consequences int64
}{
	{
		"a chain of registers and memory",
		[]string{"100 ori t0,zero,1; R t0 1", "104 addiu t1,t0,1; R t1 2", "108 sw t1,0(sp); MW4 40 2", "10c lw t2,0(sp); MR4 40 2; R t2 2"},
		[]string{"100 ori t0,zero,1; R t0 5", "104 addiu t1,t0,1; R t1 6", "108 sw t1,0(sp); MW4 40 6", "10c lw t2,0(sp); MR4 40 6; R t2 6"},
		[]Class{ClassRegister}, 4,
	}, {
		"two roots beside each other",
		[]string{"100 ori t0,zero,1; R t0 1", "104 ori t1,zero,2; R t1 2"},
		[]string{"100 ori t0,zero,1; R t0 5", "104 ori t1,zero,2; R t1 6"},
		[]Class{ClassRegister, ClassRegister}, 0,
	}, {
		"a register that was made equal again",
		[]string{"100 ori t0,zero,1; R t0 1", "104 ori t0,zero,2; R t0 2", "108 addiu t1,t0,1; R t1 3"},
		[]string{"100 ori t0,zero,1; R t0 5", "104 ori t0,zero,2; R t0 2", "108 addiu t1,t0,1; R t1 7"},
		[]Class{ClassRegister, ClassRegister}, 0,
	}, {
		"only the record was wrong, as an address shows",
		[]string{"100 ori t0,zero,64; R t0 40", "104 lw t1,0(t0); MR4 40 7; R t1 7", "108 addiu t2,t0,1; R t2 41"},
		[]string{"100 ori t0,zero,64; R t0 44", "104 lw t1,0(t0); MR4 40 7; R t1 7", "108 addiu t2,t0,1; R t2 49"},
		[]Class{ClassRegister, ClassRegister}, 0,
	}, {
		"a load with the right address and data, and another result",
		[]string{"100 ori t0,zero,64; R t0 40", "104 lw t1,0(t0); MR4 40 7; R t1 7"},
		[]string{"100 ori t0,zero,64; R t0 44", "104 lw t1,0(t0); MR4 40 7; R t1 f"},
		[]Class{ClassRegister, ClassRegister}, 0,
	}, {
		"a load that moves its base on",
		[]string{"100 ori t0,zero,64; R t0 40", "104 ldr r1, [t0], #4; MR4 40 7; R r1 7; R t0 44"},
		[]string{"100 ori t0,zero,64; R t0 48", "104 ldr r1, [t0], #4; MR4 40 7; R r1 7; R t0 4c"},
		[]Class{ClassRegister}, 1,
	}, {
		"a store with the right address and other data",
		[]string{"100 ori t0,zero,64; R t0 40", "104 sw t1,0(t0); MW4 40 7", "108 nop"},
		[]string{"100 ori t0,zero,64; R t0 44", "104 sw t1,0(t0); MW4 40 f", "108 nop"},
		[]Class{ClassRegister, ClassMemory}, 0,
	}, {
		"without disassembly, behind a handler that has registers of its own",
		append(strings.Split(strings.ReplaceAll(strings.Join(block(0x100, 20), "|"), "addiu s0,s0,1", ""), "|"), "150 ; R t0 1"),
		append(with(strings.Split(strings.ReplaceAll(strings.Join(block(0x100, 20), "|"), "addiu s0,s0,1", ""), "|"), 9,
			"9000 ; R k1 1", "9004 "), "150 ; R t0 2"),
		[]Class{ClassHandler, ClassRegister}, 0,
	}, {
		"a way on one side from where the program was to where it goes on",
		append(block(0x100, 20), block(0x2000, 20)...),
		slices.Concat(block(0x100, 20), []string{"150 nop", "154 j 0x2000"}, block(0x2000, 20)),
		[]Class{ClassExtra}, 0,
	}, {
		"an instruction of two operands reads the first",
		[]string{"100 movs r0, #1; R r0 1", "102 adds r0, #1; R r0 2", "104 movs r0, #3; R r0 3", "106 movs r1, r2; R r1 1"},
		[]string{"100 movs r0, #1; R r0 5", "102 adds r0, #1; R r0 6", "104 movs r0, #3; R r0 4", "106 movs r1, r2; R r1 1"},
		[]Class{ClassRegister, ClassRegister}, 1,
	}, {
		"a branch by a wrong register",
		slices.Concat([]string{"fc ori t0,zero,0; R t0 0", "100 beq t0,zero,0x200", "104 nop"}, block(0x200, 20)),
		slices.Concat([]string{"fc ori t0,zero,0; R t0 1", "100 beq t0,zero,0x200", "104 nop"}, block(0x108, 5), block(0x200, 20)),
		[]Class{ClassRegister}, 1,
	}, {
		"an interrupt behind a branch by a wrong register",
		slices.Concat([]string{"fc ori t0,zero,2; R t0 2", "100 beq t0,zero,0x200", "104 nop"}, block(0x108, 20)),
		slices.Concat([]string{"fc ori t0,zero,2; R t0 1", "100 beq t0,zero,0x200", "104 nop", "9000 nop", "9004 eret"}, block(0x108, 20)),
		[]Class{ClassRegister, ClassHandler}, 0,
	}, {
		"a branch by flags that a wrong register has set",
		slices.Concat([]string{"fc mov r0, #0; R r0 0", "100 cmp r0, #0", "104 beq 0x200"}, block(0x200, 20)),
		slices.Concat([]string{"fc mov r0, #0; R r0 1", "100 cmp r0, #0", "104 beq 0x200"}, block(0x108, 5), block(0x200, 20)),
		[]Class{ClassRegister}, 1,
	}, {
		"a parting behind what does not branch",
		slices.Concat([]string{"fc ori t0,zero,0; R t0 0", "100 addu t1,t0,t0; R t1 0"}, block(0x104, 40)),
		slices.Concat([]string{"fc ori t0,zero,0; R t0 1", "100 addu t1,t0,t0; R t1 2"}, block(0x104, 40)[1:]),
		[]Class{ClassRegister, ClassMissing}, 1,
	}, {
		"without disassembly all may have been read",
		[]string{"100 ; R t0 1", "104 ; R t1 2", "108 ; MR4 40 1; R t2 1"},
		[]string{"100 ; R t0 5", "104 ; R t1 6", "108 ; MR4 40 3; R t2 3"},
		[]Class{ClassRegister, ClassMemory}, 2,
	}, {
		"effects of an instruction with another opcode",
		[]string{"100 ori t0,zero,1; R t0 1", "104 ori t1,zero,2; R t1 2; MW4 40 1", "108 nop"},
		[]string{"100 ori t0,zero,1; R t0 1", "104 ori t1,zero,2; R t1 3; MW4 40 7", "108 nop"},
		[]Class{ClassMemory}, 1,
	},
}

func TestBlame(t *testing.T) {
	for _, test := range blameTests {
		r := compare(t, trace(test.ref...), trace(test.oth...), Options{})
		if !slices.Equal(classes(r), test.roots) || r.Consequences != test.consequences {
			t.Errorf("%s: %v and %d consequences, want %v and %d: %s", test.name, classes(r), r.Consequences, test.roots, test.consequences, show(r))
		}
	}
}

// TestHardCases has faults that look like others.
func TestHardCases(t *testing.T) {
	for _, test := range []struct {
		instructions int64
		faults       string
		first        Class
		roots        int
	}{
		{8000, "state@2500", ClassRegister, 1},                // a return address: the program goes through a loop once more
		{15_000, "state@1352", ClassRegister, 1},              // a pointer that is two rounds of a loop ahead
		{20_000, "state@10000", ClassRegister, 1},             // one that is two rounds back
		{8000, "state@6754", ClassRegister, 1},                // the answer of a device
		{8000, "interrupt@1000 drop@1005", ClassHandler, 2},   // two stretches that one place behind both would explain
		{8000, "insert@1000 value@1002", ClassExtra, 2},       //
		{8000, "interrupt@1000 insert@1003", ClassHandler, 2}, //
	} {
		var faults []generate.Fault
		for _, word := range strings.Fields(test.faults) {
			var f generate.Fault
			if err := f.UnmarshalText([]byte(word)); err != nil {
				t.Fatal(err)
			}
			faults = append(faults, f)
		}
		ref, _ := generated(t, generate.Options{Instructions: test.instructions})
		oth, planted := generated(t, generate.Options{Instructions: test.instructions, Faults: faults})
		r := compare(t, ref, oth, Options{})
		if len(r.Differences) != test.roots || r.Differences[0].Class != test.first {
			t.Errorf("%+v: %s", planted, show(r))
		}
	}
}

// TestModes has a wrong mode for some instructions, and later again.
func TestModes(t *testing.T) {
	text := trace(block(0x100, 40)...)
	lines := strings.Split(text, "\n")
	for _, i := range []int{10, 11, 12, 30} {
		lines[2*i] = strings.Replace(lines[2*i], "svc", "usr", 1)
	}
	r := compare(t, text, strings.Join(lines, "\n"), Options{})
	if !slices.Equal(classes(r), []Class{ClassMode, ClassMode}) || r.Consequences != 2 || r.Differences[1].Reference.Instruction != 30 {
		t.Error(show(r))
	}
}

// TestSkipped has an instruction skipped on one side: by wrong flags, or not.
func TestSkipped(t *testing.T) {
	for _, test := range []struct {
		compared string
		roots    []Class
	}{{"cmp r0, #0", []Class{ClassRegister}}, {"add r2, r0, #0", []Class{ClassRegister, ClassSkipped}}} {
		lines := func(value int, kind string) string {
			text := trace(fmt.Sprintf("fc mov r0, #0; R r0 %d", value), "100 "+test.compared, "104 addeq r1, r1, #1", "108 nop")
			return strings.Replace(text, "IT (2)", kind+" (2)", 1)
		}
		r := compare(t, lines(0, "IT"), lines(1, "IS"), Options{})
		if !slices.Equal(classes(r), test.roots) {
			t.Errorf("%s: %s", test.compared, show(r))
		}
	}
}
