package view

import (
	"encoding/binary"
	"errors"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
	"tracewell/tdesc"
	"tracewell/tfile"
)

// Reader finds items in one frame after the other. It holds the room that this needs, so that nothing is allocated for a
// frame. Several goroutines need one each.
type Reader struct {
	view       *View
	frame      Frame
	registers  []byte
	collection *collection
	stepped    bool

	entry   *Reader // of the frame of the entry, if this one is of a return
	entered bool    // that is set

	machine   ax.Machine
	traced    tracing
	scratch   []byte // what lies in several blocks, or in none
	unwinding unwinding
}

// tracing is what an expression recorded last.
// Code that collects memory runs with an environment that only notes what it would record; the bytes are then looked
// up.
type tracing struct {
	addr   arch.Addr
	size   uint64
	text   bool // up to the first zero byte
	traced bool
}

// Datum is what a frame has of an item.
type Datum struct {
	Bytes   []byte    // in the order of the target; valid until the next Read or Set
	Addr    arch.Addr // where they were, if in memory
	HasAddr bool
}

// NewReader returns a Reader for frames of the view.
func (v *View) NewReader() *Reader { return &Reader{view: v, collection: v.collected().none} }

// Set makes a frame the one that is read from.
func (r *Reader) Set(f Frame) {
	r.frame, r.registers = f, f.Registers()
	all := r.view.collected()
	r.collection, r.stepped, r.entered = all.none, false, false
	if t := r.view.Definition(f); t != nil {
		r.collection = all.of[t]
		r.stepped = r.view.Stepped(f)
	}
}

// Frame returns the frame that is read from.
func (r *Reader) Frame() Frame { return r.frame }

// Items returns what the tracepoint of the frame collects, at the location that made it.
func (r *Reader) Items() []*Item { return r.collection.items }

// Read finds an item, false if the frame does not have all of it.
func (r *Reader) Read(item *Item) (Datum, bool) {
	if item.entry != "" {
		entry, found := r.ofEntry(item)
		if found == nil {
			return Datum{}, false
		}
		return entry.Read(found)
	}
	for i := range item.sources {
		s := &item.sources[i]
		// At a step only the actions of while-stepping were carried out; those of the hit would find what a step left
		// there by chance.
		if r.stepped && !s.step {
			continue
		}
		if d, ok := r.find(item, s); ok {
			return d, true
		}
	}
	return Datum{}, false
}

// Integer reads an item that is one integer, extended to 64 bits by the sign of its type.
func (r *Reader) Integer(item *Item) (ctype.Number, bool) {
	d, ok := r.Read(item)
	if !ok || !item.Type.Scalar() || len(d.Bytes) > 8 {
		return ctype.Number{}, false
	}
	return ctype.Number{Bits: item.Type.Extend(r.view.integer(d.Bytes)), Type: item.Type}, true
}

// find finds an item in one way.
func (r *Reader) find(item *Item, s *source) (Datum, bool) {
	switch s.kind {
	case sourceRegister:
		if s.base != nil {
			return r.lowBytes(s.base, item.Type.Size)
		}
		b, ok := r.register(item.Slot)
		return Datum{Bytes: b}, ok
	case sourceVariable:
		n, ok := r.variable(s.variable)
		return r.number(uint64(n)), ok
	case sourceMemory:
		base := arch.Addr(0)
		if s.base != nil {
			b, ok := r.register(s.base)
			if !ok {
				return Datum{}, false
			}
			base = arch.Addr(r.view.integer(b))
		}
		return r.memory(base+s.addr, s.size, false)
	case sourcePlan:
		return r.evaluate(s)
	case sourceAbsent:
		return Datum{}, false
	case sourceTook:
		if r.frame.Return == nil || !r.frame.Return.Timed {
			return Datum{}, false
		}
		return r.number(uint64(r.frame.Return.Took)), true
	}
	// Without registers the frame base cannot be computed, which is not an address that the frame lacks but no address
	// at all.
	if s.needs && r.registers == nil {
		return Datum{}, false
	}
	if s.kind == sourceResult {
		n, err := r.machine.Value(s.code, (*environment)(r))
		return r.number(uint64(n)), err == nil
	}
	r.traced = tracing{}
	err := r.machine.Run(s.code, (*environment)(r))
	if err != nil || !r.traced.traced {
		return Datum{}, false
	}
	return r.memory(r.traced.addr, r.traced.size, r.traced.text)
}

func (r *Reader) register(slot *tdesc.Slot) ([]byte, bool) {
	if slot == nil || r.registers == nil {
		return nil, false
	}
	return slot.Bytes(r.registers)
}

// lowBytes finds a variable in the lowest bytes of a register.
func (r *Reader) lowBytes(slot *tdesc.Slot, size int) (Datum, bool) {
	b, ok := r.register(slot)
	switch {
	case !ok || size > len(b):
		return Datum{}, false
	case r.view.order == binary.BigEndian:
		return Datum{Bytes: b[len(b)-size:]}, true
	}
	return Datum{Bytes: b[:size]}, true
}

// variable finds a trace state variable. Of several values the last counts.
// An action may assign to it between two that record it.
func (r *Reader) variable(n int32) (value int64, ok bool) {
	for block := range r.frame.Blocks() {
		if block.Kind == tfile.BlockVariable && block.Number == n {
			value, ok = block.Value, true
		}
	}
	return value, ok
}

// number makes a datum of a number of 8 bytes.
func (r *Reader) number(n uint64) Datum {
	r.scratch = r.view.order.AppendUint64(r.scratch[:0], n)
	return Datum{Bytes: r.scratch}
}

// memory finds memory of the frame: all of size bytes, or up to the first zero byte and at most size.
func (r *Reader) memory(addr arch.Addr, size uint64, text bool) (Datum, bool) {
	d := Datum{Addr: addr, HasAddr: true}
	for block := range r.frame.Blocks() {
		if block.Kind != tfile.BlockMemory || uint64(addr-block.Addr) >= uint64(len(block.Bytes)) {
			continue
		}
		b := block.Bytes[addr-block.Addr:]
		if text {
			d.Bytes = cutString(b, size)
			return d, true
		}
		if uint64(len(b)) >= size {
			d.Bytes = b[:size:size]
			return d, true
		}
		return r.gathered(d, size)
	}
	return d, false
}

// gathered finds memory that lies in several blocks.
func (r *Reader) gathered(d Datum, size uint64) (Datum, bool) {
	if size > uint64(r.frame.Len()) {
		return d, false
	}
	if uint64(cap(r.scratch)) < size {
		r.scratch = make([]byte, size)
	}
	d.Bytes = r.scratch[:size]
	return d, r.frame.ReadMemory(d.Addr, d.Bytes) == int(size)
}

// cutString ends bytes at the first zero byte, or at the limit.
// The zero byte belongs to what tracenz records.
func cutString(b []byte, limit uint64) []byte {
	for i, c := range b[:min(uint64(len(b)), limit)] {
		if c == 0 {
			return b[:i+1]
		}
	}
	return b[:min(uint64(len(b)), limit)]
}

// environment is the frame of a Reader as an expression sees it: what it records is noted only.
type environment Reader

var errNotCollected = errors.New("not collected")

// Register implements ax.Env.
func (e *environment) Register(n arch.Reg) (uint64, error) {
	r := (*Reader)(e)
	if r.view.Layout == nil {
		return 0, errNotCollected
	}
	b, ok := r.register(r.view.Layout.ByNumber(n))
	if !ok || len(b) > 8 {
		return 0, errNotCollected
	}
	return r.view.integer(b), nil
}

// Ref implements ax.Env.
func (e *environment) Ref(addr arch.Addr, size int) (uint64, error) {
	n, ok := (*Reader)(e).integerAt(addr, size)
	if !ok {
		return 0, errNotCollected
	}
	return n, nil
}

// integerAt reads an integer of 1, 2, 4 or 8 bytes from memory.
func (r *Reader) integerAt(addr arch.Addr, size int) (uint64, bool) {
	d, ok := r.memory(addr, uint64(size), false)
	if !ok {
		return 0, false
	}
	return r.view.integer(d.Bytes), true
}

// Variable implements ax.Env.
func (e *environment) Variable(n uint16) int64 {
	value, _ := (*Reader)(e).variable(int32(n))
	return value
}

// SetVariable implements ax.Env. What was recorded does not change.
func (e *environment) SetVariable(uint16, int64) {}

// TraceVariable implements ax.Env.
func (e *environment) TraceVariable(uint16) {}

// TraceMemory implements ax.Env.
func (e *environment) TraceMemory(addr arch.Addr, size uint64) {
	e.traced = tracing{addr: addr, size: size, traced: true}
}

// TraceString implements ax.Env.
func (e *environment) TraceString(addr arch.Addr, limit uint64) {
	e.traced = tracing{addr: addr, size: limit, text: true, traced: true}
}

// Printf implements ax.Env.
func (e *environment) Printf(uint64, uint64, string, []int64) error { return nil }
