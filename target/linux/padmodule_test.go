//go:build linux && amd64

package linux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
	"tracewell/target"
)

// TestPadRedZone has a pad in a function of C in a Go program, which keeps data where functions of Go have none.
func TestPadRedZone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mixed")
	build := testtool.Command(t, "go", "build", "-o", path, "testdata/mixed.go")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := launchPads(t, path)
	r.target.PassSignals([]target.Signal{14, 16})
	at := symbol(t, path, "leaf_site")
	r.trace(1, at)
	r.must(r.engine.Start(r.target, r.pid))
	if how := r.target.Collector().Explain(r.pid, at); !strings.HasPrefix(how, "pad") {
		t.Errorf("the tracepoint is collected by %q", how)
	}
	ev := r.resume(0)
	if out := r.output(); ev.Kind != target.Exited || ev.Code != 0 || out != "done wrong=0\n" {
		t.Errorf("%+v; the program printed %q", ev, out)
	}
	if n := r.count(1); n != 2000 {
		t.Errorf("%d frames, want 2000", n)
	}
}
