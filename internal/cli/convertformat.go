package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tracewell/internal/frameview"
	"tracewell/internal/packed"
	"tracewell/tfile/twin"
)

// format is what convert reads or writes, or both.
type format struct {
	name     string   // for --from and --to
	suffixes []string // of the names of files, each with its dot
	binary   bool     // it is not for terminals

	recognise func(head []byte) bool // whether a file that begins so is of the format
	// read returns what a file holds; with an error, what can be read of it, or nil.
	read  func(*packedFile, Streams) (*source, error)
	write func(io.Writer, *conversion) error
	// keeps reports whether a trace file can be written as it is, byte for byte; nil if none can.
	keeps func(*source) bool

	// The same for a format that is a folder of files. Bytes are written through writers that wrap makes.
	readFolder  func(path string, streams Streams) (*source, error)
	writeFolder func(path string, wrap func(io.Writer) io.Writer, c *conversion) error
}

// formats are all of them. The first is what a file is whose name or content says nothing else.
var formats []*format

func init() { // here, because the functions lead back to the table
	formats = []*format{
		{name: "tf", suffixes: []string{".tf"}, binary: true, read: readTrace, write: writeTrace, keeps: (*source).wellFormed},
		{name: "txt", suffixes: []string{".txt"}, recognise: twin.Is, read: readTwin, write: writeTwin, keeps: (*source).hasBytes},
		{name: "json", suffixes: []string{".json", ".jsonl", ".ndjson"}, write: writeFrames(func(w io.Writer, v *frameview.View) (frameWriter, error) {
			return newJSONFrames(w, v), nil
		})},
		{name: "csv", suffixes: []string{".csv"}, write: writeFrames(func(w io.Writer, v *frameview.View) (frameWriter, error) {
			return newCSVFrames(w, v)
		})},
		{name: "ctf", suffixes: []string{".ctf"}, readFolder: readCTF, writeFolder: writeCTF},
	}
}

// formatNamed finds the format of --from and --to.
func formatNamed(name string) (*format, error) {
	for _, f := range formats {
		if f.name == name || slices.Contains(f.suffixes, "."+name) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%q is no format; there are %s", name, writeFormats())
}

// readFormats and writeFormats name the formats that there are, for help and errors.
func readFormats() string {
	return formatNames(func(f *format) bool { return f.read != nil || f.readFolder != nil })
}

func writeFormats() string {
	return formatNames(func(f *format) bool { return f.write != nil || f.writeFolder != nil })
}

func formatNames(with func(*format) bool) string {
	var names []string
	for _, f := range formats {
		if with(f) {
			names = append(names, f.name)
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
	method *packed.Method // nil for none
}

// chooseDestination finds out what is to be written to a path: what --to says, or else the suffix, or that it is a folder.
func chooseDestination(path, to string, streams Streams) (*destination, error) {
	method, base := packed.BySuffix(path)
	t := &destination{path: path, method: method}
	switch {
	case to != "":
		asked, name := packed.BySuffix(to)
		var err error
		if t.format, err = formatNamed(strings.TrimPrefix(name, ".")); err != nil {
			return nil, fmt.Errorf("--to: %w", err)
		}
		if asked != nil {
			t.method = asked
		}
	case path == "-":
		return nil, fmt.Errorf("standard output has no suffix: say by --to what to write (%s)", writeFormats())
	default:
		t.format = bySuffix(path, base)
	}
	return t, t.check(streams)
}

// bySuffix chooses the format by the name of a file or folder, base being that without the suffix of its compression.
func bySuffix(path, base string) *format {
	if strings.HasSuffix(path, "/") || isFolder(path) {
		return folderFormat()
	}
	for _, f := range formats {
		if slices.ContainsFunc(f.suffixes, func(s string) bool { return strings.HasSuffix(base, s) }) {
			return f
		}
	}
	return formats[0]
}

// folderFormat is the format of folders.
func folderFormat() *format {
	return formats[slices.IndexFunc(formats, func(f *format) bool { return f.writeFolder != nil })]
}

func isFolder(path string) bool {
	status, err := os.Stat(path)
	return err == nil && status.IsDir()
}

// check refuses what cannot be written, or should not be.
func (t *destination) check(streams Streams) error {
	f := t.format
	switch {
	case f.write == nil && f.writeFolder == nil:
		return fmt.Errorf("--to: %s is read only; what can be written is %s", f.name, writeFormats())
	case f.writeFolder != nil && t.path == "-":
		return fmt.Errorf("standard output is no folder, which %s is", f.name)
	case f.writeFolder != nil && t.method != nil:
		return fmt.Errorf("%s: %s is a folder, which cannot be compressed", t.path, f.name)
	case t.path == "-" && (f.binary || t.method != nil) && isTerminal(streams.Out):
		return fmt.Errorf("standard output is a terminal, and %s is not text", f.name)
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
