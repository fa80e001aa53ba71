package wire

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tracewell/internal/jsontext"
	"tracewell/tdesc"
	"tracewell/trace"
	"tracewell/view"
)

// CSVFrames writes frames as comma-separated values (RFC 4180, with lines that end in LF), a header first:
//
//	frame,tracepoint,source,pc,symbol,rdi,…,j->id,q,…,$hits,comm,backtrace
//
// There is a column for each register that some tracepoint collects, or that was selected, for each thing in memory that one
// collects, by its name, and for each trace state variable that a frame can have; symbol is there if the program is, comm if
// the trace has names of threads, and backtrace, "push (queue.c:12) ← main (queue.c:31)", if some tracepoint collects the stack. An
// empty cell is what a frame does not have. Addresses, pointers and registers are hexadecimal numbers after 0x, because they have
// more digits than a spreadsheet keeps; all other integers are decimal; texts are themselves, also those of strings
// of Go and Rust, which without the text are its address; an enumeration of Rust and what is not known of a value is as GDB prints
// it, and what is nothing of this is its bytes, "a0 52 40 00", in the order of memory. What a spreadsheet would compute has an
// apostrophe in front.
type CSVFrames struct {
	out  *csv.Writer
	text []string
	FrameTable
}

// BacktraceColumn is the name of the column of backtraces.
const BacktraceColumn = "backtrace"

// FrameTable makes rows of cells of frames. Its columns are those of CSVFrames.
type FrameTable struct {
	Columns []string // the header

	view   *view.View
	reader *view.Reader

	registers []*tdesc.Slot
	symbols   bool
	comm      int // the column of names of threads, 0 for none
	stack     int // that of backtraces
	items     map[*view.Item][]csvPart
	variables map[int32]int

	row   []byte // the cells, one behind the other
	ends  [][2]int
	cells []string
}

// The columns that every table has in front.
const (
	csvFrame = iota
	csvTracepoint
	csvSource
	csvPC
	csvLeading
)

// NewCSVFrames begins a table of frames of the view, whose registers Select may have chosen.
func NewCSVFrames(out io.Writer, v *view.View) (*CSVFrames, error) {
	table, err := NewFrameTable(v)
	if err != nil {
		return nil, err
	}
	c := &CSVFrames{csv.NewWriter(out), make([]string, len(table.Columns)), *table}
	for i, title := range c.Columns {
		c.text[i] = inert(title)
	}
	return c, c.out.Write(c.text)
}

// NewFrameTable returns a table of frames of the view, whose registers Select may have chosen.
func NewFrameTable(v *view.View) (*FrameTable, error) {
	registers, err := v.CollectedRegisters()
	if err != nil {
		return nil, err
	}
	choice, err := v.Columns(0)
	if err != nil {
		return nil, err
	}
	c := &FrameTable{
		view: v, reader: v.NewReader(), registers: registers, symbols: v.Symbols != nil, variables: make(map[int32]int),
	}
	header := []string{csvFrame: "frame", csvTracepoint: "tracepoint", csvSource: "source", csvPC: "pc"}
	if c.symbols {
		header = append(header, "symbol")
	}
	for _, slot := range registers {
		header = append(header, slot.Reg.Name)
	}
	header = c.addItems(header)
	for _, n := range choice.Variables {
		c.variables[n] = len(header)
		header = append(header, "$"+v.VariableName(n))
	}
	if some, _ := v.NamesThreads(); some {
		c.comm = len(header)
		header = append(header, "comm")
	}
	if v.CollectsStacks() {
		c.stack = len(header)
		header = append(header, BacktraceColumn)
	}
	c.Columns, c.ends, c.cells = header, make([][2]int, len(header)), make([]string, len(header))
	return c, nil
}

// Lead is how many columns stand in front of what was collected.
func (c *FrameTable) Lead() int {
	if c.symbols {
		return csvLeading + 1
	}
	return csvLeading
}

// WithoutBacktraces leaves the column of backtraces empty, whose cells cost more than all others.
func (c *FrameTable) WithoutBacktraces() { c.stack = 0 }

// inert puts an apostrophe in front of a cell that a spreadsheet would take for a formula: one that begins with = + - or @, or
// with a wide form of these, behind any blanks, and is not made of numbers. It does so, too, if there is an apostrophe already: a
// reader who takes one off each cell that begins with one has what was collected.
func inert(cell string) string {
	start := strings.TrimSpace(cell)
	switch first, _ := utf8.DecodeRuneInString(start); first {
	case '=', '@', '＝', '＋', '－', '＠':
		return "'" + cell
	case '+', '-':
		if !slices.ContainsFunc(strings.Fields(start), isWord) {
			return cell
		}
		return "'" + cell
	}
	if strings.HasPrefix(cell, "'") {
		return "'" + cell
	}
	return cell
}

// isWord reports whether something is no number.
func isWord(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err != nil
}

// csvPart is what a column has of an item.
type csvPart struct {
	view.Part
	column int
}

// addItems gives everything that tracepoints collect in memory a column, or several if it is a structure. What several
// tracepoints collect under one name has one column.
func (c *FrameTable) addItems(header []string) []string {
	columns := make(map[string]int)
	c.items = make(map[*view.Item][]csvPart)
	for _, item := range c.view.EveryItem() {
		if !item.InMemory() {
			continue
		}
		for _, part := range c.view.Parts(item) {
			column, known := columns[part.Name]
			if !known {
				column = len(header)
				columns[part.Name] = column
				header = append(header, part.Name)
			}
			c.items[item] = append(c.items[item], csvPart{part, column})
		}
	}
	return header
}

// Add writes a frame.
func (c *CSVFrames) Add(frame view.Frame) error {
	for i, cell := range c.Cells(frame) {
		c.text[i] = inert(cell)
	}
	return c.out.Write(c.text)
}

// Cells returns the cells of a frame, in the order of the columns, as CSV has them, but without the apostrophes in front of what a
// spreadsheet would compute. They are valid until the next call.
func (c *FrameTable) Cells(frame view.Frame) []string {
	c.row = c.row[:0]
	clear(c.ends)
	c.reader.Set(frame)
	c.lead(frame)
	for _, item := range c.reader.Items() {
		parts := c.items[item]
		if len(parts) == 0 {
			continue
		}
		v, ok := c.reader.Find(item)
		if !ok {
			continue
		}
		for _, part := range parts {
			start := len(c.row)
			c.row = c.reader.AppendPart(c.row, item, v, part.Part, view.StyleCSV)
			c.cell(part.column, start)
		}
	}
	var room [8]view.Variable
	for _, variable := range view.AppendVariables(room[:0], frame) {
		if column, ok := c.variables[variable.Number]; ok {
			start := len(c.row)
			c.row = strconv.AppendInt(c.row, variable.Value, 10)
			c.cell(column, start)
		}
	}
	if name, ok := c.view.Comm(frame); ok && c.comm > 0 {
		start := len(c.row)
		c.row = append(c.row, name...)
		c.cell(c.comm, start)
	}
	if c.stack > 0 {
		b := c.reader.Backtrace()
		start := len(c.row)
		c.row = b.AppendText(c.row)
		c.cell(c.stack, start)
	}
	all := string(c.row)
	for i, end := range c.ends {
		c.cells[i] = all[end[0]:end[1]]
	}
	return c.cells
}

// cell makes what was appended to the row since start a cell.
func (c *FrameTable) cell(column, start int) { c.ends[column] = [2]int{start, len(c.row)} }

// lead fills the cells that every frame has, and those of registers.
func (c *FrameTable) lead(frame view.Frame) {
	c.row = strconv.AppendInt(c.row, int64(frame.Number), 10)
	c.cell(csvFrame, 0)
	start := len(c.row)
	c.row = strconv.AppendInt(c.row, int64(frame.Tracepoint()), 10)
	c.cell(csvTracepoint, start)
	start = len(c.row)
	c.row = append(c.row, c.view.SourceOf(frame)...)
	c.cell(csvSource, start)
	if frame.HasPC {
		start = len(c.row)
		c.row = strconv.AppendUint(append(c.row, "0x"...), uint64(frame.PC), 16)
		c.cell(csvPC, start)
		if start = len(c.row); c.symbols {
			c.row = append(c.row, c.view.Describe(frame.PC)...)
			c.cell(csvLeading, start)
		}
	}
	registers := frame.Registers()
	for i, slot := range c.registers {
		start = len(c.row)
		c.row, _ = c.view.AppendRegister(c.row, slot, registers)
		c.cell(c.Lead()+i, start)
	}
}

// Flush writes what is still held back.
func (c *CSVFrames) Flush() error {
	c.out.Flush()
	return c.out.Error()
}

// The object of a frame. JSONFrames writes it without the structs, since frames are many; who reads it decodes into these.
type (
	// Frame is what a hit collected, or a step after it.
	Frame struct {
		Frame      int          `json:"frame"`             // from 0, as GDB's tfind counts
		Tracepoint trace.Number `json:"tracepoint"`        // 0 for a frame that names none
		Source     string       `json:"source,omitempty"`  // of the tracepoint, as its user set it
		PC         string       `json:"pc,omitempty"`      // absent if the frame lacks it
		Symbol     string       `json:"symbol,omitempty"`  // of the pc: NAME or NAME+OFFSET; absent without the program
		Line       string       `json:"line,omitempty"`    // of the pc: FILE:LINE; absent without debugging information
		Stepped    bool         `json:"stepped,omitempty"` // the frame is of while-stepping
		Comm       string       `json:"comm,omitempty"`    // the name of the thread; absent where it is not known
		// The register block as in the file, in hexadecimal; absent if a target description tells what its registers are.
		RegisterBytes string                     `json:"registerBytes,omitempty"`
		Registers     map[string]string          `json:"registers"` // by name, in hexadecimal; empty for a frame without registers
		Memory        []Block                    `json:"memory"`
		Variables     map[string]int64           `json:"variables"`         // trace state variables by name, without $
		Static        string                     `json:"static,omitempty"`  // data of a static tracepoint, in hexadecimal
		Damaged       string                     `json:"damaged,omitempty"` // why the rest of the frame cannot be read
		Collected     map[string]json.RawMessage `json:"collected"`         // by the names of what the actions collect, see below
		Backtrace
	}
	// Block is a range of memory.
	Block struct {
		Address string `json:"address"`
		Bytes   string `json:"bytes"`            // in hexadecimal, in the order of memory
		Value   string `json:"value,omitempty"`  // of 1, 2, 4 or 8 bytes: the unsigned integer, in hexadecimal after 0x
		Symbol  string `json:"symbol,omitempty"` // of the address
	}
	// ChangedFrame is a frame with --diff.
	ChangedFrame struct {
		Frame
		Since   *int     `json:"since"`   // number of the previous frame of the tracepoint; null for the first
		Changed *Changes `json:"changed"` // null for the first
	}
)

// JSONFrames writes frames as JSON, one object (Frame) a line. The member "collected" has what the actions collect by name, as in
// {"j->id":7,"q":"0x4052a0"}. Values are as view.StyleJSON says.
type JSONFrames struct {
	Out    io.Writer
	View   *view.View
	reader *view.Reader
	Line   []byte
}

// NewJSONFrames begins objects of frames of the view, whose registers Select may have chosen.
func NewJSONFrames(out io.Writer, v *view.View) *JSONFrames {
	return &JSONFrames{Out: out, View: v, reader: v.NewReader()}
}

// Add writes a frame.
func (j *JSONFrames) Add(frame view.Frame) error {
	j.Line = append(j.Append(j.Line[:0], frame), '\n')
	_, err := j.Out.Write(j.Line)
	return err
}

// Append appends the object of a frame.
func (j *JSONFrames) Append(dst []byte, frame view.Frame) []byte {
	j.reader.Set(frame)
	dst = j.View.AppendJSON(dst, frame)
	dst = append(dst[:len(dst)-1], `,"collected":`...)
	dst = j.reader.AppendCollected(dst)
	if b := j.reader.Backtrace(); len(b.Calls) > 0 {
		dst = append(dst, ',')
		start := len(dst)
		dst, _ = jsontext.Append(dst, describeCalls(&b)) // strings and numbers can always be encoded
		return append(dst[:start], dst[start+1:]...)     // members of the frame's object
	}
	return append(dst, '}')
}

// Flush is there so that all writers of frames are used alike; nothing is held back.
func (j *JSONFrames) Flush() error { return nil }
