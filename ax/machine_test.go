package ax

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

// newWorld is a small world in which the tests of values run.
func newWorld() *world {
	w := &world{
		registers: map[arch.Reg]uint64{0: 0xffff_ffff_ffff_fffe, 6: 0x1000},
		variables: map[uint16]int64{1: -5, 2: 40},
	}
	w.store(0x1000, "81 82 83 84 85 86 87 88")
	return w
}

// Constants that the tests of values push.
const (
	least    = "const64 0x8000000000000000; "
	greatest = "const64 0x7fffffffffffffff; "
	minus1   = "const64 0xffffffffffffffff; "
	minus7   = "const64 0xfffffffffffffff9; "
)

// values has each opcode that computes, moves or fetches, with its edges. Each program lacks its end.
var values = []struct {
	text string
	want int64
}{
	{"const8 255", 255},
	{"const16 65535", 65535},
	{"const32 4294967295", 4294967295},
	{minus1, -1},

	{"const8 2; const8 3; add", 5},
	{greatest + "const8 1; add", math.MinInt64},
	{"const8 2; const8 3; sub", -1},
	{least + "const8 1; sub", math.MaxInt64},
	{minus7 + "const8 3; mul", -21},
	{least + minus1 + "mul", math.MinInt64},

	{minus7 + "const8 2; div_signed", -3},
	{minus7 + "const8 2; rem_signed", -1},
	{"const8 7; " + minus7 + "const8 5; add; rem_signed", 1},
	{least + minus1 + "div_signed", math.MinInt64},
	{least + minus1 + "rem_signed", 0},
	{minus7 + "const8 2; div_unsigned", math.MaxInt64 - 3},
	{minus7 + "const8 10; rem_unsigned", 9},
	{"const8 7; " + minus1 + "div_unsigned", 0},
	{"const8 7; " + minus1 + "rem_unsigned", 7},

	{"const8 1; const8 63; lsh", math.MinInt64},
	{"const8 1; const8 64; lsh", 0},
	{"const8 1; " + minus1 + "lsh", 0},
	{least + "const8 63; rsh_signed", -1},
	{least + "const8 64; rsh_signed", -1},
	{greatest + "const8 64; rsh_signed", 0},
	{least + minus1 + "rsh_signed", -1},
	{least + "const8 63; rsh_unsigned", 1},
	{least + "const8 64; rsh_unsigned", 0},
	{minus1 + minus1 + "rsh_unsigned", 0},

	{"const8 0; log_not", 1},
	{least + "log_not", 0},
	{"const8 12; const8 10; bit_and", 8},
	{"const8 12; const8 10; bit_or", 14},
	{"const8 12; const8 10; bit_xor", 6},
	{"const8 0; bit_not", -1},
	{"const8 3; const8 3; equal", 1},
	{"const8 3; const8 4; equal", 0},
	{minus1 + "const8 0; less_signed", 1},
	{"const8 0; " + minus1 + "less_signed", 0},
	{"const8 3; const8 3; less_signed", 0},
	{minus1 + "const8 0; less_unsigned", 0},
	{"const8 0; " + minus1 + "less_unsigned", 1},
	{"const8 3; const8 3; less_unsigned", 0},

	{"const8 0x80; ext 8", -128},
	{"const8 0x7f; ext 8", 127},
	{"const16 0x1ff; ext 8", -1},
	{"const8 1; ext 1", -1},
	{"const8 2; ext 1", 0},
	{"const32 0x80000000; ext 32", math.MinInt32},
	{"const64 0x100000000; ext 33", -1 << 32},
	{"const64 0x4000000000000000; ext 63", -1 << 62},
	{least + "ext 64", math.MinInt64},
	{minus7 + "ext 65", -7},
	{minus7 + "ext 255", -7},
	{minus7 + "ext 0", 0},
	{minus1 + "zero_ext 8", 255},
	{minus1 + "zero_ext 1", 1},
	{minus1 + "zero_ext 33", 1<<33 - 1},
	{minus1 + "zero_ext 63", math.MaxInt64},
	{minus7 + "zero_ext 64", -7},
	{minus7 + "zero_ext 200", -7},
	{minus7 + "zero_ext 0", 0},

	{"reg 6; ref8", 0x81},
	{"reg 6; ref16", 0x8281},
	{"reg 6; ref32", 0x84838281},
	{"reg 6; ref64", -0x7778797a7b7c7d7f},
	{"reg 6; const8 3; add; ref32", 0x87868584},
	{"reg 0", -2},
	{"getv 1", -5},
	{"getv 9", 0},
	{"const8 7; setv 2; pop; getv 2", 7},
	{"const8 7; setv 9; pop; getv 9", 0},
	{"const8 7; setv 2", 7},
	{"const8 7; tracev 2", 7},
	{"reg 6; trace_quick 3", 0x1000},
	{"reg 6; trace16 300", 0x1000},

	{"const8 1; const8 2; dup; mul; sub", -3},
	{"const8 1; const8 2; pop", 1},
	{"const8 1; const8 2; swap; sub", 1},
	{"const8 1; const8 2; pick 0", 2},
	{"const8 1; const8 2; const8 3; pick 2", 1},
	{"const8 1; const8 2; const8 3; pick 1; sub", 1},
	{"const8 1; const8 2; const8 3; rot", 2},
	{"const8 1; const8 2; const8 3; rot; pop", 1},
	{"const8 1; const8 2; const8 3; rot; pop; pop", 3},

	{"const8 1; if_goto yes; const8 10; end; yes: const8 20", 20},
	{"const8 0; if_goto yes; const8 10; end; yes: const8 20", 10},
	{least + "if_goto yes; const8 10; end; yes: const8 20", 20},
	{"goto 4; pop; 4 const8 20", 20},
	// The sum of 10 to 1, by a loop.
	{"const8 0; const8 10; again: dup; rot; add; swap; const8 1; sub; dup; if_goto again; pop", 55},
}

func TestValues(t *testing.T) {
	for _, test := range values {
		p := mustAssemble(t, test.text+"; end")
		got, err := new(Machine).Value(p, newWorld())
		if err != nil || got != test.want {
			t.Errorf("%s: %d, %v, want %d", test.text, got, err, test.want)
		}
	}
}

// TestEffects has each opcode that acts on the world. The stack is checked to hold one cell at the end.
func TestEffects(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"trace", "const8 9; reg 6; const8 4; trace", []string{"memory 0x1000+4"}},
		{"trace, size as unsigned", "const8 9; reg 6; reg 0; trace", []string{"memory 0x1000+18446744073709551614"}},
		{"trace nothing", "const8 9; reg 6; const8 0; trace", nil},
		{"trace_quick", "reg 6; trace_quick 255", []string{"memory 0x1000+255"}},
		{"trace_quick nothing", "reg 6; trace_quick 0", nil},
		{"trace16", "reg 6; trace16 65535", []string{"memory 0x1000+65535"}},
		{"trace16 nothing", "reg 6; trace16 0", nil},
		{"tracenz", "const8 9; reg 6; const8 200; tracenz", []string{"string 0x1000+200"}},
		{"tracenz nothing", "const8 9; reg 6; const8 0; tracenz", nil},
		{"tracev", "const8 9; tracev 2", []string{"variable 2 is 40"}},
		{"setv", "reg 0; setv 2; tracev 2", []string{"set 2 to -2", "variable 2 is -2"}},
		{"printf", "const8 9; const8 30; const8 20; const8 10; const8 2; const8 1; printf 3 `%d %d %d\\n`",
			[]string{`printf 1 2 "%d %d %d\\n" [10 20 30]`}},
		{"printf without arguments", "const8 9; const8 2; const8 1; printf 0 `hello`", []string{`printf 1 2 "hello" []`}},
		{"printf up to NUL", `const8 9; dup; dup; printf 0 "ab\x00cd"`, []string{`printf 9 9 "ab" []`}},
		{"order", "reg 6; trace_quick 1; const8 1; setv 2; trace_quick 2",
			[]string{"memory 0x1000+1", "set 2 to 1", "memory 0x1+2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, w := mustAssemble(t, test.text+"; end"), newWorld()
			var m Machine
			end, err := m.run(p, w)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, w.log); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if wantHeight := 1 + strings.Count(test.text, "setv"); end.height > wantHeight || end.height == 0 {
				t.Errorf("%d cells left on the stack", end.height)
			}
		})
	}
}

func TestRunErrors(t *testing.T) {
	tests := []struct {
		name, text string
		kind       error
		want       string
	}{
		{"empty stack", "end", ErrEmptyStack, "empty stack: end at offset 0"},
		{"empty stack after work", "const8 1; pop; end", ErrEmptyStack, "empty stack: end at offset 3"},
		{"underflow", "const8 1; add; end", ErrStackUnderflow, "stack underflow: add at offset 2: 1 cells missing"},
		{"underflow of pop", "pop; end", ErrStackUnderflow, "stack underflow: pop at offset 0: 1 cells missing"},
		{"underflow of dup", "dup; end", ErrStackUnderflow, "stack underflow: dup at offset 0: 1 cells missing"},
		{"underflow of rot", "const8 1; dup; rot; end", ErrStackUnderflow, "stack underflow: rot at offset 3: 1 cells missing"},
		{"pick too deep", "const8 1; pick 1; end", ErrStackUnderflow, "stack underflow: pick at offset 2: 1 cells missing"},
		{"pick far too deep", "const8 1; pick 255; end", ErrStackUnderflow,
			"stack underflow: pick at offset 2: 255 cells missing"},
		{"printf lacks arguments", "const8 1; dup; dup; printf 2 `%d`; end", ErrStackUnderflow,
			"stack underflow: printf at offset 4: 1 cells missing"},
		{"overflow", "again: const8 1; goto again; end", ErrStackOverflow,
			"stack overflow: const8 at offset 0: at most 98 cells"},
		{"overflow of dup", "const8 1; again: dup; goto again; end", ErrStackOverflow,
			"stack overflow: dup at offset 2: at most 98 cells"},
		{"overflow of pick", "const8 1; again: pick 0; goto again; end", ErrStackOverflow,
			"stack overflow: pick at offset 2: at most 98 cells"},
		{"div_signed", "const8 1; const8 0; div_signed; end", ErrDivideByZero, "divide by zero: div_signed at offset 4"},
		{"div_unsigned", "const8 1; const8 0; div_unsigned; end", ErrDivideByZero, "divide by zero: div_unsigned at offset 4"},
		{"rem_signed", "const8 1; const8 0; rem_signed; end", ErrDivideByZero, "divide by zero: rem_signed at offset 4"},
		{"rem_unsigned", "const8 1; const8 0; rem_unsigned; end", ErrDivideByZero, "divide by zero: rem_unsigned at offset 4"},
		{"float", "float; end", ErrUnhandledOp, "unhandled opcode: float at offset 0"},
		{"ref_double", "reg 6; ref_double; end", ErrUnhandledOp, "unhandled opcode: ref_double at offset 3"},
		{"l_to_d", "reg 6; l_to_d; end", ErrUnhandledOp, "unhandled opcode: l_to_d at offset 3"},
		{"memory", "const8 0; ref32; end", ErrMemory, "invalid memory access: ref32 at offset 2: 4 bytes at 0x0: no such page"},
		{"memory's cause", "const8 0; ref8; end", errHole,
			"invalid memory access: ref8 at offset 2: 1 bytes at 0x0: no such page"},
		{"register", "reg 20; end", ErrRegister, "register not available: reg at offset 0: register 20: too wide"},
		{"printf", "const8 1; dup; printf 0 `fail`; end", ErrPrintf, "printf failed: printf at offset 3: no terminal"},
		{"loop", "again: goto again; end", ErrStepLimit, "step limit exceeded: goto at offset 0"},
		{"conditional loop", "again: const8 1; if_goto again; end", ErrStepLimit, "step limit exceeded: if_goto at offset 2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := new(Machine).Value(mustAssemble(t, test.text), newWorld())
			if !errors.Is(err, test.kind) {
				t.Fatalf("error %v, want %v", err, test.kind)
			}
			if err.Error() != test.want {
				t.Errorf("error %q\n want %q", err, test.want)
			}
		})
	}
}

// TestKinds holds the texts of the errors that GDB shows to gdbserver's wording.
func TestKinds(t *testing.T) {
	want := map[error]string{
		ErrEmptyExpression: "empty expression",
		ErrEmptyStack:      "empty stack",
		ErrStackOverflow:   "stack overflow",
		ErrStackUnderflow:  "stack underflow",
		ErrUnhandledOp:     "unhandled opcode",
		ErrUnknownOp:       "unrecognized opcode",
		ErrDivideByZero:    "divide by zero",
		ErrInvalidGoto:     "invalid goto",
		ErrMemory:          "invalid memory access",
	}
	for err, text := range want {
		if err.Error() != text {
			t.Errorf("%q, want %q", err, text)
		}
	}
}

func TestRunIgnoresResult(t *testing.T) {
	for _, text := range []string{"end", "const8 1; end"} {
		if err := new(Machine).Run(mustAssemble(t, text), newWorld()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestHeightLimit fills the stack to the last cell that gdbserver lets an expression have.
func TestHeightLimit(t *testing.T) {
	full := strings.Repeat("const8 1; ", MaxHeight)
	if _, err := new(Machine).Value(mustAssemble(t, full+"end"), newWorld()); err != nil {
		t.Errorf("%d cells: %v", MaxHeight, err)
	}
	// The deepest cell is still in reach, and an instruction that consumes nothing is still possible.
	deepest := "const8 7; " + strings.Repeat("const8 1; ", MaxHeight-2) + "pick 96; tracev 1; end"
	if v, err := new(Machine).Value(mustAssemble(t, deepest), newWorld()); err != nil || v != 7 {
		t.Errorf("pick of the deepest cell: %d, %v", v, err)
	}
	if _, err := new(Machine).Value(mustAssemble(t, full+"const8 1; end"), newWorld()); !errors.Is(err, ErrStackOverflow) {
		t.Errorf("%d cells: %v, want %v", MaxHeight+1, err, ErrStackOverflow)
	}
}

// TestBudget counts what a loop of ten rounds of four instructions costs: nine jumps back over all four.
func TestBudget(t *testing.T) {
	p := mustAssemble(t, "const8 10; again: const8 1; sub; dup; if_goto again; end")
	for budget, want := range map[int]error{9 * 4: nil, 9*4 - 1: ErrStepLimit, 1: ErrStepLimit} {
		m := Machine{Budget: budget}
		if _, err := m.Value(p, &world{}); !errors.Is(err, want) {
			t.Errorf("budget %d: %v, want %v", budget, err, want)
		}
	}
	m := Machine{Budget: 1}
	if _, err := m.Value(mustAssemble(t, strings.Repeat("const8 1; pop; ", 1000)+"const8 1; end"), &world{}); err != nil {
		t.Errorf("a program without loops: %v", err)
	}
}

// TestMachineForgets runs one program after another that left its stack full and failed.
func TestMachineForgets(t *testing.T) {
	var m Machine
	if _, err := m.Value(mustAssemble(t, "again: const8 1; goto again; end"), &world{}); err == nil {
		t.Fatal("no overflow")
	}
	if v, err := m.Value(mustAssemble(t, "end"), &world{}); !errors.Is(err, ErrEmptyStack) {
		t.Errorf("the next program found %d, %v", v, err)
	}
}
