//go:build linux

package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/fast"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// repeats are hits that pads count because they repeat an earlier one, whose frame is kept here. The collector's mu guards them.
type repeats struct {
	list    []repeat
	vain    int // frames in a row for which no entry could be made
	world   frameWorld
	machine ax.Machine
	words   []uint64
}

// repeat is a frame and how often it was repeated.
type repeat struct {
	key   trace.Key
	frame []byte
	table fast.Repeats // of its arena
	place int          // in the table; 0, which no entry has, once the arena is gone
	seen  uint64       // of the count there
	owed  uint64       // counted, and nobody has been told yet
	arena *arena
}

// mostVain is how many frames are evaluated in vain before no more are: the table is full, or the values are all different.
const mostVain = 1 << 14

// note has hits be counted that repeat those of a record. The frames are those of hits that were not counted, so each has values
// that there is no entry for, or came before the entry was made.
func (r *repeats) note(a *arena, made *fast.Record) {
	if r.vain >= mostVain {
		return
	}
	length := len(made.Frames) / made.Hits
	for frame := range slices.Chunk(made.Frames, length) {
		r.vain++
		if !r.evaluate(made.Repeat.Alike, frame) {
			continue
		}
		table := fast.NewRepeats(a.control)
		// Entering none is no error: the hits with these values make frames, as this one did.
		if place, ok := table.Enter(made.Repeat, r.words); ok {
			r.list = append(r.list, repeat{key: made.Key, frame: bytes.Clone(frame), table: table, place: place, arena: a})
			r.vain = 0
		}
	}
}

// evaluate computes expressions on a frame, false if that lacks something.
func (r *repeats) evaluate(list []*ax.Program, frame []byte) bool {
	var err error
	if r.world.frame, err = tfile.ParseFrame(frame, binary.LittleEndian, r.world.block); err != nil {
		return false
	}
	// What the pad has computed is not asked: memory may have changed before it was collected, and the entry stands for the frame.
	r.words = r.words[:0]
	for _, p := range list {
		r.world.text = nil
		v, err := r.machine.Value(p, &r.world)
		ok := err == nil
		switch {
		case r.world.text != nil: // nothing is left on the stack
			r.words, ok = fast.AppendText(r.words, r.world.text)
		case ok:
			r.words = append(r.words, uint64(v))
		}
		if !ok {
			return false
		}
	}
	return true
}

// count takes over what the table of each repeat has counted. Counts only grow, unless the program writes over them, which costs
// nobody but the reader of its figures anything.
func (r *repeats) count() {
	for i := range r.list {
		if e := &r.list[i]; e.place != 0 {
			n := e.table.Count(e.place)
			e.owed += n - e.seen
			e.seen = n
		}
	}
}

// leave takes over the last counts of an arena whose memory goes. Somebody may still ask for them, and for the frames.
func (r *repeats) leave(a *arena) {
	r.count()
	for i := range r.list {
		if e := &r.list[i]; e.arena == a {
			e.arena, e.place = nil, 0
		}
	}
}

// Repeats implements target.Repeater.
func (c *collector) Repeats(dst []target.Repeat) []target.Repeat {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.repeats.count()
	for i := range c.repeats.list {
		if e := &c.repeats.list[i]; e.owed > 0 {
			dst = append(dst, target.Repeat{Key: e.key, Frame: e.frame, Times: e.owed})
			e.owed = 0
		}
	}
	return dst
}

// frameWorld is a frame as the world of an expression that has no variables and no effects.
type frameWorld struct {
	ax.Env
	layout *tdesc.Layout
	block  int // bytes of registers in a frame that has any
	frame  tfile.Frame
	text   []byte // at the address that the expression has recorded one at, as much as may count; nil if it has recorded none
}

var errNotInFrame = errors.New("the frame does not have it")

// Register implements ax.Env.
func (w *frameWorld) Register(r arch.Reg) (uint64, error) {
	slot, registers := w.layout.ByNumber(r), w.frame.Registers()
	if slot == nil || slot.Size > 8 || slot.Offset+slot.Size > len(registers) {
		return 0, errNotInFrame
	}
	return arch.Uint(registers[slot.Offset:][:slot.Size], binary.LittleEndian), nil
}

// Ref implements ax.Env.
func (w *frameWorld) Ref(addr arch.Addr, size int) (uint64, error) {
	var b [8]byte
	if w.frame.ReadMemory(addr, b[:size]) < size {
		return 0, errNotInFrame
	}
	return arch.Uint(b[:size], binary.LittleEndian), nil
}

// TraceString is part of ax.Env.
func (w *frameWorld) TraceString(addr arch.Addr, _ uint64) {
	w.text = make([]byte, fast.TextBytes)
	w.text = w.text[:w.frame.ReadMemory(addr, w.text)]
}
