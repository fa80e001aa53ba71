//go:build linux

package linux

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// sysGetpid is the number of getpid.
var sysGetpid = map[string]uint64{"amd64": 39, "arm64": 172, "riscv64": 172}[runtime.GOARCH]

// TestInjectIntoClone makes calls in a program whose main thread does little else than create threads, and so is often
// stopped in the middle of it. Each call must be made, and each thread be created once.
func TestInjectIntoClone(t *testing.T) {
	const threads, calls = 600, 3
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tg, err := New(Streams{Out: w})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	program := target.Program{Path: testprog.Build(t, "manythreads", testprog.Variant{}).Path, Args: []string{fmt.Sprint(threads), fmt.Sprint(calls)}}
	id, err := tg.Start(program)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := tg.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}); err != nil {
		t.Fatal(err)
	}
	made := 0
	for alive := true; alive; {
		tg.do(func() {
			if alive = tg.active && len(tg.procs) > 0; !alive {
				return
			}
			got, err := inject(tg, tg.procs[0], sysGetpid)
			tg.handleEnds() // of what has ended while it was stopped for the call
			if alive = len(tg.procs) > 0; !alive {
				return
			}
			if made++; err != nil || got != uint64(id.PID) {
				t.Errorf("call %d: result %d, error %v, want %d", made, got, err, id.PID)
				alive = false
			}
		})
	}
	select {
	case ev := <-tg.Events():
		if ev.Kind != target.Exited || ev.Code != 0 {
			t.Errorf("got %+v, want exit with code 0", ev)
		}
	case <-time.After(time.Minute):
		t.Fatal("no event within a minute")
	}
	out, err := io.ReadAll(r)
	want := fmt.Sprintf("done threads=%d calls=%d sum=%d\n", threads, threads*calls, threads*(threads-1)/2*1000*calls+threads*calls*(calls-1)/2)
	if !strings.HasSuffix(string(out), want) {
		t.Errorf("the program printed %q (%v), want %q", out, err, want)
	}
	if made < 20 {
		t.Errorf("only %d calls were made", made)
	}
}

// inject has a stopped task of a program make one system call, and leaves the task as it was.
func inject(t *Target, p *process, number uint64, args ...uint64) (uint64, error) {
	c, err := t.beginCalls(p)
	if err != nil {
		return 0, err
	}
	defer c.end()
	return c.make(number, args...)
}
