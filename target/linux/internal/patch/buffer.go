package patch

import (
	"cmp"
	"slices"

	"tracewell/arch"
)

// Buffer is code that threads execute in place of instructions under a patch: copies of them, what else is to happen, and a jump
// back.
type Buffer struct {
	addr   arch.Addr
	size   int
	code   []byte
	points []Point
}

// Point is one place of a pc map: a thread in the buffer from Offset on, up to the next point, has in the program's own code
// executed all in front of PC, and nothing from there on.
type Point struct {
	Offset int
	PC     arch.Addr
}

// Addr is where the buffer begins.
func (b *Buffer) Addr() arch.Addr { return b.addr }

// Code is what is in the buffer. The caller must not change it.
func (b *Buffer) Code() []byte { return b.code }

// Original is the program's pc for a pc in the buffer. It is false for one elsewhere.
func (b *Buffer) Original(pc arch.Addr) (arch.Addr, bool) {
	if pc < b.addr || pc-b.addr >= arch.Addr(b.size) {
		return 0, false
	}
	offset := int(pc - b.addr)
	i, found := slices.BinarySearchFunc(b.points, offset, func(p Point, offset int) int { return cmp.Compare(p.Offset, offset) })
	if !found {
		i--
	}
	return b.points[i].PC, true
}

// Displaced is the first pc in the buffer where a thread continues that is at a pc of the program. It is false for a pc that the
// buffer has no copy of.
func (b *Buffer) Displaced(pc arch.Addr) (arch.Addr, bool) {
	for _, p := range b.points {
		if p.PC == pc {
			return b.addr + arch.Addr(p.Offset), true
		}
	}
	return 0, false
}

// area is a mapping of the program that is set aside for buffers.
type area struct {
	base       arch.Addr
	size, used int
}

// AddArea sets memory of the program aside for buffers.
func (s *Space) AddArea(base arch.Addr, size int) {
	s.areas = append(s.areas, &area{base: base, size: size})
}

// Reserve returns room for a buffer of that size in an area whose base suits. It is handed out once.
func (s *Space) Reserve(size int, suits func(base arch.Addr) bool) (at arch.Addr, ok bool) {
	for _, a := range s.areas {
		if suits(a.base) && a.used+size <= a.size {
			at = a.base + arch.Addr(a.used)
			a.used += size
			return at, true
		}
	}
	return 0, false
}

// Return takes back the room that was reserved last, if nothing was placed there.
func (s *Space) Return(at arch.Addr, size int) {
	for _, a := range s.areas {
		if a.base+arch.Addr(a.used) == at+arch.Addr(size) {
			a.used -= size
		}
	}
}

// Place writes code into reserved room of a size. Points are its pc map, in the order of their offsets, of which the first is 0.
func (s *Space) Place(at arch.Addr, size int, code []byte, points ...Point) (*Buffer, error) {
	if n, err := s.mem.WriteAt(code, int64(at)); err != nil {
		return nil, cannotWrite(at+arch.Addr(n), err)
	}
	b := &Buffer{addr: at, size: size, code: slices.Clone(code), points: slices.Clone(points)}
	i, _ := s.find(at)
	s.buffers = slices.Insert(s.buffers, i, b)
	first := points[0].PC
	s.copies[first] = append(s.copies[first], b)
	return b, nil
}

// Lend writes code into reserved room of a size as Place does, for one thread and one time: the Space does not keep the buffer.
func (s *Space) Lend(at arch.Addr, size int, code []byte, points ...Point) (*Buffer, error) {
	if n, err := s.mem.WriteAt(code, int64(at)); err != nil {
		return nil, cannotWrite(at+arch.Addr(n), err)
	}
	return &Buffer{addr: at, size: size, code: slices.Clone(code), points: slices.Clone(points)}, nil
}

// find returns the index of the buffer that begins at an address, or of the next one.
func (s *Space) find(at arch.Addr) (i int, found bool) {
	return slices.BinarySearchFunc(s.buffers, at, func(b *Buffer, at arch.Addr) int { return cmp.Compare(b.addr, at) })
}

// Original is the program's pc for a pc in any buffer. It is false for one elsewhere.
func (s *Space) Original(pc arch.Addr) (arch.Addr, bool) {
	i, found := s.find(pc)
	if !found {
		i--
	}
	if i < 0 {
		return 0, false
	}
	return s.buffers[i].Original(pc)
}

// Copies returns the buffers whose first instruction is the one at an address of the program, or was when they were placed.
func (s *Space) Copies(of arch.Addr) []*Buffer { return s.copies[of] }

// DropAreas takes the areas out of the program by unmap, with all buffers, while no thread is in any. It ends with the first error
// of unmap; then they stay.
func (s *Space) DropAreas(unmap func(base arch.Addr, size int) error) error {
	for _, a := range s.areas {
		if err := unmap(a.base, a.size); err != nil {
			return err
		}
	}
	s.areas, s.buffers = nil, nil
	clear(s.copies)
	return nil
}
