package tracepoint

import (
	"bytes"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// A worker carries out one hit at a time, for one goroutine of a target, whose Handler it is: it evaluates conditions, and gathers
// what one frame is to hold. It is the world that the expressions of the hit see. All that a hit needs room for is its own, so that
// a hit neither allocates nor holds a lock while it reads memory.
//
// Performing an action only notes a block: registers and variables are taken at once, memory is put off. When the frame is
// called for, all noted memory is read in one batch, since on a remote target each read is a round trip, and then the blocks
// are written in the order in which the actions asked for them. Only what an expression computes with is read at once.
//
// Terms. The arena holds the bytes of memory blocks, one after the other. A block is settled once its memory was read; it
// then is as long as what could be read, and the arena has been closed up behind it.
//
// The arena is bounded by the size of the trace buffer, however much the actions ask for: what is noted beyond that is
// settled first, as it may turn out to be mostly unreadable, and then if still too much the frame cannot fit anyway.
type worker struct {
	hit
	engine   *Engine
	view     *view // with which the hit began
	snapshot target.Snapshot
	machine  ax.Machine
	limit    int // bytes that the buffer has room for

	registers    []byte // of the R block
	static       []byte // of the S block
	hasRegisters bool   // there is an R block
	hasStatic    bool   // there is an S block
	blocks       []block
	settled      int // blocks whose memory was read
	arena        []byte
	noted        int  // bytes of the arena once it has grown for the blocks that are not settled
	overflow     bool // the frame cannot fit in the buffer
	failures     []error

	reads []target.Read
	word  [8]byte // what Ref reads
	out   tfile.Builder
	bytes []byte // of the frame last made
}

// A block is one block of the frame, or several if its memory is too long for one. A string is memory that ends with its
// first zero byte, and limit is how long it may be at most; its first chunk is read with the batch, the rest, which few
// have, after it.
type block struct {
	kind     blockKind
	addr     arch.Addr
	offset   int // in the arena
	length   int
	limit    uint64
	variable trace.VariableNumber
	value    int64
}

type blockKind uint8

const (
	registerBlock blockKind = iota
	memoryBlock
	stringBlock
	variableBlock
)

// stringChunk is how much of a string is read at a time: more than most have, less than a page.
const stringChunk = 256

func (e *Engine) newWorker() *worker {
	return &worker{engine: e, out: tfile.Builder{Order: e.layout.Order}}
}

// begin makes ready for a hit or step of a run.
func (w *worker) begin(v *view, s target.Snapshot) {
	w.hit, w.view, w.limit, w.snapshot = hit{run: v.run}, v, v.limit, s
}

// clear makes ready for a frame, or for an expression that makes none.
func (w *worker) clear() {
	w.blocks, w.reads = w.blocks[:0], w.reads[:0]
	w.arena = w.arena[:0]
	w.settled, w.noted, w.overflow = 0, 0, false
	w.hasRegisters, w.hasStatic = false, false
	w.failures = w.failures[:0]
}

// collect performs operations of a tracepoint for a frame, unless the buffer was found to be full in this same hit. What is in
// the definition is not looked at, as it may change meanwhile.
func (w *worker) collect(c *catch, a *armed, operations []compiled.Operation) {
	if w.full {
		return
	}
	w.clear()
	for i := range operations {
		if err := w.perform(&operations[i], a.marker); err != nil {
			w.failures = append(w.failures, err)
		}
	}
	c.failures = w.failures
	c.frame, c.tooLarge = w.frame(a.t.Number)
	c.static = w.hasStatic
}

// perform does one action of a tracepoint with that marker.
func (w *worker) perform(op *compiled.Operation, marker Marker) error {
	switch op.Kind {
	case trace.CollectRegisters:
		w.noteRegisters()
	case trace.CollectMemory:
		addr, err := op.Memory(w.snapshot.Register)
		if err == nil && op.Length > 0 {
			w.TraceMemory(addr, op.Length)
		}
		return err
	case trace.CollectExpression:
		return w.run(op.Program)
	case trace.CollectStatic:
		w.noteStatic(marker)
	}
	return nil
}

// run evaluates an expression for its effects.
func (w *worker) run(p *ax.Program) error {
	_, err := w.evaluate(p, false)
	return err
}

// value evaluates an expression for its result.
func (w *worker) value(p *ax.Program) (int64, error) { return w.evaluate(p, true) }

// evaluate runs an expression. One that sets variables runs alone, so that what it computes from a variable and stores in it is
// not lost when several threads are handled at once; only hits wait for it, never a session.
func (w *worker) evaluate(p *ax.Program, valued bool) (int64, error) {
	if p.SetsVariables() {
		w.engine.alone.Lock()
		defer w.engine.alone.Unlock()
	}
	if valued {
		return w.machine.Value(p, w)
	}
	return 0, w.machine.Run(p, w)
}

// noteStatic takes the static trace data, of which there is none away from markers. There is one S block in a frame.
func (w *worker) noteStatic(marker Marker) {
	if marker == nil || w.hasStatic {
		return
	}
	w.engine.alone.Lock()
	defer w.engine.alone.Unlock()
	w.static, w.hasStatic = marker.AppendStatic(w.static[:0], w.snapshot), true
	w.static = w.static[:min(len(w.static), tfile.MaxBlock)]
}

// noteRegisters takes the whole register block: the file format has no way to say that some of it is missing, so the mask
// of the action is not looked at (gdbserver does the same). There is one R block in a frame. If the thread has no registers
// to give any more there is none.
func (w *worker) noteRegisters() {
	layout := &w.engine.layout
	if layout.RegisterBlock == 0 || w.hasRegisters {
		return
	}
	w.registers = slices.Grow(w.registers[:0], layout.RegisterBlock)[:layout.RegisterBlock]
	if w.snapshot.Registers(w.registers) != nil {
		return
	}
	if layout.PCOffset+layout.PCSize <= len(w.registers) { // a stub may have it behind the block
		pc := uint64(w.snapshot.PC())
		switch at := w.registers[layout.PCOffset:]; layout.PCSize {
		case 4:
			layout.Order.PutUint32(at, uint32(pc))
		case 8:
			layout.Order.PutUint64(at, pc)
		}
	}
	w.blocks, w.hasRegisters = append(w.blocks, block{kind: registerBlock}), true
}

// TraceMemory is part of ax.Env.
func (w *worker) TraceMemory(addr arch.Addr, size uint64) {
	w.note(block{kind: memoryBlock, addr: addr}, size)
}

// TraceString is part of ax.Env.
func (w *worker) TraceString(addr arch.Addr, limit uint64) {
	w.note(block{kind: stringBlock, addr: addr, limit: limit}, min(limit, stringChunk))
}

// TraceVariable is part of ax.Env.
func (w *worker) TraceVariable(n uint16) {
	number := trace.VariableNumber(n)
	value, ok := w.identity(number)
	if !ok {
		value = w.engine.recorded(number)
	}
	w.blocks = append(w.blocks, block{kind: variableBlock, variable: number, value: value})
}

// note puts off a read of size bytes.
func (w *worker) note(b block, size uint64) {
	if size > uint64(w.limit-w.noted) {
		w.settle()
		room := w.limit - w.noted
		if room <= 0 { // the frame is too large without this
			return
		}
		size = min(size, uint64(room)) // all of it readable would leave no room for the header
	}
	b.offset, b.length = w.noted, int(size)
	w.noted += int(size)
	w.blocks = append(w.blocks, b)
}

// settle reads the memory of the blocks that are noted so far.
func (w *worker) settle() {
	filled := len(w.arena)
	w.arena = slices.Grow(w.arena, w.noted-filled)[:w.noted]
	w.reads = w.reads[:0]
	for _, b := range w.blocks[w.settled:] {
		if b.isMemory() {
			w.reads = append(w.reads, target.Read{Addr: b.addr, Dst: w.arena[b.offset : b.offset+b.length]})
		}
	}
	if len(w.reads) > 0 {
		w.snapshot.ReadBatch(w.reads)
	}
	w.closeUp(filled)
	w.settled = len(w.blocks)
	w.noted = len(w.arena)
}

func (b *block) isMemory() bool { return b.kind == memoryBlock || b.kind == stringBlock }

// closeUp shortens the blocks just read to what there was to read and moves them together from filled on.
func (w *worker) closeUp(filled int) {
	unread := w.reads
	for i := w.settled; i < len(w.blocks); i++ {
		b := &w.blocks[i]
		if !b.isMemory() {
			continue
		}
		data := unread[0].Dst[:unread[0].N]
		whole := unread[0].N == b.length
		unread = unread[1:]
		if end := bytes.IndexByte(data, 0); b.kind == stringBlock && end >= 0 {
			data, whole = data[:end+1], false
		}
		b.offset, b.length = filled, len(data)
		filled += copy(w.arena[filled:], data)
		if !whole {
			b.limit = 0 // a string ends here
		}
	}
	w.arena = w.arena[:filled]
}

// frame makes the frame of tracepoint n, valid until clear, or reports that it would be larger than the buffer. Static trace
// data comes last, so that what is before it is a frame without.
func (w *worker) frame(n trace.Number) (frame []byte, tooLarge bool) {
	w.settle()
	w.out.Begin(w.bytes[:0], n)
	for i := range w.blocks {
		w.write(&w.blocks[i])
		if w.overflow || w.out.Len() > w.limit {
			return nil, true
		}
	}
	if w.hasStatic {
		w.out.AppendStatic(w.static)
		if w.out.Len() > w.limit {
			return nil, true
		}
	}
	w.bytes = w.out.Finish()
	return w.bytes, false
}

// write appends a settled block to the frame. Memory of which nothing could be read has no block.
func (w *worker) write(b *block) {
	switch b.kind {
	case registerBlock:
		copy(w.out.Registers(len(w.registers)), w.registers)
	case variableBlock:
		w.out.Variable(b.variable, b.value)
	case memoryBlock:
		w.out.AppendMemory(b.addr, w.arena[b.offset:b.offset+b.length])
	case stringBlock:
		kept := len(w.arena)
		w.out.AppendMemory(b.addr, w.wholeString(b))
		w.arena = w.arena[:kept]
	}
}

// wholeString returns the bytes of a string, after reading what was longer than a chunk to the end of the arena.
func (w *worker) wholeString(b *block) []byte {
	if b.limit <= uint64(b.length) {
		return w.arena[b.offset : b.offset+b.length]
	}
	start := len(w.arena)
	w.arena = append(w.arena, w.arena[b.offset:b.offset+b.length]...)
	for end := false; !end; {
		length := len(w.arena) - start
		if length > w.limit {
			w.overflow = true
			break
		}
		size := int(min(b.limit-uint64(length), stringChunk))
		w.arena = slices.Grow(w.arena, size)
		chunk := w.arena[len(w.arena) : len(w.arena)+size]
		chunk, end = w.readString(b.addr+arch.Addr(length), chunk)
		w.arena = w.arena[:len(w.arena)+len(chunk)]
		end = end || uint64(len(w.arena)-start) == b.limit
	}
	return w.arena[start:]
}

// readString fills chunk from addr up to and including the first zero byte and returns what it filled, and whether that is
// all there is to read of the string.
func (w *worker) readString(addr arch.Addr, chunk []byte) (filled []byte, end bool) {
	n := w.snapshot.ReadMemory(addr, chunk)
	if zero := bytes.IndexByte(chunk[:n], 0); zero >= 0 {
		return chunk[:zero+1], true
	}
	return chunk[:n], n < len(chunk)
}
