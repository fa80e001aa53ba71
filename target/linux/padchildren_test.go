//go:build linux && amd64

package linux_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
)

// counted counts frames, and takes them.
type counted struct {
	frames atomic.Int64
	err    error
}

func (c *counted) take(deposits []target.Deposit) target.Verdict {
	for _, d := range deposits {
		if d.Err != nil {
			c.err = d.Err
		}
		c.frames.Add(int64(d.Hits))
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
	if want := done[0].Int(t, "calls") + done[0].Int(t, "aside"); c.frames.Load() != want || c.err != nil {
		t.Errorf("%d frames, want %d (%s), %v", c.frames.Load(), want, out, c.err)
	}
}

// TestPadsPreparedForExec has a tracepoint taken back, or another one offloaded, whose program replaces itself before that comes into
// force. What was prepared ends with the program.
func TestPadsPreparedForExec(t *testing.T) {
	p := testprog.Build(t, "execs", fixed)
	at := symbol(t, p.Path, "step")
	for _, back := range []bool{true, false} {
		t.Run(fmt.Sprintf("taken back=%v", back), func(t *testing.T) {
			r := launchPads(t, p.Path, "50", "leader")
			c := &counted{}
			tp := r.offload(at, c.take, func(*trace.Tracepoint) {})
			collector := r.target.Collector()
			collector.Recall(r.pid, at)
			if !back {
				r.must(collector.Offload(r.pid, tp))
			}
			if ev := r.resume(0); ev.Kind != target.Execed {
				t.Fatalf("%+v, want an exec", ev)
			}
			refused, err := collector.Apply()
			r.must(err)
			if len(refused) > 0 {
				t.Errorf("refused: %v", refused)
			}
			r.must(collector.Offload(r.pid, tp))
			refused, err = collector.Apply()
			r.must(err)
			before := c.frames.Load()
			if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 || len(refused) > 0 {
				t.Errorf("%+v, want exit with status 0; refused: %v", ev, refused)
			}
			if got := c.frames.Load() - before; got != 50 {
				t.Errorf("%d frames of the new program, want 50", got)
			}
		})
	}
}

// TestPadsForked follows a child and the child of that: each goes on with the pads that it has a copy of, and its frames come
// from a buffer of its own.
func TestPadsForked(t *testing.T) {
	p := testprog.Build(t, "prefork", fixed)
	const calls = 20_000
	r := launchPads(t, p.Path, "1", strconv.Itoa(calls), "nested")
	r.quiet()
	r.target.SetReports(target.Reports{Fork: true})
	at := symbol(t, p.Path, "handle")
	c := &counted{}
	tp := r.offload(at, c.take, func(*trace.Tracepoint) {})
	collector := r.target.Collector()
	how := collector.Explain(r.pid, at)
	forks := 0
	ev := r.resume(0)
	for ; ev.Kind != target.Exited || ev.Thread.PID != r.pid; ev = r.resume(0) {
		if ev.Kind != target.Forked {
			continue
		}
		forks++
		before, err := sys.Mappings(ev.Thread.PID)
		r.must(err)
		r.must(collector.Offload(ev.Child.PID, tp))
		refused, err := collector.Apply()
		r.must(err)
		if got := collector.Explain(ev.Child.PID, at); got != how || len(refused) > 0 {
			t.Errorf("the child is traced by %q, its parent by %q; refused: %v", got, how, refused)
		}
		after, err := sys.Mappings(ev.Child.PID)
		r.must(err)
		same := func(a, b sys.Mapping) bool { return a.Start == b.Start && a.End == b.End && a.Inode != b.Inode }
		if b, a := sharedMemory(before), sharedMemory(after); len(a) == 0 || !slices.EqualFunc(b, a, same) {
			t.Errorf("the child shares %v with the tracer, its parent %v", a, b)
		}
	}
	if forks != 2 || ev.Code != 0 || c.frames.Load() != 3*calls || c.err != nil {
		t.Errorf("%d forks, %d frames, want %d, %+v, %v", forks, c.frames.Load(), 3*calls, ev, c.err)
	}
}

// TestPadsVforksDetached lets every child of a vfork go that it is told of, while other threads have children of their own: none
// counts, whose memory has its parent's pads.
func TestPadsVforksDetached(t *testing.T) {
	p := testprog.Build(t, "forkstorm", fixed)
	for _, threads := range []int{1, 4} {
		t.Run(strconv.Itoa(threads), func(t *testing.T) {
			r := launchPads(t, p.Path, strconv.Itoa(threads), "25", "vfork")
			r.quiet()
			r.target.SetReports(target.Reports{Vfork: true})
			for i, name := range []string{"step", "add_base"} {
				r.trace(trace.Number(i+1), symbol(t, p.Path, name))
			}
			r.must(r.engine.Start(r.target, r.pid))
			ev := r.resume(0)
			for ; ev.Kind != target.Exited; ev = r.resume(0) {
				if ev.Kind == target.Vforked {
					r.must(r.target.Detach(ev.Child.PID))
				}
			}
			if out := r.output(); ev.Code != 0 || !strings.Contains(out, "done wrong=0") {
				t.Errorf("%+v, output %q", ev, out)
			}
			for n := range trace.Number(2) {
				if hits, want := r.count(n+1), int64(2*25*threads); hits != want {
					t.Errorf("%d hits of tracepoint %d, want %d", hits, n+1, want)
				}
			}
		})
	}
}

// sharedMemory is what of a program's memory its tracer has mapped, too.
func sharedMemory(maps []sys.Mapping) []sys.Mapping {
	return slices.DeleteFunc(maps, func(m sys.Mapping) bool { return !strings.HasPrefix(m.Path, "/memfd:") })
}

// TestPadsFollowChild lets the parent go at a fork, as GDB's follow-fork-mode child does. The run goes on in the child, by pads.
func TestPadsFollowChild(t *testing.T) {
	p := testprog.Build(t, "prefork", fixed)
	r := launchPads(t, p.Path, "1", "1500", "orphan")
	r.target.SetReports(target.Reports{Fork: true})
	at := symbol(t, p.Path, "handle")
	r.trace(1, at)
	r.must(r.engine.Start(r.target, r.pid))
	how := r.target.Collector().Explain(r.pid, at)
	ev := r.resume(0)
	if ev.Kind != target.Forked {
		t.Fatalf("%+v, want a fork", ev)
	}
	child := ev.Child
	r.must(r.target.Detach(r.pid))
	if got := r.target.Collector().Explain(r.pid, at); got != how || !strings.HasPrefix(got, "pad") {
		t.Errorf("the child is traced by %q, the parent was by %q", got, how)
	}
	if ev = r.resume(0); ev.Kind != target.Exited || ev.Thread != child || ev.Code != 0 {
		t.Errorf("%+v, want exit 0 of %v", ev, child)
	}
	if hits := r.count(1); hits != 1500 {
		t.Errorf("%d hits, want 1500", hits)
	}
}
