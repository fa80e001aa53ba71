package convert

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"sync"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/tfile/tracetext"
)

// operand is a file that convert reads. It is an execution trace or a trace file, which are converted in different ways: the one
// is a stream, of which nothing is kept, and the other has frames that are picked.
type operand struct {
	path    string
	name    string          // for messages
	dialect *itrace.Dialect // nil for a trace file, or what is to be told that it is none
	input   *input.Stream   // nil for a folder, and for what is surely a trace file
	trace   io.Reader       // the execution trace, unpacked
	head    []byte          // what a file begins with that is no execution trace
	again   io.Reader       // all of a pipe that is no execution trace, as it is; nil for anything else
}

// openOperand finds out what a file is, by the format that is named or else by its content. The suffix of its name does not
// count: files are renamed, and pipes have no name.
func openOperand(path, from string, streams console.Streams) (*operand, error) {
	o := &operand{path: path, name: path}
	f := formatNamed(from, Formats)
	if f != nil && f.readable() || path != "-" && isFolder(path) {
		return o, nil
	}
	input, err := input.OpenStream(path, streams)
	if err != nil {
		return nil, err
	}
	o.name, o.input = input.Name, input
	// Behind the name of an execution format options of it may stand, as in --dialect of match.
	switch name, _, set := strings.Cut(from, ":"); {
	case formatNamed(name, ExecutionFormats) == nil:
		o.sniff()
	case set:
		if o.dialect, err = dialects.All.ByName(from); err != nil {
			input.Close()
			return nil, err
		}
		o.trace = input
	default:
		o.dialect, o.trace = formatNamed(name, ExecutionFormats).dialect, input
	}
	return o, nil
}

// sniff finds out what a file is by its content, of which it reads itrace.DetectBytes at most, unpacked. What was read of a pipe
// by then is kept for those who take it for a trace file.
func (o *operand) sniff() {
	raw := &recorded{Reader: o.input.Raw.Reader, on: o.input.Pipe != nil}
	o.input.Raw.Reader = raw
	buffered := bufio.NewReaderSize(o.input, itrace.DetectBytes)
	d, head, _ := dialects.All.Sniff(buffered)
	// A value in the text of a trace file may look like a line of a dialect.
	if d.Dialect != nil && !tracetext.Is(head) {
		raw.stop()
		o.dialect, o.trace = d.Dialect, buffered
		return
	}
	o.head = bytes.Clone(head)
	o.input.CloseStream()
	if o.input.Pipe != nil {
		o.again = io.MultiReader(bytes.NewReader(raw.stop()), raw.Reader)
	}
}

// recorded is a reader of which what is read is kept at first: a pipe cannot be read again from its beginning. Unpackers may read
// it on goroutines of their own, hence the mutex.
type recorded struct {
	io.Reader
	mu   sync.Mutex
	on   bool
	kept []byte
}

// Read implements io.Reader.
func (r *recorded) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.on {
		r.kept = append(r.kept, p[:n]...)
	}
	return n, err
}

// stop returns what was kept, and ends that.
func (r *recorded) stop() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.kept
	r.kept, r.on = nil, false
	return kept
}

// openPacked opens a trace file. A regular file is opened again by its name and read from its beginning; of a pipe the bytes that
// were read for detection come first.
func (o *operand) openPacked(streams console.Streams) (*input.PackedFile, error) {
	if o.again != nil {
		return input.ReadPacked(o.name, o.again, streams)
	}
	return input.OpenPacked(o.path, streams)
}

// unclear reports whether a file is neither an execution trace nor surely a trace file.
func (o *operand) unclear() bool {
	return o.dialect == nil && o.input != nil && !bytes.HasPrefix(o.head, []byte("\x7fTRACE")) && !tracetext.Is(o.head)
}

// close closes the stream; the trace file that was opened for the operand belongs to its source.
func (o *operand) close() {
	if o.input != nil {
		o.input.Close()
	}
}
