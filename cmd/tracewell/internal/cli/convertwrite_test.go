package cli

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tracewell/tfile"
)

// hurried is a content, and the bytes of a file, during whose fifth part somebody presses Ctrl-C.
type hurried struct {
	tfile.Content
	io.ReaderAt
	t     *testing.T
	asked int
}

// press leaves time after the fifth part: the signal, once it has come, takes its own to reach the context.
func (h *hurried) press() {
	h.asked++
	switch {
	case h.asked == 5:
		came := make(chan os.Signal, 1)
		signal.Notify(came, os.Interrupt)
		defer signal.Stop(came)
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			h.t.Fatal(err)
		}
		<-came
	case h.asked > 5:
		time.Sleep(50 * time.Millisecond)
	}
}

// ReadFrame implements tfile.Content.
func (h *hurried) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	h.press()
	return h.Content.ReadFrame(i, buf)
}

// ReadAt implements io.ReaderAt, a little at a time.
func (h *hurried) ReadAt(p []byte, offset int64) (int, error) {
	h.press()
	return h.ReaderAt.ReadAt(p[:min(len(p), 10_000)], offset)
}

// same is the number of a frame that was not cut out.
func same(i int) int { return i }

// TestConvertInterrupted: after Ctrl-C nothing is left, and what was there before is as it was.
func TestConvertInterrupted(t *testing.T) {
	file, err := openPacked(basic, Streams{In: os.Stdin, Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain := file.ReaderAt
	index, err := file.index(Streams{Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	old := filepath.Join(folder, "old.tf")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := listing(t, folder)
	for _, name := range []string{"new.tf", "old.tf", "new.tf.gz", "new.tf.zst", "new.txt", "new.csv", "new/", "copy.tf", "copy.tf.zst"} {
		streams := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
		out, err := chooseDestination(folder+"/"+name, "", formats, streams)
		if err != nil {
			t.Fatal(err)
		}
		late := &hurried{Content: index, ReaderAt: plain, t: t}
		c := &conversion{streams: streams, name: name, content: late, number: same}
		if strings.HasPrefix(name, "copy") {
			file.ReaderAt = late
			c.bytes = file
		}
		if err := out.write(c); !errors.Is(err, errInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
		if after := listing(t, folder); !slices.Equal(after, before) || content(t, old) != "old" {
			t.Fatalf("%s: %v is left, and %q", name, after, content(t, old))
		}
	}
}

// TestWatchedAllocates nothing for a frame, whatever is watched for.
func TestWatchedAllocates(t *testing.T) {
	file, err := tfile.OpenBytes([]byte(content(t, basic)))
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{Content: file, ctx: t.Context(), c: &conversion{number: same}}
	var frame tfile.Frame
	allocated := testing.AllocsPerRun(10, func() {
		for i := range w.NumFrames() {
			if frame, err = w.ReadFrame(i, frame.Bytes()); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}
