package scope

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
)

// operators compile what is not in fixed and dyadic. The operands come next.
var operators = map[byte]func(*compiler) error{
	opAddr: func(c *compiler) error { return c.located(arch.Addr(c.integer(c.addrSize))) },
	opAddrx: func(c *compiler) error {
		addr, err := c.indexedAddress()
		return errors.Join(err, c.located(addr))
	},
	opConstx: func(c *compiler) error {
		addr, err := c.indexedAddress()
		return errors.Join(err, c.constant(int64(addr)))
	},
	opConstu: func(c *compiler) error { return c.constant(int64(c.cursor.unsigned())) },
	opConsts: func(c *compiler) error { return c.constant(c.cursor.signed()) },

	opDup:  func(c *compiler) error { return c.pick(0, ax.OpDup) },
	opOver: func(c *compiler) error { return c.pick(1) },
	opPick: func(c *compiler) error { return c.pick(int(c.byte())) },
	opDrop: func(c *compiler) error {
		c.ops(ax.OpPop)
		_, err := c.pop(1)
		return err
	},
	opSwap: func(c *compiler) error { return c.rotate(2, ax.OpSwap) },
	opRot:  func(c *compiler) error { return c.rotate(3, ax.OpRot) },
	opNop:  func(*compiler) error { return nil },

	opAbs: func(c *compiler) error { return c.unary(absolute) },
	opNeg: func(c *compiler) error { return c.unary(negate) },
	opNot: func(c *compiler) error { return c.unary(func(b *ax.Builder) { b.Emit(ax.OpBitNot) }) },
	opPlusUconst: func(c *compiler) error {
		offset := int64(c.cursor.unsigned())
		return c.unary(func(b *ax.Builder) { addOffset(b, offset) })
	},
	// Agent expressions read the sizes 1, 2, 4 and 8 only, and zero-extend as DW_OP_deref_size requires.
	opDeref:     func(c *compiler) error { return c.load(c.addrSize, cell{}) },
	opDerefSize: func(c *compiler) error { return c.load(int(c.byte()), cell{}) },
	opDerefType: func(c *compiler) error {
		size := int(c.byte())
		t, err := c.typed()
		return errors.Join(err, c.load(size, t))
	},

	// What follows a skip is dead until a jump leads to it: its stack is not known before (begin).
	opSkip: func(c *compiler) error {
		err := c.jump(ax.OpGoto)
		c.dead = true
		return err
	},
	opBra: func(c *compiler) error {
		if _, err := c.pop(1); err != nil {
			return err
		}
		return c.jump(ax.OpIfGoto)
	},

	opBregx:        func(c *compiler) error { return c.based(c.cursor.unsigned()) },
	opFbreg:        func(c *compiler) error { return c.relative(c.base, c.cursor.signed()) },
	opCallFrameCFA: func(c *compiler) error { return c.relative(c.cfa, 0) },
	opFormTLSAddress: func(c *compiler) error {
		add, err := c.tls()
		if err != nil {
			return err
		}
		if _, err := c.pop(1); err != nil {
			return err
		}
		c.append(add)
		c.push(cell{})
		return nil
	},

	opConstType:   constType,
	opRegvalType:  regvalType,
	opConvert:     (*compiler).convert,
	opReinterpret: (*compiler).convert,
	opEntryValue:  entryValue,
}

// negate is 0 - x: agent expressions have no negation.
func negate(b *ax.Builder) {
	b.Const(0)
	b.Emit(ax.OpSwap)
	b.Emit(ax.OpSub)
}

// absolute negates a cell that is below 0.
func absolute(b *ax.Builder) {
	done := b.NewLabel()
	b.Emit(ax.OpDup)
	b.Const(0)
	b.Emit(ax.OpLessSigned)
	b.Emit(ax.OpLogNot)
	b.Jump(ax.OpIfGoto, done)
	negate(b)
	b.Bind(done)
}

// pick copies a cell to the top, by another operation where there is a shorter one.
func (c *compiler) pick(depth int, instead ...ax.Op) error {
	if depth >= len(c.cells) {
		return errStack
	}
	c.push(c.cells[len(c.cells)-1-depth])
	if instead != nil {
		c.ops(instead...)
		return nil
	}
	c.add(func(b *ax.Builder) { b.Emit(ax.OpPick, uint64(depth)) })
	return nil
}

// rotate puts the top cell below the n-1 before it.
func (c *compiler) rotate(n int, op ax.Op) error {
	cells, err := c.pop(n)
	if err != nil {
		return err
	}
	c.ops(op)
	c.push(cells[n-1])
	c.cells = append(c.cells, cells[:n-1]...)
	return nil
}

// unary changes the top cell.
func (c *compiler) unary(change func(b *ax.Builder)) error {
	if len(c.cells) == 0 {
		return errStack
	}
	c.add(change)
	c.add(c.cells[len(c.cells)-1].narrow)
	return nil
}

// load reads an integer of 1, 2, 4 or 8 bytes in memory.
func (c *compiler) load(size int, t cell) error {
	op, ok := loads[size]
	if !ok {
		return fmt.Errorf("its location reads %d bytes as a number", size)
	}
	if _, err := c.pop(1); err != nil {
		return err
	}
	c.ops(op)
	c.add(t.narrow)
	c.push(t)
	return nil
}

// typed takes an operand that names a base type. 0 is the type of cells that have none.
func (c *compiler) typed() (cell, error) {
	offset := c.cursor.unsigned()
	if offset == 0 {
		return cell{}, nil
	}
	return c.cell(offset)
}

// constType pushes a number of a type.
func constType(c *compiler) error {
	t, err := c.typed()
	if err != nil {
		return err
	}
	content := c.bytes(uint64(c.byte()))
	if len(content) == 0 || len(content) > 8 { // of __int128 and long double: typed has rejected these already
		return errDamaged
	}
	n := arch.Uint(content, c.frame.order)
	c.add(func(b *ax.Builder) { b.Const(int64(n)) })
	c.add(t.narrow)
	c.push(t)
	return nil
}

// regvalType pushes the lowest bytes of a register as a value of a type, as GCC describes variables narrower than their register.
func regvalType(c *compiler) error {
	n := c.cursor.unsigned()
	_, size, err := c.register(n)
	if err != nil {
		return err
	}
	push, err := c.frame.push(n)
	if err != nil {
		return err
	}
	t, err := c.typed()
	switch {
	case err != nil:
		return err
	case size > 8:
		return errors.New("its location computes with a vector register")
	}
	c.append(push)
	c.add(t.narrow)
	c.push(t)
	return nil
}

// convert gives the top cell another type. Of integers, which are all that is compiled, converting and reinterpreting are the same:
// the lowest bytes count.
func (c *compiler) convert() error {
	t, err := c.typed()
	if err != nil {
		return err
	}
	if _, err := c.pop(1); err != nil {
		return err
	}
	c.add(t.narrow)
	c.push(t)
	return nil
}

// entryValue pushes what a register held when the function was entered. At the first instruction that is what it holds; anywhere
// else only the caller can tell. The operand is an expression of its own, in practice one register: reg5, or regval_type for a
// register that is wider than the value. The messages say "entry value", as GDB's manual calls it.
func entryValue(c *compiler) error {
	inner := cursor{code: c.bytes(c.cursor.unsigned()), order: c.frame.order}
	op := inner.byte()
	n := uint64(op - opReg0)
	switch {
	case op == opRegx:
		n = inner.unsigned()
	// The operand is not translated by begin, so that GNU's number may stand in it.
	case op == opRegvalType || op == opGNURegvalType:
		n = inner.unsigned()
		inner.unsigned() // the type
	case op < opReg0 || op > opReg31:
		return errors.New("what its location had when the function was entered is not known here")
	}
	if inner.short || inner.more() {
		return errDamaged
	}
	if c.entry {
		return c.relative(func() (emit, error) { return c.current(n) }, 0)
	}
	unknown := fmt.Errorf("entry value of $%s is not known here", c.name(n))
	if c.passed == nil {
		return unknown
	}
	value, err := c.passed(n)
	if err != nil {
		return fmt.Errorf("%w: %w", unknown, err)
	}
	return c.relative(func() (emit, error) { return value, nil }, 0)
}
