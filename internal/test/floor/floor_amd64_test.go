//go:build linux

package floor

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestRun holds the number of hits, and that the instruction under the trap has its effect, against what the program says.
func TestRun(t *testing.T) {
	program := testprog.Build(t, "spin", testprog.Variant{NoPIE: true, Static: true, Optimised: true})
	for _, name := range []string{"mov", "push", "nop", "nop5"} {
		site, err := Locate(program.Path, "tick_"+name, "buffer")
		if err != nil {
			t.Fatal(err)
		}
		for _, extended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/extended=%t", name, extended), func(t *testing.T) {
				hits, printed := runSpin(t, site, extended, program.Path, "40", name)
				if hits != 40 || !strings.HasPrefix(printed, "done site="+name+" calls=40 wrong=0 ") {
					t.Errorf("%d hits, and the program printed %q; want 40 and no wrong results", hits, printed)
				}
			})
		}
	}
}

func TestRunReportsFailure(t *testing.T) {
	program := testprog.Build(t, "spin", testprog.Variant{NoPIE: true, Static: true, Optimised: true})
	site, err := Locate(program.Path, "tick_mov", "buffer")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(os.Stderr, site, false, program.Path, "10", "no-such-site"); err == nil {
		t.Error("the program fails and Run does not say so")
	}
	if _, err := Run(os.Stderr, Site{PC: 1}, false, program.Path); err == nil {
		t.Error("there is nothing at address 1 and Run does not say so")
	}
	if _, err := Locate(program.Path, "tick_mov", "no_such_symbol"); err == nil {
		t.Error("a symbol is missing and Locate does not say so")
	}
}

func runSpin(t *testing.T, site Site, extended bool, path string, args ...string) (hits int, printed string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	hits, err = Run(w, site, extended, path, args...)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return hits, string(text)
}
