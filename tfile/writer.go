package tfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"tracewell/trace"
)

// Writer writes a trace file as it comes: NewWriter the header, WriteFrame a frame, Close the end marker. What it writes GDB
// can read, so it refuses what GDB 13.1 could not.
type Writer struct {
	w      *bufio.Writer
	header Header
	err    error
}

// LineError says that a definition line cannot be written.
type LineError struct {
	Line   string
	Reason string
}

// Error quotes the beginning of the line.
func (e *LineError) Error() string {
	return fmt.Sprintf("trace file definition %s: %s", quote(e.Line), e.Reason)
}

// writeBuffer is how much a Writer gathers before it writes.
const writeBuffer = 1 << 16

// NewWriter writes the header to w. It fails with a *LineError, before anything is written, for a definition that makes a
// line of more than MaxLine bytes: its one string or expression cannot be spread over several lines in a way that GDB 13.1
// would put together again. The order must be given, and the register size, without which GDB opens no file.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	switch {
	case h.Order == nil:
		return nil, errors.New("trace file without a byte order")
	case h.RegisterSize <= 0:
		return nil, fmt.Errorf("trace file with register blocks of %d bytes", h.RegisterSize)
	}
	lines := h.lines()
	for _, line := range lines {
		if err := checkLine(line); err != nil {
			return nil, err
		}
	}
	t := &Writer{w: bufio.NewWriterSize(w, writeBuffer), header: h}
	t.w.WriteString(magic)
	for _, line := range append(lines, "") {
		t.w.WriteString(line)
		t.w.WriteByte('\n')
	}
	return t, t.w.Flush()
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

// lines returns the definition lines in the order of GDB 13.1.
func (h *Header) lines() []string {
	lines := []string{fmt.Sprintf("R %x", h.RegisterSize)}
	if h.Description != "" {
		for line := range strings.SplitSeq(h.Description, "\n") {
			lines = append(lines, "tdesc "+line)
		}
	}
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
	return append(lines, h.Other...)
}

// WriteFrame writes one whole frame, header first, as Builder makes it and Frame.Bytes returns it. A frame that would end
// the file or that readers could not get past is an error, and nothing of it is written.
func (t *Writer) WriteFrame(frame []byte) error {
	if t.err != nil {
		return t.err
	}
	f, err := ParseFrame(frame, t.header.Order, t.header.RegisterSize)
	if err != nil {
		return fmt.Errorf("writing a frame: %w", err)
	}
	if n := f.Tracepoint(); n < 1 {
		return fmt.Errorf("writing a frame of tracepoint %d, which is not from 1 to %d", n, trace.MaxNumber)
	}
	_, t.err = t.w.Write(frame)
	return t.err
}

// Close writes the end marker and what is still held back. It does not close the underlying writer. After it the Writer
// takes no more frames.
func (t *Writer) Close() error {
	if t.err != nil {
		return t.err
	}
	t.w.Write(make([]byte, 4))
	if err := t.w.Flush(); err != nil {
		t.err = err
		return err
	}
	t.err = errors.New("trace file is closed")
	return nil
}
