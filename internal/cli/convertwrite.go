package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/tfile"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// errInterrupted ends a conversion whose user has had enough.
var errInterrupted = errors.New("interrupted")

// write writes what is to be written. A signal that asks the process to end has it remove what is half written.
func (t *destination) write(c *conversion) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	bar := progress.Start(c.streams.Err, progress.Work{
		Name: "writing " + text.Visible(c.name), Total: int64(c.content.NumFrames()), Unit: progress.Frames,
	})
	defer bar.Done()
	c.content = &watched{c.content, ctx, bar}

	if t.format.writeFolder != nil {
		return t.format.writeFolder(t.path, c)
	}
	fill := func(w io.Writer) error { return t.format.write(&interruptible{w, ctx}, c) }
	if t.path != "-" {
		return packed.Write(t.path, t.method, fill)
	}
	return write(c.streams, func(out *output) error { return t.method.Pack(out, fill) })
}

// watched is a content that tells how far its frames have been read, and has no more of them after an interrupt.
type watched struct {
	tfile.Content
	ctx context.Context
	bar *progress.Bar
}

// ReadFrame implements tfile.Content.
func (w *watched) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	w.bar.Set(int64(i))
	if w.ctx.Err() != nil {
		return tfile.Frame{}, errInterrupted
	}
	return w.Content.ReadFrame(i, buf)
}

// interruptible is a writer that fails after an interrupt.
type interruptible struct {
	io.Writer
	ctx context.Context
}

// Write implements io.Writer.
func (w *interruptible) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, errInterrupted
	}
	return w.Writer.Write(p)
}

// writeTrace writes a trace file: the one that was read, byte for byte, or one of what is left of it or was merged.
func writeTrace(w io.Writer, c *conversion) error {
	if c.whole == nil {
		return tfile.Write(w, c.content)
	}
	bar := progress.Start(c.streams.Err, progress.Work{Name: "writing " + text.Visible(c.name), Total: c.whole.Size()})
	defer bar.Done()
	_, err := io.CopyBuffer(w, &tellingReader{io.NewSectionReader(c.whole, 0, c.whole.Size()), bar, 0}, make([]byte, copyBuffer))
	return err
}

// copyBuffer is how much is copied at once.
const copyBuffer = 1 << 18

// tellingReader tells how far it has come.
type tellingReader struct {
	r    io.Reader
	bar  *progress.Bar
	done int64
}

// Read implements io.Reader.
func (t *tellingReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.done += int64(n)
	t.bar.Set(t.done)
	return n, err
}
