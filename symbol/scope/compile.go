package scope

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/expr"
)

// compiler translates one DWARF expression (DWARF 5, 2.5) to the code of agent expressions, operator by operator: both are stack
// machines with cells of 64 bits. It tracks the types of the cells, which agent expressions do not have, because DWARF 5's typed
// operators mean one thing for signed and another for unsigned cells.
//
// Jumps go to byte offsets in the expression. An operator that is jumped to must find the same types on every way, which is what
// compilers write; the types of the first way count.
type compiler struct {
	*frame
	cursor
	steps
	cells  []cell
	joined map[int][]cell // by operator that is jumped to: the cells that its jumps leave
	dead   bool           // what follows is only reached by a jump
}

// Errors that end a translation. Callers put the name of the variable in front of them.
var (
	errDamaged = errors.New("its location is damaged")
	errStack   = errors.New("its location takes more from the stack than there is")
)

// emission compiles an expression whose value is an address or a number, such as a frame base or the size of an array, over what is
// on the stack when it begins.
func (f *frame) emission(code []byte, stack ...int64) (emit, error) {
	c := f.compiler(code)
	for _, n := range stack {
		if err := c.constant(n); err != nil {
			return nil, err
		}
	}
	for c.more() {
		op := c.begin()
		if err := c.operator(op); err != nil {
			return nil, err
		}
	}
	return c.finish()
}

// compiler starts the translation of an expression in a frame.
func (f *frame) compiler(code []byte) *compiler {
	return &compiler{frame: f, cursor: cursor{code: code, order: f.order}, steps: steps{targets: make(map[int]bool)},
		joined: make(map[int][]cell)}
}

// begin reads the next operator and opens a step for it, as a jump may lead there. Behind an unconditional jump the stack is that
// of the jump that leads here. GNU's operators are returned as those of DWARF 5.
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

// finish returns what emits the code. A jump to anything but the start of an operator, or the end, is damage.
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

// ops appends operations without operands.
func (c *compiler) ops(ops ...ax.Op) {
	c.add(func(b *ax.Builder) {
		for _, op := range ops {
			b.Emit(op)
		}
	})
}

// push and pop track the stack of types; the code that moves the values is appended apart.
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
	c.cells = c.cells[:at:at] // a push copies, as jumps keep the list that they saw
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

// unknown is the error of an operator that cannot be translated: xderef and call among those of the standard, and whatever vendors
// have added.
func unknown(op byte) error {
	return fmt.Errorf("its location uses an operation (0x%02x) that agent expressions do not have", op)
}

// based pushes a register with an offset.
func (c *compiler) based(n uint64) error {
	offset := c.signed()
	return c.relative(func() (emit, error) { return c.frame.push(n) }, offset)
}

// addOffset adds a constant to the cell on top.
func addOffset(b *ax.Builder, offset int64) {
	if offset != 0 {
		b.Const(offset)
		b.Emit(ax.OpAdd)
	}
}

// plus pushes e + offset.
func (e emit) plus(offset int64) emit {
	return func(b *ax.Builder) error {
		err := e(b)
		addOffset(b, offset)
		return err
	}
}

// relative pushes a value of the frame, such as its base, with an offset in bytes.
func (c *compiler) relative(get func() (emit, error), offset int64) error {
	value, err := get()
	if err != nil {
		return err
	}
	c.append(value.plus(offset))
	c.push(cell{})
	return nil
}

// append adds code that may fail to what the operator does.
func (c *compiler) append(code emit) {
	c.list = append(c.list, step{-1, func(o *output) error { return code(o.Builder) }})
}

// dyadic compiles an operator with two operands, of which the left one decides on the sign and the type of the result.
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
	// A signed cell is extended by its sign, which a logical shift must not bring down: the upper bits are cleared first.
	if op == opShr && left.signed {
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

// jump compiles skip and bra. Their operand is a signed distance of two bytes from the operator behind it.
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

// located pushes an address of the file as the running program has it.
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
