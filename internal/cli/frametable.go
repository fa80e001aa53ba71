package cli

import (
	"strconv"

	"tracewell/internal/frameview"
	"tracewell/internal/text"
	"tracewell/tdesc"
	"tracewell/tfile"
)

// frameTable prints frames as the rows of a table.
type frameTable struct {
	view      *frameview.View
	rows      *text.Table
	slots     []*tdesc.Slot
	variables []int32

	cells     [][]byte
	collected []frameview.Variable
}

// The columns that every table has in front.
const (
	columnFrame = iota
	columnTracepoint
	columnSource
	columnPC
	leadingColumns
)

// registersFor is how many registers have a column: as many as leave some room for memory in a terminal of the width.
func registersFor(width int) int {
	const others, each, most = 64, 18, 6
	if width == 0 {
		return 4
	}
	return min(max(1, (width-others)/each), most)
}

// newFrameTable begins a table with the named registers, or a choice of them if there are no names.
func newFrameTable(out *output, view *frameview.View, registers []string) (*frameTable, error) {
	choice, err := view.Columns(registersFor(out.width))
	if err == nil && len(registers) > 0 {
		choice.Registers, err = view.Slots(registers)
	}
	if err != nil {
		return nil, err
	}
	t := &frameTable{view: view, slots: choice.Registers, variables: choice.Variables}
	columns := []text.Column{{Title: "frame", Right: true}, {Title: "tp", Right: true}, {Title: "source"}, {Title: "pc"}}
	for _, slot := range t.slots {
		columns = append(columns, text.Column{Title: text.Visible(slot.Reg.Name)})
	}
	for _, n := range t.variables {
		columns = append(columns, text.Column{Title: "$" + text.Visible(view.VariableName(n)), Right: true})
	}
	columns = append(columns, text.Column{Title: "memory"})
	t.rows = text.NewTable(out, out.width, out.style, columns...)
	t.cells = make([][]byte, len(columns))
	return t, nil
}

// add prints a frame.
func (t *frameTable) add(frame frameview.Frame) error {
	for i := range t.cells {
		t.cells[i] = t.cells[i][:0]
	}
	t.lead(frame)
	registers := frame.Registers()
	for i, slot := range t.slots {
		cell := &t.cells[leadingColumns+i]
		*cell, _ = t.view.AppendRegister(*cell, slot, registers)
	}
	last := len(t.cells) - 1
	t.cells[last] = t.appendVariables(t.cells[last], frame)
	t.cells[last] = t.appendMemory(t.cells[last], frame)
	return t.rows.Row(t.cells)
}

// lead fills the cells in front.
func (t *frameTable) lead(frame frameview.Frame) {
	t.cells[columnFrame] = strconv.AppendInt(t.cells[columnFrame], int64(frame.Number), 10)
	t.cells[columnTracepoint] = strconv.AppendInt(t.cells[columnTracepoint], int64(frame.Tracepoint()), 10)
	source := append(t.cells[columnSource], text.Visible(t.view.Source(frame.Tracepoint()))...)
	if t.view.Stepped(frame) {
		source = append(source, " (step)"...)
	}
	t.cells[columnSource] = source
	if frame.HasPC {
		t.cells[columnPC] = appendAddress(t.cells[columnPC], t.view, frame.PC)
	}
}

// appendVariables fills the cells of the variables, and appends to dst those that have none.
func (t *frameTable) appendVariables(dst []byte, frame frameview.Frame) []byte {
	t.collected = frameview.AppendVariables(t.collected[:0], frame)
	for _, variable := range t.collected {
		if cell := t.variableCell(variable.Number); cell != nil {
			*cell = strconv.AppendInt(*cell, variable.Value, 10)
			continue
		}
		dst = append(separate(dst), '$')
		dst = append(dst, text.Visible(t.view.VariableName(variable.Number))...)
		dst = strconv.AppendInt(append(dst, '='), variable.Value, 10)
	}
	return dst
}

func (t *frameTable) variableCell(number int32) *[]byte {
	for i, n := range t.variables {
		if n == number {
			return &t.cells[leadingColumns+len(t.slots)+i]
		}
	}
	return nil
}

// cellBlocks is how many blocks of memory are written into one cell.
const cellBlocks = 16

// appendMemory appends the memory of a frame: "limit=40 0x404040={01 02 03 05 …16}".
func (t *frameTable) appendMemory(dst []byte, frame frameview.Frame) []byte {
	blocks := 0
	for block := range frame.Blocks() {
		if block.Kind != tfile.BlockMemory && block.Kind != tfile.BlockStatic {
			continue
		}
		if blocks++; blocks > cellBlocks {
			continue
		}
		dst = separate(dst)
		if block.Kind == tfile.BlockStatic {
			dst = appendBytes(append(dst, "static="...), block.Bytes)
			continue
		}
		dst = append(appendPlace(dst, t.view, block.Addr), '=')
		dst = appendValue(dst, t.view, block.Bytes)
	}
	if blocks > cellBlocks {
		dst = append(dst, " … "...)
		dst = append(strconv.AppendInt(dst, int64(blocks-cellBlocks), 10), " more"...)
	}
	if frame.Damaged != nil {
		dst = append(separate(dst), "(damaged)"...)
	}
	return dst
}

func separate(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	return dst
}
