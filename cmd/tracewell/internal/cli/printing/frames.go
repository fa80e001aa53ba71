// Package printing is how commands print what trace files hold: frames as rows, lines, CSV and JSON, values, definitions and the
// status of a run.
package printing

import (
	"context"
	"fmt"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/view"
	"tracewell/view/survey"
)

// FrameWriter writes frames, one after the other, in a form that is for reading only.
type FrameWriter interface {
	Add(view.Frame) error
	Flush() error // writes what is held back
}

// Damages counts the frames that could not be read whole.
type Damages struct {
	count int
	first error
}

// Note counts a frame, if it is damaged.
func (d *Damages) Note(frame view.Frame) {
	if frame.Damaged == nil {
		return
	}
	if d.count++; d.count == 1 {
		d.first = fmt.Errorf("frame %d: %w", frame.Number, frame.Damaged)
	}
}

// Err is what there is to say of them, nil without any.
func (d *Damages) Err(name string) error {
	switch d.count {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: %w", name, d.first)
	}
	return fmt.Errorf("%s: %d frames are damaged, the first is %w", name, d.count, d.first)
}

// EachFrame calls do for the frames from first up to but not including end. The bytes of a frame are valid during the call.
func EachFrame(v *view.View, first, end int, do func(view.Frame) error) error {
	c := survey.Choice{First: first, End: end}
	return c.Each(context.Background(), v, do)
}

// AppendBlock dumps a block of memory or of a static tracepoint, with a line above that says which; other blocks have nothing
// to dump. Each line begins with indent.
func AppendBlock(dst []byte, v *view.View, indent string, block tfile.Block) []byte {
	switch block.Kind {
	case tfile.BlockStatic:
		dst = append(append(dst, indent...), "data of a static tracepoint, "...)
		dst = append(append(dst, text.Plural(len(block.Bytes), "byte")...), '\n')
	case tfile.BlockMemory:
		dst = AppendAddress(append(dst, indent...), v, block.Addr)
		dst = append(append(dst, ", "...), text.Plural(len(block.Bytes), "byte")...)
		if n, ok := v.Integer(block.Bytes); ok {
			dst = fmt.Appendf(dst, ": %d, ", n)
			dst = AppendAddress(dst, v, arch.Addr(n))
		}
		dst = append(dst, '\n')
	default:
		return dst
	}
	return text.AppendHexDump(dst, indent+"  ", block.Addr, block.Bytes)
}
