package patch

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"tracewell/arch"
)

// flat is a memory that begins at address 0. Some of it may be unmapped, and some refuse to be written.
type flat struct {
	bytes              []byte
	unmapped, readOnly func(addr int) bool
}

var errFault = errors.New("input/output error")

// until is how many bytes of b can be had from off before bad says otherwise.
func (m *flat) until(off int64, b []byte, bad ...func(int) bool) int {
	for i := range b {
		addr := int(off) + i
		if addr >= len(m.bytes) {
			return i
		}
		for _, f := range bad {
			if f != nil && f(addr) {
				return i
			}
		}
	}
	return len(b)
}

func (m *flat) ReadAt(b []byte, off int64) (int, error) {
	n := m.until(off, b, m.unmapped)
	copy(b[:n], m.bytes[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (m *flat) WriteAt(b []byte, off int64) (int, error) {
	n := m.until(off, b, m.unmapped, m.readOnly)
	copy(m.bytes[off:], b[:n])
	if n < len(b) {
		return n, errFault
	}
	return n, nil
}

// table is a guard: what it would put back if the tracer was killed now.
type table map[arch.Addr]takenByte

func (t table) Set(addr arch.Addr, original, inserted byte) { t[addr] = takenByte{original, inserted} }
func (t table) Unset(addr arch.Addr)                        { delete(t, addr) }

// rescue is what the memory would be after the guard's work.
func (t table) rescue(memory []byte) []byte {
	rescued := slices.Clone(memory)
	for addr, b := range t {
		if rescued[addr] == b.inserted {
			rescued[addr] = b.original
		}
	}
	return rescued
}

// naive is the model: the program's own bytes, and a list of patches that are laid over them one after the other.
type naive struct {
	own     []byte
	patches []*naivePatch
}

type naivePatch struct {
	at       int
	inserted []byte
	ours     []bool // the program has not overwritten it
	lifted   bool
	patch    *Patch
}

func (n *naive) memory() []byte {
	m := slices.Clone(n.own)
	for _, p := range n.patches {
		for i, b := range p.inserted {
			if !p.lifted && p.ours[i] {
				m[p.at+i] = b
			}
		}
	}
	return m
}

func (n *naive) overlapping(at, length int) *naivePatch {
	for _, p := range n.patches {
		for i := range p.inserted {
			if at <= p.at+i && p.at+i < at+length {
				return p
			}
		}
	}
	return nil
}

const memorySize = 96

// game is a Space beside its model.
type game struct {
	t     *testing.T
	r     *rand.Rand
	space *Space
	mem   *flat
	guard table
	model naive
}

func newGame(t *testing.T, seed uint64) *game {
	g := &game{t: t, r: rand.New(rand.NewPCG(seed, 1)), mem: &flat{}, guard: table{}}
	g.mem.bytes = g.own(memorySize)
	g.model.own = slices.Clone(g.mem.bytes)
	g.space = New(g.mem, g.guard)
	return g
}

// own are bytes of a program. They are never those of a patch, or nobody could tell which is which.
func (g *game) own(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.r.IntN(0x80))
	}
	return b
}

// ours are the bytes of a patch at an address. An address has always the same.
func ours(at, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 0x80 | byte(at+i)
	}
	return b
}

// span is a random range of up to 16 bytes.
func (g *game) span() (at, n int) {
	n = 1 + g.r.IntN(16)
	return g.r.IntN(memorySize - n + 1), n
}

func (g *game) any() *naivePatch {
	if len(g.model.patches) == 0 {
		return nil
	}
	return g.model.patches[g.r.IntN(len(g.model.patches))]
}

// moves are what can happen. Those for which there is no patch do nothing.
var moves = map[string]func(g *game){
	"insert": func(g *game) {
		at, n := g.span()
		g.insert(at, ours(at, n))
	},
	"insert again": func(g *game) {
		if p := g.any(); p != nil {
			g.insert(p.at, p.inserted)
		}
	},
	"remove": func(g *game) {
		if p := g.any(); p != nil {
			g.must(g.space.Remove(p.patch))
			g.model.patches = slices.DeleteFunc(g.model.patches, func(o *naivePatch) bool { return o == p })
		}
	},
	"lift": func(g *game) {
		if p := g.any(); p != nil {
			g.must(g.space.Lift(p.patch))
			p.lifted = true
		}
	},
	"replace": func(g *game) {
		if p := g.any(); p != nil {
			g.must(g.space.Replace(p.patch))
			p.lifted = false
			p.all()
		}
	},
	"write": func(g *game) {
		at, n := g.span()
		b := g.own(n)
		written, err := g.space.Write(arch.Addr(at), b)
		g.must(err)
		if written != n {
			g.t.Fatalf("%d bytes were written, want %d", written, n)
		}
		copy(g.model.own[at:], b)
		for _, p := range g.model.patches {
			for i := range p.inserted {
				if at <= p.at+i && p.at+i < at+n {
					p.ours[i] = true
				}
			}
		}
	},
	"program writes": func(g *game) {
		at, n := g.span()
		b := g.own(n)
		copy(g.mem.bytes[at:], b)
		copy(g.model.own[at:], b)
		for _, p := range g.model.patches {
			for i := range p.inserted {
				if at <= p.at+i && p.at+i < at+n {
					p.ours[i] = false
				}
			}
		}
	},
	"borrow": func(g *game) {
		at, n := g.span()
		giveBack, err := g.space.Borrow(arch.Addr(at), g.own(n))
		g.must(err)
		g.must(giveBack())
	},
	"fork": func(g *game) {
		copied := &flat{bytes: slices.Clone(g.mem.bytes)}
		child, err := g.space.Fork(copied, table{})
		g.must(err)
		if !bytes.Equal(copied.bytes, g.model.own) {
			g.t.Fatalf("the child has % x, want % x", copied.bytes, g.model.own)
		}
		if got := child.Within(0, memorySize); len(got) > 0 {
			g.t.Fatalf("the child has %d patches", len(got))
		}
	},
}

func (g *game) insert(at int, inserted []byte) {
	other := g.model.overlapping(at, len(inserted))
	same := other != nil && other.at == at && bytes.Equal(other.inserted, inserted)
	p, err := g.space.Insert(arch.Addr(at), inserted)
	var overlap *OverlapError
	switch {
	case other != nil && !same:
		if !errors.As(err, &overlap) || overlap.Addr != arch.Addr(at) || overlap.Other.End() <= overlap.Addr {
			g.t.Fatalf("insert at %#x over the patch at %#x: %v", at, other.at, err)
		}
		return
	case same:
		if p != other.patch {
			g.t.Fatalf("insert at %#x returned another patch than the first time", at)
		}
		other.lifted = false
		other.all()
	default:
		n := &naivePatch{at: at, inserted: inserted, ours: make([]bool, len(inserted)), patch: p}
		n.all()
		g.model.patches = append(g.model.patches, n)
	}
	g.must(err)
}

func (p *naivePatch) all() {
	for i := range p.ours {
		p.ours[i] = true
	}
}

func (g *game) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// compare holds the Space to the model.
func (g *game) compare() {
	if want := g.model.memory(); !bytes.Equal(g.mem.bytes, want) {
		g.t.Fatalf("memory is\n% x, want\n% x", g.mem.bytes, want)
	}
	if rescued := g.guard.rescue(g.mem.bytes); !bytes.Equal(rescued, g.model.own) {
		g.t.Fatalf("the guard would leave\n% x, want\n% x", rescued, g.model.own)
	}
	at, n := g.span()
	got := make([]byte, n)
	if _, err := g.space.Read(arch.Addr(at), got); err != nil || !bytes.Equal(got, g.model.own[at:at+n]) {
		g.t.Fatalf("reads % x at %#x, %v, want % x", got, at, err, g.model.own[at:at+n])
	}
	for _, p := range g.model.patches {
		want := !p.lifted && !slices.Contains(p.ours, false)
		if g.space.Intact(p.patch) != want || g.space.At(arch.Addr(p.at)) != p.patch {
			g.t.Fatalf("the patch at %#x: intact is not %v, or it is not found", p.at, want)
		}
	}
}

// TestAgainstModel plays random moves, and compares after each.
func TestAgainstModel(t *testing.T) {
	var names []string
	for name := range moves {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range uint64(300) {
		g := newGame(t, seed)
		for range 200 {
			moves[names[g.r.IntN(len(names))]](g)
			g.compare()
		}
		if last, err := g.space.Leave(); !last || err != nil {
			t.Fatalf("Leave: %v, %v", last, err)
		}
		if !bytes.Equal(g.mem.bytes, g.model.own) || len(g.guard) > 0 {
			t.Fatalf("at the end memory is % x, want % x; %d bytes are guarded", g.mem.bytes, g.model.own, len(g.guard))
		}
	}
}

// TestForkReportedLate has a fork reported when some patches of the copy are gone, and others have come.
func TestForkReportedLate(t *testing.T) {
	for seed := range uint64(300) {
		g := newGame(t, seed)
		play := func() {
			for range 20 {
				moves[[]string{"insert", "insert", "remove", "lift", "replace"}[g.r.IntN(5)]](g)
			}
		}
		play()
		copied := &flat{bytes: slices.Clone(g.mem.bytes)}
		play()
		g.must(g.space.Clean(copied))
		if !bytes.Equal(copied.bytes, g.model.own) {
			t.Fatalf("the copy has % x, want % x", copied.bytes, g.model.own)
		}
		g.compare()
	}
}
