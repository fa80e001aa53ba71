//go:build linux && amd64

package linux_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/trace"
)

// attachPads starts padded, attaches to it with pads, and has its ledger begin at the calls that its threads are at. A program that has
// ended before, since nothing else ran for a while, is started again.
func attachPads(t *testing.T, calls string) (*run, *exec.Cmd, *bytes.Buffer, *ledger) {
	p := testprog.Build(t, "padded", fixed)
	tg, err := linux.New(linux.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	tg.UsePads(linux.Pads{})
	var cmd *exec.Cmd
	var out *bytes.Buffer
	for try := 1; ; try++ {
		cmd, out = exec.Command(p.Path, "2", calls, "0", "500"), new(bytes.Buffer)
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		time.Sleep(20 * time.Millisecond) // its threads are there
		if _, err = tg.Attach(cmd.Process.Pid); err == nil {
			break
		}
		if try == 5 || !strings.Contains(err.Error(), "has ended already") {
			t.Fatal(err)
		}
		cmd.Wait()
	}
	r := &run{t: t, target: tg, pid: cmd.Process.Pid}
	tg.PassSignals([]target.Signal{14})
	l := &ledger{t: t, at: symbol(t, p.Path, "tick_site"), args: inC, step: 1, next: make(map[uint64]uint64), late: true}
	return r, cmd, out, l
}

// siteBytes are what is at an address of a process.
func siteBytes(t *testing.T, pid int, at arch.Addr) []byte {
	t.Helper()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	b := make([]byte, 8)
	if _, err := mem.ReadAt(b, int64(at)); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return b
}

// TestPadsAttached attaches to a program while its threads run, collects for a while, and detaches: there is no hole in what was
// collected, and the program is as it was, its memory included.
func TestPadsAttached(t *testing.T) {
	r, cmd, out, l := attachPads(t, "100000000")
	before := siteBytes(t, r.pid, l.at)
	r.offload(l.at, l.take, func(*trace.Tracepoint) {})
	r.must(r.target.Resume([]target.Action{{Thread: everything}}))
	for end := time.Now().Add(10 * time.Second); l.count() < 300_000 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	r.must(r.target.Interrupt())
	if ev := r.next(); ev.Signal != target.SignalInt {
		t.Errorf("%+v, want an interrupt", ev)
	}
	// Everything that was collected has been deposited before the event.
	counted := l.count()
	r.must(r.target.Detach(r.pid))
	if after := siteBytes(t, r.pid, l.at); !bytes.Equal(before, after) {
		t.Errorf("% x at the site after the detach, % x before", after, before)
	}
	maps, err := sys.Mappings(r.pid)
	r.must(err)
	for _, m := range maps {
		if strings.HasPrefix(m.Path, "/memfd:") {
			t.Errorf("%s is still mapped", m.Path)
		}
	}
	if err := cmd.Wait(); err != nil || !strings.HasPrefix(out.String(), "done threads=2 calls=100000000") {
		t.Errorf("%v; the program printed %q", err, out)
	}
	if counted < 300_000 || l.wrong > 0 || l.count() != counted {
		t.Errorf("%d frames at the interrupt and %d at the end, %d of them wrong", counted, l.count(), l.wrong)
	}
}

// TestPadsKilled kills a program while its threads are in pads. All frames are there up to one that a thread had begun.
func TestPadsKilled(t *testing.T) {
	for range 5 {
		r, cmd, _, l := attachPads(t, "3000000000")
		r.offload(l.at, l.take, func(*trace.Tracepoint) {})
		r.must(r.target.Resume([]target.Action{{Thread: everything}}))
		for end := time.Now().Add(10 * time.Second); l.count() < 50_000 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		// Some thread is in a pad when it is killed, more often than not. What others have committed behind it counts.
		cmd.Process.Kill()
		if ev := r.next(); ev.Kind != target.Terminated {
			t.Errorf("%+v, want an end by SIGKILL", ev)
		}
		if l.count() < 50_000 || l.wrong > 0 {
			t.Errorf("%d frames, %d of them wrong", l.count(), l.wrong)
		}
		r.must(r.target.Close())
	}
}
