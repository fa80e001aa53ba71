package fast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// The directory is what another process needs to know of the sites once their tracer has died: where the program's own code goes,
// and what the slots in the ring mean. The tracer enters a site before its jump is patched in, and removes the entry after the
// jump is gone and its slots have been drained, so whenever it dies there is an entry for every jump.
//
// The area begins with a word of 64 bits: the number of bytes that have ever been in use behind it. Then come entries, each at a
// multiple of entryAlign: a mark that is the entry's place exclusive-ored with entryMark and the key, written last and cleared
// first; the length of what follows (32 bits) and its checksum (CRC-32, IEEE); and the contents (appendTo). An entry that the
// program has written over can be told by that, and costs no other entry anything.
const (
	directoryUsed    = DirectoryAt
	directoryEntries = DirectoryAt + entryAlign
	directorySize    = RepeatsAt - directoryEntries
	entryAlign       = 64
	entryHeader      = 16
	entryMark        = uint64(0x7972_746e_6573_7774)
)

// Entry is what the directory has of a site.
type Entry struct {
	Pad         arch.Addr
	PadSize     int
	Patches     []Patch // in the order in which they were written: the one at the site itself is the last
	Tracepoints []trace.Tracepoint
	Slots       *Slots // nil where nothing is collected, or registers that this machine has not
}

// Patch is bytes of the tracer's over bytes of the program.
type Patch struct {
	Addr arch.Addr
	Own  []byte // the program's; nil in a page that was mapped for trampolines
	Ours []byte
}

// Bounds of an entry, beyond which it is not believed. A jump with prefixes is no longer than an instruction can be.
const (
	maxPatches = 4
	maxPatch   = 15
	maxText    = 1 << 20
	maxCauses  = 1 << 16
	maxBlocks  = 1 << 16
)

// Directory is the tracer's side. It is for one goroutine.
type Directory struct {
	control Control
	used    int           // bytes
	places  map[int]place // by the index of the site
	free    map[int][]int // offsets of places that were given up, by their sizes
}

// place is where an entry is: an offset in the control area and a size, in bytes.
type place struct{ at, size int }

var errDirectoryFull = errors.New("the directory of sites is full")

// NewDirectory returns the empty directory of a control area that NewControl has prepared.
func NewDirectory(c Control) *Directory {
	return &Directory{control: c, places: make(map[int]place), free: make(map[int][]int)}
}

// Enter enters a site by its pad, or replaces its entry. It comes before the patches are written. Of a site without tracepoints,
// that of a breakpoint, there is nothing to know but how it is patched.
func (d *Directory) Enter(p *Pad, list []Tracepoint, patches []Patch) error {
	d.Remove(p.Slots.site)
	payload := (&entryWriter{}).entry(p, list, patches)
	size := (entryHeader + len(payload) + entryAlign - 1) &^ (entryAlign - 1)
	at, err := d.take(size)
	if err != nil {
		return err
	}
	// The program may be running, but nobody reads before the tracer is dead: order matters for the mark alone.
	d.control.store(at+8, uint64(len(payload))|uint64(crc32.ChecksumIEEE(payload))<<32)
	for i := 0; i < len(payload); i += 8 {
		var word [8]byte
		copy(word[:], payload[i:])
		d.control.store(at+entryHeader+i, binary.LittleEndian.Uint64(word[:]))
	}
	d.control.store(at, entryMark^d.control.load(IdentityAt+8)^uint64(at))
	d.places[p.Slots.site] = place{at, size}
	return nil
}

// Remove removes the entry of a site by its index, after its patches are gone.
func (d *Directory) Remove(site int) {
	p, found := d.places[site]
	if !found {
		return
	}
	d.control.store(p.at, 0)
	delete(d.places, site)
	d.free[p.size] = append(d.free[p.size], p.at)
}

// take returns the offset of a free place. Places that were given up are used again for entries of their size only: most are of a
// few sizes, and those of a run that has ended come again.
func (d *Directory) take(size int) (at int, err error) {
	if free := d.free[size]; len(free) > 0 {
		d.free[size] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	if d.used+size > directorySize {
		return 0, errDirectoryFull
	}
	at = directoryEntries + d.used
	d.used += size
	d.control.store(directoryUsed, uint64(d.used))
	return at, nil
}

// entryWriter appends numbers as varints, and bytes behind their count. There is no version in an entry: the control area has one.
type entryWriter struct{ buf []byte }

func (w *entryWriter) number(n uint64) { w.buf = binary.AppendUvarint(w.buf, n) }

func (w *entryWriter) numbers(list ...int) {
	for _, n := range list {
		w.number(uint64(n))
	}
}

func (w *entryWriter) bytes(b []byte) {
	w.number(uint64(len(b)))
	w.buf = append(w.buf, b...)
}

// flag appends a number that is 1 for true.
func (w *entryWriter) flag(on bool) {
	if on {
		w.number(1)
	} else {
		w.number(0)
	}
}

// entry makes the contents of an entry. Every change of it, or of what Slots mean, is one of the layout's version.
func (w *entryWriter) entry(p *Pad, list []Tracepoint, patches []Patch) []byte {
	w.number(uint64(p.Addr))
	w.numbers(len(p.Code), len(patches))
	for _, patch := range patches {
		w.number(uint64(patch.Addr))
		w.bytes(patch.Own)
		w.bytes(patch.Ours)
	}
	slots := p.Slots
	if len(list) == 0 {
		slots = &Slots{site: slots.site, addr: slots.addr}
	}
	w.slots(slots)
	for i := range list {
		w.tracepoint(list[i].Tracepoint)
	}
	return w.buf
}

// slots appends what Slots are, but for the causes of failures, of which it is enough to know that there are some, and for whether
// frames can be taken as they are.
func (w *entryWriter) slots(s *Slots) {
	w.numbers(s.site, int(s.addr), s.size, len(s.causes), len(s.frames))
	for i := range s.frames {
		f := &s.frames[i]
		size := 0
		if f.registers != nil {
			size = f.registers.size
		}
		w.numbers(int(f.key.Number), f.index, f.at, f.end, size, f.rawAt, f.condition, len(f.failures))
		w.numbers(f.failures...)
		w.numbers(len(f.blocks))
		for _, b := range f.blocks {
			w.numbers(int(b.kind), b.at, b.room, int(b.number))
			w.flag(b.thread)
			w.flag(b.more)
		}
	}
}

// tracepoint writes a definition as the pieces of a trace file have it.
func (w *entryWriter) tracepoint(c *compiled.Tracepoint) {
	t := definitionOf(c)
	pieces := t.Pieces()
	w.number(uint64(len(pieces)))
	for _, piece := range pieces {
		w.bytes([]byte(piece))
	}
}

// definitionOf undoes compiled.Compile, but for what serves people only.
func definitionOf(c *compiled.Tracepoint) trace.Tracepoint {
	t := trace.Tracepoint{Number: c.Number, Addr: c.Addr, Enabled: c.Enabled, Pass: c.Pass, Step: c.Step}
	if c.Condition != nil {
		t.Condition = c.Condition.Code()
	}
	for i := range c.Actions {
		t.Actions = append(t.Actions, c.Actions[i].Action)
	}
	for i := range c.StepActions {
		t.StepActions = append(t.StepActions, c.StepActions[i].Action)
	}
	return t
}

// errBadEntry never reaches a user: what is bad is counted.
var errBadEntry = errors.New("an entry of the directory of sites makes no sense")

// Entries reads the directory that a tracer has left behind. registers plans a register block of a length in bytes, as the tracer
// that has died did. damaged counts the entries that cannot be believed.
func (c Control) Entries(a *Arena, registers func(length int) (*Registers, error)) (list []Entry, damaged int) {
	used := int(min(c.load(directoryUsed), directorySize)) &^ (entryAlign - 1)
	// An entry is looked for at each place where one can be, so a damaged size costs the entry that has it and no other.
	for at := directoryEntries; at < directoryEntries+used; {
		if c.load(at) != entryMark^a.Key^uint64(at) {
			at += entryAlign
			continue
		}
		e, size, err := c.entry(a, at, registers)
		if err != nil {
			damaged++
			at += entryAlign
			continue
		}
		list = append(list, *e)
		at += size
	}
	return list, damaged
}

// entry reads the entry at an offset.
func (c Control) entry(a *Arena, at int, registers func(int) (*Registers, error)) (e *Entry, size int, err error) {
	word := c.load(at + 8)
	length := int(uint32(word))
	if length > ControlSize-at-entryHeader {
		return nil, 0, errBadEntry
	}
	// It is copied before it is looked at, though the whole area is a copy already if somebody else reads it: the words are 64
	// bits.
	payload := make([]byte, 0, length+8)
	for i := 0; i < length; i += 8 {
		payload = binary.LittleEndian.AppendUint64(payload, c.load(at+entryHeader+i))
	}
	payload = payload[:length]
	if crc32.ChecksumIEEE(payload) != uint32(word>>32) {
		return nil, 0, errBadEntry
	}
	r := entryReader{left: payload}
	e = r.entry(a, registers)
	if r.bad || len(r.left) > 0 {
		return nil, 0, errBadEntry
	}
	return e, (entryHeader + length + entryAlign - 1) &^ (entryAlign - 1), nil
}

// entryReader takes an entry apart. Once something is bad everything reads as zero.
type entryReader struct {
	left []byte
	bad  bool
}

// number reads a number of any size.
func (r *entryReader) number() uint64 {
	v, n := binary.Uvarint(r.left)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.left = r.left[n:]
	return v
}

// upTo reads a number that is at most so large.
func (r *entryReader) upTo(most int) int {
	v := r.number()
	if v > uint64(most) {
		r.bad = true
		return 0
	}
	return int(v)
}

// bytes reads bytes behind their count. They are copied: the entry outlives the buffer.
func (r *entryReader) bytes(most int) []byte {
	n := r.upTo(min(most, len(r.left)))
	if r.bad || n > len(r.left) {
		r.bad = true
		return nil
	}
	b := append([]byte(nil), r.left[:n]...)
	r.left = r.left[n:]
	return b
}

func (r *entryReader) flag() bool { return r.upTo(1) == 1 }

// entry reads the contents of an entry, nil if they make no sense. Patches that do are of use without Slots that do.
func (r *entryReader) entry(a *Arena, registers func(int) (*Registers, error)) *Entry {
	e := &Entry{Pad: arch.Addr(r.number()), PadSize: r.upTo(ControlSize)}
	for range r.upTo(maxPatches) {
		p := Patch{Addr: arch.Addr(r.number()), Own: r.bytes(maxPatch), Ours: r.bytes(maxPatch)}
		if len(p.Ours) == 0 || p.Own != nil && len(p.Own) != len(p.Ours) {
			r.bad = true
		}
		e.Patches = append(e.Patches, p)
	}
	s, err := r.slots(registers)
	if r.bad {
		return nil
	}
	if err == nil && s.check(a) == nil {
		e.Slots = s
	}
	for range s.frames {
		e.Tracepoints = append(e.Tracepoints, r.tracepoint())
	}
	return e
}

// slots reads what Slots are. No frame is taken as it stands in the slot: those that the reader assembles are well-formed, whatever
// the entry says. The error is one of registers, behind which the entry can still be read.
func (r *entryReader) slots(registers func(int) (*Registers, error)) (s *Slots, err error) {
	// What it takes is bounded by the entry's own size: each number that counts something is followed by as much.
	s = &Slots{site: r.upTo(MaxTracepoints - 1), addr: arch.Addr(r.number()), size: r.upTo(maxSlot)}
	s.causes = unknownCauses()[:r.upTo(maxCauses)]
	for range r.upTo(MaxAtSite) {
		f := framePlan{key: trace.Key{Number: trace.Number(r.upTo(int(trace.MaxNumber))), Addr: s.addr}}
		f.index, f.at, f.end = r.upTo(MaxTracepoints-1), r.upTo(maxSlot), r.upTo(maxSlot)
		length := r.upTo(maxSlot)
		if length > 0 {
			var planned error
			f.registers, planned = registers(length)
			err = errors.Join(err, planned)
		}
		f.rawAt, f.condition = r.upTo(maxSlot), r.upTo(maxSlot)
		for range r.upTo(maxBlocks) {
			f.failures = append(f.failures, r.upTo(maxSlot))
			if r.bad {
				break
			}
		}
		for range r.upTo(maxBlocks) {
			f.blocks = append(f.blocks, block{kind: blockKind(r.upTo(0xff)), at: r.upTo(maxSlot), room: r.upTo(maxSlot),
				number: trace.VariableNumber(r.upTo(0xffff)), thread: r.flag(), more: r.flag()})
			if r.bad {
				break
			}
		}
		s.frames = append(s.frames, f)
	}
	return s, err
}

// unknownCauses is what is known of the causes of failures: that there are some. All entries share it.
var unknownCauses = sync.OnceValue(func() []cause {
	return slices.Repeat([]cause{{kind: errors.New("an expression failed")}}, maxCauses)
})

// tracepoint reads a definition.
func (r *entryReader) tracepoint() (t trace.Tracepoint) {
	for range r.upTo(maxBlocks) {
		p, err := trace.ParsePiece(string(r.bytes(maxText)))
		if err == nil {
			err = t.AddPiece(p)
		}
		if err != nil || r.bad {
			r.bad = true
			return t
		}
	}
	return t
}

// check reports what is wrong with Slots that come from elsewhere: the reader relies on all of this.
func (s *Slots) check(a *Arena) error {
	if s.size < slotHeader || s.size%slotAlign != 0 || s.size > a.largestSlot() || len(s.frames) == 0 {
		return fmt.Errorf("slots of %d bytes: %w", s.size, errBadEntry)
	}
	for i := range s.frames {
		if !s.frames[i].fits(s.size) {
			return errBadEntry
		}
	}
	return nil
}

// fits reports whether everything that is said of a frame is inside a slot of so many bytes.
func (f *framePlan) fits(size int) bool {
	inside := func(at, n int) bool { return at >= slotHeader && at+n <= size }
	if f.key.Number < 1 || f.end > size || f.end-f.at < frameHeader || !inside(f.at, frameHeader) {
		return false
	}
	for _, at := range append([]int{f.condition}, f.failures...) {
		if at != 0 && !inside(at, failureSize) {
			return false
		}
	}
	for i := range f.blocks {
		b := &f.blocks[i]
		// The sizes of these two are not free: the reader takes them for granted.
		switch b.kind {
		case blockRegisters:
			if f.registers == nil || b.room != f.registers.room() || f.registers.raw.size > 0 && !inside(f.rawAt, f.registers.raw.size) {
				return false
			}
		case blockMemory, blockPrinted:
		case blockVariable:
			if b.room != 8 {
				return false
			}
		default:
			return false
		}
		if b.at < f.at+frameHeader || b.at+b.length() > f.end || b.room > maxBlock {
			return false
		}
	}
	return true
}
