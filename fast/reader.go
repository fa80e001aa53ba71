package fast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/tfile"
	"tracewell/trace"
)

// Record is what one tracepoint has made of one hit, in the form of a target.Deposit.
type Record struct {
	Key   trace.Key
	Frame []byte // in the bytes of a trace file, header included; nil if the condition failed. Valid until take returns
	// Failures are the expressions that failed, in order: the errors that ax.Machine would have returned.
	Failures []error
	Printed  []string // what the expressions have printed, in order
	More     bool     // the next record is of the same hit
	Lost     int64    // frames of the tracepoint dropped since its record before, for want of room
}

// ErrCorrupt says that what lies in the ring cannot have been written by a pad. Nothing behind it can be found.
var ErrCorrupt = errors.New("the program has overwritten the memory that it shares with its tracer")

// Reader takes slots out of the ring. Drain and Lost are to be called by one goroutine at a time, the others by any.
type Reader struct {
	// Wake wakes all threads that wait on the futex at WakeAt. It is called when there may be some.
	Wake func()
	// Thread translates the base of thread-local storage to a thread id. It is called while slots are drained, so a thread's
	// end, and the birth of one at a base that was another's, must wait for the slots before it.
	Thread func(base uint64) int64

	control Control
	ring    []byte // twice
	size    int    // of it once
	key     uint64
	tail    atomic.Uint64 // position up to which slots were drained
	waits   uint64        // that have been woken

	drops bool // the pads do rather than wait

	// sites are by index. Draining takes no lock for them: the list is replaced when it grows, its members at any time.
	sites atomic.Pointer[[]atomic.Pointer[Slots]]
	mu    sync.Mutex     // held to change sites, and for the others
	voids map[uint64]int // size of the slot, by position
	lost  map[int]uint64 // that records have told, by index of the tracepoint

	both     [2]Record // of one slot, in turn
	slotCopy []byte
	out      tfile.Builder
	frame    []byte // the frames of one slot that had to be assembled, one behind the other
	printed  []string
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
		Wake: func() {}, Thread: func(base uint64) int64 { return int64(base) },
		control: c, ring: ring, size: a.RingSize, key: a.Key, drops: a.WhenFull == Drop,
		voids: make(map[uint64]int), lost: make(map[int]uint64),
		out: tfile.Builder{Order: binary.LittleEndian},
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

// Drain takes all slots that are whole, in order, up to the first that is not, and no more when it has drained most bytes. It gives
// the writers their room. take is called for each record, and returns false to have no more than those of the same hit. Drain
// returns the number of bytes drained.
func (r *Reader) Drain(most int, take func(*Record) bool) (n int, err error) {
	tail := r.tail.Load()
	start, freed := tail, tail // freed is the position that the writers know of
	for more := true; more && tail-start < uint64(most); {
		size, whole := r.next(tail)
		if size == 0 {
			break
		}
		if whole {
			s := r.copySlot(tail, size)
			if s == nil {
				err = ErrCorrupt
				break
			}
			if more, err = r.records(s, take); err != nil {
				break
			}
		}
		tail += uint64(size)
		if tail-freed >= uint64(r.size/2) { // so that those who wait can go on
			r.advance(tail)
			freed = tail
		}
	}
	if tail != freed {
		r.advance(tail)
	}
	return int(tail - start), err
}

// Skip goes on behind slots that were reserved and never completed, as the threads that had reserved them are gone. It returns the
// number of bytes that it has skipped, 0 if nothing follows: no thread may be in a pad.
func (r *Reader) Skip() (skipped uint64) {
	tail := r.tail.Load()
	end := min(r.control.load(HeadAt), tail+uint64(r.size))
	for position := tail; position < end; position += slotAlign {
		if size, _ := r.next(position); size != 0 {
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

// next finds the slot at a position: its size as the slot or the tracer says, 0 if there is nothing to be drained yet, and whether
// it is whole. One that is not is void.
func (r *Reader) next(position uint64) (size int, whole bool) {
	at := position & uint64(r.size-1)
	if atomicLoad(r.ring[at:]) == position^r.key {
		return max(int(binary.LittleEndian.Uint16(r.ring[at+slotUnits:])), 1) * slotAlign, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	size = r.voids[position]
	delete(r.voids, position)
	return size, false
}

// copySlot copies a slot, of which only the copy is looked at from then on, and finds its site. It is nil if they do not agree.
func (r *Reader) copySlot(position uint64, size int) *Slots {
	if size > r.size {
		return nil
	}
	r.slotCopy = append(r.slotCopy[:0], r.ring[position&uint64(r.size-1):][:size]...)
	s := r.slots(binary.LittleEndian.Uint32(r.slotCopy[slotSite:]))
	// A size that is not the site's would make what follows in the ring be taken for slots.
	if s == nil || s.size != size {
		return nil
	}
	return s
}

// advance gives room to the writers.
func (r *Reader) advance(tail uint64) {
	r.tail.Store(tail)
	r.control.store(LimitAt, tail+uint64(r.size))
	r.control.add(WakeAt, 1)
	if waits := r.control.Waits(); waits != r.waits {
		r.waits = waits
		r.Wake()
	}
}

// records makes the records of the slot that was copied. More is false if take wants no more.
func (r *Reader) records(s *Slots, take func(*Record) bool) (more bool, err error) {
	slot := r.slotCopy
	r.frame = r.frame[:0]
	more = true
	var ready *Record // the one before, which has to tell whether another one follows
	n := 0
	for i := range s.frames {
		f := &s.frames[i]
		made := &r.both[n%2]
		ok, err := r.record(made, s, f, slot, slot[slotPresent]&(1<<i) != 0)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if ready != nil {
			ready.More = true
			more = take(ready) && more
		}
		ready = made
		n++
	}
	if ready != nil {
		more = take(ready) && more
	}
	return more, nil
}

// record makes the record of one tracepoint. It is false if there is none: the condition did not hold, or it was disabled.
func (r *Reader) record(made *Record, s *Slots, f *framePlan, slot []byte, present bool) (ok bool, err error) {
	*made = Record{Key: f.key}
	failed := slot[slotFlags]&flagFailed != 0
	if !present {
		if !failed || f.condition == 0 {
			return false, nil
		}
		cause, err := r.failure(s, slot[f.condition:])
		if cause == nil {
			return false, err
		}
		made.Failures = []error{cause}
		return true, err
	}
	if failed {
		for _, at := range f.failures {
			cause, err := r.failure(s, slot[at:])
			if err != nil {
				return false, err
			}
			if cause != nil {
				made.Failures = append(made.Failures, cause)
			}
		}
	}
	if r.drops {
		made.Lost = r.lostOf(f.index)
	}
	r.printed = nil
	made.Frame, err = r.frameOf(f, slot)
	made.Printed = r.printed
	return true, err
}

// failure returns what a failure record tells, nil if it is empty.
func (r *Reader) failure(s *Slots, record []byte) (failure, err error) {
	id := binary.LittleEndian.Uint32(record[failureID:])
	if id == 0 {
		return nil, nil
	}
	if int64(id) > int64(len(s.causes)) {
		return nil, ErrCorrupt
	}
	c := &s.causes[id-1]
	e := &ax.Error{Kind: c.kind, Op: c.op, Offset: c.offset}
	if c.size > 0 {
		addr := arch.Addr(binary.LittleEndian.Uint64(record[failureAddress:]))
		readable := binary.LittleEndian.Uint32(record[failureReadable:])
		e.Cause = fmt.Errorf("%d bytes at %v: %d of them readable", c.size, addr, readable)
	}
	return e, nil
}

// frameOf returns the frame of a tracepoint.
func (r *Reader) frameOf(f *framePlan, slot []byte) ([]byte, error) {
	if int(binary.LittleEndian.Uint16(slot[f.at:])) != int(f.key.Number) ||
		int(binary.LittleEndian.Uint32(slot[f.at+2:])) != f.end-f.at-frameHeader {
		return nil, ErrCorrupt
	}
	// Nearly all frames are in the slot as they are to be.
	if f.direct && slot[slotFlags]&flagShort == 0 {
		for i := range f.blocks {
			if b := &f.blocks[i]; !b.whole(slot) {
				return nil, ErrCorrupt
			}
		}
		return slot[f.at:f.end], nil
	}
	return r.assemble(f, slot)
}

// whole reports whether what precedes the contents of a block is as a pad writes it where nothing was missing.
func (b *block) whole(slot []byte) bool {
	head := slot[b.at:]
	switch {
	case head[0] != byte(b.kind):
		return false
	case b.kind == blockMemory:
		return int(binary.LittleEndian.Uint16(head[9:])) == b.room
	case b.kind == blockVariable:
		return binary.LittleEndian.Uint32(head[1:]) == uint32(b.number)
	}
	return true
}

// assemble makes a frame of a slot in which blocks are missing or short, or registers are raw.
func (r *Reader) assemble(f *framePlan, slot []byte) ([]byte, error) {
	start := len(r.frame) // behind the frames of the same hit
	r.out.Begin(r.frame, f.key.Number)
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
				value = r.Thread(uint64(value))
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
				r.out.AppendMemory(arch.Addr(binary.LittleEndian.Uint64(head[1:])), head[memoryHeader:][:n])
			}
			short = short || n < b.room
		}
	}
	r.frame = r.out.Finish()
	return r.frame[start:], nil
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
func (r *Reader) lostOf(index int) int64 {
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

// Lost calls take with a record without frame or failure for each tracepoint that has dropped frames since its record before. It
// returns false to have no more.
func (r *Reader) Lost(take func(*Record) bool) {
	if !r.drops {
		return
	}
	list := *r.sites.Load()
	for i := range list {
		s := list[i].Load()
		if s == nil {
			continue
		}
		for j := range s.frames {
			f := &s.frames[j]
			if n := r.lostOf(f.index); n > 0 && !take(&Record{Key: f.key, Lost: n}) {
				return
			}
		}
	}
}
