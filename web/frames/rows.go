package frames

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"time"
	"unicode/utf8"

	"tracewell/view"
	"tracewell/view/wire"
	"tracewell/web/arguments"
)

// blockRows is how many rows the page asks for at once. table.js has the same number.
const blockRows = 100

// Lengths of texts in a row, in bytes: there are many rows, and a value may have a megabyte.
const (
	longestCell      = 200
	longestCollected = 600
)

// searchTime is how long a question waits for a search that is not done, before it says how far it is.
const searchTime = 250 * time.Millisecond

// rowsTime is how long a question for rows waits for more of them once there is one: somebody waits to see the first.
const rowsTime = 30 * time.Millisecond

// rows answers "rows": a block of the table of the frames that a filter chooses, as soon as there are some of these frames. While
// the search goes on the answer may have fewer than a block has.
func (s *snapshot) rows(ctx context.Context, args url.Values) (any, error) {
	block, err := arguments.Int(args, "block", 0)
	if err != nil {
		return nil, err
	}
	if block < 0 || block > s.view.Content.NumFrames() {
		return nil, fmt.Errorf("there is no block %d", block)
	}
	c, err := s.choose(args)
	if err != nil {
		return nil, err
	}
	defer c.release()
	if _, _, err := c.wait(ctx, block*blockRows+1); err != nil {
		return nil, err
	}
	numbers, search, err := c.waitFor(ctx, (block+1)*blockRows, rowsTime)
	if err != nil {
		return nil, err
	}
	writer, err := s.newRowWriter(args["column"])
	if err != nil {
		return nil, err
	}
	answer := wire.PageRows{PageSearch: search, Rows: []wire.PageRow{}}
	for _, n := range numbers[min(block*blockRows, len(numbers)):min((block+1)*blockRows, len(numbers))] {
		row, err := writer.row(int(n))
		if err != nil {
			return nil, err
		}
		answer.Rows = append(answer.Rows, row)
	}
	return answer, nil
}

// search answers "search": how many frames a filter has chosen, at once when all are found and else after a while.
func (s *snapshot) search(ctx context.Context, args url.Values) (any, error) {
	c, err := s.choose(args)
	if err != nil {
		return nil, err
	}
	defer c.release()
	_, search, err := c.waitFor(ctx, everyFrame, searchTime)
	return search, err
}

// place answers "place": the row of a frame, or of the next one that is chosen.
func (s *snapshot) place(ctx context.Context, args url.Values) (any, error) {
	frame, err := arguments.Int(args, "frame", 0)
	if err != nil {
		return nil, err
	}
	c, err := s.choose(args)
	if err != nil {
		return nil, err
	}
	defer c.release()
	for count := 1; ; {
		numbers, search, err := c.wait(ctx, count)
		if err != nil {
			return nil, err
		}
		if n := len(numbers); search.Done || n > 0 && int(numbers[n-1]) >= frame {
			row := sort.Search(n, func(i int) bool { return int(numbers[i]) >= frame })
			return wire.PagePlace{PageSearch: search, Row: row}, nil
		}
		count = len(numbers) + 1
	}
}

// rowWriter makes rows, one after the other.
type rowWriter struct {
	*snapshot
	reader *view.Reader
	frame  view.Frame
	room   []byte
	// Where columns are wanted: the table that has them, and which these are.
	table   *wire.FrameTable
	columns []int
}

// newRowWriter returns a writer of rows with some of the columns that "trace" names.
func (s *snapshot) newRowWriter(columns []string) (*rowWriter, error) {
	w := &rowWriter{snapshot: s, reader: s.view.NewReader()}
	if len(columns) == 0 {
		return w, nil
	}
	table, err := wire.NewFrameTable(s.view)
	if err != nil {
		return nil, err
	}
	for _, name := range columns {
		// What is collected may be called what a column in front is called.
		i := slices.Index(table.Columns[table.Lead():], name)
		if i < 0 {
			return nil, fmt.Errorf("no tracepoint collects %s", name)
		}
		w.columns = append(w.columns, table.Lead()+i)
	}
	if !slices.Contains(columns, wire.BacktraceColumn) {
		table.WithoutBacktraces()
	}
	w.table = table
	return w, nil
}

// row makes the row of a frame.
func (w *rowWriter) row(i int) (row wire.PageRow, err error) {
	v := w.view
	if w.frame, err = v.Frame(i, w.frame.Bytes()); err != nil {
		return row, err
	}
	f := w.frame
	w.reader.Set(f)
	row = wire.PageRow{
		Frame: i, Tracepoint: f.Tracepoint(), Source: v.SourceOf(f), Time: w.time(i), Thread: int(w.index.threadOf[i]),
		Stepped: v.Stepped(f), Damaged: f.Damaged != nil,
	}
	if f.HasPC {
		row.PC, row.Symbol, row.Line = f.PC.String(), v.Describe(f.PC), v.Line(f.PC)
	}
	var collected []byte
	for _, item := range w.reader.Items() {
		collected = w.add(collected, item)
	}
	row.Collected = cut(collected, longestCollected)
	if w.table != nil {
		cells := w.table.Cells(f)
		for _, i := range w.columns {
			row.Cells = append(row.Cells, cut([]byte(cells[i]), longestCell))
		}
	}
	return row, nil
}

// time is the time of a frame, nil if it does not tell.
func (s *snapshot) time(i int) *int64 {
	if t := s.index.times[i]; t != noTime {
		return &t
	}
	return nil
}

// add appends what a frame has of an item to a line of all.
func (w *rowWriter) add(line []byte, item *view.Item) []byte {
	if !item.InMemory() || len(line) >= longestCollected {
		return line
	}
	text, ok := w.appendItem(w.room[:0], w.reader, item)
	if !ok {
		return line
	}
	w.room = text
	if len(line) > 0 {
		line = append(line, ' ')
	}
	return append(append(append(line, item.Name...), '='), cut(text, longestCell)...)
}

// cut ends a text that is longer with an ellipsis, between two characters.
func cut(text []byte, longest int) string {
	if len(text) <= longest {
		return string(text)
	}
	end := longest
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}
