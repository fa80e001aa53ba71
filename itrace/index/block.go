package index

import (
	"bytes"
	"slices"

	"tracewell/itrace"
)

// Item is a record of a block, or what of it matters here.
type Item struct {
	Kind    itrace.Kind
	Write   bool // Memory
	Thumb   bool // Instruction: the state is T
	Skipped bool // Instruction: its condition did not hold
	Trapped bool // Instruction: it had an exception
	Event   itrace.EventKind
	Scope   itrace.Scope // Instruction: what the trace tells of it
	CPU     int32
	Name    uint32 // Register: its number
	Back    uint32 // effects: of the instruction so many of the processor before the one that Step says
	Step    int32  // the instruction that it belongs to, counted from the first of the block; -1 is the last in front of that
	Addr    uint64 // Instruction, Memory
	Size    uint64 // in bytes, of memory or opcode
	Time    uint64
	Digits  []byte // opcode, data, value, or a further value of an event, as in the trace; empty if not told
	Words   []byte // Instruction: the instruction in words. Event: its cause, as written
	Line    int64
	Offset  int64 // of the line
}

// Block is the records of a piece of the trace.
type Block struct {
	First int64 // instruction
	Items []Item
	steps []int32 // where in Items each instruction is
}

// at returns the item of an instruction by its number in the trace.
func (b *Block) at(n int64) *Item { return &b.Items[b.steps[n-b.First]] }

// block reads a block again.
func (t *Trace) block(i int) (*Block, error) {
	if b, ok := t.blocks.get(i); ok {
		return b, nil
	}
	b, err := t.parse(i)
	if err == nil {
		t.blocks.put(i, b, 1)
	}
	return b, err
}

// leafEnd is where the piece of the trace ends that a block is of.
func (t *Trace) leafEnd(i int) int64 {
	if i+1 < len(t.dir.leaves) {
		return t.dir.leaves[i+1].at
	}
	return t.Bytes
}

// reading is what it takes to read a block. It has large buffers, and is used again.
type reading struct {
	buffer []byte
	in     bytes.Reader
	reader *itrace.Reader
	state  []byte // of the decoder at the beginning of the block
	name   []byte // of a register
}

// reading returns what reads a block, with the state that the decoder has there; a reading that is done goes to idle.
func (t *Trace) reading(leaf int) (*reading, error) {
	r := &reading{}
	if n := len(t.idle); n > 0 {
		r, t.idle = t.idle[n-1], t.idle[:n-1]
	}
	r.state = r.state[:0]
	for _, p := range t.dir.leaves[leaf].state {
		b, err := t.part(p)
		if err != nil {
			t.idle = append(t.idle, r)
			return nil, err
		}
		r.state = append(r.state, b...)
	}
	return r, nil
}

// begin has the reader begin at the beginning of the block. Like all methods of a reading it only uses of the Trace what never
// changes, so that readings may be of several goroutines.
func (r *reading) begin(t *Trace, leaf int) error {
	l := t.dir.leaves[leaf]
	// With room for the pieces that begin in front of the block and end behind it.
	r.buffer = slices.Grow(r.buffer[:0], int(t.leafEnd(leaf)-l.at)+2*pieceSize)
	text, err := t.read(r.buffer, l.at, t.leafEnd(leaf))
	if err != nil {
		return err
	}
	r.in.Reset(text)
	if r.reader == nil {
		r.reader = itrace.NewReader(&r.in, t.dialect)
	}
	r.reader.Reset(&r.in)
	if err := r.reader.Begin(l.line-1, l.at, r.state); err != nil {
		return damaged("the state at line %d: %v", l.line, err)
	}
	return nil
}

// leastLine is fewer bytes than nearly all lines have.
const leastLine = 32

// parse makes the items of a block.
func (t *Trace) parse(leaf int) (*Block, error) {
	l := t.dir.leaves[leaf]
	most := int((t.leafEnd(leaf) - l.at) / leastLine)
	b := &Block{First: l.first, Items: make([]Item, 0, most), steps: make([]int32, 0, min(int(l.instructions), most))}
	var arena []byte
	err := t.items(leaf, func(item *Item) bool {
		if item.Kind == itrace.Instruction {
			b.steps = append(b.steps, int32(len(b.Items)))
		}
		b.Items = append(b.Items, *item)
		arena = b.Items[len(b.Items)-1].keep(arena)
		return true
	})
	return b, err
}

// items reads a block and has visit see each record that matters here, until it returns false. The item is valid until the next.
func (t *Trace) items(leaf int, visit func(*Item) bool) error {
	r, err := t.reading(leaf)
	if err != nil {
		return err
	}
	defer func() { t.idle = append(t.idle, r) }()
	return r.items(t, leaf, visit)
}

func (r *reading) items(t *Trace, leaf int, visit func(*Item) bool) error {
	if err := r.begin(t, leaf); err != nil {
		return err
	}
	step := int32(-1)
	var item Item
	for record, err := range r.reader.All() {
		if err != nil {
			return err
		}
		item = Item{Kind: record.Kind, CPU: record.CPU, Time: record.Time, Line: record.Line, Offset: record.Offset,
			Digits: record.Digits, Back: record.Back}
		switch record.Kind {
		case itrace.Instruction:
			step++
			item.Addr, item.Size, item.Thumb = record.Addr, opcodeBytes(record), record.State == 'T'
			item.Skipped, item.Trapped, item.Scope, item.Words = record.Skipped, record.Trapped, record.Scope, record.Disasm
		case itrace.Memory:
			if memoryProblem(record) != "" {
				continue
			}
			item.Addr, item.Size, item.Write = record.Addr, accessBytes(record), record.Write
		case itrace.Event:
			item.Event, item.Digits, item.Words = record.Event, record.Detail, record.Name
		case itrace.Register, itrace.RegisterRead:
			if item.Name, err = r.number(t, record); err != nil {
				return err
			}
		default:
			continue
		}
		if item.Step = step; !visit(&item) {
			return nil
		}
	}
	if int64(step)+1 != t.dir.leaves[leaf].instructions {
		return ErrForeign
	}
	return nil
}

// number is that of the name of a register.
func (r *reading) number(t *Trace, record *itrace.Record) (uint32, error) {
	r.name = record.AppendName(r.name[:0])
	// Names are in lower case in the index, and mostly so in the trace.
	if n, ok := t.numbers[string(r.name)]; ok {
		return n, nil
	}
	if n, ok := t.Register(string(r.name)); ok {
		return n, nil
	}
	return 0, ErrForeign
}

// keep copies the bytes of an item to the end of an arena, which is another one if they do not fit: a block has many, of few bytes
// each.
func (it *Item) keep(arena []byte) []byte {
	for _, field := range [...]*[]byte{&it.Digits, &it.Words} {
		b := *field
		if cap(arena)-len(arena) < len(b) {
			arena = make([]byte, 0, max(1<<14, len(b)))
		}
		from := len(arena)
		arena = append(arena, b...)
		*field = arena[from:len(arena):len(arena)]
	}
	return arena
}
