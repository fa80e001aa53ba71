//go:build linux && amd64

package record

import (
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestCodeNotPutBack records a program that seals the page of a tracepoint, up to a pass count. The tracepoint's breakpoint stays in
// the program, which its user is warned of, and which ends the program.
func TestCodeNotPutBack(t *testing.T) {
	p := testprog.Build(t, "sealed", testprog.Variant{NoPIE: true})
	o := run(t, config(t, "trace sealed_add\npasscount 2\n", p.Path, "5"))
	var warnings []string
	for _, e := range o.events {
		if e.Kind == Warning {
			warnings = append(warnings, e.Err.Error())
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "cannot put back the program's own code at ") {
		t.Errorf("warnings %q, want one of code that could not be put back", warnings)
	}
	if o.file.NumFrames() != 2 {
		t.Errorf("%d frames, want 2", o.file.NumFrames())
	}
}
