package replay

import (
	"fmt"
	"io"
	"slices"

	"tracewell/arch"
	"tracewell/tfile"
)

// Save implements target.TraceRun. Static trace data is left out, as no GDB shows anything of a frame in a file that has some.
func (f *TraceFile) Save(w io.Writer, description string) error {
	header := f.header
	status := f.Status()
	header.Status = &status
	header.Description = description
	header.Other = nil
	return tfile.Write(w, plain{f.content, header}, tfile.KeepDamaged())
}

// plain is a Content without static trace data.
type plain struct {
	tfile.Content
	header tfile.Header
}

// Header implements tfile.Content.
func (p plain) Header() tfile.Header { return p.header }

// ReadFrame implements tfile.Content.
func (p plain) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	frame, err := p.Content.ReadFrame(i, buf)
	if err != nil || frame.Static() == nil {
		return frame, err
	}
	return tfile.ParseFrame(withoutStatic(frame, p.header.Order), p.header.Order, p.header.RegisterSize)
}

// withoutStatic makes a copy of a frame without its static trace data. What cannot be read at its end stays.
func withoutStatic(frame tfile.Frame, order arch.ByteOrder) []byte {
	all := frame.Bytes()
	kept := slices.Clone(all[:tfile.FrameHeader])
	from := tfile.FrameHeader
	for block := range frame.Blocks() {
		if block.Kind == tfile.BlockStatic {
			kept = append(kept, all[from:block.Offset]...)
			from = block.End()
		}
	}
	kept = append(kept, all[from:]...)
	order.PutUint32(kept[2:], uint32(len(kept)-tfile.FrameHeader))
	return kept
}

// cursor is a frame and the offset at which it begins in the stream of all frames. Reading goes on from where it was, as
// clients read, so that nothing has to be known of frames that are far away.
type cursor struct {
	frame  int
	offset int64
}

// ReadBuffer implements target.TraceRun.
func (f *TraceFile) ReadBuffer(offset int64, dst []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if offset < f.reading.offset {
		f.reading = cursor{}
	}
	content := plain{f.content, f.header}
	for f.reading.frame < f.content.NumFrames() && n < len(dst) {
		frame, err := content.ReadFrame(f.reading.frame, f.scratch)
		if err != nil {
			return n, err
		}
		b := frame.Bytes()
		f.scratch = b
		end := f.reading.offset + int64(len(b))
		at := offset + int64(n)
		if at >= end {
			f.reading = cursor{f.reading.frame + 1, end}
			continue
		}
		n += copy(dst[n:], b[at-f.reading.offset:])
	}
	switch {
	case n > 0 || len(dst) == 0:
		return n, nil
	case offset > f.reading.offset:
		return 0, fmt.Errorf("offset %d of the trace buffer is not from 0 to %d", offset, f.reading.offset)
	}
	return 0, io.EOF
}
