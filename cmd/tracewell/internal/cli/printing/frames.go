// Package printing is how commands print what trace files hold as text: frames as rows of a table or as lines, values, definitions
// and the status of a run. JSON and CSV are in view/wire, because programs rely on them; people read what is here, and it may
// change.
//
// Where GDB prints the same thing the form is GDB's: addresses with symbols as "0x4011b5 <push+95>", values as by print, times as
// by tstatus, what a frame lacks as "<unavailable>". Users compare the two, and so do tests.
//
// Functions named Append write to the end of a byte slice that the caller reuses, because a file may have millions of frames.
// Functions named Write print what a file has once. They do not check for errors: console.Output keeps the first, and its last
// Flush returns it.
//
// Names, locations and texts come from a file or a program that anybody may have made. All of them pass through text.Visible, or
// are escaped as GDB's print does, before they are printed: an escape sequence in a file must not reach a terminal.
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

// FrameWriter writes frames, one after the other, in a form that is for reading only. Add must copy what it holds back: the bytes
// of a frame are valid during the call. After an error of either method nothing more is written.
type FrameWriter interface {
	Add(view.Frame) error
	Flush() error // writes what is held back
}

// Damages counts the frames that could not be read whole. They are printed as far as they go; the error afterwards makes the exit
// status 2, and has one line however many there are.
type Damages struct {
	count int
	first error
}

// Note counts a frame, if it is damaged. The first is kept for the message: what is wrong with the others is mostly the same.
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
// to dump. Each line begins with indent. Memory that is as long as an integer is also printed as one, in the byte order of the
// file, and as an address: a pointer is recognised by its symbol.
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
