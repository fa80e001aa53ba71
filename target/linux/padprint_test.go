//go:build linux && amd64

package linux_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"tracewell/ax"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// TestPadPrintf has tracepoints whose actions print, and one that collects memory of a size that only a trap can: they make the same
// frames and lines in pads as in traps, up to the hit that ends the run.
func TestPadPrintf(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	at := symbol(t, p.Path, "tick_mov")
	text := symbol(t, p.Path, "buffer")
	actions := []string{
		fmt.Sprintf("reg %d\nconst8 0\nconst8 0\nprintf 1 `call %%d\\n`\nend", rdi),
		fmt.Sprintf("const32 %d\nconst8 0\nconst8 0\nprintf 1 `<%%s>`\nend", text),
		// Each fiftieth call collects more than a pad has room for.
		fmt.Sprintf("const32 %d\nconst16 5000\nreg %d\nconst8 50\nrem_unsigned\nlog_not\nmul\nconst8 3\nadd\ntrace\nend", text&^0xfff-0x2000, rdi),
	}
	const calls, pass = 2000, 1500
	run := func(pads bool) (lines []string, frames []byte) {
		r := launch(t, p.Path, fmt.Sprint(calls), "mov")
		if pads {
			r = launchPads(t, p.Path, fmt.Sprint(calls), "mov")
		}
		var printed printedLines
		r.engine = tracepoint.New(tracepoint.Layout{
			Order: r.target.ISA().Order, RegisterBlock: len(r.block()), Print: printed.add, TrapsOnly: !pads,
		})
		r.target.SetHandler(r.engine.NewHandler())
		r.trace(1, at, func(tp *trace.Tracepoint) {
			tp.Pass, tp.Actions = pass, tp.Actions[:0]
			for _, a := range actions {
				code, err := ax.Assemble(a)
				r.must(err)
				tp.Actions = append(tp.Actions, trace.Action{Kind: trace.CollectExpression, Code: code})
			}
		})
		r.must(r.engine.Start(r.target, r.pid))
		if pads {
			if how := r.target.Collector().Explain(r.pid, at); how != "pad, by jump" {
				t.Fatalf("the tracepoint is collected by %q", how)
			}
		}
		if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
			t.Errorf("%+v", ev)
		}
		if n := r.count(1); n != pass {
			t.Errorf("%d hits", n)
		}
		frames = make([]byte, 1<<20)
		n, err := r.engine.ReadBuffer(0, frames)
		r.must(err)
		return printed.all(), frames[:n]
	}
	lines, frames := run(false)
	padLines, padFrames := run(true)
	if !slices.Equal(lines, padLines) || len(lines) != 2*pass {
		t.Errorf("pads have printed %d lines, traps %d", len(padLines), len(lines))
	}
	if !bytes.Equal(frames, padFrames) {
		t.Errorf("pads have made %d bytes of frames, traps %d", len(padFrames), len(frames))
	}
}
