package printing

import (
	"bytes"
	"strconv"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/view"
)

// FrameTable prints frames as the rows of a table. The columns are chosen once, from the definitions and the width of the
// terminal, so that they stay where they are however many frames follow. What has no column is in the last, by name.
//
// Add allocates nothing of its own: cells, variables and dumps are written into buffers that the next row reuses.
type FrameTable struct {
	view      *view.View
	reader    *view.Reader
	values    ValuePrinter
	Rows      *text.Table
	slots     []*tdesc.Slot
	variables []int32
	comm      int  // the column of names of threads, 0 for none
	Hex       bool // memory is dumped below each row
	narrow    bool

	cells     [][]byte
	collected []view.Variable
	dump      []byte
}

// The columns that every table has in front.
const (
	columnFrame = iota
	columnTracepoint
	columnSource
	columnPC
	leadingColumns
)

// registersFor is how many registers have a column: as many as leave some room for memory in a terminal of the width. Addresses
// with symbols take more of it. Width 0 is a pipe or a file, where rows may have any length but people still read them. All widths
// are in characters: 18 is that of "0x" with 16 digits.
func registersFor(width int, symbols bool) int {
	const others, name, each, most = 64, 18, 18, 6
	switch {
	case width == 0:
		return 4
	case symbols:
		width -= name
	}
	return min(max(0, (width-others)/each), most)
}

// narrow, in characters, is the width of terminals below which an address that has a symbol is left out for it.
const narrow = 120

// fewestLines stand between the titles and where they come again. On a terminal the titles are repeated once per screen, since a
// pager scrolls them away; in a pipe or a file, which a program may read, they stand once.
const fewestLines = 10

// NewFrameTable begins a table with the named registers, or a choice of them if there are no names.
func NewFrameTable(out *console.Output, v *view.View, registers []string) (*FrameTable, error) {
	choice, err := v.Columns(registersFor(out.Width, v.Symbols != nil))
	if err == nil && len(registers) > 0 {
		choice.Registers, err = v.Slots(registers)
	}
	if err != nil {
		return nil, err
	}
	t := &FrameTable{
		view: v, reader: v.NewReader(), values: NewValuePrinter(v), narrow: 0 < out.Width && out.Width < narrow,
		slots: choice.Registers, variables: choice.Variables,
	}
	columns := []text.Column{{Title: "frame", Right: true}, {Title: "tp", Right: true}, {Title: "source"}, {Title: "pc"}}
	for _, slot := range t.slots {
		columns = append(columns, text.Column{Title: text.Visible(slot.Reg.Name)})
	}
	for _, n := range t.variables {
		columns = append(columns, text.Column{Title: "$" + text.Visible(v.VariableName(n)), Right: true})
	}
	// A name that all threads have is for --frame.
	if _, several := v.NamesThreads(); several {
		t.comm = len(columns)
		columns = append(columns, text.Column{Title: "comm"})
	}
	columns = append(columns, text.Column{Title: "collected"})
	t.Rows = text.NewTable(out, out.Width, out.Style, columns...)
	if out.Lines > 0 {
		t.Rows.RepeatTitles(max(out.Lines-1, fewestLines))
	}
	t.cells = make([][]byte, len(columns))
	return t, nil
}

// dumpIndent is what dumps below a row begin with, to tell them from rows, which begin with a number.
const dumpIndent = "  "

// Add prints a frame. A row may be held back by the table, and with it the dump below it; Flush or KeepUp writes them.
func (t *FrameTable) Add(frame view.Frame) error {
	for i := range t.cells {
		t.cells[i] = t.cells[i][:0]
	}
	t.lead(frame)
	registers := frame.Registers()
	for i, slot := range t.slots {
		cell := &t.cells[leadingColumns+i]
		*cell, _ = t.view.AppendRegister(*cell, slot, registers)
	}
	if name, ok := t.view.Comm(frame); ok && t.comm > 0 {
		t.cells[t.comm] = append(t.cells[t.comm], text.Visible(name)...)
	}
	last := len(t.cells) - 1
	t.cells[last] = t.appendVariables(t.cells[last], frame)
	if !t.Hex {
		t.cells[last] = t.appendCollected(t.cells[last], frame)
		return t.Rows.Row(t.cells)
	}
	if err := t.Rows.Row(t.cells); err != nil {
		return err
	}
	t.dump = t.dump[:0]
	for block := range frame.Blocks() {
		t.dump = AppendBlock(t.dump, t.view, dumpIndent, block)
	}
	return t.Rows.Below(t.dump)
}

// Flush implements FrameWriter. It writes the rows that are held back, and of a table without rows the titles.
func (t *FrameTable) Flush() error { return t.Rows.Flush() }

// rowPatience is how long rows may be held back from somebody at a terminal. A search for few frames in a large file takes
// seconds, and the first that is found may be all that the user waits for.
const rowPatience = 300 * time.Millisecond

// KeepUp returns what shows now and then, while frames are gone over of which few are wanted, the rows that there are. The price
// is that the widths of the columns are fixed by fewer rows. It is for terminals only: in a file nobody waits for a row.
func (t *FrameTable) KeepUp(out *console.Output) func(int64) {
	last := time.Now()
	return func(int64) {
		if time.Since(last) < rowPatience {
			return
		}
		last = time.Now()
		t.Rows.Flush() // errors come again
		out.Flush()
	}
}

// lead fills the cells in front. A frame without a pc has an empty cell: neither a register block nor a tracepoint of one location
// tells where it was made.
func (t *FrameTable) lead(frame view.Frame) {
	t.cells[columnFrame] = strconv.AppendInt(t.cells[columnFrame], int64(frame.Number), 10)
	t.cells[columnTracepoint] = strconv.AppendInt(t.cells[columnTracepoint], int64(frame.Tracepoint()), 10)
	source := append(t.cells[columnSource], text.Visible(t.view.SourceOf(frame))...)
	if t.view.Stepped(frame) {
		source = append(source, " (step)"...)
	}
	t.cells[columnSource] = source
	if !frame.HasPC {
		return
	}
	// "0x4011b5 <push+95 at queue.c:23>" becomes "<push+95 at queue.c:23>" where there is little room.
	pc := AppendCode(t.cells[columnPC], t.view, frame.PC)
	if symbol := bytes.IndexByte(pc, '<'); t.narrow && symbol >= 0 {
		pc = pc[:copy(pc, pc[symbol:])]
	}
	t.cells[columnPC] = pc
}

// appendVariables fills the cells of the variables, and appends to dst those that have none.
func (t *FrameTable) appendVariables(dst []byte, frame view.Frame) []byte {
	t.collected = view.AppendVariables(t.collected[:0], frame)
	for _, variable := range t.collected {
		if cell := t.variableCell(variable.Number); cell != nil {
			*cell = t.appendVariable(*cell, variable)
			continue
		}
		if t.view.TimesCalls(variable.Number) {
			continue
		}
		dst = append(separate(dst), '$')
		dst = append(dst, text.Visible(t.view.VariableName(variable.Number))...)
		dst = t.appendVariable(append(dst, '='), variable)
	}
	return dst
}

// appendVariable writes the value of a trace state variable in decimal, and $trace_timestamp as a time.
func (t *FrameTable) appendVariable(dst []byte, variable view.Variable) []byte {
	if t.view.IsTimestamp(variable.Number) {
		return AppendClock(dst, variable.Value)
	}
	return strconv.AppendInt(dst, variable.Value, 10)
}

// variableCell returns the cell of a variable, nil if it has none. A file has few variables, so a search costs less than a map.
func (t *FrameTable) variableCell(number int32) *[]byte {
	for i, n := range t.variables {
		if n == number {
			return &t.cells[leadingColumns+len(t.slots)+i]
		}
	}
	return nil
}

// cellItems is how many things are written into one cell. $locals of a large function can be a hundred values; --full prints all.
const cellItems = 16

// appendCollected appends what a frame has besides registers and variables, by the names of what was collected: "limit=40
// table={01 02 03 05 …16}". What has no name, because the tracepoint is not defined, it appends by address.
func (t *FrameTable) appendCollected(dst []byte, frame view.Frame) []byte {
	before := len(dst)
	t.reader.Set(frame)
	items := 0
	// Items over the limit are written as well, and removed again: only so is it known whether the frame has them.
	for _, item := range t.reader.Items() {
		if !item.InMemory() {
			continue
		}
		start := len(dst)
		dst = append(append(separate(dst), text.Visible(item.Name)...), '=')
		var ok bool
		if dst, ok = t.values.appendShort(dst, t.reader, item); !ok || items >= cellItems {
			dst = dst[:start]
		}
		if ok {
			items++
		}
	}
	if len(dst) == before {
		return t.appendBlocks(dst, frame)
	}
	if items > cellItems {
		dst = appendMore(dst, items-cellItems)
	}
	if static := frame.Static(); static != nil {
		dst = appendBytes(append(separate(dst), "static="...), static)
	}
	return appendDamage(dst, frame)
}

// appendBlocks appends the memory of a frame by address: "limit=40 0x404040={01 02 03 05 …16}". It is for frames whose tracepoint
// has no definition, or none that names memory.
func (t *FrameTable) appendBlocks(dst []byte, frame view.Frame) []byte {
	blocks := 0
	for block := range frame.Blocks() {
		if block.Kind != tfile.BlockMemory && block.Kind != tfile.BlockStatic {
			continue
		}
		if blocks++; blocks > cellItems {
			continue
		}
		dst = separate(dst)
		if block.Kind == tfile.BlockStatic {
			dst = appendBytes(append(dst, "static="...), block.Bytes)
			continue
		}
		dst = append(appendPlace(dst, t.view, block.Addr), '=')
		dst = AppendValue(dst, t.view, block.Bytes)
	}
	if blocks > cellItems {
		dst = appendMore(dst, blocks-cellItems)
	}
	return appendDamage(dst, frame)
}

// appendMore says how many things a cell leaves out: " … 3 more".
func appendMore(dst []byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, " … "...), int64(n), 10), " more"...)
}

// appendDamage marks a row or line in which something is missing, since what is there looks complete.
func appendDamage(dst []byte, frame view.Frame) []byte {
	if frame.Damaged != nil {
		dst = append(separate(dst), "(damaged)"...)
	}
	return dst
}

// separate appends the blank between two things in a cell, none in front of the first.
func separate(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	return dst
}
