package cli

import (
	"fmt"
	"io"
	"os"

	"tracewell/internal/text"
	"tracewell/symbol"
	"tracewell/tfile"
	frameview "tracewell/view"
)

// traceFile is an open trace file. One that is damaged or cut is open as far as it is whole.
type traceFile struct {
	view *frameview.View
	name string
	size int64 // in bytes, unpacked
	err  error // where the file stops being readable, nil for a whole one

	close func() error
}

// openTrace opens a trace file, compressed or not, or a trace run that is kept in another format that convert reads, "-" being
// standard input, with the symbols of the program exec, or if that is empty of the one that the file says it was. What is not
// as it should be but does not keep it from being read is reported as warnings.
func openTrace(path, exec string, streams Streams, opts ...tfile.Option) (*traceFile, error) {
	var names *symbol.Program
	if exec != "" {
		var err error
		if names, err = symbol.Open(exec, symbol.Options{}); err != nil {
			return nil, err
		}
	}
	t, content, err := openContent(path, streams, opts)
	if err != nil {
		return nil, err
	}
	var warnings []string
	if exec == "" {
		if names, err = recordedProgram(content.Header()); err != nil {
			warnings = append(warnings, err.Error())
		}
	}
	var more []string
	t.view, more = frameview.New(content, names)
	warnings = append(warnings, more...)
	if exec != "" && len(names.Main().File().Symbols()) == 0 {
		warnings = append(warnings, exec+" has no symbols")
	}
	if t.view.File != nil {
		for _, finding := range t.view.File.Findings() {
			warnings = append(warnings, finding.String())
		}
	}
	warn(streams.Err, t.name, warnings)
	return t, nil
}

// recordedProgram opens the program that a trace file says was traced, nil if it says none or the program is here no more.
func recordedProgram(header tfile.Header) (*symbol.Program, error) {
	path, err := recordedPath(header)
	if path == "" {
		return nil, err
	}
	program, err := symbol.Open(path, symbol.Options{})
	if err != nil {
		return nil, nil // nobody has asked for it
	}
	return program, nil
}

// recordedPath is where the program is that a trace file says was traced, "" if it says none or the program is here no more.
// One that has changed since is of no use.
func recordedPath(header tfile.Header) (string, error) {
	objects := tfile.Objects(header.Description)
	if len(objects) == 0 {
		return "", nil
	}
	path := objects[0].Path
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	if header.Status == nil || info.ModTime().UnixMicro() > int64(header.Status.StartTime) {
		return "", fmt.Errorf("no symbols: %s may have changed since it was traced", path)
	}
	return path, nil
}

// openContent finds the frames.
func openContent(path string, streams Streams, opts []tfile.Option) (*traceFile, tfile.Content, error) {
	if holdsCTF(path) {
		s, err := openFolder(path, nil, streams)
		if s == nil {
			return nil, nil, err
		}
		return &traceFile{name: s.name, err: err, close: s.close}, s.parts[0].Content, nil
	}
	file, err := openTraceBytes(path, streams)
	if err != nil {
		return nil, nil, err
	}
	return contentOf(file, streams, opts)
}

// contentOf finds the frames in a file, which it closes if there are none.
func contentOf(file *packedFile, streams Streams, opts []tfile.Option) (*traceFile, tfile.Content, error) {
	index, err := file.index(streams, opts...)
	if index == nil {
		file.Close()
		return nil, nil, err
	}
	return &traceFile{name: file.name, size: file.Size(), err: err, close: file.Close}, index, nil
}

// warningLimit is how many warnings are printed.
const warningLimit = 10

func warn(messages io.Writer, name string, warnings []string) {
	for i, warning := range warnings {
		if i == warningLimit {
			fmt.Fprintf(messages, "tracewell: %s: %d more warnings\n", text.Visible(name), len(warnings)-i)
			return
		}
		fmt.Fprintf(messages, "tracewell: %s: warning: %s\n", text.Visible(name), text.Visible(warning))
	}
}
