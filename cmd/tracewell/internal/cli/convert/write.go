package convert

import (
	"bufio"
	"context"
	"errors"
	"io"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/tfile/tracetext"
	"tracewell/view"
)

// write writes what is to be written. A signal that asks the process to end has it remove what is half written.
func (t *destination) write(c *conversion) error {
	ctx, stop := console.UntilInterrupted()
	defer stop()
	work := progress.Work{Name: "writing " + text.Visible(c.name), Total: int64(c.content.NumFrames()), Unit: progress.Frames}
	if c.bytes != nil {
		work.Total, work.Unit = c.bytes.Size(), progress.Bytes
	}
	if t.path != "-" || !console.IsTerminal(c.streams.Out) { // where it would be in between
		c.bar = progress.Start(c.streams.Err, work)
		defer c.bar.Done()
	}
	c.content = &watched{c.content, ctx, c, make(map[int]bool)}

	// Writers fail after a signal as well as watched does: a file that is copied byte for byte is not read by frames.
	wrap := func(w io.Writer) io.Writer { return console.Interruptible(ctx, w) }
	fill := func(w io.Writer) error { return t.format.write(wrap(w), c) }
	if t.format.writeFolder != nil {
		return t.format.writeFolder(t.path, wrap, c)
	}
	return t.pack(c.streams, fill)
}

// pack writes what fill writes to the destination, compressed by its method if it has one. A pipe that is closed early is no error
// (console.Write): whoever reads it has enough. A file appears when it is whole.
func (t *destination) pack(streams console.Streams, fill func(io.Writer) error) error {
	if t.path == "-" {
		return console.Write(streams, func(out *console.Output) error { return t.method.Pack(out, fill) })
	}
	return packed.Write(t.path, t.method, fill)
}

// watched is the content as the writers of formats see it. It tells how far its frames have been read, notes those that are
// damaged, and has no more after an interrupt.
type watched struct {
	tfile.Content
	ctx  context.Context
	c    *conversion
	told map[int]bool // the damaged frames that were noted; some writers look at frames before they write them
}

// ReadFrame implements tfile.Content.
func (w *watched) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	w.c.bar.Set(int64(i))
	if w.ctx.Err() != nil {
		return tfile.Frame{}, console.ErrInterrupted
	}
	f, err := w.Content.ReadFrame(i, buf)
	if err != nil {
		return f, err
	}
	if damage := f.Check(); damage != nil && !w.told[i] {
		w.told[i] = true
		w.c.damage.Note(view.Frame{Number: w.c.number(i), Damaged: damage})
	}
	return f, nil
}

// writeTrace writes a trace file. What GDB cannot read in the frames, or passes over in the definitions, stays: it is not for a
// conversion to lose it.
func writeTrace(w io.Writer, c *conversion) error {
	if c.bytes == nil {
		return tfile.Write(w, c.content, tfile.KeepUnknownLines(), tfile.KeepStatic(), tfile.KeepDamaged())
	}
	for at, buf := int64(0), make([]byte, copyBuffer); at < c.bytes.Size(); {
		n, err := c.bytes.ReadAt(buf[:min(copyBuffer, c.bytes.Size()-at)], at)
		if n == 0 {
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		at += int64(n)
		c.bar.Set(at)
	}
	return nil
}

// copyBuffer is how many bytes are copied at once: enough that the cost of system calls does not count, little enough that a
// signal is noticed at once.
const copyBuffer = 1 << 18

// writeTraceText writes a trace file as text.
func writeTraceText(w io.Writer, c *conversion) error {
	if c.bytes == nil {
		return tracetext.WriteContent(w, c.content)
	}
	return tracetext.Write(w, c.bytes, c.bytes.Size(), tracetext.WithProgress(c.bar.Set))
}

// writeFrames makes a frameWriter the write of a format. The frames have the numbers that they had before a cut, by which they
// are found in the file that was read. The command has the options that belong to single formats.
func writeFrames(
	begin func(io.Writer, *view.View, *Command) (printing.FrameWriter, error),
) func(io.Writer, *conversion) error {
	return func(w io.Writer, c *conversion) error {
		v, err := c.view()
		if err != nil {
			return err
		}
		// Writers of frames make one Write for each; they are gathered here.
		gathered := bufio.NewWriterSize(w, console.OutputBuffer)
		frames, err := begin(gathered, v, c.command)
		if err != nil {
			return err
		}
		unread, err := c.addFrames(frames, v)
		if err == nil {
			err = frames.Flush()
		}
		if err == nil {
			err = gathered.Flush()
		}
		return errors.Join(unread, err)
	}
}

// addFrames writes frames up to one that cannot be read, if there is one: unread says why. Those in front of it are written
// whole. The two errors are apart because the caller still flushes the output after an error of the input, but not after one of
// the output.
func (c *conversion) addFrames(frames printing.FrameWriter, v *view.View) (unread, err error) {
	var frame view.Frame
	for i := range v.Content.NumFrames() {
		if frame, unread = v.Frame(i, frame.Bytes()); unread != nil {
			return unread, nil
		}
		frame.Number = c.number(i)
		if err := frames.Add(frame); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
