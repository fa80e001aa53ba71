//go:build linux && amd64

package linux_test

import (
	"testing"

	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
)

// counted counts frames, and takes them.
type counted struct {
	frames int64
	err    error
}

func (c *counted) take(deposits []target.Deposit) target.Verdict {
	for _, d := range deposits {
		if d.Err != nil {
			c.err = d.Err
		}
		c.frames += int64(d.Hits)
	}
	return target.Continue
}

// TestPadsAndChildren: children of every kind run without pads, or do not count, and their parent's hits are all there.
func TestPadsAndChildren(t *testing.T) {
	p := testprog.Build(t, "paddedchildren", fixed)
	r := launchPads(t, p.Path, "60")
	r.quiet()
	c := &counted{}
	r.offload(symbol(t, p.Path, "tick_site"), c.take, func(*trace.Tracepoint) {})
	ev := r.resume(0)
	out := r.output()
	done := testprog.OfKind(testprog.Records(out), "done")
	if ev.Kind != target.Exited || ev.Code != 0 || len(done) != 1 {
		t.Fatalf("%+v, want exit with status 0; the program printed %q", ev, out)
	}
	if want := done[0].Int(t, "calls") + done[0].Int(t, "aside"); c.frames != want || c.err != nil {
		t.Errorf("%d frames, want %d (%s), %v", c.frames, want, out, c.err)
	}
}
