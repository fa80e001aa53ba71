//go:build linux && amd64

package record_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/recording"
	"tracewell/internal/test/stubs"
	"tracewell/internal/test/testprog"
)

// TestRecordLeft leaves a run to a stub by the command line, and fetches it by another, as often as its user likes.
func TestRecordLeft(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	at := stubs.Start(t, nil, p.Path, "1000").Address
	got := clitest.Run(t, "record", "--to", at, "--at", "tick", "--collect", "n", "--note", "by night", "--disconnected")
	if got.Status != 0 || !strings.Contains(got.Stderr, "traces on") {
		t.Fatalf("status %d, %s", got.Status, got.Stderr)
	}
	path := filepath.Join(t.TempDir(), "run.tf")
	steps := []struct{ options, says string }{{"--frames 2", "2 frames"}, {"", "the run goes on"}, {"--stop", "the run has ended"}}
	for _, c := range steps {
		// With two frames in the buffer any later fetch has as many.
		for !strings.Contains(got.Stderr, c.says) {
			words := append([]string{"record", "--to", at, "--fetch", "-o", path}, strings.Fields(c.options)...)
			if got = clitest.Run(t, words...); got.Status != 0 {
				t.Fatalf("%s: status %d, %s", c.options, got.Status, got.Stderr)
			}
		}
		f := recording.File(t, path)
		if h := f.Header(); f.NumFrames() < 2 || h.Status.Notes != "by night" || len(h.Tracepoints) != 1 || h.Tracepoints[0].Source.At != "tick" {
			t.Errorf("%s: %d frames, %+v", c.options, f.NumFrames(), h.Status)
		}
	}
}
