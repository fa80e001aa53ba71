package match

// state is what the registers of one processor hold on both sides, as far as the traces have told, and which places in memory hold
// different things. A difference that reads something of which the two sides hold different values is a consequence.
type state struct {
	registers []register
	memory    *wrongMemory
}

// register is one register on both sides.
type register struct {
	sides   [2]held
	differs bool
}

// held is what a register holds on one side, and who wrote it.
type held struct {
	known  bool
	wide   bool
	value  uint64
	digits []byte // of a wide value
	writer place
}

// place is where a record is.
type place struct{ index, line, offset int64 }

// wrongMemory is the bytes in memory that have been written differently, of all processors.
type wrongMemory struct{ bytes map[uint64]struct{} }

// mostWrongBytes bounds the memory that wrongMemory takes. Of more bytes nothing is known.
const mostWrongBytes = 1 << 20

func newWrongMemory() *wrongMemory { return &wrongMemory{bytes: make(map[uint64]struct{})} }

// set notes that the bytes of an access are the same on both sides, or not.
func (m *wrongMemory) set(e *effect, wrong bool) {
	if !wrong && len(m.bytes) == 0 {
		return
	}
	for i := range uint64(min(e.size, 64)) {
		if !wrong {
			delete(m.bytes, e.at+i)
		} else if len(m.bytes) < mostWrongBytes {
			m.bytes[e.at+i] = struct{}{}
		}
	}
}

// wrong reports whether a byte of an access is not the same on both sides.
func (m *wrongMemory) wrong(e *effect) bool {
	if len(m.bytes) == 0 {
		return false
	}
	for i := range uint64(min(e.size, 64)) {
		if _, ok := m.bytes[e.at+i]; ok {
			return true
		}
	}
	return false
}

func (s *state) register(id uint64) *register {
	for id >= uint64(len(s.registers)) {
		s.registers = append(s.registers, register{})
	}
	return &s.registers[id]
}

// apply takes over the effects of an instruction of one side.
func (s *state) apply(side int, g *group) {
	for i := range g.effects {
		s.applyOne(side, g, &g.effects[i])
	}
}

func (s *state) applyOne(side int, g *group, e *effect) {
	if e.kind != writesRegister {
		return
	}
	r := s.register(e.at)
	h := &r.sides[side]
	h.known, h.wide, h.value, h.writer = true, e.wide, e.value, place{g.index, g.line, g.offset}
	if e.wide {
		h.digits = append(h.digits[:0], g.digitsOf(e)...)
	}
	other := &r.sides[1-side]
	switch {
	case h.wide || other.wide:
		r.differs = string(h.text()) != string(other.text())
	default:
		r.differs = h.known != other.known || h.value != other.value
	}
}

// applyEqual takes over the effects of two instructions that have the same, in the same order or not.
func (s *state) applyEqual(a, b *group) {
	for i := range a.effects {
		e := &a.effects[i]
		switch {
		case e.kind == writesRegister && !e.wide:
			r := s.register(e.at)
			x, y := &r.sides[reference], &r.sides[other]
			x.known, x.wide, x.value, x.writer = true, false, e.value, place{a.index, a.line, a.offset}
			y.known, y.wide, y.value, y.writer = true, false, e.value, place{b.index, b.line, b.offset}
			r.differs = false
		case e.kind == writesRegister:
			s.applyOne(reference, a, e)
			s.applyOne(other, a, e)
			s.registers[e.at].sides[other].writer = place{b.index, b.line, b.offset}
		default:
			s.memory.set(e, false)
		}
	}
}

// text gives the value in digits, empty if it is not known.
func (h *held) text() []byte {
	switch {
	case !h.known:
		return nil
	case h.wide:
		return h.digits
	}
	return appendHex(nil, h.value)
}
