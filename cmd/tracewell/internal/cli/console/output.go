package console

import (
	"bufio"
	"errors"
	"os"
	"slices"

	"golang.org/x/term"

	"tracewell/internal/text"
)

// Output is standard output with what there is to know for laying out text on it.
type Output struct {
	*bufio.Writer
	Style text.Style
	Width int // of a terminal in characters, 0 for anything else
	Lines int // of a terminal, 0 for anything else
}

// Write runs a command that prints. A reader that goes away early, as head does, ends it without an error: the rest was not
// wanted.
func Write(streams Streams, print func(*Output) error) error {
	return WriteTo(NewOutput(streams.Out), print)
}

// WriteTo is write for an output that there is already.
func WriteTo(out *Output, print func(*Output) error) error {
	defer IgnoreBrokenPipes()()
	err := print(out)
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	if IsBrokenPipe(err) {
		return nil
	}
	return err
}

// IsBrokenPipe reports whether an error is that nobody reads what is written.
func IsBrokenPipe(err error) bool {
	return slices.ContainsFunc(brokenPipes, func(broken error) bool { return errors.Is(err, broken) })
}

// OutputBuffer is how much is gathered before it is written.
const OutputBuffer = 1 << 16

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// NewOutput lays text out for f, with colour if that is a terminal and its user wants any.
func NewOutput(f *os.File) *Output {
	out := &Output{Writer: bufio.NewWriterSize(f, OutputBuffer)}
	if !IsTerminal(f) {
		return out
	}
	if width, lines, err := term.GetSize(int(f.Fd())); err == nil {
		out.Width, out.Lines = width, lines
	}
	out.Style.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return out
}
