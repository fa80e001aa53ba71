package match

import (
	"slices"

	"tracewell/itrace"
)

// state is what the registers of one processor hold on both sides, as far as the traces have told, and which places in memory hold
// different things. A difference that reads something of which the two sides hold different values is a consequence.
type state struct {
	registers []register
	differing int   // registers that differ
	paired    int   // of these, those that do not differ only for what one side executed
	healed    int64 // the latest of the registers'
	memory    *wrongMemory
	passing   bool // what is applied is of a stretch that the other side lacks
}

// register is one register on both sides.
type register struct {
	sides   [2]held
	differs bool
	// strayed says that it differs for what only one side executed. So do the scratch registers of a handler, for ever, without
	// that anything reads them.
	strayed bool
	healed  int64 // the instruction of the reference, by its index, that made it equal after it differed, plus 1
}

// held is what a register holds on one side, and who wrote it.
type held struct {
	known  bool
	wide   bool
	value  uint64
	digits []byte // of a wide value; never changed in place
	writer place
}

// place is where a record is.
type place struct{ index, line, offset int64 }

// wrongMemory is the bytes in memory that have been written differently, of all processors.
type wrongMemory struct {
	bytes map[uint64]struct{}
	lost  bool // there were too many: any byte may be wrong
}

// mostWrongBytes bounds the memory that wrongMemory takes.
const mostWrongBytes = 1 << 18

func newWrongMemory() *wrongMemory { return &wrongMemory{bytes: make(map[uint64]struct{})} }

// set notes that the bytes of an access are the same on both sides, or not.
func (m *wrongMemory) set(e *effect, wrong bool) {
	if !wrong && len(m.bytes) == 0 {
		return
	}
	for i := range uint64(min(e.size, mostSpread)) {
		if !wrong {
			delete(m.bytes, e.at+i)
		} else if m.lost = m.lost || len(m.bytes) >= mostWrongBytes; !m.lost {
			m.bytes[e.at+i] = struct{}{}
		}
	}
}

// setWritten notes that what an access has written, if it has, is the same on both sides or not.
func (m *wrongMemory) setWritten(e *effect, wrong bool) {
	if e.kind == stores {
		m.set(e, wrong)
	}
}

// wrong reports whether a byte of an access is not the same on both sides.
func (m *wrongMemory) wrong(e *effect) bool {
	if len(m.bytes) == 0 || m.lost {
		return m.lost
	}
	for i := range uint64(min(e.size, mostSpread)) {
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

// apply takes over the effects of an instruction of one side, but for those, by their places, that are of the past.
func (s *state) apply(side int, g *group, stale []int) {
	for i := range g.effects {
		if !slices.Contains(stale, i) {
			s.applyOne(side, g, &g.effects[i])
		}
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
		h.digits = slices.Clone(g.digitsOf(e))
	}
	other := &r.sides[1-side]
	s.setDiffers(r, !h.equal(other), s.passing, r.sides[reference].writer.index)
}

// setDiffers notes whether a register holds different things from an instruction of the reference on.
func (s *state) setDiffers(r *register, differs, strayed bool, index int64) {
	if r.differs {
		s.differing--
		if !r.strayed {
			s.paired--
		}
		if !differs {
			r.healed = index + 1
			s.healed = r.healed
		}
	}
	r.differs, r.strayed = differs, differs && strayed
	if differs {
		s.differing++
		if !strayed {
			s.paired++
		}
	}
}

func (h *held) equal(o *held) bool {
	switch {
	case h.known != o.known:
		return false
	case h.wide || o.wide:
		return itrace.DigitsMatch(h.text(), o.text())
	}
	return h.value == o.value
}

// applyEqual takes over the effects of two instructions that have the same, in the same order or not.
func (s *state) applyEqual(a, b *group) {
	for i := range a.effects {
		e := &a.effects[i]
		if e.kind != writesRegister {
			if e.accesses() {
				s.memory.set(e, false)
			}
			continue
		}
		s.setEqual(e.at, e.value, nil, place{a.index, a.line, a.offset}, place{b.index, b.line, b.offset})
	}
}

// setEqual notes that the instructions at two places have written the same to a register. wide is the digits of a wide value, which
// are kept.
func (s *state) setEqual(id, value uint64, wide []byte, by, otherBy place) {
	r := s.register(id)
	x, y := &r.sides[reference], &r.sides[other]
	x.known, x.wide, x.value, x.writer = true, wide != nil, value, by
	y.known, y.wide, y.value, y.writer = true, wide != nil, value, otherBy
	if wide != nil {
		x.digits, y.digits = wide, wide
	}
	if r.differs {
		s.setDiffers(r, false, false, by.index)
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
