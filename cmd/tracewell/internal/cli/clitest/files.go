package clitest

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"tracewell/internal/packed"
	"tracewell/internal/routine"
	"tracewell/tfile"
)

// Listing is the paths of all files and folders in a folder, to see whether a command has left something behind.
func Listing(t testing.TB, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Hurried is a content, and the bytes of a file, during whose fifth part somebody presses Ctrl-C.
type Hurried struct {
	tfile.Content
	io.ReaderAt
	T     *testing.T
	asked int
}

// press leaves time after the fifth part: the signal, once it has come, takes its own to reach the context.
func (h *Hurried) press() {
	h.asked++
	switch {
	case h.asked == 5:
		// This process is sent the signal and waits until package os/signal delivers it, to this channel and to the command's own. A
		// command that listens to none would not end: the channel also keeps the signal from ending the test.
		came := make(chan os.Signal, 1)
		signal.Notify(came, os.Interrupt)
		defer signal.Stop(came)
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(os.Interrupt)
		}
		if err != nil {
			h.T.Fatal(err)
		}
		<-came
	case h.asked > 5:
		time.Sleep(50 * time.Millisecond)
	}
}

// ReadFrame implements tfile.Content.
func (h *Hurried) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	h.press()
	return h.Content.ReadFrame(i, buf)
}

// ReadAt implements io.ReaderAt, a little at a time.
func (h *Hurried) ReadAt(p []byte, offset int64) (int, error) {
	h.press()
	return h.ReaderAt.ReadAt(p[:min(len(p), 10_000)], offset)
}

// Piped returns the reading end of a pipe into which the contents of a file are written, for commands that read standard input.
func Piped(t *testing.T, name string) *os.File {
	t.Helper()
	return Feed(t, []byte(Content(t, name)))
}

// NewWriter gathers what is written to w.
func NewWriter(w io.Writer) *bufio.Writer { return bufio.NewWriter(w) }

// Pack writes a file that holds content as the suffix of its name says.
func Pack(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	method, _ := packed.BySuffix(name)
	err := packed.Write(path, method, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Feed opens a pipe out of which content comes.
func Feed(t testing.TB, content []byte) *os.File {
	t.Helper()
	// A pipe holds 64 KiB on Linux, so somebody has to write while the command reads. What nobody reads any more fails with EPIPE,
	// which is not looked at: commands may stop early.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	routine.Go(func() {
		w.Write(content)
		w.Close()
	})
	return r
}
