package scope

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/expr"
)

// compiler makes steps of an expression. It follows the types of the cells, since an operator means one thing for signed and
// another for unsigned ones.
type compiler struct {
	*frame
	cursor
	steps
	cells  []cell
	joined map[int][]cell // by operator that is jumped to: the cells that its jumps leave
	dead   bool           // what follows is only reached by a jump
}

var (
	errDamaged = errors.New("its location is damaged")
	errStack   = errors.New("its location takes more from the stack than there is")
)

// emission compiles an expression whose value is an address or a number.
func (f *frame) emission(code []byte) (emit, error) {
	c := f.compiler(code)
	for c.more() {
		op := c.begin()
		if err := c.operator(op); err != nil {
			return nil, err
		}
	}
	return c.finish()
}

func (f *frame) compiler(code []byte) *compiler {
	return &compiler{frame: f, cursor: cursor{code: code, order: f.order}, steps: steps{targets: make(map[int]bool)},
		joined: make(map[int][]cell)}
}

// begin takes the next operator, which may be where a jump leads.
func (c *compiler) begin() byte {
	if cells, ok := c.joined[c.at]; ok && c.dead {
		c.cells, c.dead = cells, false
	}
	c.list = append(c.list, step{c.at, func(*output) error { return nil }})
	op := c.byte()
	if instead, ok := newer[op]; ok {
		return instead
	}
	return op
}

// finish gives the code of what was compiled.
func (c *compiler) finish() (emit, error) {
	c.end = len(c.code)
	if cells, ok := c.joined[c.end]; ok && c.dead {
		c.cells = cells
	}
	starts := make(map[int]bool)
	for _, s := range c.list {
		starts[s.at] = true
	}
	for at := range c.targets {
		if at != c.end && !starts[at] {
			return nil, errDamaged
		}
	}
	switch {
	case c.short:
		return nil, errDamaged
	case len(c.cells) == 0:
		return nil, errStack
	}
	return c.steps.emit, nil
}

// add appends code to what the operator does.
func (c *compiler) add(code func(b *ax.Builder)) {
	c.list = append(c.list, step{-1, func(o *output) error { code(o.Builder); return nil }})
}

func (c *compiler) ops(ops ...ax.Op) {
	c.add(func(b *ax.Builder) {
		for _, op := range ops {
			b.Emit(op)
		}
	})
}

func (c *compiler) push(t cell) { c.cells = append(c.cells, t) }

// constant pushes a number.
func (c *compiler) constant(n int64) error {
	c.add(func(b *ax.Builder) { b.Const(n) })
	c.push(cell{})
	return nil
}

// pop takes cells from the stack, the last one first.
func (c *compiler) pop(n int) ([]cell, error) {
	if len(c.cells) < n {
		return nil, errStack
	}
	at := len(c.cells) - n
	cells := c.cells[at:]
	c.cells = c.cells[:at:at]
	return cells, nil
}

// operator compiles an operator whose operands come next.
func (c *compiler) operator(op byte) error {
	size, isFixed := fixed[op]
	_, isBinary := dyadic[op]
	switch {
	case isFixed:
		return c.constant(c.integer(size))
	case isBinary:
		return c.dyadic(op)
	case op >= opLit0 && op <= opLit31:
		return c.constant(int64(op - opLit0))
	case op >= opBreg0 && op <= opBreg31:
		return c.based(uint64(op - opBreg0))
	}
	if compile := operators[op]; compile != nil {
		return compile(c)
	}
	return unknown(op)
}

func unknown(op byte) error {
	return fmt.Errorf("its location uses an operation (0x%02x) that agent expressions do not have", op)
}

// based pushes a register with an offset.
func (c *compiler) based(n uint64) error {
	offset := c.signed()
	return c.relative(func() (emit, error) { return c.frame.push(n) }, offset)
}

func addOffset(b *ax.Builder, offset int64) {
	if offset != 0 {
		b.Const(offset)
		b.Emit(ax.OpAdd)
	}
}

// relative pushes what the frame knows, with an offset.
func (c *compiler) relative(get func() (emit, error), offset int64) error {
	value, err := get()
	if err != nil {
		return err
	}
	c.list = append(c.list, step{-1, func(o *output) error {
		if err := value(o.Builder); err != nil {
			return err
		}
		addOffset(o.Builder, offset)
		return nil
	}})
	c.push(cell{})
	return nil
}

// dyadic compiles an operator of two operands.
func (c *compiler) dyadic(op byte) error {
	row := dyadic[op]
	cells, err := c.pop(2)
	if err != nil {
		return err
	}
	left := cells[0]
	ops := row.signed
	if row.unsigned != nil && (left.size > 0 && !left.signed || left.size == 0 && row.plain) {
		ops = row.unsigned
	}
	if op == opShr && left.signed { // shifts zeros in, whatever the sign
		c.add(func(b *ax.Builder) {
			b.Emit(ax.OpSwap)
			cell{size: left.size}.narrow(b)
			b.Emit(ax.OpSwap)
		})
	}
	c.ops(ops...)
	if row.compares {
		left = cell{}
	}
	c.add(left.narrow)
	c.push(left)
	return nil
}

// jump compiles skip and bra.
func (c *compiler) jump(op ax.Op) error {
	offset := int(int16(c.integer(2)))
	target := c.at + offset
	if target < 0 || target > len(c.code) || c.short {
		return errDamaged
	}
	c.targets[target] = true
	if _, known := c.joined[target]; !known {
		c.joined[target] = append([]cell(nil), c.cells...)
	}
	c.list = append(c.list, step{-1, func(o *output) error {
		o.Jump(op, o.labels[target])
		return nil
	}})
	return nil
}

// located pushes an address of the file, where the program runs.
func (c *compiler) located(addr arch.Addr) error { return c.constant(int64(addr + c.bias)) }

// indexedAddress looks up the operand in the unit's table of addresses.
func (c *compiler) indexedAddress() (arch.Addr, error) {
	addr, ok := c.frame.address(c.unsigned())
	if !ok {
		return 0, errDamaged
	}
	return addr, nil
}

// absent is a place that cannot be had.
func absent(err error) expr.Place { return expr.Absent{Reason: err.Error()} }
