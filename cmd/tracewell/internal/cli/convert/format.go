package convert

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/packed"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/tfile/tracetext"
	"tracewell/view"
	"tracewell/view/export/parquet"
	"tracewell/view/export/perfetto"
	"tracewell/view/export/pprof"
	"tracewell/view/wire"
)

// format is what convert reads or writes, or both.
type format struct {
	Name     string   // for --from and --to
	suffixes []string // of the names of files, each with its dot
	binary   bool     // it is not for terminals
	chooses  bool     // it can have some registers only

	recognise func(head []byte) bool // whether a file that begins so is of the format
	// read returns what a file holds; with an error, what can be read of it, or nil.
	read  func(*input.PackedFile, console.Streams) (*source, error)
	write func(io.Writer, *conversion) error
	// keeps reports whether a trace file can be written as it is, byte for byte; nil if none can.
	keeps func(*source) bool

	// dialect is what a format of execution traces is, which has nothing else of all this.
	dialect *itrace.Dialect

	// The same for a format that is a folder of files. Bytes are written through writers that wrap makes.
	readFolder  func(path string, streams console.Streams) (*source, error)
	writeFolder func(path string, wrap func(io.Writer) io.Writer, c *conversion) error
}

// Formats are those of trace files. The first is what a file is whose name or content says nothing else.
var Formats []*format

// ExecutionFormats are those of execution traces: all dialects. The first is what a file is whose name says nothing else.
var ExecutionFormats = func() (formats []*format) {
	for _, d := range dialects.All {
		formats = append(formats, &format{Name: d.Name, suffixes: d.Suffixes, binary: d.Binary != nil, dialect: d})
	}
	return formats
}()

// The table is filled by init because its functions refer to the table, which would be an initialization cycle.
func init() {
	Formats = []*format{
		{Name: "tf", suffixes: []string{".tf"}, binary: true, read: readTrace, write: writeTrace, keeps: (*source).wellFormed},
		{Name: "txt", suffixes: []string{".txt"}, recognise: tracetext.Is, read: readTraceText, write: writeTraceText,
			keeps: (*source).hasBytes},
		{Name: "json", suffixes: []string{".json", ".jsonl", ".ndjson"}, chooses: true, write: writeFrames(
			func(w io.Writer, v *view.View, _ *Command) (printing.FrameWriter, error) {
				return wire.NewJSONFrames(w, v), nil
			})},
		{Name: "csv", suffixes: []string{".csv"}, chooses: true, write: writeFrames(
			func(w io.Writer, v *view.View, _ *Command) (printing.FrameWriter, error) {
				return wire.NewCSVFrames(w, v)
			})},
		// Formats of other tools are written only: blocks of memory and definitions are not in them.
		{Name: "parquet", suffixes: []string{".parquet"}, binary: true, chooses: true, write: writeFrames(
			func(w io.Writer, v *view.View, _ *Command) (printing.FrameWriter, error) {
				return parquet.NewWriter(w, v)
			})},
		{Name: "perfetto", suffixes: []string{".pftrace", ".perfetto-trace"}, binary: true, chooses: true, write: writeFrames(
			func(w io.Writer, v *view.View, c *Command) (printing.FrameWriter, error) {
				return perfetto.NewWriter(w, v, c.Flow)
			})},
		{Name: "pprof", suffixes: []string{".pprof", ".pb"}, binary: true, write: writeFrames(
			func(w io.Writer, v *view.View, c *Command) (printing.FrameWriter, error) {
				return pprof.NewProfile(w, v, c.Value)
			})},
		{Name: "folded", suffixes: []string{".folded"}, write: writeFrames(
			func(w io.Writer, v *view.View, c *Command) (printing.FrameWriter, error) {
				return pprof.NewFolded(w, v, c.Value)
			})},
		{Name: "ctf", suffixes: []string{".ctf"}, readFolder: readCTF, writeFolder: writeCTF},
	}
}

// formatNamed finds the format of --from and --to in a table.
func formatNamed(name string, table []*format) *format {
	for _, f := range table {
		if f.Name == name || slices.Contains(f.suffixes, "."+name) {
			return f
		}
	}
	return nil
}

// unknownFormat is the error of a name that is in no table, beside those that are there. The caller puts the option in front.
func unknownFormat(name, there string) error {
	return fmt.Errorf("%q is no format; there are %s", name, there)
}

// readable and writable say which of --from and --to take a format: execution traces are read and written by their dialect alone.
func (f *format) readable() bool { return f.read != nil || f.readFolder != nil || f.dialect != nil }

func (f *format) writable() bool {
	return f.write != nil || f.writeFolder != nil || f.dialect != nil && f.dialect.Written()
}

// ReadFormats name the formats that can be read, for help and errors.
func ReadFormats() string { return allNames((*format).readable) }

// WriteFormats name the formats that can be written.
func WriteFormats() string { return allNames((*format).writable) }

// allNames lists the formats of both tables that which selects.
func allNames(which func(*format) bool) string {
	return formatNames(Formats, which) + " for trace files, " + formatNames(ExecutionFormats, which) + " for execution traces"
}

// formatNames lists the names of a table in words: "tf, txt or ctf". At least one must be selected.
func formatNames(table []*format, which func(*format) bool) string {
	var names []string
	for _, f := range table {
		if which(f) {
			names = append(names, f.Name)
		}
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// destination is where and how convert writes.
type destination struct {
	path   string // "-" for standard output
	format *format
	method *packed.Method  // nil for none
	from   *itrace.Dialect // of what is read; nil for trace files
}

// copies reports whether the trace is written byte for byte: it is in the dialect that is asked for, which is read only. So a log
// of any producer can be compressed in a way in which every place of it can be read.
func (t *destination) copies() bool {
	return t.from != nil && t.format.dialect != nil && t.format.dialect.Name == t.from.Name && !t.format.writable()
}

// chooseDestination finds out what is to be written to a path: what --to says, or else the suffix, or that it is a folder. The
// format must be in the table of what is read, which of two of one name is meant; from is the dialect of that, nil for trace files.
func chooseDestination(path, to string, table []*format, from *itrace.Dialect, streams console.Streams) (*destination, error) {
	method, base := packed.BySuffix(path)
	t := &destination{path: path, method: method, from: from}
	switch {
	case to != "":
		asked, name := packed.BySuffix(to)
		name = strings.TrimPrefix(name, ".")
		if t.format = formatNamed(name, withOthers(table)); t.format == nil {
			return nil, fmt.Errorf("--to: %w", unknownFormat(to, WriteFormats()))
		}
		path = "--to"
		if asked != nil {
			t.method = asked
		}
	default:
		if t.format = bySuffix(path, base, table); t.format == nil {
			return nil, fmt.Errorf("%s: %s is the suffix of no format that can be written: say by --to which it is to be (%s)",
				path, filepath.Ext(base), WriteFormats())
		}
	}
	if !slices.Contains(table, t.format) {
		return nil, fmt.Errorf("%s: %w", path, foreignFormat(t.format, table))
	}
	return t, t.check(streams)
}

// errForeign is in the error of a format that only execution traces have. convertFrames looks for it: a file that is neither
// clearly a trace file nor an execution trace gets an error about its content, not about the format.
var errForeign = errors.New("a format of execution traces")

// foreignFormat is the error of a format that is not in the table of what is read.
func foreignFormat(f *format, table []*format) error {
	if f.dialect != nil {
		return fmt.Errorf("%s is %w, and what is read is a trace file, of frames", f.Name, errForeign)
	}
	return fmt.Errorf("%s is a format of trace files, of frames, and what is read is an execution trace, which can be written as %s",
		f.Name, formatNames(table, (*format).writable))
}

// withOthers are the formats of a table and, behind them, all others.
func withOthers(table []*format) []*format { return slices.Concat(table, Formats, ExecutionFormats) }

// bySuffix chooses the format by the name of a file or folder, base being that without the suffix of its compression. Of two
// formats that have the suffix it is that in the table, whose first is also that of a name without a suffix; nil for a suffix of
// none.
func bySuffix(path, base string, table []*format) *format {
	if strings.HasSuffix(path, "/") || isFolder(path) {
		return folderFormat()
	}
	for _, f := range withOthers(table) {
		if slices.ContainsFunc(f.suffixes, func(s string) bool { return strings.HasSuffix(base, s) }) {
			return f
		}
	}
	if filepath.Ext(base) != "" {
		return nil
	}
	return table[0]
}

// folderFormat is the format of folders, which a name with a slash at its end asks for.
func folderFormat() *format {
	return Formats[slices.IndexFunc(Formats, func(f *format) bool { return f.writeFolder != nil })]
}

// isFolder reports whether a path exists and is a folder, or a symbolic link to one.
func isFolder(path string) bool {
	status, err := os.Stat(path)
	return err == nil && status.IsDir()
}

// check refuses what cannot be written, or should not be. Binary data on a terminal can switch its character set or lock its
// keyboard; tools such as gzip refuse it as well.
func (t *destination) check(streams console.Streams) error {
	f := t.format
	switch {
	case !f.writable() && !t.copies():
		return fmt.Errorf("--to: %s is read only; what can be written is %s", f.Name, WriteFormats())
	case f.writeFolder != nil && t.path == "-":
		return fmt.Errorf("standard output is no folder, which %s is", f.Name)
	case f.writeFolder != nil && t.method != nil:
		return fmt.Errorf("%s: %s is a folder, which cannot be compressed", t.path, f.Name)
	case t.path == "-" && (f.binary || t.method != nil) && console.IsTerminal(streams.Out):
		return fmt.Errorf("standard output is a terminal, and %s is not text", f.Name)
	}
	return nil
}

// title names the target in messages.
func (t *destination) title() string {
	if t.path == "-" {
		return "standard output"
	}
	return t.path
}
