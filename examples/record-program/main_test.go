//go:build linux

package main

import (
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestRun records a program of which it is known how often it comes to a function, and with what.
func TestRun(t *testing.T) {
	program := testprog.Build(t, "codes", testprog.Variant{})
	var out strings.Builder
	if err := run(t.Context(), []string{"main", "argc", program.Path}, &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "argc = 1\n1 frames\n"; got != want {
		t.Errorf("printed %q, not %q", got, want)
	}
	if run(t.Context(), []string{"nowhere", "argc", program.Path}, &out) == nil {
		t.Error("a location that there is not was no error")
	}
}
