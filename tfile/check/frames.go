package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/trace"
)

// walk is the frame that is looked at, and buffers that serve all frames.
// Its slices keep their room from frame to frame, so that a clean frame costs no allocation (speed_test.go).
type walk struct {
	frame  tfile.Frame
	index  int
	number trace.Number
	of     *tracepoint // nil if not defined

	registers int // R blocks
	memory    []extent
	sorted    bool // memory is ascending and does not overlap
	values    []value
	fits      []bool // of walk.possible
	order     arch.ByteOrder
	seen      trace.Number // tracepoint that is in checker.regular already
}

// extent is an M block of the frame.
type extent struct {
	addr  arch.Addr
	bytes []byte
	at    int // offset of the block in the frame
}

// end is behind the extent, or the last address if it wraps.
func (e extent) end() arch.Addr {
	if end := e.addr + arch.Addr(len(e.bytes)); end >= e.addr {
		return end
	}
	return ^arch.Addr(0)
}

// value is a V block of the frame.
type value struct {
	number int32
	value  int64
}

// frames checks all frames.
// Frames are read one at a time into the same bytes: a file of any length takes the memory of its longest frame.
func (c *checker) frames() error {
	w := &c.walk
	var err error
	for i := range c.file.NumFrames() {
		if c.options.Progress != nil && i%progressFrames == 0 {
			c.options.Progress(int64(i))
		}
		if w.frame, err = c.file.ReadFrame(i, w.frame.Bytes()); err != nil {
			return err
		}
		c.frame(i)
	}
	c.damages()
	c.unnamed()
	return nil
}

// frame checks one frame, which is in c.walk already.
func (c *checker) frame(i int) {
	w := &c.walk
	// Frames of one tracepoint follow one another more often than not; the map is asked only when the number changes.
	if n := w.frame.Tracepoint(); i == 0 || n != w.number {
		w.number, w.of = n, c.tracepoints[n]
	}
	w.index, w.registers, w.memory, w.values, w.sorted = i, 0, w.memory[:0], w.values[:0], true
	static, read := 0, tfile.FrameHeader
	for b := range w.frame.Blocks() {
		read = b.End()
		switch b.Kind {
		case tfile.BlockRegisters:
			if w.registers++; w.registers == 2 {
				c.addFrame(ruleSeveralRegisters, b.Offset, "a second register block")
			}
		case tfile.BlockMemory:
			c.memory(b)
		case tfile.BlockVariable:
			w.values = append(w.values, value{b.Number, b.Value})
		case tfile.BlockStatic:
			if static++; static == 1 {
				c.addFrame(ruleStaticBlock, b.Offset, "data of a static tracepoint, %s", text.Plural(len(b.Bytes), "byte"))
			}
		}
	}
	c.owner(static)
	if !w.sorted {
		c.overlap()
	}
	if len(w.values) > 0 {
		c.stateVariables()
	}
	switch {
	case read < len(w.frame.Bytes()):
		c.damage(read)
	case w.registers > 0 && w.number != w.seen:
		w.seen = w.number
		c.regular[w.number] = true
	}
}

// memory checks one M block.
func (c *checker) memory(b tfile.Block) {
	w := &c.walk
	size := uint64(len(b.Bytes))
	last := b.Addr + arch.Addr(size-1)
	switch {
	case size == 0:
		c.addFrame(ruleNoMemory, b.Offset, "a memory block without bytes at %v", b.Addr)
		return
	case last < b.Addr:
		c.addFrame(ruleWrap, b.Offset, "%s at %v, which is past the end of the address space", text.Plural(len(b.Bytes), "byte"), b.Addr)
	// Upper half of 64 bits with the sign of bit 31: how MIPS has addresses of 32 bits in registers of 64.
	case last > 0xffffffff && c.narrow() && b.Addr < 0xffffffff80000000: // MIPS extends the sign of an address
		c.addFrame(ruleWide, b.Offset, "memory at %v", b.Addr)
	}
	if n := len(w.memory); n > 0 && b.Addr < w.memory[n-1].end() {
		w.sorted = false
	}
	w.memory = append(w.memory, extent{b.Addr, b.Bytes, b.Offset})
}

// overlap looks for blocks that have different bytes for one address.
func (c *checker) overlap() {
	w := &c.walk
	// Two blocks of one address are compared where both have bytes: equal bytes are no finding, since two actions may
	// ask for one range.
	slices.SortFunc(w.memory, func(a, b extent) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.at, b.at)) })
	// Sorted by address, only the block that reaches furthest can overlap the next one, so one pass finds all.
	wide := w.memory[0] // of those so far the one that reaches furthest
	for _, e := range w.memory[1:] {
		if e.addr < wide.end() {
			n := min(wide.end(), e.end()) - e.addr
			if i := different(wide.bytes[e.addr-wide.addr:], e.bytes, int(n)); i >= 0 {
				c.addFrame(ruleOverlap, max(wide.at, e.at), "memory at %v is there twice, with different bytes", e.addr+arch.Addr(i))
				return
			}
		}
		if e.end() > wide.end() {
			wide = e
		}
	}
}

// different returns where the first n bytes of a and b differ, -1 if they do not.
// A frame may hold less of a block than its head says, so both are bounded by what is there.
func different(a, b []byte, n int) int {
	n = min(n, len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// stateVariables checks the V blocks.
func (c *checker) stateVariables() {
	// The sort is stable, so that of several values of one variable the order is that of the frame.
	values := c.walk.values
	slices.SortStableFunc(values, func(a, b value) int { return cmp.Compare(a.number, b.number) })
	for i, v := range values {
		again := i > 0 && values[i-1].number == v.number
		switch {
		// A frame has 32 bits for the number, bytecode 16: nothing could have recorded any other.
		case v.number < 1 || v.number > 0xffff:
			c.addFrame(ruleVariableRange, 0, "a value of variable %d", v.number)
		case c.variables[trace.VariableNumber(v.number)] == nil:
			if !again {
				c.undefinedVariable(v.number)
			}
		case again && values[i-1].value != v.value:
			c.addFrame(ruleSeveralValues, 0, "variable %d is %d and then %d", v.number, values[i-1].value, v.value)
		}
	}
}

// undefinedVariable counts the frames that have a variable which no line defines, whichever tracepoint made them.
func (c *checker) undefinedVariable(n int32) {
	f := c.nameless[n]
	if f == nil {
		f = &Finding{Frame: c.walk.index}
		f.Offset, f.Rule = c.walk.frame.Offset(), ruleVariableUndefined
		f.Text = fmt.Sprintf("a value of variable %d, which is not defined", n)
		c.nameless[n] = f
	}
	f.Count++
}

// unnamed reports these variables.
func (c *checker) unnamed() {
	for _, n := range slices.Sorted(maps.Keys(c.nameless)) {
		c.append(*c.nameless[n])
	}
}

// owner checks what is in the frame against the tracepoint that made it.
func (c *checker) owner(static int) {
	w := &c.walk
	switch {
	case w.number < 1:
		c.addFrame(ruleFrameNumber, 0, "a frame of tracepoint %d", w.number)
		return
	case w.of == nil:
		c.addFrame(ruleFrameUndefined, 0, "a frame of tracepoint %d, which is not defined", w.number)
		return
	}
	can := &w.of.collects
	some := can.registers || can.memory || can.static
	switch {
	case w.frame.Len() == 0 && some:
		c.addFrame(ruleEmptyFrame, 0, "an empty frame of tracepoint %d", w.number)
	// How GDB copes without registers depends on how it unwinds on the architecture, see registersNeeded.
	case w.registers == 0 && c.needsRegisters != nil:
		c.addFrame(c.needsRegisters, 0, "a frame of tracepoint %d without registers", w.number)
	// GDB takes the tracepoint's address for the pc if there is only one, and no steps have left it.
	case w.registers == 0 && !w.of.infers():
		c.addFrame(ruleNoPC, 0, "a frame of tracepoint %d without registers, for which GDB cannot infer $pc", w.number)
	}
	switch {
	case w.registers > 0 && !can.registers:
		c.addFrame(ruleUncollected, 0, "registers, which tracepoint %d does not collect", w.number)
	case len(w.memory) > 0 && !can.memory:
		c.addFrame(ruleUncollected, 0, "memory, which tracepoint %d does not collect", w.number)
	case static > 0 && !can.static:
		c.addFrame(ruleUncollected, 0, "static data, which tracepoint %d does not collect", w.number)
	}
	// GDB merges neighbouring ranges before it sends actions, never what they collect; so a longer block has another
	// origin.
	for _, e := range w.memory {
		if uint64(len(e.bytes)) > can.longest && can.memory {
			c.addFrame(ruleMemoryTooLong, e.at, "%d bytes of memory, of which tracepoint %d collects at most %d at once",
				len(e.bytes), w.number, can.longest)
			break
		}
	}
}

// infers reports whether GDB 13.1 infers the pc of a frame without registers.
func (t *tracepoint) infers() bool {
	return t.locations == 1 && !t.steps
}
