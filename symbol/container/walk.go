package container

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// Element is one of a container's. Missing is what stands in its place if it is not known.
type Element struct {
	Name    string // "[1]"
	Value   ctype.Value
	Missing string
}

// Contents are what a container has, as far as the memory that is read has it.
type Contents struct {
	Elements []Element
	Count    int    // how many the object says it has, that of Elements if it does not say; below 0 if that cannot be
	Rest     string // what stands behind the elements: why there are no more; "" if these are all
	Figures  []Figure
	Target   ctype.Value // of a smart pointer: the pointer
	Nil      bool        // a slice, map or channel of Go that was never made
}

// Figure is a number of the object, such as its capacity.
type Figure struct {
	Word  string
	Value int64
	Known bool
}

// Memory reads memory from an address on, as much as is there.
type Memory func(addr arch.Addr, b []byte) int

// mostRead bounds the elements that are read of a container.
const mostRead = 1 << 16

// mostCount is more than any container has elements.
const mostCount = 1 << 40

// Read returns the contents of a value of the shape.
func (s *Shape) Read(v ctype.Value, order arch.ByteOrder, memory Memory) Contents {
	r := &reader{shape: s, value: v, order: order, memory: memory}
	var c Contents
	if s.none != nil {
		if none, err := r.number(&s.none, 0); err == nil && none != 0 {
			return Contents{Nil: true}
		}
	}
	for i := range s.figures {
		n, err := r.number(&s.figures[i].value, 0)
		c.Figures = append(c.Figures, Figure{s.figures[i].word, n, err == nil})
	}
	for i := range s.Parts {
		p, is := &s.Parts[i], int64(1)
		if p.is != nil {
			var err error
			if is, err = r.number(&p.is, 0); err != nil {
				c.Rest = notCollected("")
				return c
			}
		}
		if is != 0 {
			c.Elements = append(c.Elements, Element{Name: p.Name, Value: v.Part(p.Field.Type, p.Field.Offset)})
		}
	}
	c.Count = len(c.Elements)
	switch {
	case s.place != nil:
		s.object(r, &c)
	case s.dynamic != nil:
		s.inside(r, &c)
	}
	switch {
	case s.wide != nil:
		s.slice(r, &c)
	case s.Elem != nil:
		s.elements(r, &c)
	}
	if s.target.Type != nil {
		c.Target = v.Part(s.target.Type, s.target.Offset)
	}
	return c
}

// elements reads those in memory.
func (s *Shape) elements(r *reader, c *Contents) {
	most := int64(mostRead)
	if s.count != nil {
		n, err := r.number(&s.count, 0)
		switch {
		case err != nil:
			c.Rest = notCollected("")
			return
		case n < 0:
			c.Count, c.Rest = -1, "<damaged: the end lies before the beginning>"
			return
		case n > mostCount:
			c.Count, c.Rest = -1, fmt.Sprintf("<damaged: it would have %d elements>", n)
			return
		}
		if s.room != nil {
			if room, err := r.number(&s.room, 0); err == nil && n > room && room >= 0 {
				c.Count, c.Rest = -1, fmt.Sprintf("<damaged: it would have %d elements in room for %d>", n, room)
				return
			}
		}
		c.Count, most = int(n), min(n, most)
	}
	if most == 0 {
		return
	}
	if s.limits != nil {
		if n, err := r.number(&s.limits, 0); err != nil || n <= 0 {
			c.Rest = "<damaged: its blocks have no size>"
			return
		}
	}
	at, err := r.number(&s.first, 0)
	if err != nil {
		c.Rest = notCollected("")
		return
	}
	if s.next == nil {
		s.row(r, arch.Addr(at), int(most), c)
		return
	}
	s.scattered(r, at, int(most), c)
}

// row reads elements that lie one behind the other.
func (s *Shape) row(r *reader, at arch.Addr, n int, c *Contents) {
	size := s.Elem.Size
	words := n
	if s.Form == Bits {
		words = (n + 8*size - 1) / (8 * size)
	}
	b := make([]byte, words*size)
	known := r.memory(at, b)
	if s.Form == Bits {
		known = 8 * known
		size = 1
	}
	whole := ctype.Value{Type: ctype.ArrayOf(s.Elem, words), Bytes: b, InMemory: true, Addr: at}
	for i := 0; i < n && (i+1)*size <= known; i++ {
		if s.Form != Bits {
			c.Elements = append(c.Elements, Element{Value: whole.Part(s.Elem, i*size)})
			continue
		}
		word := arch.Uint(b[i/(8*s.Elem.Size)*s.Elem.Size:][:s.Elem.Size], r.order)
		bit := byte(word >> (i % (8 * s.Elem.Size)) & 1)
		c.Elements = append(c.Elements, Element{Value: ctype.Value{Type: truth, Bytes: []byte{bit}}})
	}
	if missing := c.Count - len(c.Elements); missing > 0 {
		c.Rest = notCollected(elementsOf(missing))
	}
}

// truth is the type of what a vector of bool has.
var truth = &ctype.Type{Kind: ctype.Bool, Name: "bool", Size: 1}

// scattered follows cursors from one element to the next.
func (s *Shape) scattered(r *reader, at int64, most int, c *Contents) {
	seen := map[int64]bool{}
	for range most {
		if s.more != nil {
			if more, err := r.number(&s.more, at); err != nil {
				c.Rest = notCollected(s.missing(c))
				return
			} else if more == 0 {
				break
			}
		}
		if seen[at] {
			c.Rest = "<damaged: it leads back to an element>"
			return
		}
		seen[at] = true
		e, ok := s.element(r, at)
		if !ok {
			c.Rest = notCollected(s.missing(c))
			return
		}
		c.Elements = append(c.Elements, Element{Value: e})
		if len(c.Elements) == most && s.more == nil {
			break
		}
		if s.count != nil && len(c.Elements) == c.Count {
			return
		}
		next, err := r.number(&s.next, at)
		if err != nil {
			c.Rest = notCollected(s.missing(c))
			return
		}
		at = next
	}
	switch {
	case s.count == nil:
		c.Count = len(c.Elements)
	case len(c.Elements) < c.Count:
		c.Rest = fmt.Sprintf("<damaged: it ends after %s of %d>", elementsOf(len(c.Elements)), c.Count)
	}
}

// element reads the one at a cursor. It is false if not all of it is there.
func (s *Shape) element(r *reader, at int64) (ctype.Value, bool) {
	e := ctype.Value{Type: s.Elem, Bytes: make([]byte, s.Elem.Size)}
	if s.apart {
		for i, f := range s.Elem.Fields() {
			place, err := r.number(&s.stores[i].item, at)
			if part := e.Bytes[f.Offset:][:f.Type.Size]; err != nil || r.memory(arch.Addr(place), part) < len(part) {
				return e, false
			}
		}
		return e, true
	}
	place, err := at, error(nil)
	if s.item != nil {
		place, err = r.number(&s.item, at)
	}
	e.InMemory, e.Addr = true, arch.Addr(place)
	return e, err == nil && r.memory(e.Addr, e.Bytes) == s.Elem.Size
}

// missing says how many elements there are that were not found.
func (s *Shape) missing(c *Contents) string {
	if s.count == nil {
		return "what follows"
	}
	return elementsOf(c.Count - len(c.Elements))
}

// elementsOf is a number of elements in words.
func elementsOf(n int) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}

// notCollected stands in place of what a frame does not have.
func notCollected(what string) string {
	if what == "" {
		return "<not collected>"
	}
	return "<not collected: " + what + ">"
}

// reader runs terms over a value and memory.
type reader struct {
	shape   *Shape
	value   ctype.Value
	order   arch.ByteOrder
	memory  Memory
	machine ax.Machine
	at      int64
}

// The registers of the programs that a reader runs, and where it keeps an object that is not in memory: addresses of the kernel,
// which no program has pointers to.
const (
	objectRegister arch.Reg  = 0
	cursorRegister arch.Reg  = 1
	nowhere        arch.Addr = 0xffff_f000_0000_0000
)

// number runs a term of the shape for a cursor.
func (r *reader) number(t *term, at int64) (int64, error) {
	p, err := r.shape.program(t)
	if err != nil {
		return 0, err
	}
	r.at = at
	return r.machine.Value(p, r)
}

// program is a term for a reader, made once.
func (s *Shape) program(t *term) (*ax.Program, error) {
	if known, ok := s.programs.Load(t); ok {
		return known.(*ax.Program), nil
	}
	b := &ax.Builder{}
	e := &emitter{Builder: b, object: onStack{at: 0}, cursor: 1, height: 2}
	b.Emit(ax.OpReg, uint64(objectRegister))
	b.Emit(ax.OpReg, uint64(cursorRegister))
	(*t)(e)
	b.Emit(ax.OpEnd)
	p, err := b.Program()
	if err == nil {
		s.programs.Store(t, p)
	}
	return p, err
}

// Register implements ax.Env.
func (r *reader) Register(n arch.Reg) (uint64, error) {
	switch {
	case n == cursorRegister:
		return uint64(r.at), nil
	case r.value.InMemory:
		return uint64(r.value.Addr), nil
	}
	return uint64(nowhere), nil
}

// errUnknown is what a frame does not have.
var errUnknown = errors.New("not collected")

// Ref implements ax.Env. The object's own bytes are known without memory, but for its holes.
func (r *reader) Ref(addr arch.Addr, size int) (uint64, error) {
	start := nowhere
	if r.value.InMemory {
		start = r.value.Addr
	}
	if from := addr - start; addr >= start && from < arch.Addr(len(r.value.Bytes)) && int(from)+size <= len(r.value.Bytes) {
		word := r.value.Part(ctype.Int(size, false), int(from))
		if len(word.Holes) > 0 {
			return 0, errUnknown
		}
		return arch.Uint(word.Bytes, r.order), nil
	}
	b := make([]byte, size)
	if r.memory(addr, b) < size {
		return 0, errUnknown
	}
	return arch.Uint(b, r.order), nil
}

// What terms do not do.

func (r *reader) Variable(uint16) int64                        { return 0 }
func (r *reader) SetVariable(uint16, int64)                    {}
func (r *reader) TraceVariable(uint16)                         {}
func (r *reader) TraceMemory(arch.Addr, uint64)                {}
func (r *reader) TraceString(arch.Addr, uint64)                {}
func (r *reader) Printf(uint64, uint64, string, []int64) error { return errUnknown }
