package fast

import (
	"encoding/binary"
	"fmt"
)

// What a tracer that has died leaves behind is read from a copy: the program may still be writing to the memory.

// CopyControl copies the parts of a control area that another process needs: the words up to the tables, the trace state variables,
// and the directory. read fills p with what is at an offset of the area. Nothing in the copy can be relied on but what it is
// for. The error says that it is no control area, or that it cannot be read.
func CopyControl(read func(offset int, p []byte) error) (Control, Identity, error) {
	c := Control{make([]uint64, ControlSize/8)} // of which the greater part is never touched
	if err := c.copy(read, 0, EnabledAt); err != nil {
		return c, Identity{}, err
	}
	if !c.Begun() {
		return c, Identity{}, nil
	}
	_, id, err := OpenControl(c.words)
	if err == nil {
		err = c.copy(read, VariablesAt, HitsAt)
	}
	if err == nil {
		err = c.copy(read, directoryUsed, directoryEntries)
	}
	if err == nil {
		used := int(min(c.load(directoryUsed), directorySize)) &^ 7
		err = c.copy(read, directoryEntries, directoryEntries+used)
	}
	return c, id, err
}

// copy fills a part of a control area.
func (c Control) copy(read func(int, []byte) error, from, to int) error {
	b := make([]byte, to-from)
	if err := read(from, b); err != nil {
		return err
	}
	for i := 0; i < len(b); i += 8 {
		c.words[(from+i)/8] = binary.LittleEndian.Uint64(b[i:])
	}
	return nil
}

// Begun reports whether a tracer has ever prepared the area. Where none has there is no site either.
func (c Control) Begun() bool { return c.load(IdentityAt) != 0 }

// Owner is the thread that owns the area, 0 if it has ended or has let go of it.
func (c Control) Owner() int { return int(c.load(OwnerAt) & ownerThread) }

// Left is the part of the ring, in positions, that has been reserved and may have been written, and was not drained. The error says
// that the program has overwritten the words that tell.
func (c Control) Left(a *Arena) (from, to uint64, err error) {
	limit, head := c.load(LimitAt), c.load(HeadAt)
	// The limit is a ring ahead of what was drained. What is reserved beyond it waits for room that nobody makes, and is never
	// written.
	from, to = limit-uint64(a.RingSize), min(head, limit)
	if from > head || from%slotAlign != 0 || head%slotAlign != 0 || limit < uint64(a.RingSize) {
		return 0, 0, fmt.Errorf("%w (the words of its buffer)", ErrCorrupt)
	}
	return from, to, nil
}

// Salvage takes all slots that are whole, in order, out of the ring of a tracer that has died. Where none is it looks for the next
// one: a thread may have ended in a pad, or been taken out of one, and what was known of that died with the tracer. It returns
// the number of bytes that it had to pass over.
func (r *Reader) Salvage(take func(*Record)) (passed int, err error) {
	from, to, err := r.control.Left(&Arena{RingSize: r.size})
	if err != nil {
		return 0, err
	}
	for at := from; at < to; {
		r.reset()
		size := uint64(0)
		if r.whole(at) {
			size, _ = r.collect(at, to)
		}
		if size == 0 || size > to-at { // what is not whole has no size
			passed += slotAlign
			at += slotAlign
			continue
		}
		for i := range r.records {
			take(&r.records[i])
		}
		at += size
	}
	return passed, nil
}
