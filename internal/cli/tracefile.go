package cli

import (
	"fmt"
	"io"

	"tracewell/internal/frameview"
	"tracewell/internal/symtab"
	"tracewell/internal/text"
)

// traceFile is an open trace file. One that is damaged or cut is open as far as it is whole.
type traceFile struct {
	view *frameview.View
	name string
	size int64 // in bytes, unpacked
	err  error // where the file stops being readable, nil for a whole one

	close func() error
}

// openTrace opens a trace file or the text of one, compressed or not, "-" being standard input, with the symbols of the program
// exec unless that is empty. What is not as it should be but does not keep the file from being read is reported as warnings.
func openTrace(path, exec string, streams Streams) (*traceFile, error) {
	var symbols *symtab.Table
	if exec != "" {
		var err error
		if symbols, err = readSymbols(exec); err != nil {
			return nil, err
		}
	}
	source, err := openTraceBytes(path, streams)
	if err != nil {
		return nil, err
	}
	t := &traceFile{name: source.name, size: source.Size(), close: source.Close}
	file, err := source.index(streams)
	if file == nil {
		t.close()
		return nil, err
	}
	t.err = err
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
