package view

import (
	"slices"

	"tracewell/ax"
	"tracewell/tdesc"
	"tracewell/trace"
)

// few is how many registers an action may ask for by name to be taken to mean just these. GDB asks for all when the user
// collects $regs, and for one or two when an expression needs them.
const few = 8

// arguments is how many of a call's arguments have a column.
const arguments = 4

// Columns are what a table of frames has a column for.
type Columns struct {
	Registers []*tdesc.Slot // without the program counter
	Variables []int32       // ascending
}

// Columns chooses at most limit registers: those that the tracepoints ask for by name, behind those that tell most about a
// call if some tracepoint asks for all. Variables are those that an action records. Of a file that has frames with more than
// its definitions mention, the first frames decide.
func (v *View) Columns(limit int) (Columns, error) {
	registers, variables, err := v.sample()
	if err != nil {
		return Columns{}, err
	}
	var asked []*tdesc.Slot
	all := false
	for _, action := range v.actions() {
		numbers := action.Registers()
		// GDB sets the bits of all registers for $regs; a few bits are what single expressions need.
		if all = all || len(numbers) > few; v.Layout != nil && len(numbers) <= few {
			for _, n := range numbers {
				asked = append(asked, v.Layout.ByNumber(n))
			}
		}
		variables = append(variables, recorded(action.Code)...)
	}
	if all || len(asked) == 0 && registers {
		asked = append(v.callSlots(), asked...)
	}
	variables = slices.DeleteFunc(variables, v.TimesCalls)
	slices.Sort(variables)
	return Columns{v.distinct(asked, limit), slices.Compact(variables)}, nil
}

// distinct takes the first registers that are not nil, the program counter, or there already.
func (v *View) distinct(slots []*tdesc.Slot, limit int) []*tdesc.Slot {
	var distinct []*tdesc.Slot
	for _, slot := range slots {
		if slot != nil && slot != v.pc && !slices.Contains(distinct, slot) {
			distinct = append(distinct, slot)
		}
	}
	return distinct[:min(limit, len(distinct))]
}

// actions returns what all tracepoints collect.
func (v *View) actions() []trace.Action {
	var all []trace.Action
	for _, t := range v.Content.Header().Tracepoints {
		all = slices.Concat(all, t.Actions, t.StepActions)
	}
	return all
}

// sampledFrames is how many frames are looked at for what no definition mentions.
// Definitions may be lost, or an in-process agent may have collected more than they say.
const sampledFrames = 64

// sample says whether the first frames have registers, and what variables they have.
func (v *View) sample() (registers bool, variables []int32, err error) {
	var frame Frame
	for i := range min(sampledFrames, v.Content.NumFrames()) {
		if frame, err = v.Frame(i, frame.Bytes()); err != nil {
			return false, nil, err
		}
		registers = registers || frame.Registers() != nil
		for _, variable := range AppendVariables(nil, frame) {
			variables = append(variables, variable.Number)
		}
	}
	return registers, variables, nil
}

// callSlots are the registers that tell most about a call: the first arguments, then the stack pointer.
func (v *View) callSlots() []*tdesc.Slot {
	if v.Layout == nil {
		return nil
	}
	m := v.machine()
	names := append(slices.Clone(m.Arguments[:min(arguments, len(m.Arguments))]), m.SP)
	slots, err := v.Slots(names)
	if err != nil {
		return nil
	}
	return slots
}

// recorded returns the variables that an expression records, none if it is no expression.
func recorded(code []byte) []int32 {
	program, err := ax.Decode(code)
	if err != nil {
		return nil
	}
	var numbers []int32
	for in := range program.Instructions() {
		if in.Op == ax.OpTracev {
			numbers = append(numbers, int32(in.Operand))
		}
	}
	return numbers
}
