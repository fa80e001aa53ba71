package expr

import (
	"encoding/binary"
	"errors"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// code appends instructions that leave one cell more on the stack.
type code func(b *ax.Builder) error

// value is a part that is compiled: one that lies in a place, or one that is computed. What code pushes is extended to a cell
// by the sign of the type.
type value struct {
	typ   *ctype.Type
	place Place        // nil if it is computed
	code  code         // computed
	known *uint64      // the value of a constant
	field *ctype.Field // of a bit field: the bits are a part of the bytes in the place
	count code         // of an array whose type has no length: pushes how many elements it has
}

// constant is an integer that is known.
func constant(bits uint64, typ *ctype.Type) value {
	return value{typ: typ, known: &bits, code: pushed(bits)}
}

// pushed is a constant on the stack.
func pushed(bits uint64) code {
	return func(b *ax.Builder) error {
		b.Const(int64(bits))
		return nil
	}
}

// then appends operations to code. Code is never changed, only wrapped: one value may be part of several expressions.
func (c code) then(more ...func(b *ax.Builder)) code {
	return func(b *ax.Builder) error {
		if err := c(b); err != nil {
			return err
		}
		for _, add := range more {
			add(b)
		}
		return nil
	}
}

// with appends the code of a second operand and operations on both.
func (c code) with(second code, more ...func(b *ax.Builder)) code {
	return func(b *ax.Builder) error {
		return errors.Join(c(b), second.then(more...)(b))
	}
}

// followed is c, which leaves nothing on the stack, and then next.
func (c code) followed(next code) code {
	return func(b *ax.Builder) error { return errors.Join(c(b), next(b)) }
}

// op is an operation without an operand in the bytecode, or with it.
func op(op ax.Op, operand ...uint64) func(*ax.Builder) {
	return func(b *ax.Builder) { b.Emit(op, operand...) }
}

// number pushes a constant, as an operation behind other code.
func number(n uint64) func(*ax.Builder) { return func(b *ax.Builder) { b.Const(int64(n)) } }

// plus is an address some bytes further.
func (c code) plus(offset int) code {
	if offset == 0 {
		return c
	}
	return c.then(number(uint64(offset)), op(ax.OpAdd))
}

// extended widens what lies in the lowest bytes of a cell by the sign of a type. Nothing is known of the bytes above.
func (c code) extended(t *ctype.Type) code {
	switch {
	// Any bits but zero are true; C programs keep the rule, other memory need not.
	case t.Kind == ctype.Bool:
		return c.then(op(ax.OpZeroExt, uint64(8*t.Size)), op(ax.OpLogNot), op(ax.OpLogNot))
	case t.Size == 8:
		return c
	case t.Signed:
		return c.then(op(ax.OpExt, uint64(8*t.Size)))
	}
	return c.then(op(ax.OpZeroExt, uint64(8*t.Size)))
}

// refs are the operations that read memory. All zero-extend.
var refs = map[int]ax.Op{1: ax.OpRef8, 2: ax.OpRef16, 4: ax.OpRef32, 8: ax.OpRef64}

// fetched reads an integer of a type at the address that c pushes.
func (c code) fetched(t *ctype.Type) code {
	c = c.then(op(refs[t.Size]))
	if t.Signed || t.Kind == ctype.Bool {
		return c.extended(t)
	}
	return c
}

// widest is the size of the largest register that an agent expression can read.
const widest = 8

// problem is a reason why the value of a part cannot be computed.
type problem string

func (p problem) Error() string { return string(p) }

// load is the code that pushes an integer which lies in a place.
func load(place Place, t *ctype.Type, order arch.ByteOrder) (code, error) {
	switch at := place.(type) {
	case Memory:
		return code(at.Emit).fetched(t), nil
	case Register:
		return loadRegister(at, t)
	case Value:
		return code(at.Emit).extended(t), nil
	case Constant:
		if len(at.Bytes) < t.Size {
			return nil, problem("optimized out in part")
		}
		return pushed(t.Extend(constantBits(at, t.Size, order))), nil
	case Pieces:
		c, err := loadPieces(at, t.Size, order)
		if err != nil {
			return nil, err
		}
		return c.extended(t), nil
	case Absent:
		return nil, problem(at.Reason)
	}
	return nil, problem("it is nowhere")
}

// isBig reports whether the most significant byte comes first.
func isBig(order arch.ByteOrder) bool { return order == arch.ByteOrder(binary.BigEndian) }

// constantBits is the number in the first bytes of a constant.
func constantBits(c Constant, size int, order arch.ByteOrder) uint64 {
	return arch.Uint(c.Bytes[:size], order)
}

// loadRegister pushes a register, or a part of one. The reg operation leaves the register zero-extended in its cell; registers of
// more than 8 bytes can be collected, but not computed with.
func loadRegister(r Register, t *ctype.Type) (code, error) {
	if r.Offset+t.Size > widest {
		return nil, problem("its register has more than 8 bytes, and an agent expression reads no more")
	}
	c := code(func(b *ax.Builder) error {
		b.Emit(ax.OpReg, uint64(r.Num))
		return nil
	})
	if r.Offset > 0 {
		c = c.then(number(uint64(8*r.Offset)), op(ax.OpRshUnsigned))
	}
	return c.extended(t), nil
}

// loadPieces puts an integer together from its pieces: each is shifted to its place and joined by or.
func loadPieces(pieces Pieces, size int, order arch.ByteOrder) (code, error) {
	var whole code
	// An integer of which bits are missing has no value, not even in part.
	total := 0
	for _, p := range pieces {
		total += p.Bits
	}
	if total < 8*size {
		return nil, problem("optimized out in part")
	}
	done := 0
	for _, p := range pieces {
		if done >= 8*size {
			break
		}
		bits := min(p.Bits, 8*size-done)
		part, err := loadPiece(p, bits, order)
		if err != nil {
			return nil, err
		}
		shift := done
		// Pieces are listed from the lowest address on, which is the highest byte then.
		if isBig(order) {
			shift = 8*size - done - bits
		}
		if shift > 0 {
			part = part.then(number(uint64(shift)), op(ax.OpLsh))
		}
		if whole == nil {
			whole = part
		} else {
			whole = whole.with(part, op(ax.OpBitOr))
		}
		done += bits
	}
	return whole, nil
}

// loadPiece pushes the lowest bits of a piece, zero-extended.
func loadPiece(p Piece, bits int, order arch.ByteOrder) (code, error) {
	if p.Place == nil {
		return nil, problem("optimized out in part")
	}
	// The smallest integer that holds the bits is read, so that nothing beyond the piece is touched.
	size := 1
	for 8*size < p.Offset+bits {
		size *= 2
	}
	if size > widest {
		return nil, problem("its pieces are too large for an agent expression to put together")
	}
	c, err := load(p.Place, ctype.Int(size, false), order)
	if err != nil {
		return nil, err
	}
	if p.Offset > 0 {
		c = c.then(number(uint64(p.Offset)), op(ax.OpRshUnsigned))
	}
	if 8*size > p.Offset+bits {
		c = c.then(op(ax.OpZeroExt, uint64(bits)))
	}
	return c, nil
}

// part is where a part of a value lies, in bytes from its start.
func part(place Place, offset, size, whole int, order arch.ByteOrder) Place {
	// Offsets count from the lowest address. In a register and in a cell the first byte of a big-endian value is the highest one, so
	// the distance from the other end counts there.
	switch at := place.(type) {
	case Memory:
		return Memory{code(at.Emit).plus(offset)}
	case Register:
		if isBig(order) {
			offset = whole - offset - size
		}
		return Register{at.Num, at.Offset + offset, size}
	case Value:
		if isBig(order) {
			offset = whole - offset - size
		}
		return Value{code(at.Emit).then(number(uint64(8*offset)), op(ax.OpRshUnsigned))}
	case Constant:
		if offset+size > len(at.Bytes) {
			return Absent{"optimized out"}
		}
		return Constant{at.Bytes[offset : offset+size]}
	case Pieces:
		return partOfPieces(at, 8*offset, 8*size)
	}
	return place
}

// partOfPieces returns the pieces that hold bits bits from the first on.
func partOfPieces(pieces Pieces, first, bits int) Place {
	var taken Pieces
	for _, p := range pieces {
		skip := min(first, p.Bits)
		first -= skip
		if n := min(p.Bits-skip, bits); n > 0 {
			taken = append(taken, pieceOf(p, skip, n))
			bits -= n
		}
	}
	if bits > 0 {
		return Absent{"optimized out"}
	}
	// What lies in one piece is simpler to read, and to take the address of, than a list of one.
	if len(taken) != 1 {
		return taken
	}
	p := taken[0]
	register, ok := p.Place.(Register)
	switch {
	case p.Place == nil:
		return Absent{"optimized out"}
	case ok && p.Offset%8 == 0 && p.Bits%8 == 0:
		return Register{register.Num, register.Offset + p.Offset/8, p.Bits / 8}
	case !ok && p.Offset == 0:
		return p.Place
	}
	return taken
}

// pieceOf is a piece without its first bits, and cut short behind n bits.
func pieceOf(p Piece, skip, n int) Piece {
	if m, ok := p.Place.(Memory); ok && skip%8 == 0 && p.Offset == 0 {
		return Piece{Memory{code(m.Emit).plus(skip / 8)}, n, 0}
	}
	return Piece{p.Place, n, p.Offset + skip}
}
