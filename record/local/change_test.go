//go:build linux && amd64

package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"tracewell/internal/test/recording"
	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/record/plan"
	"tracewell/tfile"
	"tracewell/trace"
)

// changing is a run whose plan a test changes, with the frames of each tracepoint counted as they come.
type changing struct {
	t       *testing.T
	session *record.Session
	ended   chan struct{}
	result  record.Result
	err     error

	mu     sync.Mutex
	frames map[trace.Number]int // guarded by mu
}

// startChanging begins a run.
func startChanging(t *testing.T, c Config) *changing {
	t.Helper()
	r := &changing{t: t, frames: make(map[trace.Number]int), ended: make(chan struct{})}
	c.Changes = true
	c.Frames = func(f record.Frame) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.frames[f.Tracepoint()]++
	}
	var err error
	if r.session, err = Open(c); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		r.result, r.err = r.session.Run(ctx)
	}()
	t.Cleanup(func() {
		<-r.ended
		r.session.Close()
	})
	return r
}

// of is how many frames a tracepoint has made.
func (r *changing) of(n trace.Number) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.frames[n]
}

// more waits until tracepoints have made some frames more, each.
func (r *changing) more(numbers ...trace.Number) {
	r.t.Helper()
	const some = 60
	for _, n := range numbers {
		for until, end := r.of(n)+some, time.Now().Add(time.Minute); r.of(n) < until; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				r.t.Fatalf("tracepoint %d makes no frames", n)
			}
		}
	}
}

// change changes the plan.
func (r *changing) change(p *plan.Plan) {
	r.t.Helper()
	if err := r.session.Change(p); err != nil {
		r.t.Fatal(err)
	}
}

// allCalls, oddCalls and wrong are tracepoints in the threads of residents, whose number is in $rdi, and that of the call in $rsi.
const (
	allCalls = "trace tick\nactions\ncollect $rdi, $rsi\nend\n"
	oddCalls = "trace tick if $rdi % 2 == 1\nactions\ncollect $rdi, $rsi\nend\n"
	wrong    = "trace tick\nactions\ncollect nothing_of_this_name\nend\n"
)

// planOf makes a plan of tracepoints whose numbers are given with their scripts.
func planOf(t *testing.T, numbers []trace.Number, scripts ...string) *plan.Plan {
	t.Helper()
	var all string
	for _, s := range scripts {
		all += s
	}
	p := recording.Plan(t, all)
	for i, n := range numbers {
		p.Tracepoints[i].Number = n
	}
	return p
}

// callsOf are the calls by thread of which a tracepoint made frames, in their order.
func callsOf(t *testing.T, f *tfile.File, n trace.Number) map[uint64][]uint64 {
	t.Helper()
	all := make(map[uint64][]uint64)
	for i := range f.NumFrames() {
		if f.Tracepoint(i) != n {
			continue
		}
		frame, err := f.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		const rsi, rdi = 4, 5 // places in a block of registers
		at := func(place int) uint64 { return f.Header().Order.Uint64(frame.Registers()[8*place:]) }
		all[at(rdi)] = append(all[at(rdi)], at(rsi))
	}
	return all
}

// TestChange adds tracepoints, removes and replaces them at a function that many threads call all the time. None of the calls between
// the first and the last frame of a tracepoint is missing, none is there twice, and a change that is refused changes nothing.
func TestChange(t *testing.T) {
	path := testprog.Build(t, "residents", testprog.Variant{}).Path
	for _, trapsOnly := range []bool{false, true} {
		t.Run(fmt.Sprint("traps only ", trapsOnly), func(t *testing.T) {
			const threads = 8
			r := residents(t, path, threads)
			c := attachment(t, allCalls, r.Process.Pid)
			c.TrapsOnly = trapsOnly
			run := startChanging(t, c)
			run.more(1)
			run.change(planOf(t, []trace.Number{1, 2}, allCalls, oddCalls))
			run.more(1, 2)
			run.change(planOf(t, []trace.Number{2}, oddCalls))
			// Frames that were on their way when the tracepoint was disabled are ahead of these.
			run.more(2)
			before := run.of(1)
			if err := run.session.Change(planOf(t, []trace.Number{2, 3}, oddCalls, wrong)); err == nil {
				t.Error("a name that does not exist is no error")
			}
			run.more(2)
			run.change(planOf(t, []trace.Number{4}, allCalls))
			run.more(4)
			if after := run.of(1); after != before {
				t.Errorf("a tracepoint that is gone has made %d frames", after-before)
			}
			said := r.leave(t)
			<-run.ended
			if run.err != nil || run.result.End != record.ProgramEnded {
				t.Errorf("%+v, %v", run.result, run.err)
			}
			if err := run.session.Change(planOf(t, []trace.Number{5}, allCalls)); !errors.Is(err, record.ErrOver) {
				t.Errorf("a change after the end: %v", err)
			}
			file := recording.File(t, c.Output)
			for n, want := range map[trace.Number]int{1: threads, 2: threads / 2, 3: 0, 4: threads} {
				seen := callsOf(t, file, n)
				if len(seen) != want {
					t.Errorf("tracepoint %d has frames of %d threads, expected %d", n, len(seen), want)
				}
				for thread, calls := range seen {
					if !inARow(calls) || n == 2 && thread%2 == 0 {
						t.Errorf("tracepoint %d has calls %d of thread %d", n, calls, thread)
					}
					if last := said[caller{uint64(r.Process.Pid), thread}] - 1; n == 4 && calls[len(calls)-1] != last {
						t.Errorf("the last call of thread %d is %d, and its last frame is of %d", thread, last, calls[len(calls)-1])
					}
				}
			}
		})
	}
}

// TestChangeOfKilled changes the plan again and again while the process is killed: the run ends, and so do the changes.
func TestChangeOfKilled(t *testing.T) {
	r := residents(t, testprog.Build(t, "residents", testprog.Variant{}).Path, 8)
	run := startChanging(t, attachment(t, allCalls, r.Process.Pid))
	run.more(1)
	const before = 5 // changes
	changes := 0
	for n := trace.Number(2); ; n++ {
		err := run.session.Change(planOf(t, []trace.Number{n}, allCalls))
		if errors.Is(err, record.ErrOver) {
			break
		}
		switch changes++; {
		case changes < before && err != nil:
			t.Fatal(err)
		case changes == before:
			if err := r.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	<-run.ended
	if run.err != nil || run.result.End != record.ProgramEnded {
		t.Errorf("%+v, %v", run.result, run.err)
	}
}
