package compiled

import (
	"errors"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

func code(t *testing.T, text string) []byte {
	t.Helper()
	b, err := ax.Assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCompile: every part of a tracepoint is in its compiled form, and every expression decoded.
func TestCompile(t *testing.T) {
	one, two, three := code(t, "const8 1\n end"), code(t, "reg 2\n end"), code(t, "tracev 3\n end")
	c, err := Compile(&trace.Tracepoint{
		Number: trace.MaxNumber, Addr: 0x1234, Enabled: true, Pass: 5, Step: 6, Condition: one,
		Actions:     []trace.Action{{Kind: trace.CollectRegisters}, {Kind: trace.CollectExpression, Code: two}, {Kind: trace.CollectStatic}},
		StepActions: []trace.Action{{Kind: trace.CollectMemory, Base: 7, Offset: 8, Length: 9}, {Kind: trace.CollectExpression, Code: three}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Key() != (trace.Key{Number: trace.MaxNumber, Addr: 0x1234}) || !c.Enabled || c.Pass != 5 || c.Step != 6 || c.Semaphores != nil {
		t.Errorf("%+v", c)
	}
	programs := []struct {
		got  *ax.Program
		want []byte
	}{
		{c.Condition, one}, {c.Actions[0].Program, nil}, {c.Actions[1].Program, two}, {c.Actions[2].Program, nil},
		{c.StepActions[0].Program, nil}, {c.StepActions[1].Program, three},
	}
	for i, p := range programs {
		if (p.got == nil) != (p.want == nil) || p.got != nil && string(p.got.Code()) != string(p.want) {
			t.Errorf("expression %d: %v, want the code % x", i, p.got, p.want)
		}
	}
	if op := c.StepActions[0]; op.Base != 7 || op.Offset != 8 || op.Length != 9 || len(c.Actions) != 3 || len(c.StepActions) != 2 {
		t.Errorf("actions %+v and %+v", c.Actions, c.StepActions)
	}
	if c, err := Compile(&trace.Tracepoint{Number: 1}); err != nil || c.Condition != nil || c.Enabled || len(c.Actions) != 0 {
		t.Errorf("a tracepoint of nothing: %+v, %v", c, err)
	}
}

// TestCompileRefuses names the tracepoint and the expression.
func TestCompileRefuses(t *testing.T) {
	bad := []byte{0xff}
	good := trace.Action{Kind: trace.CollectRegisters}
	_, reason := ax.Decode(bad)
	for _, test := range []struct {
		t    trace.Tracepoint
		want string
	}{
		{trace.Tracepoint{}, "tracepoint number 0 is not from 1 to 32767, which is what a traceframe can name"},
		{trace.Tracepoint{Number: trace.MaxNumber + 1}, "tracepoint number 32768 is not from 1 to 32767, which is what a traceframe can name"},
		{trace.Tracepoint{Number: 2, Addr: 16, Condition: bad}, "condition of tracepoint 2 at 0x10: " + reason.Error()},
		{trace.Tracepoint{Number: 2, Addr: 16, Actions: []trace.Action{good, {Kind: trace.CollectExpression, Code: bad}}},
			"action 2 of tracepoint 2 at 0x10: " + reason.Error()},
		{trace.Tracepoint{Number: 2, Addr: 16, StepActions: []trace.Action{{Kind: '?'}}},
			"action 1 of tracepoint 2 at 0x10 is of unknown kind '?'"},
	} {
		if c, err := Compile(&test.t); err == nil || err.Error() != test.want || c != nil {
			t.Errorf("%+v, %v; want the error %s", c, err, test.want)
		}
	}
}

// TestMemory: an address is absolute, or relative to a register, and wraps as registers do.
func TestMemory(t *testing.T) {
	lost := errors.New("no such register")
	register := func(r arch.Reg) (uint64, error) {
		if r != 3 {
			return 0, lost
		}
		return 0x1000, nil
	}
	for _, test := range []struct {
		base   arch.Reg
		offset uint64
		want   arch.Addr
	}{{trace.Absolute, 0x20, 0x20}, {3, 0x20, 0x1020}, {3, ^uint64(0), 0xfff}} {
		op := Operation{Action: trace.Action{Kind: trace.CollectMemory, Base: test.base, Offset: test.offset, Length: 1}}
		if addr, err := op.Memory(register); addr != test.want || err != nil {
			t.Errorf("register %d plus %#x: %s, %v; want %s", test.base, test.offset, addr, err, test.want)
		}
	}
	op := Operation{Action: trace.Action{Kind: trace.CollectMemory, Base: 4, Offset: 5}}
	if addr, err := op.Memory(register); !errors.Is(err, lost) || err.Error() != "memory at register 4 plus 0x5: no such register" || addr != 0 {
		t.Errorf("an unknown register: %s, %v", addr, err)
	}
}
