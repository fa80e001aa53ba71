package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"tracewell/tfile"
)

// hurried is a content during whose fifth frame somebody presses Ctrl-C.
type hurried struct {
	tfile.Content
	t *testing.T
}

// ReadFrame implements tfile.Content.
func (h hurried) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	if i == 5 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			h.t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // the signal reaches the context
	}
	if i == 7 {
		h.t.Error("frames are read after the interrupt")
	}
	return h.Content.ReadFrame(i, buf)
}

// same is the number of a frame that was not cut out.
func same(i int) int { return i }

// TestConvertInterrupted: after Ctrl-C nothing is left, and what was there before is as it was.
func TestConvertInterrupted(t *testing.T) {
	file, err := tfile.OpenBytes([]byte(content(t, basic)))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	old := filepath.Join(folder, "old.tf")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := listing(t, folder)
	for _, name := range []string{"new.tf", "old.tf", "new.tf.gz", "new.tf.zst", "new.txt", "new/"} {
		streams := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
		out, err := chooseDestination(folder+"/"+name, "", streams)
		if err != nil {
			t.Fatal(err)
		}
		err = out.write(&conversion{streams: streams, name: name, content: hurried{file, t}, number: same})
		if !errors.Is(err, errInterrupted) {
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
	w := &watched{file, t.Context(), &conversion{number: same}}
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
