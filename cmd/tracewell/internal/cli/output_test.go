package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"testing"
)

func newWriter(w io.Writer) *bufio.Writer { return bufio.NewWriter(w) }

// TestWriteToClosedPipe: it is no error that the reader goes away, and every other error stays one.
func TestWriteToClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	printed := func(out *output) error {
		_, err := out.WriteString("text")
		return err
	}
	if err := write(Streams{Out: w}, printed); err != nil {
		t.Errorf("the reader went away: %v", err)
	}
	mine := errors.New("mine")
	if err := write(Streams{Out: w}, func(*output) error { return mine }); !errors.Is(err, mine) {
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
	if out := newOutput(null); out.style.Colour || out.width != 0 {
		t.Errorf("a file has colour %v, width %d", out.style.Colour, out.width)
	}
}
