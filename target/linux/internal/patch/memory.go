package patch

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"tracewell/arch"
)

// Read reads the readable prefix of dst as the program has it, and says what comes behind that is not readable.
func (s *Space) Read(addr arch.Addr, dst []byte) (int, error) {
	n, err := s.mem.ReadAt(dst, int64(addr))
	s.Hide(addr, dst[:n])
	if n < len(dst) {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("no memory there")
		}
		return n, fmt.Errorf("cannot read memory at %s: %w", addr+arch.Addr(n), err)
	}
	return n, nil
}

// Hide puts the program's own bytes into what was read from addr, in place of those of patches. It does not allocate.
func (s *Space) Hide(addr arch.Addr, b []byte) {
	for _, p := range s.Within(addr, addr+arch.Addr(len(b))) {
		if !p.lifted {
			p.hide(addr, b)
		}
	}
}

// overlap returns the part of a patch that is in a range: from which of its bytes on, and the index of that in the range.
func (p *Patch) overlap(addr arch.Addr, size int) (from, index, n int) {
	if p.addr < addr {
		from = int(addr - p.addr)
	} else {
		index = int(p.addr - addr)
	}
	return from, index, max(min(len(p.inserted)-from, size-index), 0)
}

// hide puts the program's own bytes into what was read from addr, where those of a patch are, and reports whether any were.
func (p *Patch) hide(addr arch.Addr, b []byte) (found bool) {
	from, index, n := p.overlap(addr, len(b))
	for i := range n {
		if v := b[index+i]; v == p.inserted[from+i] || from+i < len(p.lid) && v == p.lid[from+i] {
			b[index+i] = p.original[from+i]
			found = true
		}
	}
	return found
}

// Write changes the program's own bytes and returns how many of them. Patches stay inserted over them.
func (s *Space) Write(addr arch.Addr, b []byte) (int, error) {
	covered := s.Within(addr, addr+arch.Addr(len(b)))
	masked := b
	if len(covered) > 0 {
		masked = slices.Clone(b)
	}
	for _, p := range covered {
		if p.lifted {
			continue
		}
		from, index, n := p.overlap(addr, len(b))
		copy(masked[index:index+n], p.inserted[from:])
		s.guardBytes(p, from, b[index:index+n])
	}
	written, err := s.mem.WriteAt(masked, int64(addr))
	for _, p := range covered {
		if p.lifted {
			continue
		}
		from, index, n := p.overlap(addr, len(b))
		changed := max(min(n, written-index), 0)
		p.original = slices.Clone(p.original) // a Shadow may have the others
		copy(p.original[from:], b[index:index+changed])
		s.change(p)
		s.guardBytes(p, from+changed, p.original[from+changed:from+n])
	}
	if err != nil {
		return written, cannotWrite(addr+arch.Addr(written), err)
	}
	return written, nil
}

// guardBytes has the guard know what the program's own bytes are under a part of a patch.
func (s *Space) guardBytes(p *Patch, from int, original []byte) {
	for i, b := range original {
		s.set(p, from+i, b)
	}
}

func cannotWrite(addr arch.Addr, err error) error {
	return fmt.Errorf("cannot write memory at %s: %w", addr, err)
}
