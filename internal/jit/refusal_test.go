//go:build linux && amd64

package jit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// TestRefusals checks that what cannot be compiled is refused in words, by Measure as by what compiles.
func TestRefusals(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"const8 1;const8 2;ref_float;end", "unhandled opcode: ref_float at offset 4"},
		{"const8 1;dup;pop;const8 1;if_goto 2;end", "jumps backwards: if_goto at offset 6"},
		{"goto 0", "jumps backwards: goto at offset 0"},
		{"const8 1;add;end", "stack underflow: add at offset 2"},
		{"const8 1;if_goto 7;const8 2;end", "inconsistent stack height: end at offset 7"},
		{strings.Repeat("const8 1;", 13) + "end", "needs 13 cells of the stack at once, at most 12 can be"},
		{"reg 40;end", "the register is not available as an integer: reg at offset 0"},
		{"const8 1;setv 7;end", "the variable cannot be set: setv at offset 2"},
	} {
		p := assemble(t, test.text)
		a := asm.New(0x1000)
		e := simple(a)
		e.Scratch = []asm.Reg{asm.RAX, asm.RCX, asm.RDX, asm.RBX}
		variable := e.Variable
		e.Variable = func(n uint16) Place {
			if n == 7 {
				return Known(1)
			}
			return variable(n)
		}
		_, measured := Measure(p, e)
		for what, err := range map[string]error{
			"Measure": measured, "Run": Run(a, e, p), "Value": Value(a, e, p, asm.RAX), "Condition": Condition(a, e, p, a.NewLabel()),
		} {
			var refusal *Refusal
			if !errors.As(err, &refusal) || err.Error() != test.want {
				t.Errorf("%s: %s: %v, want %s", test.text, what, err, test.want)
			}
		}
	}
}

// TestEffectsRefused checks that an Env can refuse each kind of effect, by an error or by having no function for it.
func TestEffectsRefused(t *testing.T) {
	for _, text := range []string{
		"const8 1;const8 8;trace;end", "const8 1;dup;trace;end", "reg 5;dup;trace;end", "reg 5;trace_quick 1;end", "reg 5;trace16 300;end",
		"reg 5;dup;tracenz;end", "tracev 1;end", "const8 0;const8 0;printf 0 `x`;end",
	} {
		p := assemble(t, text)
		for _, why := range []string{"can be", "no room"} {
			a := asm.New(0x1000)
			e := simple(a)
			if why == "no room" {
				full := func(_, _ Operand) error { return errors.New(why) }
				e.TraceMemory, e.TraceString = full, full
				e.TraceVariable = func(uint16) error { return errors.New(why) }
				e.Printf = func(_, _ Operand, _ string, _ []Operand) error { return errors.New(why) }
			}
			var refusal *Refusal
			if err := Run(a, e, p); !errors.As(err, &refusal) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want %q", text, err, why)
			}
		}
	}
}

// TestSizeZero checks that nothing is asked of the Env for a size that is known to be 0.
func TestSizeZero(t *testing.T) {
	for _, text := range []string{"reg 5;const8 0;trace;end", "reg 5;const8 0;tracenz;end", "reg 5;trace_quick 0;end", "reg 5;trace16 0;end"} {
		a := asm.New(0x1000)
		if err := Run(a, simple(a), assemble(t, text)); err != nil || a.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", text, err, a.Len())
		}
	}
}

// TestMistakesOfEnvs checks that registers which would be lost are noticed.
func TestMistakesOfEnvs(t *testing.T) {
	divide := "reg 5;reg 4;div_signed;end"
	for want, spoil := range map[string]func(e *Env) string{
		"1 scratch registers do not suffice": func(e *Env) string {
			e.Scratch = e.Scratch[:1]
			return "reg 5;ref8;reg 4;ref8;add;end"
		},
		"rdx cannot be a scratch register": func(e *Env) string {
			e.Scratch = []asm.Reg{asm.RBX, asm.RDX}
			return divide
		},
		"register 5 of the program is in rdi": func(e *Env) string {
			e.Scratch = []asm.Reg{asm.RDI, asm.RBX}
			return divide
		},
		"in one that divisions and shifts change": func(e *Env) string {
			e.Scratch = []asm.Reg{asm.R8, asm.RBX}
			e.Register = func(arch.Reg) Place { return In(asm.RDX) }
			return divide
		},
	} {
		a := asm.New(0x1000)
		e := simple(a)
		err := Condition(a, e, assemble(t, spoil(e)), a.NewLabel())
		var refusal *Refusal
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &refusal) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestMeasure looks at demands.
func TestMeasure(t *testing.T) {
	saved := func(arch.Reg) Place { return Stored(8, asm.At(asm.RSP, 8)) }
	live := func(r arch.Reg) Place { return In(hardware[r]) }
	for _, test := range []struct {
		text     string
		register func(arch.Reg) Place
		want     Demand
	}{
		{"reg 5;const8 5;equal;end", live, Demand{}},
		{"reg 5;const8 5;equal;end", saved, Demand{}},
		{"reg 5;reg 4;equal;end", live, Demand{}},
		{"reg 5;reg 4;equal;end", saved, Demand{Scratch: 1}},
		{"reg 7;reg 4;equal;end", live, Demand{Scratch: 1}}, // rsp will have moved
		{"reg 5;ref8;end", live, Demand{Scratch: 1}},
		{"reg 5;const8 3;lsh;end", live, Demand{Scratch: 1}},
		{"reg 5;reg 4;lsh;end", live, Demand{Scratch: 1, Fixed: true}},
		{"reg 5;reg 4;rem_signed;end", live, Demand{Scratch: 2, Fixed: true}},
		{"const8 7;const8 4;rem_signed;end", live, Demand{}},
		{"reg 5;const8 8;trace;end", live, Demand{}},
		{"reg 5;const8 8;trace;end", saved, Demand{Scratch: 1}},
		{strings.Repeat("reg 5;ref8;", 12) + "end", live, Demand{Scratch: 12}},
	} {
		e := &Env{Register: test.register, Variable: func(uint16) Place { return Place{} }}
		if got, err := Measure(assemble(t, test.text), e); err != nil || got != test.want {
			t.Errorf("%s: %+v, %v, want %+v", test.text, got, err, test.want)
		}
	}
}

// TestDeadCode checks that what is never reached is left out, whatever it is.
func TestDeadCode(t *testing.T) {
	a := asm.New(0x1000)
	e := simple(a)
	p := assemble(t, "goto 8;ref_double;add;div_signed;pop;pop;const8 0;end")
	if !slices.ContainsFunc(p.Requirements().Flaws, func(e *ax.Error) bool { return e.Kind == ax.ErrDeadCode }) {
		t.Fatal("there is none")
	}
	otherwise := a.NewLabel()
	if err := Condition(a, e, p, otherwise); err != nil {
		t.Fatal(err)
	}
	length := a.Len()
	a.Int3()
	a.Bind(otherwise)
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(listing(t, code[:length], length), "; "); got != "jmp .+0x0; jmp false" {
		t.Error(got)
	}
}
