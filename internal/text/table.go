package text

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Column is a column of a table.
type Column struct {
	Title string
	Right bool // numbers, which are aligned on the right
}

// Table writes rows of cells in aligned columns, however many there are. The widths of the columns are fixed by the title
// and the first rows, which are held back until then; a later cell that is wider pushes the rest of its row to the right.
// The last column is not padded.
type Table struct {
	out     io.Writer
	width   int // of a row in characters, 0 for any
	style   Style
	columns []Column
	repeat  int // lines after which the titles stand again, 0 for never

	widths []int
	held   []heldRow // from which the widths are found
	fixed  bool
	row    []byte
	lines  int // since the titles
}

// heldRow is a row that is not written yet, and the lines below it.
type heldRow struct {
	cells [][]byte
	below []byte
}

// heldRows is how many rows fix the widths.
const heldRows = 256

// columnGap is the space between columns.
const columnGap = 2

// NewTable returns a table that writes to out. Rows are cut to width characters, unless that is 0, and end in an ellipsis
// then.
func NewTable(out io.Writer, width int, style Style, columns ...Column) *Table {
	t := &Table{out: out, width: width, style: style, columns: columns, widths: make([]int, len(columns))}
	for i, c := range columns {
		t.widths[i] = utf8.RuneCountInString(c.Title)
	}
	return t
}

// Row adds a row: a cell for each column. The cells may be reused afterwards.
func (t *Table) Row(cells [][]byte) error {
	if t.fixed {
		return t.write(cells)
	}
	kept := make([][]byte, len(cells))
	for i, cell := range cells {
		kept[i] = bytes.Clone(cell)
		t.widths[i] = max(t.widths[i], characters(cell))
	}
	t.held = append(t.held, heldRow{cells: kept})
	if len(t.held) < heldRows {
		return nil
	}
	return t.fixWidths()
}

// Below adds whole lines, as they are, below the row that was added last.
func (t *Table) Below(lines []byte) error {
	if !t.fixed && len(t.held) > 0 {
		last := &t.held[len(t.held)-1]
		last.below = append(last.below, lines...)
		return nil
	}
	return t.writeBelow(lines)
}

// RepeatTitles makes the titles stand again where n lines would be without, for a terminal of so many.
func (t *Table) RepeatTitles(n int) { t.repeat = n }

// Line writes a line of its own between the rows.
func (t *Table) Line(s string) error {
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(t.out, s+"\n")
	return err
}

// Flush writes what is held back, with the titles above, even if there is no row.
func (t *Table) Flush() error {
	if t.fixed {
		return nil
	}
	return t.fixWidths()
}

func (t *Table) fixWidths() error {
	t.fixed = true
	if err := t.heading(); err != nil {
		return err
	}
	for _, held := range t.held {
		if err := t.write(held.cells); err != nil {
			return err
		}
		if err := t.writeBelow(held.below); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

func (t *Table) heading() error {
	titles := make([][]byte, len(t.columns))
	for i, c := range t.columns {
		titles[i] = []byte(c.Title)
	}
	t.layOut(titles)
	t.lines = 1
	_, err := io.WriteString(t.out, t.style.Heading(string(t.row))+"\n")
	return err
}

func (t *Table) writeBelow(lines []byte) error {
	t.lines += bytes.Count(lines, []byte{'\n'})
	_, err := t.out.Write(lines)
	return err
}

func (t *Table) write(cells [][]byte) error {
	if t.repeat > 0 && t.lines >= t.repeat {
		if err := t.heading(); err != nil {
			return err
		}
	}
	t.lines++
	t.layOut(cells)
	t.row = append(t.row, '\n')
	_, err := t.out.Write(t.row)
	return err
}

// layOut puts a row, without its line feed, into t.row.
func (t *Table) layOut(cells [][]byte) {
	t.row = t.row[:0]
	for i, cell := range cells {
		padding := t.widths[i] - characters(cell)
		if t.columns[i].Right {
			t.pad(padding)
		}
		t.row = append(t.row, cell...)
		if i == len(cells)-1 {
			break
		}
		if !t.columns[i].Right {
			t.pad(padding)
		}
		t.pad(columnGap)
	}
	t.row = bytes.TrimRight(t.row, " ")
	if t.width > 0 {
		t.row = cut(t.row, t.width)
	}
}

func (t *Table) pad(n int) {
	for range n {
		t.row = append(t.row, ' ')
	}
}

// characters counts the characters of a text in UTF-8. It is utf8.RuneCount for valid text, but that allocates.
func characters(b []byte) int {
	n := 0
	for _, c := range b {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// cut shortens a text in place to width characters, the last of them an ellipsis.
func cut(b []byte, width int) []byte {
	if len(b) <= width || characters(b) <= width {
		return b
	}
	end := 0
	for range width - 1 {
		_, size := utf8.DecodeRune(b[end:])
		end += size
	}
	return append(b[:end], "…"...)
}
