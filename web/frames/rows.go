package frames

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"time"
	"unicode/utf8"

	"tracewell/view"
	"tracewell/view/wire"
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

// number reads a number of the arguments, and def if there is none.
func number(args url.Values, name string, def int) (int, error) {
	text := args.Get(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// rows answers "rows": a block of the table of the frames that a filter chooses, as soon as these frames are found.
func (s *snapshot) rows(ctx context.Context, args url.Values) (any, error) {
	block, err := number(args, "block", 0)
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
	numbers, search, err := c.wait(ctx, (block+1)*blockRows)
	if err != nil {
		return nil, err
	}
	writer := s.newRowWriter(args["column"])
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
	patience, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	if _, search, err := c.wait(patience, everyFrame); err == nil || ctx.Err() == nil && patience.Err() == nil {
		return search, err
	}
	_, search, err := c.wait(ctx, 0)
	return search, err
}

// place answers "place": the row of a frame, or of the next one that is chosen.
func (s *snapshot) place(ctx context.Context, args url.Values) (any, error) {
	frame, err := number(args, "frame", 0)
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
	reader  *view.Reader
	frame   view.Frame
	columns []string // names of parts of items
	parts   map[*view.Item][]view.Part
	room    []byte
}

func (s *snapshot) newRowWriter(columns []string) *rowWriter {
	return &rowWriter{snapshot: s, reader: s.view.NewReader(), columns: columns, parts: make(map[*view.Item][]view.Part)}
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
	if len(w.columns) > 0 {
		row.Cells = make([]string, len(w.columns))
	}
	var collected []byte
	for _, item := range w.reader.Items() {
		collected = w.add(collected, row.Cells, item)
	}
	row.Collected = cut(collected, longestCollected)
	return row, nil
}

// time is the time of a frame, nil if it does not tell.
func (s *snapshot) time(i int) *int64 {
	if t := s.index.times[i]; t != noTime {
		return &t
	}
	return nil
}

// add appends what a frame has of an item to a line of all, and fills the cells that the item has.
func (w *rowWriter) add(line []byte, cells []string, item *view.Item) []byte {
	if item.InMemory() && len(line) < longestCollected {
		if text, ok := w.appendItem(w.room[:0], w.reader, item); ok {
			if len(line) > 0 {
				line = append(line, ' ')
			}
			line = append(append(append(line, item.Name...), '='), cut(text, longestCell)...)
			w.room = text
		}
	}
	if len(cells) == 0 {
		return line
	}
	parts, known := w.parts[item]
	if !known {
		parts = w.view.Parts(item)
		w.parts[item] = parts
	}
	value, ok := w.reader.Find(item)
	for _, part := range parts {
		column := slices.Index(w.columns, part.Name)
		if column < 0 {
			continue
		}
		if ok {
			w.room = w.reader.AppendPart(w.room[:0], item, value, part, view.StyleCSV)
		} else {
			w.room, _ = w.reader.Append(w.room[:0], item, view.StyleCSV)
		}
		cells[column] = cut(w.room, longestCell)
	}
	return line
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
