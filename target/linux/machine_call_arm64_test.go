//go:build linux

package linux

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// TestInjectBesideSleep makes system calls by a thread that has slept for most of its time: it sleeps for the rest, not anew.
func TestInjectBesideSleep(t *testing.T) {
	const nap, late, limit = 2000, 1500 * time.Millisecond, 3300 // milliseconds but for late; anew it would be 3500
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
	program := testprog.Build(t, "traps", testprog.Variant{}).Path
	id, err := tg.Start(target.Program{Path: program, Args: []string{"sleep", "2000"}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := tg.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}); err != nil {
		t.Fatal(err)
	}
	asleep(t, id.PID)
	time.Sleep(late)
	for range 3 {
		tg.do(func() {
			if got, err := inject(tg, tg.procs[0], sysGetpid); err != nil || got != uint64(id.PID) {
				t.Errorf("getpid returned %d, %v, want %d", got, err, id.PID)
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
	if err != nil {
		t.Fatal(err)
	}
	slept := testprog.OfKind(testprog.Records(string(out)), "done")[0].Int(t, "slept")
	if slept < nap || slept > limit {
		t.Errorf("the program slept for %d ms, want %d", slept, nap)
	}
}

// asleep waits until a program is in nanosleep, whose number is 101.
func asleep(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
		if err == nil && bytes.HasPrefix(text, []byte("101 ")) {
			return
		}
	}
	t.Fatal("the program does not sleep")
}
