package mend

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport: each line is there if there is something to tell, and numbers agree with their nouns.
func TestReport(t *testing.T) {
	for want, r := range map[string]report{
		"process 7: 0 of 0 jumps restored\n":                             {},
		"process 7: 1 of 1 jump restored, 1 frame saved\n":               {sites: 1, restored: 1, frames: 1},
		"process 7: 2 of 3 jumps to be restored, 5 frames to be saved\n": {sites: 3, restored: 2, frames: 5, dry: true},
		"process 7: 1 of 1 jump restored, 3 frames saved\n" +
			"1 frame more in run.tf already\n": {sites: 1, restored: 1, frames: 3, recorded: 1, file: "run.tf"},
		"process 7: 0 of 2 jumps restored\n" +
			"2 locations with code that is neither the program's own nor the tracer's: not touched\n" +
			"1 note of the tracer's that the program has written over\n" +
			"128 bytes of the buffer hold no whole frame: hits that were cut short\n" +
			"it stays\n": {sites: 2, foreign: 2, damaged: 1, passed: 128, left: []error{errors.New("it stays")}},
	} {
		var out strings.Builder
		r.print(&out, 7)
		if out.String() != want {
			t.Errorf("%+v: %q, want %q", r, out.String(), want)
		}
		if r.incomplete() != (r.left != nil) {
			t.Errorf("%+v: incomplete is %v", r, r.incomplete())
		}
	}
}

// TestSaveAll: the files of several tracers have names of their own, and a failure is reported.
func TestSaveAll(t *testing.T) {
	c := Command{Output: filepath.Join(t.TempDir(), "rest.tf")}
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := c.saveAll([]func(io.Writer) error{text("a"), text("b"), text("c")}); err != nil {
		t.Fatal(err)
	}
	for suffix, want := range map[string]string{"": "a", "-2": "b", "-3": "c"} {
		if b, err := os.ReadFile(c.Output + suffix); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v; want %q", suffix, b, err, want)
		}
	}
	failure := errors.New("no more room")
	if err := c.saveAll([]func(io.Writer) error{func(io.Writer) error { return failure }}); !errors.Is(err, failure) {
		t.Errorf("%v, want %v", err, failure)
	}
}
