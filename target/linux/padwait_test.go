//go:build linux && amd64

package linux_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// TestWaitUnderFilter has a program wait for room in the ring because frames are not kept for a while. It sleeps, unless it has
// installed a filter since its pads were made that would kill it for that: then it spins. It makes every frame in either case.
func TestWaitUnderFilter(t *testing.T) {
	p := testprog.Build(t, "strict", fixed)
	const calls = 50_000 // more than there is room for
	for _, filter := range []string{"0", "1"} {
		t.Run("filter "+filter, func(t *testing.T) {
			r := launchPads(t, p.Path, fmt.Sprint(calls), filter)
			var frames, made, kept atomic.Int64
			k := &keeper{made: &made, kept: &kept}
			point := trace.Tracepoint{Number: 1, Addr: symbol(t, p.Path, "tick"), Enabled: true,
				Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}}}
			c, err := compiled.Compile(&point)
			r.must(err)
			collector := r.target.Collector()
			collector.Begin(target.Run{RegisterBlock: placesInBlock * 8, MaxFrame: 1 << 20, Kept: k.progress,
				Deposit: func(deposits []target.Deposit) target.Verdict {
					for _, d := range deposits {
						if d.Err != nil {
							t.Error(d.Err)
						}
						frames.Add(int64(d.Hits))
						made.Add(int64(len(d.Frames)))
					}
					return target.Continue
				}})
			r.must(collector.Offload(r.pid, c))
			_, err = collector.Apply()
			r.must(err)
			r.must(r.target.Resume([]target.Action{{Thread: everything}}))

			slept := false
			for round := range 40 {
				for waited := 0; waited < 20 && made.Load() == kept.Load(); waited++ { // until the program runs, unless it has ended
					time.Sleep(5 * time.Millisecond)
				}
				for waited := 0; waited < 6 && made.Load() > kept.Load(); waited++ { // a stall of 30 ms, once the ring is full
					time.Sleep(5 * time.Millisecond)
					slept = slept || sleepsInFutex(r.pid)
				}
				kept.Store(made.Load())
				if round < 5 {
					time.Sleep(10 * time.Millisecond)
				}
			}
			k.all.Store(true)
			if ev := r.next(); ev.Kind != target.Exited || ev.Code != 0 {
				t.Errorf("%+v, want exit with status 0", ev)
			}
			if out := r.output(); !strings.Contains(out, "wrong=0") {
				t.Errorf("the program printed %q", out)
			}
			if n := frames.Load(); n != 2*calls {
				t.Errorf("%d frames, want %d", n, 2*calls)
			}
			if filter == "0" && !slept {
				t.Error("the program never slept")
			}
		})
	}
}

// keeper keeps frames when it is told to.
type keeper struct {
	made, kept *atomic.Int64
	all        atomic.Bool // at once from now on
}

func (k *keeper) progress() (made, kept int64) {
	if made = k.made.Load(); k.all.Load() {
		return made, made
	}
	return made, k.kept.Load()
}

// sleepsInFutex reports whether the first thread of a process is in the system call futex.
func sleepsInFutex(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	return err == nil && strings.HasPrefix(string(b), "202 ")
}
