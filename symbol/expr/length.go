package expr

import (
	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
)

// mostRepeated is how many bytes an array has at most whose length the program has: that can be anything.
const mostRepeated = 1 << 16

// computed reports whether the program has the length of a value: that of an array, or of the arrays in it.
func (v value) computed() bool { return v.count != nil || dynamic(v.typ) }

// dynamic reports whether an array, or an array in it, has a bound that is found at run time (C99's variable length).
func dynamic(t *ctype.Type) bool {
	return t.Kind == ctype.Array && (t.Bound != nil || t.Elem != nil && dynamic(t.Elem))
}

// length is the code that pushes how many elements an array has.
func (c *compiler) length(n *cexpr.Node, v value) code {
	switch {
	case v.count != nil:
		return v.count
	case v.typ.Bound == nil:
		return pushed(uint64(v.typ.Count))
	}
	emit, err := c.scope.Length(v.typ.Bound)
	if err != nil {
		c.fail(n, "the length of "+n.String()+": "+err.Error(), "")
	}
	return emit
}

// bytes is the code that pushes the size of a value, which is none below 0 nor more than mostRepeated if it is computed.
func (c *compiler) bytes(n *cexpr.Node, v value) code {
	if !v.computed() {
		return pushed(uint64(v.typ.Size))
	}
	return bounded(c.length(n, v).with(c.bytes(n, value{typ: v.typ.Elem}), op(ax.OpMul)), mostRepeated)
}

// bounded brings a number into the range from 0 to most.
func bounded(n code, most uint64) code {
	return func(b *ax.Builder) error {
		err := n(b)
		container.Clamp(b, most)
		return err
	}
}

// shaped completes a type in a context: it reads how long the array is there.
type shaped func(w Context, order arch.ByteOrder) (*ctype.Type, error)

// shape prepares finding the type of a value whose length is computed; nil for others.
func (c *compiler) shape(n *cexpr.Node, v value) shaped {
	if !v.computed() {
		return nil
	}
	// Inner dimensions are found first: the size of an element limits how many there can be.
	length, inner := c.program(n, c.length(n, v)), c.shape(n, value{typ: v.typ.Elem})
	return func(w Context, order arch.ByteOrder) (*ctype.Type, error) {
		elem, err := v.typ.Elem, error(nil)
		if inner != nil {
			elem, err = inner(w, order)
		}
		if err != nil {
			return nil, err
		}
		count, err := length(w, order)
		count = uint64(max(int64(count), 0))
		return ctype.ArrayOf(elem, int(min(count, mostRepeated/uint64(max(elem.Size, 1))))), err
	}
}
