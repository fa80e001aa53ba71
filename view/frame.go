package view

import (
	"tracewell/arch"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// Frame is one traceframe, decoded as far as it costs nothing.
type Frame struct {
	tfile.Frame
	Number  int
	PC      arch.Addr
	HasPC   bool
	Damaged error   // the blocks from there on cannot be read
	Return  *Return // of the call that ended here; nil if the frame is of no return, or the trace does not tell

	place int // in the view, whatever Number becomes
}

// Frame reads frame i. The bytes of an earlier frame may be given for reuse.
func (v *View) Frame(i int, reuse []byte) (Frame, error) {
	raw, err := v.Content.ReadFrame(i, reuse)
	if err != nil {
		return Frame{}, err
	}
	return v.Paired(v.Of(i, raw)), nil
}

// Of returns what Frame does but for the call, of frame i that was read already.
func (v *View) Of(i int, raw tfile.Frame) Frame {
	f := Frame{Frame: raw, Number: i, Damaged: raw.Check(), place: i}
	f.PC, f.HasPC = v.pcOf(raw)
	return f
}

// pcOf finds the program counter of a frame: that of its registers, or if none were collected the address of the tracepoint
// when it has one location and no while-stepping, as in GDB.
func (v *View) pcOf(f tfile.Frame) (arch.Addr, bool) {
	if registers := f.Registers(); registers != nil && v.pc != nil {
		if b, ok := v.pc.Bytes(registers); ok {
			return arch.Addr(v.integer(b)), true
		}
	}
	t := v.tracepoints[f.Tracepoint()]
	if t == nil || len(t.locations) != 1 || t.locations[0].Step != 0 {
		return 0, false
	}
	return t.locations[0].Addr, true
}

// Definition returns the tracepoint that made a frame, nil if it is not defined. Of one with several locations it is the one
// at the frame's pc, and the first if none is.
// A pc at no location is that of a step, or of a jump that displaced the instruction.
func (v *View) Definition(f Frame) *trace.Tracepoint {
	t := v.tracepoints[f.Tracepoint()]
	if t == nil {
		return nil
	}
	at, known := f.PC, f.HasPC
	if call, ok := v.callOf(f, t); ok {
		at, known = call, true
	}
	for _, location := range t.locations {
		if known && location.Addr == at {
			return location
		}
	}
	return t.locations[0]
}

// Stepped reports whether a while-stepping made the frame, which is told by its pc: it is at no location of the tracepoint.
// A step that leads back there looks like a hit.
func (v *View) Stepped(f Frame) bool {
	t := v.tracepoints[f.Tracepoint()]
	if t == nil || !f.HasPC {
		return false
	}
	stepping := false
	for _, location := range t.locations {
		if location.Addr == f.PC {
			return false
		}
		stepping = stepping || location.Step > 0
	}
	return stepping
}

// Variable is a trace state variable as a frame has it. The number has 32 bits in a frame.
type Variable struct {
	Number int32
	Value  int64
}

// AppendVariables appends the trace state variables of a frame in the order in which they were first collected, each with
// the value that was collected last.
func AppendVariables(dst []Variable, f Frame) []Variable {
	places := make(map[int32]int)
	for block := range f.Blocks() {
		if block.Kind != tfile.BlockVariable {
			continue
		}
		place, seen := places[block.Number]
		if !seen {
			place = len(dst)
			places[block.Number] = place
			dst = append(dst, Variable{Number: block.Number})
		}
		dst[place].Value = block.Value
	}
	return dst
}

// Integer returns the value of memory of 1, 2, 4 or 8 bytes, false for other lengths.
func (v *View) Integer(b []byte) (uint64, bool) {
	switch len(b) {
	case 1, 2, 4, 8:
		return v.integer(b), true
	}
	return 0, false
}

// integer reads an unsigned integer of up to 8 bytes in the order of the target.
func (v *View) integer(b []byte) uint64 { return arch.Uint(b, v.order) }

// AppendRegister appends the value of a register as one hexadecimal number, in the full width if it is wider than 8 bytes,
// and false if the frame does not have it.
func (v *View) AppendRegister(dst []byte, slot *tdesc.Slot, block []byte) ([]byte, bool) {
	return slot.AppendHex(dst, block, v.order)
}
