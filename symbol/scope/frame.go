package scope

import (
	"tracewell/arch"
	"tracewell/ax"
)

// emit appends code that leaves one cell more on the stack. It may be called more than once, as a value is put into every
// expression that uses it; it must not depend on anything that changes.
type emit func(b *ax.Builder) error

// held pushes a register as it is at the hit.
func held(reg arch.Reg) emit {
	return func(b *ax.Builder) error {
		b.Emit(ax.OpReg, uint64(reg))
		return nil
	}
}

// frame is what DWARF expressions refer to besides what is in them (DWARF 5, 2.5.1): the registers of the target, the frame at a
// pc, the unit that the expression is from. Its functions are those of an Image, or of a test. They fail only when an expression
// uses them, so that a file without unwind tables still has its global variables.
type frame struct {
	order    arch.ByteOrder
	addrSize int
	bias     arch.Addr // of the file in the running program
	entry    bool      // the pc is the first of the function
	// register finds a register by DWARF's number, with its size in bytes.
	register func(n uint64) (arch.Reg, int, error)
	name     func(n uint64) string
	push     func(n uint64) (emit, error) // pushes what a register of the frame holds
	passed   func(n uint64) (emit, error) // pushes what it held when the function was entered; nil if that is not known
	// base gives the frame base, cfa the canonical frame address, and tls adds the start of the file's thread-local storage
	// to the offset on the stack.
	base, cfa, tls func() (emit, error)
	// address finds an address of the unit's table, and cell the base type at an offset in the unit.
	address func(index uint64) (arch.Addr, bool)
	cell    func(offset uint64) (cell, error)
}

// current pushes a register as it is: the frame is that of the tracepoint.
func (f *frame) current(n uint64) (emit, error) {
	reg, _, err := f.register(n)
	return held(reg), err
}

// cell is the type of a cell of the stack. Those without a size are as wide as the stack, and have a sign or none as the
// operator wants it.
type cell struct {
	size   int
	signed bool
}

// narrow keeps a cell within the width of its type: arithmetic in a type wraps around (2.5.1.4), that of the stack has 64 bits. All
// cells hold numbers extended to 64 bits by their sign, so that comparing needs no further step.
func (c cell) narrow(b *ax.Builder) {
	switch {
	case c.size == 0 || c.size >= 8:
	case c.signed:
		b.Emit(ax.OpExt, uint64(8*c.size))
	default:
		b.Emit(ax.OpZeroExt, uint64(8*c.size))
	}
}

// step is the code of one operator, or a further piece of it, which has the offset -1.
type step struct {
	at   int // offset of the operator
	emit func(o *output) error
}

// steps are the code of an expression.
type steps struct {
	list    []step
	targets map[int]bool // the operators that others jump to
	end     int          // where the expression ends, to which they can jump, too
}

// output is a builder with a label for each operator that is jumped to. Labels belong to one builder, and code is emitted into
// many, so they are made at each emission.
type output struct {
	*ax.Builder
	labels map[int]ax.Label
}

// emit appends the code.
func (s steps) emit(b *ax.Builder) error {
	o := &output{b, make(map[int]ax.Label)}
	for at := range s.targets {
		o.labels[at] = b.NewLabel()
	}
	for _, step := range s.list {
		o.bind(step.at)
		if err := step.emit(o); err != nil {
			return err
		}
	}
	o.bind(s.end)
	return nil
}

// bind makes an offset of the expression the target of the jumps that lead there.
func (o *output) bind(at int) {
	if label, ok := o.labels[at]; ok {
		o.Bind(label)
	}
}
