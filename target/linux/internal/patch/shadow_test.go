package patch

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
)

// TestShadows plays random moves with some hundred patches, and has each of the last Shadows show the program as it was then.
func TestShadows(t *testing.T) {
	const size = 4096
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 2))
		mem := &flat{bytes: make([]byte, size)}
		for i := range mem.bytes {
			mem.bytes[i] = byte(r.IntN(0x80))
		}
		s := New(mem, table{})
		type moment struct {
			shadow         *Shadow
			memory, wanted []byte
		}
		var moments []moment
		for move := range 3000 {
			addr := arch.Addr(r.IntN(size - 8))
			p := s.At(addr)
			if there := s.Within(addr, addr+64); p == nil && len(there) > 0 && r.IntN(2) == 0 {
				p = there[0]
			}
			switch {
			case p == nil:
				s.Insert(addr, []byte{0xe0, 0xe1, 0xe2}[:1+r.IntN(3)]) // or not, where another is
			case p.lifted:
				s.Replace(p)
			case r.IntN(4) == 0:
				s.Cover(p, []byte{0xf0})
			case p.lid != nil && r.IntN(2) == 0:
				s.Uncover(p)
			case move%1000 < 600:
				s.Write(addr, []byte{byte(r.IntN(0x80)), byte(r.IntN(0x80))})
			case r.IntN(3) == 0:
				s.Lift(p)
			default:
				s.Remove(p)
			}
			if r.IntN(3) == 0 {
				continue // several changes for one Shadow
			}
			own := bytes.Clone(mem.bytes)
			s.Hide(0, own)
			if moments = append(moments, moment{s.Shadow(), bytes.Clone(mem.bytes), own}); len(moments) > 20 {
				moments = moments[1:]
			}
			for _, m := range moments {
				from := r.IntN(size)
				part := bytes.Clone(m.memory[from:min(size, from+r.IntN(512))])
				if m.shadow.Hide(arch.Addr(from), part); !bytes.Equal(part, m.wanted[from:from+len(part)]) {
					t.Fatalf("seed %d, move %d: from %d on it shows\n% x, want\n% x", seed, move, from, part,
						m.wanted[from:from+len(part)])
				}
			}
		}
	}
}

// TestShadowWork counts what Shadows copy where there is one after each of many changes: some patches for each, however many there
// are.
func TestShadowWork(t *testing.T) {
	for _, patches := range []int{1_000, 30_000} {
		mem := &flat{bytes: make([]byte, 8*patches)}
		s := New(mem, table{})
		order := rand.New(rand.NewPCG(1, 1)).Perm(patches)
		pieces := 0
		change := func(at int, remove bool) {
			p, err := s.Insert(arch.Addr(8*at), []byte{0xcc})
			if err == nil && remove {
				err = s.Remove(p)
			}
			if err != nil {
				t.Fatal(err)
			}
			pieces = max(pieces, len(s.Shadow().pieces))
		}
		s.Shadow()
		for _, at := range order {
			change(at, false)
		}
		for _, at := range order {
			change(at, true)
		}
		if most := 2 * patches * mostInPiece; s.copied > most || pieces > 2*patches/mostInPiece+1 {
			t.Errorf("%d patches: %d copied, at most %d pieces", patches, s.copied, pieces)
		}
		t.Logf("%d patches: %d copied, at most %d pieces", patches, s.copied, pieces)
	}
}
