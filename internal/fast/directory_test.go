//go:build linux && amd64

package fast

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tracewell/arch"
	"tracewell/tdesc/machine"
	"tracewell/tfile"
	"tracewell/trace"
)

// left is what a tracer leaves in the memory that it shares with a program: the control area and the ring.
type left struct {
	arena     Arena
	control   Control
	directory *Directory
	ring      []byte // twice
	reader    *Reader
	sites     []*Slots
}

// newLeft enters a site for each path through pads.
func newLeft(t *testing.T) *left {
	t.Helper()
	l := &left{arena: Arena{Control: controlRegion, Ring: ringRegion, RingSize: MinRing, Key: rand.Uint64(), RDFSBase: true}}
	var err error
	if l.control, err = NewControl(make([]uint64, ControlSize/8), &l.arena); err != nil {
		t.Fatal(err)
	}
	l.ring = make([]byte, 2*MinRing)
	if l.reader, err = NewReader(&l.arena, l.control, l.ring); err != nil {
		t.Fatal(err)
	}
	l.directory = NewDirectory(l.control)
	for i, p := range paths(t, &victim{pid: 1234}) {
		pad, err := Build(&Site{Arena: &l.arena, Index: i, Addr: siteAddr, Pad: padAddr, Tracepoints: p.tracepoints,
			Registers: coreRegisters(t), Trap: p.trap,
			Builtins: map[trace.VariableNumber]Builtin{1: Timestamp, 20: Thread, 21: Process, 22: Nanoseconds}, Displace: nops, Next: siteAddr + 1})
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		patches := []Patch{{Addr: 0x1000, Ours: []byte{1, 2}}, {Addr: arch.Addr(i), Own: []byte{3, 4, 5}, Ours: []byte{6, 7, 8}}}
		if err := l.directory.Enter(pad, p.tracepoints, patches); err != nil {
			t.Fatal(err)
		}
		l.reader.Define(pad.Slots)
		l.sites = append(l.sites, pad.Slots)
	}
	return l
}

// nops is what sites consist of here.
func nops(arch.Addr) ([]byte, error) { return []byte{0x90}, nil }

// registersHere plans the block of registers that the pads of these tests collect.
func registersHere(length int) (*Registers, error) {
	layout, err := machine.LinuxAMD64.Target().Layout()
	if err != nil {
		return nil, err
	}
	return NewRegisters(layout, length, Processor{AVX512BW: true, RDFSBase: true})
}

// hit writes a slot as the pad of a site would, with the frames of all tracepoints and anything for contents.
func (l *left) hit(s *Slots) {
	slot := make([]byte, s.size)
	fillRandom(slot[slotHeader:])
	position := l.control.add(HeadAt, uint64(s.size)) - uint64(s.size)
	for i := range s.frames {
		f := &s.frames[i]
		if f.end-f.at < frameHeader {
			continue
		}
		slot[slotPresent] |= 1 << i
		binary.LittleEndian.PutUint16(slot[f.at:], uint16(f.key.Number))
		binary.LittleEndian.PutUint32(slot[f.at+2:], uint32(f.end-f.at-frameHeader))
		for _, b := range f.blocks {
			slot[b.at] = byte(b.kind)
			switch b.kind {
			case blockMemory:
				binary.LittleEndian.PutUint16(slot[b.at+9:], uint16(b.room))
			case blockVariable:
				binary.LittleEndian.PutUint32(slot[b.at+1:], uint32(b.number))
			case blockPrinted: // strings of no bytes
				clear(slot[b.at+1:][:b.room])
			}
		}
	}
	binary.LittleEndian.PutUint16(slot[slotUnits:], uint16(s.size/slotAlign))
	binary.LittleEndian.PutUint32(slot[slotSite:], uint32(s.site))
	binary.LittleEndian.PutUint64(slot[slotCommit:], position^l.arena.Key)
	l.write(position, slot)
}

// write writes to both mappings of the ring.
func (l *left) write(position uint64, b []byte) {
	for i, c := range b {
		at := (position + uint64(i)) & (MinRing - 1)
		l.ring[at], l.ring[MinRing+at] = c, c
	}
}

func fillRandom(b []byte) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
}

// read is how CopyControl reads what was left.
func (l *left) read(offset int, p []byte) error {
	copy(p, bytesOf(l.control.words)[offset:])
	return nil
}

// salvage does what a second process does, which knows nothing but the memory.
func (l *left) salvage() (frames [][]byte, entries []Entry, damaged, passed int, err error) {
	c, id, err := CopyControl(l.read)
	if err != nil {
		return nil, nil, 0, 0, err
	}
	arena := l.arena
	arena.Key = id.Key
	entries, damaged = c.Entries(&arena, registersHere)
	reader, err := NewReader(&arena, c, bytes.Clone(l.ring))
	if err != nil {
		return nil, nil, 0, 0, err
	}
	for _, e := range entries {
		if e.Slots != nil {
			reader.Define(e.Slots)
		}
	}
	passed, err = reader.Salvage(func(r *Record) {
		if r.Frames != nil {
			frames = append(frames, bytes.Clone(r.Frames))
		}
	})
	return frames, entries, damaged, passed, err
}

// TestDirectory: everything that the tracer knows of a site is in the directory, but for the causes of failures.
func TestDirectory(t *testing.T) {
	l := newLeft(t)
	list := paths(t, &victim{pid: 1234})
	_, entries, damaged, _, err := l.salvage()
	if err != nil || damaged != 0 || len(entries) != len(list) {
		t.Fatalf("%d entries, %d damaged, %v; want %d", len(entries), damaged, err, len(list))
	}
	for i, e := range entries {
		want := *l.sites[i]
		if e.Pad != padAddr || len(e.Patches) != 2 || e.Patches[0].Own != nil || !bytes.Equal(e.Patches[1].Own, []byte{3, 4, 5}) {
			t.Errorf("%s: %+v", list[i].name, e)
		}
		for k, tp := range list[i].tracepoints {
			if d := definitionOf(tp.Tracepoint); !reflect.DeepEqual(d.Pieces(), e.Tracepoints[k].Pieces()) {
				t.Errorf("%s: tracepoint %+v, want %+v", list[i].name, e.Tracepoints[k], d)
			}
		}
		if list[i].trap {
			continue
		}
		got := *e.Slots
		got.causes, want.causes = nil, nil
		want.plain, want.frames = 0, slices.Clone(want.frames)
		for k := range want.frames {
			f := &want.frames[k]
			f.direct, f.shape, f.memory, f.threads = false, tfile.Shape{}, nil, nil
			f.blocks = slices.Clone(f.blocks)
			for j := range f.blocks {
				f.blocks[j].printed = nil // it is known that something was printed, and not what
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: slots\n%+v, want\n%+v", list[i].name, got, want)
		}
	}
	for i := range list {
		l.directory.Remove(i)
	}
	if _, entries, damaged, _, _ := l.salvage(); len(entries)+damaged != 0 {
		t.Errorf("%d entries and %d damaged ones after all were removed", len(entries), damaged)
	}
}

// TestSalvage: a second process finds the frames that the tracer's own reader would have drained, whatever holes there are.
func TestSalvage(t *testing.T) {
	l := newLeft(t)
	var want [][]byte
	take := each(func(r *Record) { want = append(want, bytes.Clone(r.Frames)) })
	holes := 0
	for range 40 { // laps, in which the tracer drains
		for range 20 {
			l.hit(l.sites[rand.IntN(len(l.sites))])
		}
		if _, err := l.reader.Drain(MinRing, take); err != nil {
			t.Fatal(err)
		}
	}
	want = nil
	for range 30 {
		s := l.sites[rand.IntN(len(l.sites))]
		if rand.IntN(4) > 0 {
			l.hit(s)
			continue
		}
		position := l.control.add(HeadAt, uint64(s.size)) - uint64(s.size)
		l.reader.Void(s, position)
		holes += s.size
	}
	frames, _, _, passed, err := l.salvage()
	if _, drained := l.reader.Drain(MinRing, take); drained != nil || err != nil {
		t.Fatal(drained, err)
	}
	if passed != holes || !reflect.DeepEqual(frames, want) {
		t.Errorf("%d frames and %d bytes passed over, want %d and %d", len(frames), passed, len(want), holes)
	}
}

// TestHold: what was drained and not released is left to a second process, which is told how much was kept of what came before.
// Writers have no more room than what was released.
func TestHold(t *testing.T) {
	l := newLeft(t)
	l.reader.Hold(true, 7)
	type mark struct{ position, made uint64 }
	marks := []mark{{0, 7}}
	made, released := uint64(7), 0
	var all [][]byte // of which those before all[from[i]] were drained at marks[i]
	from := []int{0}
	largest := slices.MaxFunc(l.sites, func(a, b *Slots) int { return a.size - b.size }).size
	for range 100 {
		for l.reader.Used() < uint64(MinRing-largest) && rand.IntN(8) > 0 {
			l.hit(l.sites[rand.IntN(len(l.sites))])
		}
		_, err := l.reader.Drain(1+rand.IntN(MinRing), each(func(r *Record) {
			all = append(all, bytes.Clone(r.Frames))
			made += uint64(len(r.Frames))
		}))
		if err != nil {
			t.Fatal(err)
		}
		marks, from = append(marks, mark{l.reader.Tail(), made}), append(from, len(all))
		if rand.IntN(2) == 0 {
			released += rand.IntN(len(marks) - released)
			l.reader.Release(marks[released].position, marks[released].made)
		}
		position := marks[released].position
		if limit := l.control.load(LimitAt); limit != position+MinRing || l.control.Kept(position) != marks[released].made {
			t.Fatalf("limit %d, %d kept, want those of %+v", limit, l.control.Kept(position), marks[released])
		}
		frames, _, _, passed, err := l.salvage()
		want := all[from[released]:]
		if err != nil || passed != 0 || len(frames) < len(want) || !slices.EqualFunc(frames[:len(want)], want, bytes.Equal) {
			t.Fatalf("%d frames of at least %d, %d bytes passed over, %v", len(frames), len(want), passed, err)
		}
	}
	if released < 20 {
		t.Errorf("no more than %d of %d were released", released, len(marks))
	}
}

// TestHostile writes random bytes over all that is shared. Nothing panics, no entry is believed that was not made by the tracer,
// and no frame that is not whole.
func TestHostile(t *testing.T) {
	l := newLeft(t)
	for range 60 {
		l.hit(l.sites[rand.IntN(len(l.sites))])
	}
	entered := make(map[string]bool)
	key := func(e *Entry) string { return e.Patches[len(e.Patches)-1].Addr.String() }
	_, entries, _, _, _ := l.salvage()
	for _, e := range entries {
		entered[key(&e)] = true
	}
	control, ring := bytesOf(l.control.words), bytes.Clone(l.ring)
	used := int(l.control.load(directoryUsed))
	regions := [][2]int{{0, 0x200}, {IdentityAt + 8, IdentityAt + 24}, {DirectoryAt, directoryEntries},
		{directoryEntries, directoryEntries + used}}
	var before [][]byte
	for _, region := range regions {
		before = append(before, bytes.Clone(control[region[0]:region[1]]))
	}
	seen := 0
	for round := range 150 {
		for i, region := range regions {
			copy(control[region[0]:], before[i])
		}
		copy(l.ring, ring)
		for range 1 + rand.IntN(5) {
			if region := regions[rand.IntN(len(regions))]; rand.IntN(3) > 0 {
				b := control[region[0]:region[1]]
				from := rand.IntN(len(b))
				fillRandom(b[from:min(len(b), from+1+rand.IntN(200))])
			} else {
				from := rand.IntN(MinRing)
				fillRandom(l.ring[from : from+1+rand.IntN(500)])
			}
		}
		frames, entries, _, _, _ := l.salvage()
		for _, e := range entries {
			if !entered[key(&e)] {
				t.Fatalf("round %d: %+v", round, e)
			}
		}
		seen += len(frames)
		for _, f := range frames {
			if frame, err := tfile.ParseFrame(f, binary.LittleEndian, coreSize); err != nil || frame.Check() != nil {
				t.Fatalf("round %d: frame % x: %v, %v", round, f, err, frame.Check())
			}
		}
	}
	if seen == 0 {
		t.Error("no frame was ever found, which proves nothing")
	}
}

// TestForged changes bytes of entries and mends their checksums, as a program might that means it. Nothing panics, and frames are
// well-formed all the same.
func TestForged(t *testing.T) {
	l := newLeft(t)
	for range 60 {
		l.hit(l.sites[rand.IntN(len(l.sites))])
	}
	control := bytesOf(l.control.words)
	forged, seen := 0, 0
	for range 100 {
		before := bytes.Clone(control[directoryEntries:][:l.control.load(directoryUsed)])
		for _, p := range l.directory.places {
			length := int(uint32(l.control.load(p.at + 8)))
			payload := control[p.at+entryHeader:][:length]
			for range rand.IntN(3) {
				payload[rand.IntN(length)] = byte(rand.Uint32())
			}
			l.control.store(p.at+8, uint64(length)|uint64(crc32.ChecksumIEEE(payload))<<32)
		}
		frames, entries, _, _, _ := l.salvage()
		forged += len(entries)
		seen += len(frames)
		for _, f := range frames {
			size := int(binary.LittleEndian.Uint32(f[2:]))
			if binary.LittleEndian.Uint16(f) == 0 || size != len(f)-frameHeader {
				t.Fatalf("frame % x", f)
			}
		}
		copy(control[directoryEntries:], before)
	}
	if forged == 0 || seen == 0 {
		t.Errorf("%d entries and %d frames were believed, which proves nothing", forged, seen)
	}
}
