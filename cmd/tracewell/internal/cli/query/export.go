package query

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/packed"
	"tracewell/internal/text"
	"tracewell/itrace/query"
	"tracewell/view/export"
	"tracewell/view/export/parquet"
	"tracewell/view/wire"
)

// # Answers as files
//
// Files are for answers that are too many to be read, or that another tool shows better: a column of numbers is a waveform there.
// A format is an exporter, by the suffix of the file, in the question that can write it. It is given the trace when that is open
// and all objects are found, and writes as answers come, so that a file may be larger than memory. Remarks on what the trace does
// not tell go to standard error, as they do for tables: in a file nobody would look for them.

// exporter writes the answers about an object to a file.
type exporter func(a *answer, objects []query.Object, out io.Writer) error

// export writes the answers about some objects to a file, in the format that its suffix tells. What goes wrong meanwhile leaves no
// file, or the one that was there.
func (a *asking) export(streams console.Streams, name string, names []string, formats map[string]exporter) error {
	// Compression is the last suffix, and none of the format.
	method, plain := packed.BySuffix(name)
	write := formats[filepath.Ext(plain)]
	if write == nil {
		return fmt.Errorf("--output: %s: the suffix tells the format: .parquet, or of values .vcd", text.Quote(name))
	}
	// A user of both would look for objects that are nowhere.
	if a.JSON {
		return fmt.Errorf("--json is for standard output, not for --output")
	}
	// Whoever mistypes -o must not lose a trace that took a night to make.
	if err := console.KeepApart(name, []string{a.Trace, a.Exec}, streams); err != nil {
		return err
	}
	return packed.Write(name, method, func(out io.Writer) error {
		return a.ask(streams, func(answer *answer) error {
			// A name that is wrong is found before the search for the first object begins.
			var objects []query.Object
			for _, name := range names {
				o, err := answer.Object(name)
				if err != nil {
					return err
				}
				objects = append(objects, o)
			}
			return write(answer, objects, out)
		})
	})
}

// rowFile is a Parquet file with a row for each answer. All questions have the same columns, so that their files can be joined;
// what a question does not tell, or the trace, is null.
type rowFile struct {
	*parquet.Writer
	cells []export.Cell // of the row at hand
}

// rowColumns are the columns: values as numbers, if they have up to 64 bits and all are known, and in any case as digits.
var rowColumns = []export.Column{
	{Name: "object", Kind: export.Text}, {Name: "instruction", Kind: export.Integer, Size: 8},
	{Name: "time", Kind: export.Integer, Size: 8}, {Name: "cpu", Kind: export.Integer, Size: 4},
	{Name: "pc", Kind: export.Address, Size: 8}, {Name: "symbol", Kind: export.Text},
	{Name: "file", Kind: export.Text}, {Name: "line", Kind: export.Integer, Size: 4}, {Name: "of", Kind: export.Text},
	{Name: "value", Kind: export.Unsigned, Size: 8}, {Name: "digits", Kind: export.Text}, {Name: "before", Kind: export.Text},
}

// newRowFile begins a file, which has to be flushed when all rows are there.
func newRowFile(out io.Writer) (*rowFile, error) {
	w, err := parquet.NewTableWriter(out, rowColumns)
	return &rowFile{Writer: w}, err
}

// add adds a row: of is the register or the address and size that was accessed. Texts are those of JSON, so that both say the same,
// and numbers are made of them: a digit that is not known makes a value none.
func (f *rowFile) add(object string, s wire.Step, of, value, before string) error {
	f.cells = f.cells[:0]
	words := func(text string) { f.cells = append(f.cells, export.Cell{Known: text != "", Text: []byte(text)}) }
	number := func(n uint64, known bool) { f.cells = append(f.cells, export.Cell{Known: known, Bits: n}) }
	// Wider values, as those of vectors, have no type that all readers of the format know.
	hex := func(text string) {
		n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
		number(n, err == nil)
	}
	words(object)
	number(uint64(s.Instruction), true)
	// A trace without times or processors has no zeros there, which would be figures that nobody has measured.
	if s.Time != nil {
		number(uint64(*s.Time), true)
	} else {
		number(0, false)
	}
	if s.CPU != nil {
		number(uint64(*s.CPU), true)
	} else {
		number(0, false)
	}
	hex(s.PC)
	words(s.Symbol)
	words(s.File)
	number(uint64(s.SourceLine), s.SourceLine > 0)
	words(of)
	hex(value)
	words(value)
	words(before)
	return f.AddRow(f.cells)
}
