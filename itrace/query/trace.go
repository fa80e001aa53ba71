package query

import (
	"fmt"

	"tracewell/arch"
	"tracewell/itrace/execution"
	"tracewell/itrace/index"
	"tracewell/symbol"
)

// Trace is an execution trace that is asked. It is for one goroutine.
type Trace struct {
	*index.Trace
	Execution *execution.Execution
	Program   *symbol.Program // names of the program; nil for none
	// From and To are the positions between which answers are looked for; From is index.Ahead for all from the beginning on.
	From, To int64
	CPU      *int32 // the only processor that is looked at; nil for all

	places map[uint64]Place // by address, as they have been looked up
	labels labels           // nil as long as nobody has asked for one
}

// New returns a Trace of which everything is asked.
func New(e *execution.Execution, program *symbol.Program) (*Trace, error) {
	t, err := e.Trace()
	if err != nil {
		return nil, err
	}
	return &Trace{Trace: t, Execution: e, Program: program, From: index.Ahead, To: t.Instructions,
		places: make(map[uint64]Place)}, nil
}

// OnCPU restricts questions to a processor, which the trace must have.
func (t *Trace) OnCPU(cpu int32) error {
	for _, other := range t.CPUs {
		if other == cpu {
			t.CPU = &cpu
			return nil
		}
	}
	return fmt.Errorf("the trace has no processor %d: there are %d", cpu, t.CPUs)
}

// processors are those that are asked about.
func (t *Trace) processors() []int32 {
	if t.CPU != nil {
		return []int32{*t.CPU}
	}
	return t.CPUs
}

// concerns reports whether a record is of the processor that is asked about.
func (t *Trace) concerns(it *index.Item) bool { return t.CPU == nil || it.CPU == *t.CPU }

// Place is what the program's names say of an address; the zero value is that they say nothing.
type Place struct {
	Symbol string // as GDB names it, with an offset: push+8
	File   string // of the source, as the compiler was given it
	Line   int
}

// Place returns what is known of an address. Code is executed again and again, so what was found is kept.
func (t *Trace) Place(addr uint64) Place {
	if t.Program == nil {
		return Place{}
	}
	p, ok := t.places[addr]
	if !ok {
		if p.Symbol = t.Program.Describe(arch.Addr(addr)); p.Symbol == "" {
			p.Symbol = t.describeByLabel(addr)
		}
		if line, ok := t.Program.Line(arch.Addr(addr)); ok {
			p.File, p.Line = line.File, line.Number
		}
		t.places[addr] = p
	}
	return p
}

// Step is an instruction of the trace, or what stands in front of the first: then Item is nil, and Number is -1.
type Step struct {
	Number int64
	Item   *index.Item
	Place  Place
}

// Step returns an instruction by its number.
func (t *Trace) Step(n int64) (Step, error) {
	if n < 0 {
		return Step{Number: -1}, nil
	}
	it, err := t.Instruction(n)
	if err != nil {
		return Step{}, err
	}
	return Step{n, it, t.Place(it.Addr)}, nil
}

// Untold says that the trace cannot answer, because it does not tell what is asked about.
type Untold struct{ What string }

// Error says what is not told.
func (e *Untold) Error() string { return "the trace tells no " + e.What }
