package cli

import (
	"bufio"
	"errors"
	"os"
	"syscall"

	"golang.org/x/term"

	"tracewell/internal/text"
)

// output is standard output with what there is to know for laying out text on it.
type output struct {
	*bufio.Writer
	style text.Style
	width int // of a terminal in characters, 0 for anything else
	lines int // of a terminal, 0 for anything else
}

// write runs a command that prints. A reader that goes away early, as head does, ends it without an error: the rest was not
// wanted.
func write(streams Streams, print func(*output) error) error {
	return writeTo(newOutput(streams.Out), print)
}

// writeTo is write for an output that there is already.
func writeTo(out *output, print func(*output) error) error {
	defer ignoreBrokenPipes()()
	err := print(out)
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// outputBuffer is how much is gathered before it is written.
const outputBuffer = 1 << 16

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func newOutput(f *os.File) *output {
	out := &output{Writer: bufio.NewWriterSize(f, outputBuffer)}
	if !isTerminal(f) {
		return out
	}
	if width, lines, err := term.GetSize(int(f.Fd())); err == nil {
		out.width, out.lines = width, lines
	}
	out.style.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return out
}
