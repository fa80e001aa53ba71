package survey

import (
	"bytes"

	"tracewell/arch"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/view"
)

// Change is something that was collected in a frame and in the one before it, and is not the same.
type Change struct {
	Name     string
	Register *tdesc.Slot // of a register, else nil
	Item     *view.Item  // of what else a tracepoint collects by a name, else nil
	Old, New []byte      // in the order of the target; of the whole thing
}

// Comparison compares frames with those of the same tracepoint before them.
type Comparison struct {
	view     *view.View
	slots    []*tdesc.Slot // registers that are compared
	old, new *view.Reader
	before   view.Frame
	changes  []Change
	memory   map[arch.Addr][]byte // blocks of the frame before
	kept     []byte               // of items; a Reader reuses its bytes
}

// NewComparison returns a Comparison of the frames of v, by the registers that v has selected.
func NewComparison(v *view.View) *Comparison {
	return &Comparison{
		view: v, slots: v.Registers(), old: v.NewReader(), new: v.NewReader(), memory: make(map[arch.Addr][]byte),
	}
}

// Compare returns the number of the frame of the same tracepoint before f, and what has changed since: first registers,
// then what the tracepoint collects by name. Memory that has no name, because the tracepoint is not defined, is compared by its
// address. It returns false for the first frame of a tracepoint. The changes are valid until the next call, as long as the
// bytes of f are.
func (c *Comparison) Compare(f view.Frame) (since int, changes []Change, ok bool, err error) {
	since, ok = Previous(c.view, f.Number)
	if !ok {
		return 0, nil, false, nil
	}
	if c.before, err = c.view.Frame(since, c.before.Bytes()); err != nil {
		return 0, nil, false, err
	}
	c.changes, c.kept = c.changes[:0], c.kept[:0]
	c.registers(f)
	if c.view.Definition(f) == nil {
		c.blocks(f)
	} else {
		c.items(f)
	}
	return since, c.changes, true, nil
}

// add notes a change, if it is one.
func (c *Comparison) add(change Change) {
	if !bytes.Equal(change.Old, change.New) {
		c.changes = append(c.changes, change)
	}
}

func (c *Comparison) registers(f view.Frame) {
	before, after := c.before.Registers(), f.Registers()
	if bytes.Equal(before, after) {
		return
	}
	for _, slot := range c.slots {
		change := Change{Name: slot.Reg.Name, Register: slot}
		var had, has bool
		change.Old, had = slot.Bytes(before)
		change.New, has = slot.Bytes(after)
		if had && has {
			c.add(change)
		}
	}
}

// items compares what the tracepoint collects besides registers. What was collected at a hit and not after a step, or the other
// way round, has not changed. $trace_timestamp is left out, as it always changes and so tells nothing.
func (c *Comparison) items(f view.Frame) {
	c.old.Set(c.before)
	c.new.Set(f)
	for _, item := range c.new.Items() {
		n, isVariable := item.Variable()
		if item.Slot != nil || isVariable && c.view.IsTimestamp(n) {
			continue
		}
		before, had := c.old.Read(item)
		after, has := c.new.Read(item)
		if had && has && !bytes.Equal(before.Bytes, after.Bytes) {
			c.changes = append(c.changes, Change{Name: item.Name, Item: item, Old: c.keep(before.Bytes), New: c.keep(after.Bytes)})
		}
	}
}

// keep copies bytes that are about to be overwritten.
// The slice is capped, so that nobody can append to what was kept of another item.
func (c *Comparison) keep(b []byte) []byte {
	start := len(c.kept)
	c.kept = append(c.kept, b...)
	return c.kept[start:len(c.kept):len(c.kept)]
}

// blocks compares memory by address.
func (c *Comparison) blocks(f view.Frame) {
	clear(c.memory)
	for block := range c.before.Blocks() {
		if block.Kind == tfile.BlockMemory {
			c.memory[block.Addr] = block.Bytes
		}
	}
	for block := range f.Blocks() {
		if before, had := c.memory[block.Addr]; had && block.Kind == tfile.BlockMemory {
			c.add(Change{Name: block.Addr.String(), Old: before, New: block.Bytes})
		}
	}
}

// Stretch is part of two byte strings of one length in which they differ.
type Stretch struct{ Start, End int }

// word is the unit in which stretches of differing memory are found.
const word = 4

// Stretches returns where two byte strings differ, in whole words from their beginning. Of strings of different lengths it is
// all of the longer one.
func Stretches(a, b []byte) []Stretch {
	if len(a) != len(b) {
		return []Stretch{{0, max(len(a), len(b))}}
	}
	var stretches []Stretch
	for at := 0; at < len(a); at += word {
		end := min(at+word, len(a))
		if bytes.Equal(a[at:end], b[at:end]) {
			continue
		}
		if n := len(stretches); n > 0 && stretches[n-1].End == at {
			stretches[n-1].End = end
			continue
		}
		stretches = append(stretches, Stretch{at, end})
	}
	return stretches
}
