package fakestub

import "bytes"

// peek reads memory for a debugger: as much of it as there is in one piece. Reads of the device are counted, and change it.
func (m *machine) peek(at uint64, size int, shown bool) []byte {
	r := m.region(at, 1)
	if r == nil {
		return nil
	}
	b := bytes.Clone(r.bytes[at-r.at:])
	b = b[:min(size, len(b))]
	if r == &m.device {
		m.deviceReads++
		m.turn()
	}
	if !shown {
		m.hide(b, at)
	}
	return b
}

// peekQuietly is the same for memory with all breakpoints out of it, and nobody notices.
func (m *machine) peekQuietly(at uint64, size int) []byte {
	b := bytes.Clone(m.at(at, size))
	m.hide(b, at)
	return b
}

// hide puts what is under breakpoints in their place, in a copy of memory.
func (m *machine) hide(b []byte, at uint64) {
	for _, p := range m.breakpoints {
		if p.under != nil && bytes.Equal(m.at(p.at, p.size), trapOf(p.size)) {
			overlay(b, at, p.under, p.at)
		}
	}
}

// poke writes memory for a debugger, all of it or nothing. Where a breakpoint is in memory and not shown, what is under it changes.
func (m *machine) poke(at uint64, b []byte, shown, flash bool) bool {
	r := m.region(at, len(b))
	if r == nil || r == &m.flash && !flash {
		return false
	}
	for _, p := range m.breakpoints {
		if !shown && p.under != nil && bytes.Equal(m.at(p.at, p.size), trapOf(p.size)) {
			overlay(p.under, p.at, b, at)
			copy(m.at(p.at, p.size), p.under) // first, so that all of memory is as if no breakpoint were there
			defer copy(m.at(p.at, p.size), trapOf(p.size))
		}
	}
	copy(r.bytes[at-r.at:], b)
	return true
}

// overlay copies what b has of the memory of dst.
func overlay(dst []byte, at uint64, b []byte, from uint64) {
	for i := range b {
		if k := from + uint64(i) - at; k < uint64(len(dst)) {
			dst[k] = b[i]
		}
	}
}
