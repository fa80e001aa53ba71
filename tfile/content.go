package tfile

import (
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
