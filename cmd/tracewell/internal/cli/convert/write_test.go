package convert

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/tfile"
)

// same is the number of a frame that was not cut out.
func same(i int) int { return i }

// TestConvertInterrupted: after Ctrl-C nothing is left, and what was there before is as it was.
func TestConvertInterrupted(t *testing.T) {
	file, err := input.OpenPacked(clitest.Basic, console.Streams{In: os.Stdin, Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain := file.ReaderAt
	index, err := file.Index(console.Streams{Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	old := filepath.Join(folder, "old.tf")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := clitest.Listing(t, folder)
	for _, name := range []string{"new.tf", "old.tf", "new.tf.gz", "new.tf.zst", "new.txt", "new.csv", "new/", "copy.tf", "copy.tf.zst",
		"new.parquet", "new.pftrace", "new.pprof", "new.folded"} {
		streams := console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
		out, err := chooseDestination(folder+"/"+name, "", Formats, nil, streams)
		if err != nil {
			t.Fatal(err)
		}
		late := &clitest.Hurried{Content: index, ReaderAt: plain, T: t}
		c := &conversion{command: &Command{}, streams: streams, name: name, content: late, number: same}
		if strings.HasPrefix(name, "copy") {
			file.ReaderAt = late
			c.bytes = file
		}
		if err := out.write(c); !errors.Is(err, console.ErrInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
		if after := clitest.Listing(t, folder); !slices.Equal(after, before) || clitest.Content(t, old) != "old" {
			t.Fatalf("%s: %v is left, and %q", name, after, clitest.Content(t, old))
		}
	}
}

// TestWatchedAllocates nothing for a frame, whatever is watched for.
func TestWatchedAllocates(t *testing.T) {
	file, err := tfile.OpenBytes([]byte(clitest.Content(t, clitest.Basic)))
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
