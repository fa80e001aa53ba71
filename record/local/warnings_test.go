//go:build linux && amd64

package local

import (
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/record"
)

// TestCodeNotPutBack records a program that seals the page of a tracepoint, up to a pass count. What the tracepoint has written stays in
// the program, which its user is warned of: a breakpoint, which ends the program, or a jump, which does not.
func TestCodeNotPutBack(t *testing.T) {
	p := testprog.Build(t, "sealed", testprog.Variant{NoPIE: true})
	for _, trapsOnly := range []bool{true, false} {
		c := config(t, "trace sealed_add\npasscount 2\n", p.Path, "50000000")
		c.TrapsOnly = trapsOnly
		o := run(t, c)
		var warnings []string
		for _, e := range o.events {
			if e.Kind == record.Warning {
				warnings = append(warnings, e.Err.Error())
			}
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], "cannot put back the program's own code at ") {
			t.Errorf("traps only: %v; warnings %q, want one of code that could not be put back", trapsOnly, warnings)
		}
		if o.file.NumFrames() != 2 {
			t.Errorf("traps only: %v; %d frames, want 2", trapsOnly, o.file.NumFrames())
		}
	}
}
