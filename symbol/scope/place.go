package scope

import (
	"errors"
	"fmt"

	"tracewell/symbol/expr"
)

// errOptimizedOut is what GDB says of what the compiler has left out.
var errOptimizedOut = errors.New("optimized out")

// locate compiles the location of a value of size bytes (DWARF 5, 2.6.1): an address, a register, the value itself, or pieces of
// these. An empty location says that the value was optimized out, as does a piece without a location for its part. What cannot be
// compiled is an absent place with the reason, since other values of the same $locals can be collected all the same.
func (f *frame) locate(code []byte, size int) expr.Place {
	if len(code) == 0 {
		return absent(errOptimizedOut)
	}
	var pieces expr.Pieces
	rest := cursor{code: code, order: f.order}
	for rest.more() {
		p, bits, offset, err := f.piece(&rest, size)
		switch {
		case err != nil:
			return absent(err)
		// What is no piece stands for the whole value, and then there is nothing else.
		case bits == 0 && (rest.more() || pieces != nil):
			return absent(errDamaged)
		case bits == 0:
			return f.whole(p, size)
		}
		pieces = append(pieces, expr.Piece{Place: p, Bits: bits, Offset: offset})
	}
	return pieces
}

// whole rejects a register that is too small for the value, which only damaged or wrong debug information has. The exception is a
// long double of the x87: 10 bytes in its register, 12 or 16 in memory.
func (f *frame) whole(p expr.Place, size int) expr.Place {
	r, ok := p.(expr.Register)
	switch {
	case ok && r.Size == extended && size > extended && size <= 16:
		padding := expr.Constant{Bytes: make([]byte, size-r.Size)}
		return expr.Pieces{{Place: r, Bits: 8 * r.Size}, {Place: padding, Bits: 8 * (size - r.Size)}}
	case ok && r.Size < size:
		return absent(fmt.Errorf("its %d bytes are said to be in a register of %d", size, r.Size))
	}
	return p
}

// piece compiles the location of a part of a value, up to the operator that says how long it is; bits is 0 if there is none
// and the place is that of all of the value.
func (f *frame) piece(rest *cursor, size int) (p expr.Place, bits, offset int, err error) {
	c := f.compiler(rest.code[rest.at:])
	defer func() { rest.at += c.at; rest.short = c.short }()
	for c.more() {
		op := c.begin()
		if op == opPiece || op == opBitPiece {
			bits, offset, err = c.extent(op)
			if p == nil && err == nil {
				p, err = c.memory()
			}
			return withSize(p, bits), bits, offset, err
		}
		if p != nil {
			return nil, 0, 0, errDamaged
		}
		if p, err = c.terminal(op, size); err != nil {
			return nil, 0, 0, err
		}
	}
	if p == nil {
		p, err = c.memory()
	}
	return p, 0, 0, err
}

// withSize makes a register hold no more than the piece, counted from its lowest byte.
func withSize(p expr.Place, bits int) expr.Place {
	if r, ok := p.(expr.Register); ok {
		r.Size = max((bits+7)/8, 1)
		return r
	}
	return p
}

// extent reads the operands of piece and bit_piece, in bits.
func (c *compiler) extent(op byte) (bits, offset int, err error) {
	n := c.cursor.unsigned()
	limit := uint64(mostBytes)
	if op == opPiece {
		n, limit = min(n, limit)*8, limit*8
	} else {
		offset = int(min(c.cursor.unsigned(), limit))
	}
	if n == 0 || n > limit || c.short {
		return 0, 0, errDamaged
	}
	return int(n), offset, nil
}

// mostBytes bounds how long a piece may claim to be, in bytes or bits as its operator counts.
const mostBytes = 1 << 20

// memory is the place whose address was computed. A piece with no operator before it was optimized out.
func (c *compiler) memory() (expr.Place, error) {
	if len(c.list) <= 1 && len(c.cells) == 0 {
		return absent(errOptimizedOut), nil
	}
	emit, err := c.finish()
	return expr.Memory{Emit: emit}, err
}

// terminal compiles an operator. It returns a place if the operator ends a location, nil if more may follow. An implicit pointer
// points to a variable that has no address itself; GDB calls it a synthetic pointer.
func (c *compiler) terminal(op byte, size int) (expr.Place, error) {
	switch {
	case op >= opReg0 && op <= opReg31:
		return c.inRegister(uint64(op-opReg0), size)
	case op == opRegx:
		return c.inRegister(c.cursor.unsigned(), size)
	case op == opStackValue:
		emit, err := c.finish()
		return expr.Value{Emit: emit}, err
	case op == opImplicitValue:
		content := c.bytes(c.cursor.unsigned())
		if c.short {
			return nil, errDamaged
		}
		return expr.Constant{Bytes: padded(content, size)}, nil
	case op == opImplicitPtr:
		return nil, errors.New("synthetic pointer")
	}
	return nil, c.operator(op)
}

// inRegister is the place of a value in a register, of which it has the lowest bytes.
func (c *compiler) inRegister(n uint64, size int) (expr.Place, error) {
	reg, width, err := c.register(n)
	switch {
	case c.short:
		return nil, errDamaged
	case err != nil:
		return nil, err
	}
	return expr.Register{Num: reg, Size: min(size, width)}, nil
}
