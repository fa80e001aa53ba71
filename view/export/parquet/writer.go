package parquet

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"

	"tracewell/view"
	"tracewell/view/export"
)

// magic begins a file, and ends it.
const magic = "PAR1"

// A row group ends with whichever is reached first. Readers work on groups in parallel, and hold one.
const (
	groupRows  = 1 << 17
	groupBytes = 1 << 24
)

// What the format calls the ways to write values, levels and pages.
const (
	encodingPlain = 0
	encodingRuns  = 3
	codecZstd     = 6
	optional      = 1 // a column that may have nulls
)

// Writer writes frames of a view, whose registers Select may have chosen. One goroutine may use it.
type Writer struct {
	out     io.Writer
	table   *export.Table // of frames; nil for other rows
	columns []export.Column
	pack    *zstd.Encoder
	pages   []page
	groups  []thrift
	at      int64 // bytes written so far

	rows, all      int64 // of the group that is gathered, and of the file
	gathered       int   // bytes of text in that group, which vary in size
	plain, scratch []byte
}

// NewWriter begins a file. Flush must be called when all frames have been added.
func NewWriter(out io.Writer, v *view.View) (*Writer, error) {
	table, err := export.New(v)
	if err != nil {
		return nil, err
	}
	w, err := NewTableWriter(out, table.Columns)
	if err != nil {
		return nil, err
	}
	w.table = table
	return w, nil
}

// NewTableWriter begins a file of rows that are no frames: AddRow adds them. Flush must be called when all have been added.
func NewTableWriter(out io.Writer, columns []export.Column) (*Writer, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, columns: columns, pack: pack, pages: make([]page, len(columns))}
	for i, c := range columns {
		w.pages[i].physical, _ = typeOf(c)
	}
	return w, w.write([]byte(magic))
}

func (w *Writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

// Add adds a row for a frame.
func (w *Writer) Add(frame view.Frame) error { return w.AddRow(w.table.Read(frame)) }

// AddRow adds a row, of which there is a cell for each column.
func (w *Writer) AddRow(cells []export.Cell) error {
	for i, c := range cells {
		w.pages[i].add(c)
		w.gathered += len(c.Text) + 8
	}
	if w.rows++; w.rows < groupRows && w.gathered < groupBytes {
		return nil
	}
	return w.endGroup()
}

// endGroup writes the rows that were gathered.
func (w *Writer) endGroup() error {
	var group thrift
	group.list(1, len(w.pages), thriftStruct)
	size := int64(0)
	for i := range w.pages {
		chunk, plain, err := w.endPage(i)
		if err != nil {
			return err
		}
		group.element(chunk)
		size += plain
	}
	group.int64(2, size)
	group.int64(3, w.rows)
	w.groups = append(w.groups, group)
	w.all += w.rows
	w.rows, w.gathered = 0, 0
	return nil
}

// endPage writes the page of a column, and returns what the metadata say of it and its size without compression.
func (w *Writer) endPage(i int) (thrift, int64, error) {
	w.plain = w.pages[i].content(w.plain[:0])
	w.scratch = w.pack.EncodeAll(w.plain, w.scratch[:0])
	var header, data thrift
	data.int32(1, int32(w.rows))
	data.int32(2, encodingPlain)
	data.int32(3, encodingRuns) // of definition levels
	data.int32(4, encodingRuns) // of repetition levels, which a flat schema has none of
	header.int32(1, 0)          // a page of data
	header.int32(2, int32(len(w.plain)))
	header.int32(3, int32(len(w.scratch)))
	header.nested(5, data)
	head := header.end()
	start := w.at
	if err := w.write(head); err != nil {
		return thrift{}, 0, err
	}
	if err := w.write(w.scratch); err != nil {
		return thrift{}, 0, err
	}

	var chunk, meta thrift
	plain := int64(len(head) + len(w.plain))
	meta.int32(1, w.pages[i].physical)
	meta.list(2, 2, thriftInt32)
	meta.bytes = binary.AppendVarint(binary.AppendVarint(meta.bytes, encodingPlain), encodingRuns)
	name := w.columns[i].Name
	meta.list(3, 1, thriftBinary)
	meta.bytes = append(binary.AppendUvarint(meta.bytes, uint64(len(name))), name...)
	meta.int32(4, codecZstd)
	meta.int64(5, w.rows)
	meta.int64(6, plain)
	meta.int64(7, w.at-start)
	meta.int64(9, start)
	chunk.int64(2, start)
	chunk.nested(3, meta)
	return chunk, plain, nil
}

// Flush writes what is still held back, and the metadata. Nothing can be added after that.
func (w *Writer) Flush() error {
	if w.rows > 0 {
		if err := w.endGroup(); err != nil {
			return err
		}
	}
	var file, root thrift
	file.int32(1, 1) // version
	file.list(2, 1+len(w.pages), thriftStruct)
	root.text(4, "frames")
	root.int32(5, int32(len(w.pages)))
	file.element(root)
	for _, c := range w.columns {
		file.element(schema(c))
	}
	file.int64(3, w.all)
	file.list(4, len(w.groups), thriftStruct)
	for _, group := range w.groups {
		file.element(group)
	}
	file.text(6, "tracewell")
	footer := file.end()
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, magic...))
}

// schema declares a column.
func schema(c export.Column) thrift {
	var s thrift
	physical, converted := typeOf(c)
	s.int32(1, physical)
	s.int32(3, optional)
	s.text(4, c.Name)
	if converted != convertedNone {
		s.int32(6, converted)
	}
	return s
}
