package tfile

import (
	"errors"
	"fmt"
	"io"

	"tracewell/trace"
)

// Content is what a trace file holds, wherever that is: a File, a trace run kept in another format, or a choice from other
// Contents. All frames are in the byte order and have the register size of the Header.
type Content interface {
	Header() Header
	NumFrames() int
	// Tracepoint returns the number of the tracepoint that made frame i, without reading the frame.
	Tracepoint(i int) trace.Number
	// ReadFrame returns frame i, counted from 0, with its bytes in buf if that has the capacity.
	ReadFrame(i int, buf []byte) (Frame, error)
}

// Definitions is a Content of a header alone. It stands for a run whose frames are in no file yet, or in none ever: what names they
// have is in the header.
type Definitions Header

// Header implements Content.
func (d Definitions) Header() Header { return Header(d) }

// NumFrames implements Content.
func (Definitions) NumFrames() int { return 0 }

// Tracepoint implements Content.
func (Definitions) Tracepoint(int) trace.Number { return 0 }

// ReadFrame implements Content, and always fails.
func (Definitions) ReadFrame(int, []byte) (Frame, error) {
	return Frame{}, errors.New("the frames are elsewhere")
}

// Write writes a trace file of what c holds. Errors are those of Writer and of c.
func Write(w io.Writer, c Content, opts ...WriterOption) error {
	out, err := NewWriter(w, c.Header(), opts...)
	if err != nil {
		return err
	}
	var frame Frame
	for i := range c.NumFrames() {
		if frame, err = c.ReadFrame(i, frame.bytes); err != nil {
			return err
		}
		if err := out.WriteFrame(frame.bytes); err != nil {
			return fmt.Errorf("frame %d: %w", i, err)
		}
	}
	return out.Close()
}
