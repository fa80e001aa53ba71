package cli

import (
	"fmt"
	"io"
	"os"

	"tracewell/internal/frameview"
	"tracewell/internal/symtab"
	"tracewell/internal/text"
	"tracewell/tfile"
)

// traceFile is an open trace file. One that is damaged or cut is open as far as it is whole.
type traceFile struct {
	view *frameview.View
	name string
	size int64
	err  error // where the file stops being readable, nil for a whole one

	close func() error
}

// openTrace opens a trace file, "-" being standard input, with the symbols of the program exec unless that is empty.
// What is not as it should be but does not keep the file from being read is reported as warnings.
func openTrace(path, exec string, streams Streams) (*traceFile, error) {
	var symbols *symtab.Table
	if exec != "" {
		var err error
		if symbols, err = readSymbols(exec); err != nil {
			return nil, err
		}
	}
	source := streams.In
	if path != "-" {
		var err error
		if source, err = os.Open(path); err != nil {
			return nil, err
		}
	}
	t := &traceFile{name: path, close: source.Close}
	if path == "-" {
		t.name, t.close = "standard input", func() error { return nil }
	}
	file, err := t.index(source)
	if file == nil {
		t.close()
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	if err != nil {
		t.err = fmt.Errorf("%s: %w", t.name, err)
	}
	var warnings []string
	t.view, warnings = frameview.New(file, symbols)
	if symbols != nil && symbols.Len() == 0 {
		warnings = append(warnings, exec+" has no symbols")
	}
	for _, finding := range file.Findings() {
		warnings = append(warnings, finding.String())
	}
	warn(streams.Err, t.name, warnings)
	return t, nil
}

// index opens a regular file where it is, and reads anything else, such as a pipe, into memory.
func (t *traceFile) index(f *os.File) (*tfile.File, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if stat.Mode().IsRegular() {
		t.size = stat.Size()
		return tfile.Open(f, t.size)
	}
	content, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	t.size = int64(len(content))
	return tfile.OpenBytes(content)
}

// warningLimit is how many warnings are printed.
const warningLimit = 10

func warn(messages io.Writer, name string, warnings []string) {
	for i, warning := range warnings {
		if i == warningLimit {
			fmt.Fprintf(messages, "tracewell: %s: %d more warnings\n", name, len(warnings)-i)
			return
		}
		fmt.Fprintf(messages, "tracewell: %s: warning: %s\n", name, text.Visible(warning))
	}
}
