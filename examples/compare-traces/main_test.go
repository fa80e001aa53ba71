package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/itrace/generate"
)

// TestRun compares a trace with itself, with one that has a wrong value in it, and with what is no trace.
func TestRun(t *testing.T) {
	write := func(name string, faults ...generate.Fault) string {
		path := filepath.Join(t.TempDir(), name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := generate.Write(f, generate.Options{Instructions: 1000, Faults: faults}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	reference := write("reference")
	wrong := write("wrong", generate.Fault{Kind: generate.FaultValue, At: 500})
	var out strings.Builder
	if equal, err := run(t.Context(), []string{reference, reference}, &out); err != nil || !equal {
		t.Errorf("a trace and itself: %v, %v\n%s", equal, err, out.String())
	}
	out.Reset()
	if equal, err := run(t.Context(), []string{reference, wrong}, &out); err != nil || equal || !strings.HasPrefix(out.String(), "register ") {
		t.Errorf("a wrong value: %v, %v\n%s", equal, err, out.String())
	}
	if _, err := run(t.Context(), []string{reference, "main.go"}, &out); err == nil {
		t.Error("what is no trace was compared")
	}
}
