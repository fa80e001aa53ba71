package fast

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

// what a reader knows of sites is the same after a way through bytes, for sites of all shapes.
func TestSlotsAsBytes(t *testing.T) {
	a, control, ring := ringOf(t)
	rng := rand.New(rand.NewPCG(13, 14))
	for _, s := range hostileSlots(t, a) {
		b := s.Encode(nil)
		decoded, err := DecodeSlots(b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(decoded.Encode(nil), b) {
			t.Errorf("site %d: encoded again it is other bytes", s.site)
		}
		// The same frames come of both.
		var made [2][][]byte
		for i, s := range []*Slots{s, decoded} {
			r, err := NewReader(a, control, ring)
			if err != nil {
				t.Fatal(err)
			}
			r.Define(s)
			fillRing(rand.New(rand.NewPCG(1, 1)), a, control, ring, []*Slots{s})
			_, err = r.Drain(MinRing, func(rec *Record) bool {
				made[i] = append(made[i], bytes.Clone(rec.Frame))
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			clear(ring)
		}
		if diff := cmp.Diff(made[0], made[1]); diff != "" || len(made[0]) == 0 {
			t.Errorf("site %d: %d frames: %s", s.site, len(made[0]), diff)
		}
		for range 20_000 { // bytes that somebody has changed describe no site, or one that is safe
			bad := bytes.Clone(b)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] = byte(rng.Uint32())
			}
			s, err := DecodeSlots(bad[:len(bad)-rng.IntN(2)])
			if err != nil || s.size > MinRing {
				continue
			}
			r, _ := NewReader(a, control, ring)
			r.Define(s)
			control.store(HeadAt, uint64(s.size))
			writeSlot(rng, ring[:s.size], s, a.Key)
			r.Drain(MinRing, func(rec *Record) bool {
				if rec.Frame != nil {
					checkFrame(t, r, rec)
				}
				return true
			})
			clear(ring[:s.size])
		}
	}
}

func TestDirectory(t *testing.T) {
	a, control, _ := ringOf(t)
	d := control.Directory()
	sites := hostileSlots(t, a)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	patch := func(addr arch.Addr, n int) Patch {
		return Patch{addr, bytes.Repeat([]byte{0x90}, n), bytes.Repeat([]byte{0xe9}, n)}
	}
	must(d.Define(sites[0]))
	must(d.Patch(patch(0x1000, 5)))
	must(d.Define(sites[1]))
	must(d.Patch(patch(0x2000, 2)))
	must(d.Unpatch(0x1000))
	must(d.Forget(sites[0].site))
	must(d.Patch(patch(0x3000, MaxPatch)))
	must(d.Define(sites[1])) // anew
	patches, left, err := d.Read()
	must(err)
	if diff := cmp.Diff([]Patch{patch(0x2000, 2), patch(0x3000, MaxPatch)}, patches); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
	if len(left) != 1 || left[0].site != sites[1].site {
		t.Errorf("%d sites", len(left))
	}
	if d.Patch(Patch{0, make([]byte, 3), make([]byte, 4)}) == nil || d.Patch(patch(0, MaxPatch+1)) == nil {
		t.Error("a patch that is none was taken")
	}
	for n := 0; d.Define(sites[1]) == nil; n++ {
		if n > directorySize {
			t.Fatal("the directory does not become full")
		}
	}
	_, _, err = d.Read()
	must(err)
	d.Reset()
	if patches, left, err = d.Read(); len(patches)+len(left) > 0 || err != nil {
		t.Errorf("%d patches, %d sites after a reset, %v", len(patches), len(left), err)
	}
}

// A directory over which the program has written gives no more than there can be, and never a panic.
func TestHostileDirectory(t *testing.T) {
	a, control, _ := ringOf(t)
	d := control.Directory()
	rng := rand.New(rand.NewPCG(15, 16))
	sites := hostileSlots(t, a)
	damaged := 0
	for range 2000 {
		d.Reset()
		for i := range 5 {
			d.Define(sites[i%len(sites)])
			d.Patch(Patch{arch.Addr(i), []byte{1, 2}, []byte{3, 4}})
		}
		used := control.load(DirectoryAt)
		area := bytesOf(control.words[DirectoryAt/8:])[:used+8]
		for range 1 + rng.IntN(4) {
			area[rng.IntN(len(area))] = byte(rng.Uint32())
		}
		if rng.IntN(4) == 0 {
			binary.LittleEndian.PutUint64(area, rng.Uint64N(1<<rng.IntN(64)+1))
		}
		patches, _, err := d.Read()
		if err != nil {
			damaged++
		}
		for _, p := range patches {
			if len(p.Original) != len(p.Written) || len(p.Original) > MaxPatch {
				t.Fatalf("a patch of %d bytes by %d", len(p.Original), len(p.Written))
			}
		}
	}
	if damaged < 100 {
		t.Errorf("%d directories refused", damaged)
	}
}

// Frames that nobody has fetched are found behind a hole, too.
func TestRecover(t *testing.T) {
	a, control, ring := ringOf(t)
	s := hostileSlots(t, a)[0]
	const laps = 7 * MinRing
	rng := rand.New(rand.NewPCG(17, 18))
	control.store(LimitAt, laps+MinRing)
	head := uint64(laps)
	for i := range 10 {
		if i != 3 && i != 4 && i != 9 { // of threads that were killed
			writeSlot(rng, ring[head-laps:][:s.size], s, head^a.Key)
		}
		head += uint64(s.size)
	}
	control.store(HeadAt, head)
	after, identity, err := OpenControl(control.words)
	if err != nil || identity.Key != a.Key || identity.RingSize != MinRing {
		t.Fatalf("%+v, %v", identity, err)
	}
	r, err := NewReader(a, after, ring)
	if err != nil {
		t.Fatal(err)
	}
	r.Define(s)
	r.Recover()
	drained, skipped := 0, uint64(0)
	for r.Outstanding() > 0 {
		n, err := r.Drain(MinRing, func(*Record) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		drained += n
		skipped += r.Skip()
	}
	if drained != 7*s.size || skipped != uint64(3*s.size) {
		t.Errorf("%d bytes drained, %d skipped, slots of %d", drained, skipped, s.size)
	}
}
