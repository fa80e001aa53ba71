package input

import (
	"fmt"
	"os"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/view"
)

// TraceFile is an open trace file. One that is damaged or cut is open as far as it is whole: a command prints what there is and
// then returns Err, so that the exit status is 2.
type TraceFile struct {
	View *view.View
	Name string
	Size int64 // in bytes, unpacked
	Err  error // where the file stops being readable, nil for a whole one

	Close func() error
}

// OpenTrace opens a trace file, compressed or not, or a trace run that is kept in another format that convert reads, "-" being
// standard input, with the symbols of the program exec, or if that is empty of the one that the file says it was. What is not
// as it should be but does not keep it from being read is reported as warnings.
func OpenTrace(path, exec string, streams console.Streams, opts ...tfile.Option) (*TraceFile, error) {
	return openTrace(exec, streams, func() (*TraceFile, tfile.Content, error) { return OpenContent(path, streams, opts) })
}

// openTrace opens the content of a trace file and gives it names.
func openTrace(exec string, streams console.Streams, open func() (*TraceFile, tfile.Content, error)) (*TraceFile, error) {
	// A program that the user names must be there, unlike one that the file names.
	var names *symbol.Program
	if exec != "" {
		var err error
		if names, err = symbol.Open(exec, symbol.Options{}); err != nil {
			return nil, err
		}
	}
	t, content, err := open()
	if err != nil {
		return nil, err
	}
	var warnings []string
	if exec == "" {
		if names, err = RecordedProgram(content.Header()); err != nil {
			warnings = append(warnings, err.Error())
		}
	}
	var more []string
	t.View, more = view.New(content, names)
	warnings = append(warnings, more...)
	if exec != "" && len(names.Main().File().Symbols()) == 0 {
		warnings = append(warnings, exec+" has no symbols")
	}
	if t.View.File != nil {
		for _, finding := range t.View.File.Findings() {
			warnings = append(warnings, finding.String())
		}
	}
	console.Warn(streams.Err, t.Name, warnings)
	return t, nil
}

// RecordedProgram opens the program that a trace file says was traced. It is nil if the file says none, or if the program is no
// longer there or no ELF file: the user has not asked for it, so that is no error. That it has changed since is one, for a
// warning.
func RecordedProgram(header tfile.Header) (*symbol.Program, error) {
	path, err := RecordedPath(header)
	if path == "" {
		return nil, err
	}
	program, err := symbol.Open(path, symbol.Options{})
	if err != nil {
		return nil, nil // nobody has asked for it
	}
	return program, nil
}

// RecordedPath is where the program is that a trace file says was traced, "" if it says none or the program is here no more.
// One that has changed since is of no use.
func RecordedPath(header tfile.Header) (string, error) {
	objects := tfile.Objects(header.Description)
	if len(objects) == 0 {
		return "", nil
	}
	path := objects[0].Path
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	// A program that was written after the start of the run need not be the one that ran, and wrong names are worse than none.
	if header.Status == nil || info.ModTime().UnixMicro() > int64(header.Status.StartTime) {
		return "", fmt.Errorf("no symbols: %s may have changed since it was traced", path)
	}
	return path, nil
}

// OpenContent opens the frames of a trace file, its text or a folder in CTF, without symbols. As from tfile.Open there may be
// frames and an error, which TraceFile.Err then is.
func OpenContent(path string, streams console.Streams, opts []tfile.Option) (*TraceFile, tfile.Content, error) {
	if HoldsCTF(path) {
		t, closeTrace, err := OpenCTF(path, streams)
		if t == nil {
			return nil, nil, err
		}
		return &TraceFile{Name: path, Err: err, Close: closeTrace}, t, nil
	}
	file, err := OpenTraceBytes(path, streams)
	if err != nil {
		return nil, nil, err
	}
	return ContentOf(file, streams, opts)
}

// ContentOf finds the frames in a file, which it closes if it is no trace file. A trace file without frames is one.
func ContentOf(file *PackedFile, streams console.Streams, opts []tfile.Option) (*TraceFile, tfile.Content, error) {
	index, err := file.Index(streams, opts...)
	if index == nil {
		file.Close()
		return nil, nil, err
	}
	return &TraceFile{Name: file.Name, Size: file.Size(), Err: err, Close: file.Close}, index, nil
}
