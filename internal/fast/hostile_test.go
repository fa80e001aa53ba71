package fast

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
)

// ringOf makes a control area and a ring in this process; the second half of the ring is no second mapping of the first.
func ringOf(t testing.TB) (*Arena, Control, []byte) {
	t.Helper()
	a := &Arena{Control: 0x10000000, Ring: 0x20000000, RingSize: MinRing, Key: 0xfeedface_12345678, RDFSBase: true}
	c, err := NewControl(make([]uint64, ControlSize/8), a)
	if err != nil {
		t.Fatal(err)
	}
	return a, c, bytesOf(make([]uint64, 2*MinRing/8))
}

// hostileSlots are sites of all shapes that slots have.
func hostileSlots(t testing.TB, a *Arena) []*Slots {
	t.Helper()
	vectors := costRegisters(t, vectorMachine, 1<<20)
	core := coreRegisters(t)
	sites := []struct {
		registers   *Registers
		tracepoints []Tracepoint
	}{
		{core, []Tracepoint{tracepoint(t, 1, "", "R", "M 4 0 16")}},
		{vectors, []Tracepoint{tracepoint(t, 2, "reg 4\nref8", "R", "M 4 0 300")}},
		{core, []Tracepoint{tracepoint(t, 3, "", "reg 4\nconst8 20\ntracenz\nend", "tracev 5"), tracepoint(t, 4, "reg 4\nref8", "R",
			"reg 4\nref64\ntrace_quick 9\npop\nend")}},
	}
	var list []*Slots
	for i, s := range sites {
		pad, err := Build(&Site{Arena: a, Index: i + 1, Addr: siteAddr, Pad: 0x11000000, Tracepoints: s.tracepoints,
			Registers: s.registers, Displace: func(arch.Addr) ([]byte, error) { return []byte{0x90}, nil }, Next: siteAddr + 5})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pad.Slots)
	}
	return list
}

// TestHostileProgram writes random bytes all over the control area and the ring while a reader drains. There must be no panic, the
// reader must always come to an end, and every frame that it accepts must be whole.
func TestHostileProgram(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	frames, refused := 0, 0
	for range 3000 {
		a, control, ring := hostileArena(t)
		r, err := NewReader(a, control, ring)
		if err != nil {
			t.Fatal(err)
		}
		sites := hostileSites(t, a)
		for _, s := range sites {
			r.Define(s)
		}
		fillRing(rng, a, control, ring, sites)
		for range rng.IntN(16) {
			scribble(rng, control, ring)
		}
		if rng.IntN(2) == 0 {
			r.Void(sites[rng.IntN(len(sites))], rng.Uint64N(MinRing))
		}
		for range 3 {
			n, err := r.Drain(1+rng.IntN(MinRing), each(func(rec *Record) {
				if rec.Frames != nil {
					frames++
					checkFrame(t, r, rec)
				}
			}))
			if n < 0 || n > 2*MinRing {
				t.Fatalf("drained %d bytes", n)
			}
			if err != nil {
				refused++
				break
			}
			scribble(rng, control, ring)
		}
		r.Lost(func([]Record) {})
	}
	if frames < 1000 || refused < 100 {
		t.Errorf("%d frames accepted, %d rings refused", frames, refused)
	}
}

// each has take called for each hit by itself, be they told together or not.
func each(take func(*Record)) func([]Record) {
	return func(records []Record) {
		for i := range records {
			r := records[i]
			for all, length := r.Frames, len(r.Frames)/max(r.Hits, 1); r.Hits > 0; r.Hits-- {
				one := Record{Key: r.Key, Frames: all[:length], Hits: 1, Failures: r.Failures, Printed: r.Printed, More: r.More, Lost: r.Lost}
				take(&one)
				all = all[length:]
			}
			if records[i].Hits == 0 {
				take(&records[i])
			}
		}
	}
}

// checkFrame checks that a frame is one that can stand in a trace file.
func checkFrame(t *testing.T, r *Reader, rec *Record) {
	t.Helper()
	size := 0
	for i := range *r.sites.Load() {
		s := r.slots(uint32(i))
		if s == nil {
			continue
		}
		for _, f := range s.frames {
			if f.key == rec.Key && f.registers != nil {
				size = f.registers.size
			}
		}
	}
	f, err := tfile.ParseFrame(rec.Frames, binary.LittleEndian, size)
	if err == nil {
		err = f.Check()
	}
	if err != nil || f.Tracepoint() != rec.Key.Number || len(f.Bytes()) != len(rec.Frames) {
		t.Fatalf("a frame of tracepoint %d, %d bytes, that is not whole: %v", rec.Key.Number, len(rec.Frames), err)
	}
}

var (
	hostileMemory struct {
		arena   *Arena
		control Control
		ring    []byte
		sites   []*Slots
	}
)

// hostileArena is ringOf, with the same memory cleared each time.
func hostileArena(t testing.TB) (*Arena, Control, []byte) {
	h := &hostileMemory
	if h.arena == nil {
		h.arena, h.control, h.ring = ringOf(t)
	}
	clear(h.ring)
	clear(h.control.words[:0x1000/8])
	c, err := NewControl(h.control.words, h.arena)
	if err != nil {
		t.Fatal(err)
	}
	return h.arena, c, h.ring
}

func hostileSites(t testing.TB, a *Arena) []*Slots {
	if hostileMemory.sites == nil {
		hostileMemory.sites = hostileSlots(t, a)
	}
	return hostileMemory.sites
}

// fillRing writes slots as pads do.
func fillRing(rng *rand.Rand, a *Arena, c Control, ring []byte, sites []*Slots) {
	head := uint64(0)
	for {
		s := sites[rng.IntN(len(sites))]
		if head+uint64(s.size) > MinRing {
			break
		}
		writeSlot(rng, ring[head:][:s.size], s, head^a.Key)
		head += uint64(s.size)
	}
	c.store(HeadAt, head)
}

// writeSlot writes one slot as a pad does.
func writeSlot(rng *rand.Rand, slot []byte, s *Slots, commit uint64) {
	order := binary.LittleEndian
	order.PutUint64(slot[slotCommit:], commit)
	order.PutUint16(slot[slotUnits:], uint16(s.size/slotAlign))
	order.PutUint32(slot[slotSite:], uint32(s.site))
	for i := range s.frames {
		f := &s.frames[i]
		if rng.IntN(4) == 0 {
			continue
		}
		slot[slotPresent] |= 1 << i
		order.PutUint16(slot[f.at:], uint16(f.key.Number))
		order.PutUint32(slot[f.at+2:], uint32(f.end-f.at-frameHeader))
		for _, b := range f.blocks {
			slot[b.at] = byte(b.kind)
			switch b.kind {
			case blockMemory:
				n := b.room
				if rng.IntN(3) == 0 {
					n, slot[slotFlags] = rng.IntN(b.room+1), flagShort
				}
				order.PutUint16(slot[b.at+9:], uint16(n))
			case blockVariable:
				order.PutUint32(slot[b.at+1:], uint32(b.number))
			}
		}
	}
}

// scribble overwrites some bytes: mostly few, in the headers of slots or anywhere.
func scribble(rng *rand.Rand, c Control, ring []byte) {
	where := ring
	if rng.IntN(4) == 0 {
		where = bytesOf(c.words[:0x1000/8])
	}
	at := rng.IntN(len(where))
	if rng.IntN(2) == 0 {
		at = at&^(slotAlign-1) + 8 + rng.IntN(40)
	}
	for range 1 + rng.IntN(1<<rng.IntN(8)) {
		if at < len(where) {
			where[at] = byte(rng.Uint32())
			at++
		}
	}
}

// The test above would not notice a reader that accepts nothing, nor a scribble that changes nothing.
func TestScribbleIsNoticed(t *testing.T) {
	a, control, ring := ringOf(t)
	r, err := NewReader(a, control, ring)
	if err != nil {
		t.Fatal(err)
	}
	s := hostileSlots(t, a)[0]
	r.Define(s)
	rng := rand.New(rand.NewPCG(5, 6))
	put := func(change func(slot []byte)) (accepted int, err error) {
		position := r.tail.Load()
		slot := ring[position:][:s.size]
		clear(slot)
		writeSlot(rng, slot, s, position^a.Key)
		slot[slotPresent], slot[slotFlags] = 1, 0
		f := &s.frames[0]
		binary.LittleEndian.PutUint16(slot[f.at:], uint16(f.key.Number))
		binary.LittleEndian.PutUint32(slot[f.at+2:], uint32(f.end-f.at-frameHeader))
		slot[f.blocks[0].at], slot[f.blocks[1].at] = 'R', 'M'
		binary.LittleEndian.PutUint16(slot[f.blocks[1].at+9:], 16)
		change(slot)
		_, err = r.Drain(1, each(func(*Record) { accepted++ }))
		return accepted, err
	}
	if n, err := put(func([]byte) {}); n != 1 || err != nil {
		t.Fatalf("%d records of a good slot, %v", n, err)
	}
	f := &s.frames[0]
	for name, change := range map[string]func([]byte){
		"size":           func(b []byte) { b[slotUnits]++ },
		"site":           func(b []byte) { b[slotSite] = 99 },
		"number":         func(b []byte) { b[f.at]++ },
		"length":         func(b []byte) { b[f.at+2]-- },
		"letter":         func(b []byte) { b[f.blocks[1].at] = 'V' },
		"block's length": func(b []byte) { b[f.blocks[1].at+9] = 17 },
		"short, longer":  func(b []byte) { b[slotFlags] |= flagShort; b[f.blocks[1].at+9] = 17 },
		"short, letter":  func(b []byte) { b[slotFlags] |= flagShort; b[f.blocks[0].at] = 'S' },
	} {
		if n, err := put(change); n != 0 || err == nil {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
		clear(ring[r.tail.Load():][:s.size])
	}
	if n, err := put(func(b []byte) { b[slotCommit]++ }); n != 0 || err != nil {
		t.Errorf("a slot that is not committed: %d records, %v", n, err)
	}
}

// FuzzReader has a reader drain whatever bytes there are.
func FuzzReader(f *testing.F) {
	a, _, _ := ringOf(f)
	sites := hostileSlots(f, a)
	var good []byte
	rng := rand.New(rand.NewPCG(7, 8))
	for _, s := range sites {
		slot := make([]byte, s.size)
		writeSlot(rng, slot, s, uint64(len(good))^a.Key)
		good = append(good, slot...)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, control, ring := hostileArena(t)
		r, err := NewReader(a, control, ring)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sites {
			r.Define(s)
		}
		copy(ring, data)
		r.Drain(MinRing, each(func(rec *Record) {
			if rec.Frames != nil {
				checkFrame(t, r, rec)
			}
		}))
	})
}
