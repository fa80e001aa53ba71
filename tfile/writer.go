package tfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"tracewell/internal/text"
	"tracewell/trace"
)

// Writer writes a trace file as it comes: NewWriter the header, WriteFrame a frame, Close the end marker. What it writes GDB
// 13.1 opens without a warning and shows whole, so it refuses what GDB would refuse, misread or die of, unless an option
// allows it. A file is whole only after Close; Appender writes one that is whole at any time.
type Writer struct {
	w      *bufio.Writer
	header Header
	keep   writing
	frames int64
	err    error
}

// WriterOption changes what a Writer or an Appender takes.
type WriterOption func(*writing)

type writing struct {
	unknown, static, damaged bool
	progress                 func(done int64)
	sync                     func() error // Appender's
}

// KeepUnknownLines has the lines of Header.Other written, which are left out otherwise: GDB warns of each.
func KeepUnknownLines() WriterOption { return func(o *writing) { o.unknown = true } }

// KeepStatic allows S blocks, the data of static tracepoints. GDB 13.1 shows nothing at all of a frame with one.
func KeepStatic() WriterOption { return func(o *writing) { o.static = true } }

// KeepDamaged allows frames whose blocks cannot be read to the end, as copies of what is in another file. GDB shows nothing
// of them or something else than what was recorded.
func KeepDamaged() WriterOption { return func(o *writing) { o.damaged = true } }

// ReportFrames has a function called about every thousand frames with the number of those that have been written.
func ReportFrames(progress func(done int64)) WriterOption {
	return func(o *writing) { o.progress = progress }
}

// LineError says that a definition line cannot be written.
type LineError struct {
	Line   string
	Reason string
}

// Error quotes the beginning of the line.
func (e *LineError) Error() string {
	return fmt.Sprintf("trace file definition %s: %s", text.Quote(e.Line), e.Reason)
}

// endMarker is what ends a file.
var endMarker [markerLen]byte

// writeBuffer is how much a Writer gathers before it writes.
const writeBuffer = 1 << 16

// NewWriter writes the header to w. The order must be given, and the register size, without which GDB opens no file. It fails
// with a *LineError, before anything is written, for a definition that GDB 13.1 would not read as it is meant: one that makes
// a line of more than MaxLine bytes (its one string or expression cannot be spread over several lines in a way that GDB would
// put together again), a tracepoint or a variable defined twice, a number that no frame can carry.
func NewWriter(w io.Writer, h Header, opts ...WriterOption) (*Writer, error) {
	t := &Writer{w: bufio.NewWriterSize(w, writeBuffer), header: h}
	for _, opt := range opts {
		opt(&t.keep)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	lines := h.Lines()
	if t.keep.unknown {
		lines = append(lines, h.Other...)
	}
	text, err := definitionText(lines)
	if err != nil {
		return nil, err
	}
	if _, err := t.w.WriteString(text); err != nil {
		return nil, err
	}
	return t, t.w.Flush()
}

// MaxRegisters is the largest register block, in bytes, of files that are written. GDB 13.1 keeps the block on its stack and
// dies where that ends, at about 8 MB.
const MaxRegisters = 1 << 20

// check looks for what cannot be said of a single line.
func (h *Header) check() error {
	switch {
	case h.Order == nil:
		return errors.New("trace file without a byte order")
	case h.RegisterSize <= 0 || h.RegisterSize > MaxRegisters:
		return fmt.Errorf("trace file with register blocks of %d bytes, which is not from 1 to %d", h.RegisterSize, MaxRegisters)
	}
	tracepoints := make(map[trace.Key]bool)
	for i := range h.Tracepoints {
		k, line := h.Tracepoints[i].Key(), "tp "+h.Tracepoints[i].CountsPiece()
		switch {
		case k.Number < 1 || k.Number > trace.MaxNumber:
			return &LineError{line, fmt.Sprintf("tracepoint %d, which is not from 1 to %d", k.Number, trace.MaxNumber)}
		case tracepoints[k]:
			return &LineError{line, fmt.Sprintf("tracepoint %d at %v comes twice", k.Number, k.Addr)}
		}
		tracepoints[k] = true
	}
	variables := make(map[trace.VariableNumber]bool)
	for _, v := range h.Variables {
		if variables[v.Number] {
			return &LineError{"tsv " + v.String(), fmt.Sprintf("variable %d comes twice", v.Number)}
		}
		variables[v.Number] = true
	}
	return nil
}

// definitionText is what begins a file with these definition lines, the empty one behind them included.
func definitionText(lines []string) (string, error) {
	var text strings.Builder
	text.WriteString(Magic)
	for _, line := range lines {
		if err := checkLine(line); err != nil {
			return "", err
		}
		text.WriteString(line)
		text.WriteByte('\n')
	}
	text.WriteByte('\n')
	return text.String(), nil
}

func checkLine(line string) error {
	switch {
	case len(line) > MaxLine:
		return &LineError{line, fmt.Sprintf("%d bytes, of which GDB reads at most %d", len(line), MaxLine)}
	case line == "":
		return &LineError{line, "an empty line would end the definitions"}
	case strings.Contains(line, "\n"):
		return &LineError{line, "a line within the line"}
	}
	return nil
}

// Lines returns the definition lines, without LF, as a Writer writes them: in the order of GDB 13.1, those of Other not among
// them.
func (h *Header) Lines() []string {
	lines := []string{fmt.Sprintf("R %x", h.RegisterSize)}
	lines = append(lines, h.descriptionLines()...)
	if h.Status != nil {
		lines = append(lines, "status "+h.Status.String())
	}
	for _, v := range h.Variables {
		lines = append(lines, "tsv "+v.String())
	}
	for i := range h.Tracepoints {
		t := &h.Tracepoints[i]
		for _, piece := range append(t.Pieces(), t.CountsPiece()) {
			lines = append(lines, "tp "+piece)
		}
	}
	return lines
}

func (h *Header) descriptionLines() (lines []string) {
	if h.Description == "" {
		return nil
	}
	for line := range strings.SplitSeq(h.Description, "\n") {
		lines = append(lines, "tdesc "+line)
	}
	return lines
}

// WriteFrame writes one whole frame, header first, as Builder makes it and Frame.Bytes returns it. A frame that would end
// the file, or that readers could not get past or not read to its end, is an error, and nothing of it is written.
func (t *Writer) WriteFrame(frame []byte) error {
	if t.err != nil {
		return t.err
	}
	f, err := ParseFrame(frame, t.header.Order, t.header.RegisterSize)
	if err == nil {
		err = t.keep.check(f)
	}
	if err != nil {
		return fmt.Errorf("writing a frame: %w", err)
	}
	_, t.err = t.w.Write(frame)
	if t.frames++; t.keep.progress != nil && t.frames%framesStep == 0 {
		t.keep.progress(t.frames)
	}
	return t.err
}

// framesStep is how many frames pass between two calls of a progress function.
const framesStep = 1000

// check says why a frame is not to be written.
func (o *writing) check(f Frame) error {
	if n := f.Tracepoint(); n < 1 {
		return fmt.Errorf("it is of tracepoint %d, which is not from 1 to %d", n, trace.MaxNumber)
	}
	at := FrameHeader
	for b, next := f.block(at); next > 0; b, next = f.block(at) {
		if b.Kind == BlockStatic && !o.static {
			return errors.New("it has an S block, and GDB 13.1 can read no frame with one")
		}
		at = next
	}
	if at < len(f.bytes) && !o.damaged {
		return f.Check()
	}
	return nil
}

// Close writes the end marker and what is still held back. It does not close the underlying writer. After it the Writer
// takes no more frames.
func (t *Writer) Close() error {
	if t.err != nil {
		return t.err
	}
	t.w.Write(endMarker[:])
	if err := t.w.Flush(); err != nil {
		t.err = err
		return err
	}
	t.err = errors.New("trace file is closed")
	return nil
}
