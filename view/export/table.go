package export

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"tracewell/arch"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/tdesc"
	"tracewell/trace"
	"tracewell/view"
)

// Table reads the rows of frames. One goroutine may use it.
type Table struct {
	Columns []Column

	view      *view.View
	reader    *view.Reader
	registers []*tdesc.Slot
	symbols   bool
	places    map[string]int // of columns, by name
	items     map[*view.Item][]part
	variables map[int32]int
	comm      int // the column of names of threads, 0 for none

	cells []Cell
	text  []byte // of the cells
	json  []byte // of one

	pointed []byte // room for what a pointer to characters points to
}

// part is what a column has of an item.
type part struct {
	view.Part
	column int
}

// The columns that every table has in front; symbol and line follow where the program is known.
const (
	frameColumn = iota
	tracepointColumn
	sourceColumn
	pcColumn
	symbolColumn
	lineColumn
)

// New returns the table of frames of a view, whose registers Select may have chosen. The error is one of reading the trace.
func New(v *view.View) (*Table, error) {
	registers, err := v.CollectedRegisters()
	if err != nil {
		return nil, err
	}
	choice, err := v.Columns(0)
	if err != nil {
		return nil, err
	}
	t := &Table{
		view: v, reader: v.NewReader(), registers: registers, symbols: v.Symbols != nil,
		places: make(map[string]int), items: make(map[*view.Item][]part), variables: make(map[int32]int),
	}
	t.add(Column{Name: "frame", Kind: Integer, Size: 8})
	t.add(Column{Name: "tracepoint", Kind: Integer, Size: 4})
	t.add(Column{Name: "source", Kind: Text})
	t.add(Column{Name: "pc", Kind: Address, Size: 8})
	if t.symbols {
		t.add(Column{Name: "symbol", Kind: Text})
		t.add(Column{Name: "line", Kind: Text})
	}
	for _, slot := range registers {
		kind, size := Address, slot.Size
		if !slices.Contains([]int{1, 2, 4, 8}, size) {
			kind, size = Text, 0
		}
		t.add(Column{Name: slot.Reg.Name, Kind: kind, Size: size})
	}
	t.addItems()
	for _, n := range choice.Variables {
		c := Column{Name: "$" + v.VariableName(n), Kind: Integer, Size: 8, Item: !v.IsBuiltin(n)}
		if v.IsTimestamp(n) {
			c.Kind, c.Size, c.Item = Time, 0, false
		}
		t.variables[n] = t.add(c)
	}
	if some, _ := v.NamesThreads(); some {
		t.comm = t.add(Column{Name: "comm", Kind: Text})
	}
	t.cells = make([]Cell, len(t.Columns))
	return t, nil
}

// add adds a column, whose name becomes one that no other has.
func (t *Table) add(c Column) int {
	c.Name = strings.ToValidUTF8(c.Name, "\ufffd")
	for _, taken := t.places[c.Name]; taken; _, taken = t.places[c.Name] {
		c.Name = "(" + c.Name + ")"
	}
	t.places[c.Name] = len(t.Columns)
	t.Columns = append(t.Columns, c)
	return len(t.Columns) - 1
}

// addItems gives everything that tracepoints collect in memory a column, or several if it is a structure. What several tracepoints
// collect by one name has one column.
func (t *Table) addItems() {
	shared := make(map[string]int)
	for _, item := range t.view.EveryItem() {
		if !item.InMemory() {
			continue
		}
		for _, p := range t.view.Parts(item) {
			kind, size := columnOf(p.Type(item))
			if item.IsText() || t.isContainer(p.Type(item), item.Language) {
				kind, size = Text, 0
			}
			at, known := shared[p.Name]
			if known {
				t.Columns[at] = t.Columns[at].joined(kind, size)
			} else {
				at = t.add(Column{Name: p.Name, Kind: kind, Size: size, Item: true})
				shared[p.Name] = at
			}
			t.items[item] = append(t.items[item], part{p, at})
		}
	}
}

// isContainer reports whether a pointer is more than an address, as maps, channels and funcs of Go are.
func (t *Table) isContainer(typ *ctype.Type, l ctype.Language) bool {
	shape := t.view.Shapes.Of(typ, l)
	return shape != nil && shape.Form != container.Pointer
}

// Reader returns what the items of the frame that was read last can be found with.
func (t *Table) Reader() *view.Reader { return t.reader }

// Read returns the cells of a frame, in the order of Columns; they are valid until the next Read.
func (t *Table) Read(frame view.Frame) []Cell {
	clear(t.cells)
	t.text = t.text[:0]
	t.reader.Set(frame)
	t.lead(frame)
	for _, item := range t.reader.Items() {
		parts := t.items[item]
		if len(parts) == 0 {
			continue
		}
		v, ok := t.reader.Find(item)
		if !ok {
			continue
		}
		for _, p := range parts {
			t.cells[p.column] = t.cell(item, v, p)
		}
	}
	var room [8]view.Variable
	for _, variable := range view.AppendVariables(room[:0], frame) {
		if column, ok := t.variables[variable.Number]; ok {
			t.cells[column] = number(uint64(variable.Value))
		}
	}
	if name, ok := t.view.Comm(frame); ok && t.comm > 0 {
		t.cells[t.comm] = t.string(name)
	}
	return t.cells
}

// TimeOf returns when a frame was made, in microseconds since 1970 or on the clock of a stub; false if the frame does not tell.
func TimeOf(frame view.Frame) (microseconds int64, ok bool) {
	return VariableOf(frame, int32(trace.Timestamp))
}

// VariableOf returns a trace state variable of a frame, false if the frame does not have it.
func VariableOf(frame view.Frame, n int32) (int64, bool) {
	var room [8]view.Variable
	for _, v := range view.AppendVariables(room[:0], frame) {
		if v.Number == n {
			return v.Value, true
		}
	}
	return 0, false
}

func number(bits uint64) Cell { return Cell{Known: true, Bits: bits} }

// lead fills the cells that every frame has, and those of registers.
func (t *Table) lead(frame view.Frame) {
	t.cells[frameColumn] = number(uint64(frame.Number))
	t.cells[tracepointColumn] = number(uint64(frame.Tracepoint()))
	t.cells[sourceColumn] = t.string(t.view.SourceOf(frame))
	column := symbolColumn
	if t.symbols {
		column = lineColumn + 1
	}
	if frame.HasPC {
		t.cells[pcColumn] = number(uint64(frame.PC))
		if t.symbols {
			t.cells[symbolColumn], t.cells[lineColumn] = t.string(t.view.Describe(frame.PC)), t.string(t.view.Line(frame.PC))
		}
	}
	block := frame.Registers()
	for i, slot := range t.registers {
		t.cells[column+i] = t.register(slot, block, t.Columns[column+i].Kind)
	}
}

// register is the cell of a register, which the frame may lack.
func (t *Table) register(slot *tdesc.Slot, block []byte, kind Kind) Cell {
	b, ok := []byte(nil), false
	if block != nil {
		b, ok = slot.Bytes(block)
	}
	switch {
	case !ok:
		return Cell{}
	case kind == Address:
		return number(arch.Uint(b, t.view.Content.Header().Order))
	}
	start := len(t.text)
	t.text, ok = t.view.AppendRegister(t.text, slot, block)
	return t.since(start, ok)
}

// string is the cell of a text; there is none where that is empty.
func (t *Table) string(s string) Cell {
	start := len(t.text)
	t.text = append(t.text, s...)
	return t.since(start, s != "")
}

// since makes a cell of what was appended to the text, which becomes UTF-8 where it is not.
func (t *Table) since(start int, known bool) Cell {
	return Cell{Known: known, Text: bytes.ToValidUTF8(t.text[start:len(t.text):len(t.text)], []byte("\ufffd"))}
}

// cell is what a frame has of a part of an item.
func (t *Table) cell(item *view.Item, whole ctype.Value, p part) Cell {
	v, ok := t.reader.PartValue(whole, p.Part)
	typ, order, start := p.Type(item), t.view.Content.Header().Order, len(t.text)
	switch kind := t.Columns[p.column].Kind; {
	case !ok && (kind != Text || isLost(v)):
		return Cell{}
	case kind == Float && typ.Size == 4:
		return number(math.Float64bits(float64(math.Float32frombits(uint32(arch.Uint(v.Bytes[:4], order))))))
	case kind != Text:
		return number(typ.Extend(arch.Uint(v.Bytes[:typ.Size], order)))
	case ok && isCharacters(typ) && !item.IsText():
		t.text = t.appendPointed(t.text, arch.Addr(arch.Uint(v.Bytes[:typ.Size], order)))
	case ok && (typ.Kind == ctype.Integer && len(typ.Values) > 0 || isWide(typ)):
		t.text = ctype.Printer{Order: order, Language: item.Language}.AppendValue(t.text, v)
	default:
		return t.described(item, whole, p)
	}
	return t.since(start, true)
}

// isWide reports whether a type is one of numbers that have more bits than a column of numbers.
func isWide(t *ctype.Type) bool {
	return t.Kind == ctype.Integer && t.Size > 8 || t.Kind == ctype.Float && t.Size > 8 || t.Kind == ctype.Complex
}

// longestText is how much is looked at of a text that a pointer points to; collect/s takes no more.
const longestText = 1 << 16

// appendPointed appends the text at an address as far as the frame has it, and the address where the frame has none.
func (t *Table) appendPointed(dst []byte, addr arch.Addr) []byte {
	if t.pointed == nil {
		t.pointed = make([]byte, longestText)
	}
	n := 0
	if addr != 0 {
		n = t.reader.ReadMemory(addr, t.pointed)
	}
	text, _, _ := bytes.Cut(t.pointed[:n], []byte{0})
	if n == 0 || !utf8.Valid(text) {
		return append(dst, addr.String()...)
	}
	return append(dst, text...)
}

// isLost reports whether nothing of a value is known.
func isLost(v ctype.Value) bool {
	return len(v.Holes) == 1 && v.Holes[0].From == 0 && v.Holes[0].To >= len(v.Bytes)
}

// described is what JSON has of a part: a string of it as it is, everything else as JSON.
func (t *Table) described(item *view.Item, whole ctype.Value, p part) Cell {
	t.json = t.reader.AppendPart(t.json[:0], item, whole, p.Part, view.StyleJSON)
	start := len(t.text)
	var text string
	if len(t.json) > 0 && t.json[0] == '"' && json.Unmarshal(t.json, &text) == nil {
		t.text = append(t.text, text...)
	} else {
		t.text = append(t.text, t.json...)
	}
	return t.since(start, len(t.json) > 0 && string(t.json) != "null") // an optional that holds nothing
}
