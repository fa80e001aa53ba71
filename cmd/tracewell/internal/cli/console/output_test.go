package console_test

import (
	"errors"
	"os"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/console"
)

// TestWriteToClosedPipe: it is no error that the reader goes away, and every other error stays one.
func TestWriteToClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	printed := func(out *console.Output) error {
		_, err := out.WriteString("text")
		return err
	}
	if err := console.Write(console.Streams{Out: w}, printed); err != nil {
		t.Errorf("the reader went away: %v", err)
	}
	mine := errors.New("mine")
	if err := console.Write(console.Streams{Out: w}, func(*console.Output) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("got error %v, want the command's", err)
	}
}

// TestNoColourInFiles: only a terminal gets colour and a width.
func TestNoColourInFiles(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if out := console.NewOutput(null); out.Style.Colour || out.Width != 0 {
		t.Errorf("a file has colour %v, width %d", out.Style.Colour, out.Width)
	}
}
