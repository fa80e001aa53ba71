package jump

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracewell/arch"
)

// TestNextShort compares Next with a search through all 256 displacements of a short jump.
func TestNextShort(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for range 300 {
		from := arch.Addr(rng.IntN(1 << 12))
		var allowed []arch.Addr
		var set byteSet
		for d := -128; d < 128; d++ {
			if to := int(from) + d; rng.IntN(20) == 0 {
				set.add(byte(d))
				if to >= 0 {
					allowed = append(allowed, arch.Addr(to))
				}
			}
		}
		p := Places{from: from, width: 1}
		p.restrict(0, set)
		for range 50 {
			at := arch.Addr(rng.IntN(1<<12 + 300))
			i, _ := slices.BinarySearch(allowed, at)
			got, ok := p.Next(at)
			if ok != (i < len(allowed)) || ok && got != allowed[i] || p.Allows(at) != slices.Contains(allowed, at) {
				t.Fatalf("from %v, next at %v is %v, %v; allowed are %v", from, at, got, ok, allowed)
			}
		}
	}
}

// TestNextNear checks what Next promises of a near jump: the place is allowed, and none of many random ones in front of it is.
func TestNextNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	found := 0
	for range 3000 {
		p := anywhere(arch.Addr(rng.Uint64N(1 << (16 + rng.UintN(31)))))
		var sets [4]byteSet
		for i := range sets {
			if sets[i] = anyByte; rng.IntN(2) == 0 {
				sets[i] = guardBytes
			}
			if rng.IntN(4) == 0 {
				sets[i] = only(byte(rng.IntN(256)))
			}
			p.restrict(i, sets[i])
		}
		allows := func(to arch.Addr) bool {
			d := int64(to - p.from)
			ok := d == int64(int32(d))
			for i, s := range sets {
				ok = ok && s.has(byte(d>>(8*i)))
			}
			return ok
		}
		at := p.from + arch.Addr(rng.Uint64N(1<<33)) - 1<<32
		if int64(at) < 0 {
			at = 0
		}
		next, ok := p.Next(at)
		if ok && (next < at || !allows(next)) {
			t.Fatalf("%+v: next at %v is %v", p, at, next)
		}
		for range 200 {
			if between := at + arch.Addr(rng.Uint64N(1<<rng.UintN(34))); (!ok || between < next) && allows(between) {
				t.Fatalf("%+v: next at %v is %v, %v, but %v is allowed", p, at, next, ok, between)
			}
		}
		if ok {
			found++
		}
	}
	if found < 500 || found > 2900 {
		t.Errorf("%d of 3000 have a place", found)
	}
}

// TestWithdraw: nothing is handed out of a page that turned out not to be free, whether it is given back first or not.
func TestWithdraw(t *testing.T) {
	for _, early := range []bool{true, false} {
		r := NewRoom([]Range{{0x10000, 0x12000}})
		all := anywhere(0x50000)
		at, ok := r.Take(&all, 5, Range{0, 1 << 20})
		if !ok || at != 0x10000 {
			t.Fatal(at, ok)
		}
		if early {
			r.Give(at, 5)
		}
		if r.Withdraw(at); !early {
			r.Give(at, 5)
		}
		if at, ok = r.Take(&all, 5, Range{0, 1 << 20}); !ok || at != 0x11000 {
			t.Errorf("after page 0x10000 was withdrawn: %v, %v", at, ok)
		}
	}
}

// TestRoom takes and gives at random, beside a set of the addresses that are taken.
func TestRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	gaps := []Range{{0x10000, 0x14000}, {0x20000, 0x21000}, {0x100000, 0x108000}}
	r := NewRoom(gaps)
	taken := map[arch.Addr]bool{}
	opened := map[arch.Addr]bool{}
	var places []Range
	refused := 0
	for range 20_000 {
		if n := len(places); n > 0 && rng.IntN(100) < 40 {
			i := rng.IntN(n)
			r.Give(places[i].Start, int(places[i].End-places[i].Start))
			for a := places[i].Start; a < places[i].End; a++ {
				delete(taken, a)
			}
			places = slices.Delete(places, i, i+1)
			continue
		}
		p := anywhere(0x50000)
		if p.restrict(0, anyByte); rng.IntN(2) == 0 {
			p.restrict(rng.IntN(2), guardBytes)
		}
		limits, size := Range{arch.Addr(rng.IntN(0x20000)), 0x108000}, 1+rng.IntN(14)
		at, ok := r.Take(&p, size, limits)
		for _, page := range r.Opened() {
			if opened[page] {
				t.Fatalf("%v was opened twice", page)
			}
			opened[page] = true
		}
		if !ok {
			refused++
			continue
		}
		end := at + arch.Addr(size)
		if !p.Allows(at) || !limits.contains(at, end) || at/pageSize != (end-1)/pageSize || !opened[at&^(pageSize-1)] ||
			!slices.ContainsFunc(gaps, func(g Range) bool { return g.contains(at, end) }) {
			t.Fatalf("%d bytes at %v, of %+v in %v", size, at, p, limits)
		}
		for a := at; a < end; a++ {
			if taken[a] {
				t.Fatalf("%v was given twice", a)
			}
			taken[a] = true
		}
		places = append(places, Range{at, end})
	}
	for _, p := range places {
		r.Give(p.Start, int(p.End-p.Start))
	}
	for _, s := range r.spans {
		if s.End-s.Start != pageSize {
			t.Errorf("all was given back, but [%v, %v) is apart", s.Start, s.End)
		}
	}
	t.Logf("%d refused, %d pages", refused, len(opened))
}
