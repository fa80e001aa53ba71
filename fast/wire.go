package fast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

// What a reader has to know of a site, as bytes, for a process that recovers what the tracer has left: numbers as varints, in the
// order of the fields, each list after its length. One function does both directions, so they cannot differ.

// coder encodes values, or decodes them if it has bytes to do that from. After a failure it goes on with zeros.
type coder struct {
	out    []byte
	in     []byte
	decode bool
	failed bool
}

var errNoSlots = errors.New("bytes that describe no site")

// number codes a number from 0 to most.
func (c *coder) number(n *int, most int) {
	if !c.decode {
		c.out = binary.AppendUvarint(c.out, uint64(*n))
		return
	}
	v, size := binary.Uvarint(c.in)
	if size <= 0 || v > uint64(most) {
		c.failed, c.in, v = true, nil, 0
	} else {
		c.in = c.in[size:]
	}
	*n = int(v)
}

// flag codes a truth value.
func (c *coder) flag(b *bool) {
	n := 0
	if *b {
		n = 1
	}
	c.number(&n, 1)
	*b = n == 1
}

// addr codes an address.
func (c *coder) addr(a *arch.Addr) {
	low, high := int(uint32(*a)), int(uint64(*a)>>32)
	c.number(&low, math.MaxUint32)
	c.number(&high, math.MaxUint32)
	*a = arch.Addr(low) | arch.Addr(high)<<32
}

// list codes the length of a list and then each member.
func list[T any](c *coder, l *[]T, each func(*T)) {
	n := len(*l)
	c.number(&n, maxList)
	if c.decode {
		*l = make([]T, n)
	}
	for i := range *l {
		each(&(*l)[i])
	}
}

// maxList bounds the lists of a description, which none comes near to.
const maxList = 4096

// Encode appends what Decode makes Slots of.
func (s *Slots) Encode(dst []byte) []byte {
	c := coder{out: dst}
	s.code(&c)
	return c.out
}

// DecodeSlots reads what Encode has written. The bytes may be anybody's: what it returns without an error is safe to be read by.
func DecodeSlots(b []byte) (*Slots, error) {
	c := coder{in: b, decode: true}
	s := &Slots{}
	s.code(&c)
	if c.failed || len(c.in) > 0 {
		return nil, errNoSlots
	}
	return s, s.validate()
}

// code codes a site.
func (s *Slots) code(c *coder) {
	c.number(&s.site, MaxTracepoints-1)
	c.addr(&s.addr)
	c.number(&s.size, maxSlot)
	list(c, &s.frames, func(f *framePlan) { f.code(c) })
	list(c, &s.causes, func(x *cause) { x.code(c) })
}

// code codes where the frame of a tracepoint is.
func (f *framePlan) code(c *coder) {
	number := int(f.key.Number)
	c.number(&number, trace.MaxNumber)
	f.key.Number = trace.Number(number)
	c.addr(&f.key.Addr)
	c.number(&f.index, MaxTracepoints-1)
	for _, n := range []*int{&f.at, &f.end, &f.rawAt, &f.condition} {
		c.number(n, maxSlot)
	}
	c.flag(&f.direct)
	list(c, &f.failures, func(n *int) { c.number(n, maxSlot) })
	list(c, &f.blocks, func(b *block) { b.code(c) })
	// Frames without registers are told from those with none of them.
	has := f.registers != nil
	c.flag(&has)
	if has {
		if c.decode {
			f.registers = &Registers{}
		}
		f.registers.code(c)
	}
}

// code codes a block; whether its kind exists is for validate.
func (b *block) code(c *coder) {
	kind, number := int(b.kind), int(b.number)
	c.number(&kind, math.MaxUint8)
	c.number(&number, math.MaxUint16)
	b.kind, b.number = blockKind(kind), trace.VariableNumber(number)
	c.number(&b.at, maxSlot)
	c.number(&b.room, maxSlot)
	c.flag(&b.thread)
	c.flag(&b.more)
}

// code codes of registers what the reader needs: how the pad stores them is not part of it.
func (r *Registers) code(c *coder) {
	c.number(&r.size, maxSlot)
	c.number(&r.raw.size, maxSlot)
	none := r.moves == nil
	c.flag(&none)
	list(c, &r.moves, func(m *move) {
		c.flag(&m.raw)
		c.flag(&m.tag)
		for _, n := range []*int{&m.from, &m.to, &m.n, &m.size} {
			c.number(n, maxSlot)
		}
	})
	if none {
		r.moves = nil
	}
}

// failureKinds are the ways in which compiled expressions fail.
var failureKinds = []error{ax.ErrMemory, ax.ErrDivideByZero, ax.ErrEmptyStack}

// code codes what can fail.
func (x *cause) code(c *coder) {
	kind, op := max(slices.Index(failureKinds, x.kind), 0), int(x.op)
	c.number(&kind, len(failureKinds)-1)
	c.number(&op, math.MaxUint8)
	x.kind, x.op = failureKinds[kind], ax.Op(op)
	c.number(&x.offset, math.MaxUint16)
	c.number(&x.size, 8)
}

// validate checks that a reader stays within a slot, and that frames are whole whatever the slot holds.
func (s *Slots) validate() error {
	bad := func(what string) error { return fmt.Errorf("%w: %s", errNoSlots, what) }
	if s.size < slotAlign || s.size%slotAlign != 0 || len(s.frames) > MaxAtSite {
		return bad("its size or its tracepoints")
	}
	for i := range s.frames {
		f := &s.frames[i]
		// Blocks follow one another without gaps, as whoever takes a frame as it is relies on that.
		next := f.at + frameHeader
		for j := range f.blocks {
			b := &f.blocks[j]
			if b.at != next || !b.valid(f.registers) {
				return bad("a block")
			}
			next = b.at + b.length()
		}
		if f.key.Number < 1 || f.at < slotHeader || f.end != next || next > s.size || !f.registers.valid(f, s.size) {
			return bad("a frame")
		}
		for _, at := range append(slices.Clone(f.failures), f.condition) {
			if at > s.size-failureSize {
				return bad("a failure record")
			}
		}
	}
	return nil
}

// valid reports whether a block has a kind, and contents of a length that the kind can have.
func (b *block) valid(r *Registers) bool {
	switch b.kind {
	case blockRegisters:
		return r != nil && (r.moves != nil || b.room == r.size)
	case blockMemory:
		return b.room > 0 && b.room <= maxBlock
	case blockVariable:
		return b.room == 8
	}
	return false
}

// valid reports whether all moves stay within what they copy from and to.
func (r *Registers) valid(f *framePlan, slot int) bool {
	if r == nil {
		return true
	}
	general := 0
	for _, b := range f.blocks {
		if b.kind == blockRegisters {
			general = b.room
		}
	}
	if f.rawAt+r.raw.size > slot || f.direct && r.moves != nil {
		return false
	}
	for _, m := range r.moves {
		from := general
		if m.raw {
			from = r.raw.size
		}
		n := m.n
		if m.tag {
			n = 2
			if r.raw.size < legacySize {
				return false
			}
		} else if m.from+n > from {
			return false
		}
		if m.to+n > r.size {
			return false
		}
	}
	return true
}
