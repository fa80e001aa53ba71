package fast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/tfile"
	"tracewell/trace"
)

// Record is what one tracepoint has made of one hit, or of several in a row of which there is nothing to tell but their frames, in
// the form of a target.Deposit.
type Record struct {
	Key    trace.Key
	Frames []byte // whole, in the bytes of a trace file, one behind the other and of one length; nil if the condition failed
	Hits   int    // how many frames
	// Failures are the expressions that failed, in order: the errors that ax.Machine would have returned.
	Failures []error
	Printed  []string // what the expressions have printed, in order
	More     bool     // the next record is of the same hit
	Repeat   *Repeat  // by which hits that repeat this one can be counted; nil if they are not
	Lost     int64    // frames of the tracepoint dropped since its record before, for want of room
}

// ErrCorrupt says that what lies in the ring cannot have been written by a pad. Nothing behind it can be found.
var ErrCorrupt = errors.New("the program has overwritten the memory that it shares with its tracer")

// Reader takes slots out of the ring. Define, Forget, Void, Tail and Outstanding may be called by any goroutine, the others by one
// at a time.
type Reader struct {
	// Wake wakes all threads that wait on the futex at WakeAt. It is called when there may be some.
	Wake func()
	// Thread translates the base of thread-local storage to a thread id. It is called while slots are drained, so a thread's
	// end, and the birth of one at a base that was another's, must wait for the slots before it.
	Thread func(base uint64) int64
	// Own puts the program's own bytes into memory that was collected at an address, in the place of those of patches.
	Own func(addr arch.Addr, memory []byte)

	control Control
	ring    []byte // twice
	size    int    // of it once
	key     uint64
	tail    atomic.Uint64 // position up to which slots were drained
	limit   uint64        // position up to which they may be written, as the control area has it
	sleeps  bool          // threads may sleep until there is room
	crowded bool          // not all of them had room when they were woken last
	waits   uint64        // that have been woken
	holds   bool          // see Hold
	drops   atomic.Bool   // some site does, or did, rather than wait

	// sites are by index. Draining takes no lock for them: the list is replaced when it grows, its members at any time.
	sites atomic.Pointer[[]atomic.Pointer[Slots]]
	mu    sync.Mutex     // held to change sites, and for the others
	voids map[uint64]int // size of the slot, by position
	lost  map[int]uint64 // that records have told, by index of the tracepoint

	records  []Record // of the slots that take is given together
	frames   []byte   // theirs, one behind the other
	slotCopy []byte
	out      tfile.Builder
	printed  []string
	base     uint64 // of the thread that made the last hit of the batch
	tid      int64  // of that thread, 0 if it is not known
}

// NewReader reads the ring of an arena through the tracer's mapping of it: RingSize bytes, mapped twice in a row.
func NewReader(a *Arena, c Control, ring []byte) (*Reader, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if len(ring) != 2*a.RingSize {
		return nil, fmt.Errorf("a ring of %d bytes mapped with %d, not twice", a.RingSize, len(ring))
	}
	r := &Reader{
		Wake: func() {}, Thread: func(base uint64) int64 { return int64(base) }, Own: func(arch.Addr, []byte) {},
		control: c, ring: ring, size: a.RingSize, key: a.Key,
		voids: make(map[uint64]int), lost: make(map[int]uint64),
		out: tfile.Builder{Order: binary.LittleEndian}, frames: make([]byte, 0, batchBytes+batchBytes/4),
	}
	r.sites.Store(new([]atomic.Pointer[Slots]))
	return r, nil
}

// Define tells the reader of a site, before its jump is patched in.
func (r *Reader) Define(s *Slots) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := *r.sites.Load()
	if s.site >= len(list) {
		longer := make([]atomic.Pointer[Slots], max(s.site+1, 2*len(list)))
		for i := range list {
			longer[i].Store(list[i].Load())
		}
		list = longer
		r.sites.Store(&list)
	}
	list[s.site].Store(s)
	if s.drops {
		r.drops.Store(true)
	}
}

// slots finds a site by its index, nil if there is none.
func (r *Reader) slots(index uint32) *Slots {
	if list := *r.sites.Load(); uint64(index) < uint64(len(list)) {
		return list[index].Load()
	}
	return nil
}

// Forget removes a site by its index. No thread may be in its pad, and its slots must have been drained.
func (r *Reader) Forget(site int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := *r.sites.Load(); site < len(list) {
		list[site].Store(nil)
	}
}

// Void says that a slot of a site was reserved and will never be written.
func (r *Reader) Void(s *Slots, position uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.voids[position] = s.size
}

// slot is the slot at an offset in the ring, nil if there can be none.
func (r *Reader) slot(offset uint64, size int) []byte {
	if offset >= uint64(r.size) || offset%slotAlign != 0 || size > r.size {
		return nil
	}
	return r.ring[offset:][:size]
}

// Outstanding returns the number of bytes that are reserved and have not been drained.
func (r *Reader) Outstanding() uint64 { return r.control.load(HeadAt) - r.tail.Load() }

// Hold has slots stay in the ring when they are drained, until Release: whoever kills the tracer between the two leaves them to the
// one that mends the program. kept is as of Release.
func (r *Reader) Hold(on bool, kept uint64) {
	r.Release(r.tail.Load(), kept)
	if r.holds = on; on {
		r.control.keep(r.Released()+1, r.Released(), kept) // no pair belongs to a position between two slots
	}
}

// Holds reports whether drained slots stay in the ring.
func (r *Reader) Holds() bool { return r.holds }

// Tail returns the position up to which slots were drained.
func (r *Reader) Tail() uint64 { return r.tail.Load() }

// Used returns the number of bytes of the ring that are reserved or held.
func (r *Reader) Used() uint64 { return r.control.load(HeadAt) - (r.limit - uint64(r.size)) }

// Released returns the position up to which the writers have their room back.
func (r *Reader) Released() uint64 { return r.limit - uint64(r.size) }

// Release gives the writers the room of the slots up to a position, which were drained. kept is what Control.Kept is to return from
// then on.
func (r *Reader) Release(position, kept uint64) {
	if position == r.Released() {
		return
	}
	if r.holds {
		r.control.keep(r.Released(), position, kept)
	}
	r.limit = position + uint64(r.size)
	r.control.store(LimitAt, r.limit)
	r.control.add(WakeAt, 1)
	if waits := r.control.Waits(); r.sleeps && (waits != r.waits || r.crowded) {
		r.waits, r.crowded = waits, r.Starved()
		r.Wake()
	}
}

// Starved reports whether a thread has reserved what there is no room for.
func (r *Reader) Starved() bool { return int64(r.control.load(HeadAt)-r.limit) > 0 }

// LetSleep lets threads sleep that wait for room, rather than spin: those that Control.Waits counts up to a number, or all from now
// on for AllWaits. None of them may have a filter for system calls that forbids it. A thread that is waiting already installs none;
// of others nothing is known. 0 takes the leave back.
func (r *Reader) LetSleep(waits uint64) {
	if waits > 0 {
		r.sleeps, r.crowded = true, true
	}
	r.control.store(GrantAt, waits)
}

// AllWaits is for LetSleep.
const AllWaits = math.MaxUint64

// take is given no more at once than so many bytes of frames and so many records, the last slot's aside: what the fastest cache of
// a processor holds, so that whoever looks at a frame or copies it has it there.
const (
	batchBytes   = 24 << 10
	batchRecords = 256
)

// Drain takes all slots that are whole, in order, up to the first that is not, and no more when it has drained most bytes. take is
// called with the records of some at a time, which are valid until it returns. Then the writers have their room, unless the slots
// are held. Drain returns the number of bytes drained.
func (r *Reader) Drain(most int, take func([]Record)) (n int, err error) {
	start := r.tail.Load()
	tail, end := start, start+uint64(most)
	for err == nil && tail < end {
		from := tail
		if tail, err = r.gather(from, end); tail == from {
			break
		}
		take(r.records)
	}
	if tail != start {
		r.advance(tail)
	}
	return int(tail - start), err
}

// gather makes the records of a batch of slots from a position on, of none that begins at end or behind. It returns the position of
// the next.
func (r *Reader) gather(tail, end uint64) (next uint64, err error) {
	r.reset()
	for tail < end && len(r.frames) < batchBytes && len(r.records) < batchRecords && err == nil {
		size := uint64(0)
		if r.whole(tail) {
			size, err = r.collect(tail, end)
		} else if size = r.void(tail); size == 0 {
			break
		}
		tail += size
	}
	return tail, err
}

// reset forgets the records that there are.
func (r *Reader) reset() {
	clear(r.records)
	r.records, r.frames = r.records[:0], r.frames[:0]
	r.tid = 0
}

// Skip goes on behind slots that were reserved and never completed, as the threads that had reserved them are gone. It returns the
// number of bytes that it has skipped, 0 if nothing follows: no thread may be in a pad.
func (r *Reader) Skip() (skipped uint64) {
	tail := r.tail.Load()
	end := min(r.control.load(HeadAt), tail+uint64(r.size))
	for position := tail; position < end; position += slotAlign {
		if r.whole(position) || r.void(position) != 0 {
			r.advance(position)
			return position - tail
		}
	}
	if end > tail {
		r.advance(end)
		return end - tail
	}
	return 0
}

// whole reports whether the slot at a position was committed.
func (r *Reader) whole(position uint64) bool {
	return atomicLoad(r.ring[position&uint64(r.size-1):]) == position^r.key
}

// void is the size of the slot at a position that will never be written, 0 if nothing is known of one. It is forgotten.
func (r *Reader) void(position uint64) (size uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size = uint64(r.voids[position])
	delete(r.voids, position)
	return size
}

// advance goes on to a position, and gives the writers the room before it unless that is held.
func (r *Reader) advance(tail uint64) {
	r.tail.Store(tail)
	if !r.holds {
		r.Release(tail, 0)
	}
}

// collect makes the records of a slot that is whole, and of those behind it that can be told of together. It returns their size. Of
// a slot whose size is not that of its site nothing is believed: what follows in the ring would be taken for slots. Neither is
// anything looked at that was not copied before.
func (r *Reader) collect(position, end uint64) (size uint64, err error) {
	at := position & uint64(r.size-1)
	head := atomicLoad(r.ring[at+slotUnits:])
	s := r.slots(uint32(head >> 32))
	if s == nil || s.size != max(int(uint16(head)), 1)*slotAlign || s.size > r.size {
		return 0, ErrCorrupt
	}
	if head == s.plain {
		return r.collectPlain(s, position, end)
	}
	r.slotCopy = append(r.slotCopy[:0], r.ring[at:][:s.size]...)
	records, frames := len(r.records), len(r.frames)
	if err = r.collectAll(s, r.slotCopy); err != nil {
		r.records, r.frames = r.records[:records], r.frames[:frames]
		return 0, err
	}
	return uint64(s.size), nil
}

// collectPlain makes the record of one site's slots in a row in which the frame is as it is to be.
func (r *Reader) collectPlain(s *Slots, position, end uint64) (size uint64, err error) {
	f := &s.frames[0]
	start, hits := len(r.frames), 0
	for ; position < end && len(r.frames) < batchBytes; position += uint64(s.size) {
		slot := r.ring[position&uint64(r.size-1):][:s.size]
		if atomicLoad(slot) != position^r.key || atomicLoad(slot[slotUnits:]) != s.plain {
			break
		}
		if _, err = r.direct(f, slot); err != nil {
			break
		}
		hits++
	}
	if hits > 0 {
		r.records = append(r.records, Record{
			Key: f.key, Frames: r.frames[start:], Hits: hits, Lost: r.lostOf(s, f.index), Repeat: s.repeat,
		})
	}
	return uint64(hits * s.size), err
}

// collectAll makes the records of a slot.
func (r *Reader) collectAll(s *Slots, slot []byte) error {
	first := len(r.records)
	for i := range s.frames {
		f := &s.frames[i]
		made, err := r.record(s, f, slot, slot[slotPresent]&(1<<i) != 0)
		switch {
		case err != nil:
			return err
		case made.Frames == nil && made.Failures == nil:
			continue // the condition did not hold, or the tracepoint was disabled
		case len(r.records) > first:
			r.records[len(r.records)-1].More = true
		}
		r.records = append(r.records, made)
	}
	return nil
}

// record makes the record of one tracepoint, without frame and failures if there is none.
func (r *Reader) record(s *Slots, f *framePlan, slot []byte, present bool) (made Record, err error) {
	made.Key = f.key
	failed := slot[slotFlags]&flagFailed != 0
	if !present {
		if failed && f.condition != 0 {
			made.Failures, err = r.failed(made.Failures, s, slot[f.condition:])
		}
		return made, err
	}
	if failed {
		for _, at := range f.failures {
			if made.Failures, err = r.failed(made.Failures, s, slot[at:]); err != nil {
				return made, err
			}
		}
	}
	made.Hits, made.Lost, made.Repeat = 1, r.lostOf(s, f.index), s.repeat
	if f.direct && slot[slotFlags]&flagShort == 0 {
		made.Frames, err = r.direct(f, slot)
	} else {
		made.Frames, err = r.assemble(f, slot)
	}
	made.Printed, r.printed = r.printed, nil
	return made, err
}

// failed adds what a failure record tells to a list, unless it is empty.
func (r *Reader) failed(list []error, s *Slots, record []byte) ([]error, error) {
	id := binary.LittleEndian.Uint32(record[failureID:])
	if id == 0 {
		return list, nil
	}
	if int64(id) > int64(len(s.causes)) {
		return list, ErrCorrupt
	}
	c := &s.causes[id-1]
	e := &ax.Error{Kind: c.kind, Op: c.op, Offset: c.offset}
	if c.size > 0 {
		addr := arch.Addr(binary.LittleEndian.Uint64(record[failureAddress:]))
		readable := binary.LittleEndian.Uint32(record[failureReadable:])
		e.Cause = fmt.Errorf("%d bytes at %v: %d of them readable", c.size, addr, readable)
	}
	return append(list, e), nil
}

// direct copies a frame that is in the slot as it is to be.
func (r *Reader) direct(f *framePlan, slot []byte) (frame []byte, err error) {
	start := len(r.frames)
	r.frames = append(r.frames, slot[f.at:f.end]...)
	frame = r.frames[start:]
	if !f.shape.Match(frame) {
		r.frames = r.frames[:start]
		return nil, ErrCorrupt
	}
	for _, m := range f.memory {
		r.Own(arch.Addr(binary.LittleEndian.Uint64(frame[m.from-memoryHeader+1:])), frame[m.from:m.to])
	}
	for _, at := range f.threads {
		binary.LittleEndian.PutUint64(frame[at:], uint64(r.thread(binary.LittleEndian.Uint64(frame[at:]))))
	}
	return frame, nil
}

// thread is Thread, which is asked once for the hits of a thread in a row.
func (r *Reader) thread(base uint64) int64 {
	if base != r.base || r.tid == 0 {
		r.base, r.tid = base, r.Thread(base)
	}
	return r.tid
}

// assemble makes a frame of a slot in which blocks are missing or short, or registers are raw.
func (r *Reader) assemble(f *framePlan, slot []byte) ([]byte, error) {
	if int(binary.LittleEndian.Uint16(slot[f.at:])) != int(f.key.Number) ||
		int(binary.LittleEndian.Uint32(slot[f.at+2:])) != f.end-f.at-frameHeader {
		return nil, ErrCorrupt
	}
	start := len(r.frames)
	r.out.Begin(r.frames, f.key.Number)
	short := false // the block before is short
	for i := range f.blocks {
		b := &f.blocks[i]
		head := slot[b.at:]
		if head[0] == 0 {
			continue
		}
		if head[0] != byte(b.kind) {
			return nil, ErrCorrupt
		}
		switch b.kind {
		case blockRegisters:
			r.expandRegisters(f, head[1:1+b.room], slot)
		case blockVariable:
			value := int64(binary.LittleEndian.Uint64(head[5:]))
			if b.thread {
				value = r.thread(uint64(value))
			}
			r.out.Variable(b.number, value)
		case blockPrinted:
			if b.printed == nil { // whoever knew is dead
				continue
			}
			text, err := b.printed.text(head[1:][:b.room])
			if err != nil {
				return nil, err
			}
			r.printed = append(r.printed, text)
		case blockMemory:
			n := int(binary.LittleEndian.Uint16(head[9:]))
			if n > b.room {
				return nil, ErrCorrupt
			}
			// Memory is recorded in one piece: what a range has behind a hole is left out.
			short = short && b.more
			if !short && n > 0 {
				addr := arch.Addr(binary.LittleEndian.Uint64(head[1:]))
				r.Own(addr, head[memoryHeader:][:n])
				r.out.AppendMemory(addr, head[memoryHeader:][:n])
			}
			short = short || n < b.room
		}
	}
	r.frames = r.out.Finish()
	return r.frames[start:], nil
}

// expandRegisters adds the R block.
func (r *Reader) expandRegisters(f *framePlan, general, slot []byte) {
	to := r.out.Registers(f.registers.size)
	if f.registers.moves == nil {
		copy(to, general)
		return
	}
	f.registers.expand(to, general, slot[f.rawAt:])
}

// lostOf is by how much the count of frames dropped has grown since it was asked for.
func (r *Reader) lostOf(s *Slots, index int) int64 {
	if !s.drops {
		return 0
	}
	now := atomic.LoadUint64(r.control.counter(LostAt, index))
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.lost[index]
	if now == before {
		return 0
	}
	r.lost[index] = now
	return int64(now - before)
}

// Lost calls take, if there is anything to tell, with a record without frame or failure for each tracepoint that has dropped frames
// since its record before.
func (r *Reader) Lost(take func([]Record)) {
	if !r.drops.Load() {
		return
	}
	r.reset()
	list := *r.sites.Load()
	for i := range list {
		s := list[i].Load()
		if s == nil || !s.drops {
			continue
		}
		for j := range s.frames {
			f := &s.frames[j]
			if n := r.lostOf(s, f.index); n > 0 {
				r.records = append(r.records, Record{Key: f.key, Lost: n})
			}
		}
	}
	if len(r.records) > 0 {
		take(r.records)
	}
}
