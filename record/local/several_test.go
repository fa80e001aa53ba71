//go:build linux && amd64

package local

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/internal/test/recording"
	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/tfile"
)

// collectsCalls has residents tell which call of which thread and process a frame is.
const collectsCalls = "trace tick\nactions\ncollect $pid, $rdi, $rsi\nend\n"

// caller is a thread of one of the residents.
type caller struct{ pid, thread uint64 }

// calls are the calls that frames were made of, in the order of the file.
func calls(t *testing.T, f *tfile.File) map[caller][]uint64 {
	t.Helper()
	all := make(map[caller][]uint64)
	for i := range f.NumFrames() {
		frame, err := f.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		const rsi, rdi = 4, 5 // places in a block of registers
		argument := func(place int) uint64 { return f.Header().Order.Uint64(frame.Registers()[8*place:]) }
		pid, _ := frame.Variable(processID(t))
		who := caller{uint64(pid), argument(rdi)}
		all[who] = append(all[who], argument(rsi))
	}
	return all
}

// inARow reports whether calls follow one another, each once.
func inARow(calls []uint64) bool {
	for i := range calls {
		if calls[i] != calls[0]+uint64(i) {
			return false
		}
	}
	return len(calls) > 0
}

// residents starts a process that is ready.
func residents(t *testing.T, path string, threads int) *resident {
	t.Helper()
	r := start(t, path, "1000", fmt.Sprint(threads))
	if line, err := r.out.ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready ") {
		t.Fatalf("%q, %v", line, err)
	}
	return r
}

// leave has it end, and returns what it says of the calls of its threads.
func (r *resident) leave(t *testing.T) map[caller]uint64 {
	t.Helper()
	r.in.Close()
	printed, err := io.ReadAll(r.out)
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[caller]uint64)
	for _, line := range testprog.OfKind(testprog.Records(string(printed)), "thread") {
		said[caller{uint64(r.Process.Pid), uint64(line.Int(t, "number"))}] = uint64(line.Int(t, "calls"))
	}
	return said
}

// counting counts frames by process as they come, for tests that go on when a process has made some.
type counting struct {
	t      *testing.T
	mu     sync.Mutex
	frames map[int]int
}

func newCounting(t *testing.T, c *Config) *counting {
	n := &counting{t: t, frames: make(map[int]int)}
	process := processID(t)
	c.Frames = func(f record.Frame) {
		pid, _ := f.Variable(process)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.frames[int(pid)]++
	}
	return n
}

// of is how many frames a process has made.
func (n *counting) of(pid int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.frames[pid]
}

// more waits until a process has made some frames more.
func (n *counting) more(pid int) {
	const some = 10
	for until, end := n.of(pid)+some, time.Now().Add(time.Minute); n.of(pid) < until; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			n.t.Errorf("process %d makes no frames", pid)
			return
		}
	}
}

// ends are the events of ends, by process.
func (o *outcome) ends() map[int]record.EventKind {
	ends := make(map[int]record.EventKind)
	for _, e := range o.events {
		if e.Kind == record.Exited || e.Kind == record.Killed {
			ends[e.PID] = e.Kind
		}
	}
	return ends
}

// TestSeveral traces processes of two builds of a program, with several threads, of which one exits, one is killed and one goes
// on. Every call of those that end by themselves is in the file from the first one on, by what they print themselves, and none
// of any is twice.
func TestSeveral(t *testing.T) {
	fixed := testprog.Build(t, "residents", testprog.Variant{NoPIE: true}).Path
	movable := testprog.Build(t, "residents", testprog.Variant{}).Path
	for _, trapsOnly := range []bool{false, true} {
		t.Run(fmt.Sprint("traps only ", trapsOnly), func(t *testing.T) {
			one, two, three, last := residents(t, fixed, 2), residents(t, fixed, 1), residents(t, movable, 3), residents(t, movable, 1)
			c := attachment(t, collectsCalls, one.Process.Pid)
			c.TrapsOnly = trapsOnly
			for _, r := range []*resident{two, three, last} {
				c.PIDs = append(c.PIDs, r.Process.Pid)
			}
			counted := newCounting(t, &c)
			said := make(map[caller]uint64)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, pid := range c.PIDs {
					counted.more(pid)
				}
				maps.Copy(said, one.leave(t))
				two.Process.Kill()
				counted.more(last.Process.Pid)
				maps.Copy(said, three.leave(t))
				counted.more(last.Process.Pid)
				maps.Copy(said, last.leave(t))
			}()
			o := run(t, c)
			<-done
			if o.End != record.ProgramEnded {
				t.Errorf("%+v", o.Result)
			}
			seen := calls(t, o.file)
			for who, calls := range seen {
				if !inARow(calls) {
					t.Errorf("calls of %+v are %d", who, calls)
				}
			}
			for who, calls := range said {
				if last := seen[who]; len(last) == 0 || last[len(last)-1] != calls-1 {
					t.Errorf("%+v has called %d times; the last of %d frames is not of the last call", who, calls, len(last))
				}
			}
			if len(said) != 6 || len(seen) != 7 {
				t.Errorf("%d threads tell of their calls, %d are in the file", len(said), len(seen))
			}
			for i, r := range []*resident{one, two, three, last} {
				want := record.Exited
				if r == two {
					want = record.Killed
				}
				if kind, ended := o.ends()[r.Process.Pid]; !ended || kind != want {
					t.Errorf("the end of process %d is %v, %v", i, kind, ended)
				}
			}
		})
	}
}

// TestSomeRefused: processes that cannot be had are warnings as long as there is another.
func TestSomeRefused(t *testing.T) {
	p := testprog.Build(t, "residents", testprog.Variant{})
	r := residents(t, p.Path, 1)
	c := attachment(t, collectsCalls, r.Process.Pid)
	c.PIDs = []int{os.Getpid(), 1 << 30, r.Process.Pid, r.Process.Pid}
	c.MaxFrames = 5
	o := run(t, c)
	var warnings []string
	for _, e := range o.events {
		if e.Kind == record.Warning {
			warnings = append(warnings, e.Err.Error())
		}
	}
	if got := strings.Join(warnings, "\n"); len(warnings) != 2 || !strings.Contains(got, "no such process") || !strings.Contains(got, "it is this") {
		t.Errorf("warnings:\n%s", got)
	}
	if o.End != record.EnoughFrames || o.file.NumFrames() != 5 {
		t.Errorf("%+v", o.Result)
	}
	c.PIDs = []int{os.Getpid(), 1 << 30}
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "no such process") {
		t.Errorf("without any: %v", err)
	}
}

// called returns a copy of a program by a name that no other process has.
func called(t *testing.T, program string) (path, name string) {
	t.Helper()
	name = fmt.Sprintf("tw-peer-%d", os.Getpid()) // within the 15 bytes of comm
	path = filepath.Join(t.TempDir(), name)
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path, name
}

// TestNamed attaches to all processes of a name.
func TestNamed(t *testing.T) {
	path, name := called(t, testprog.Build(t, "residents", testprog.Variant{}).Path)
	c := Config{Config: record.Config{Plan: recording.Plan(t, collectsCalls), Output: filepath.Join(t.TempDir(), "run.tf")},
		Names: []string{name}}
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "no process is named "+name) {
		t.Errorf("without any: %v", err)
	}
	one, two := residents(t, path, 1), residents(t, path, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	counted := newCounting(t, &c)
	go func() {
		defer cancel()
		counted.more(one.Process.Pid)
		counted.more(two.Process.Pid)
	}()
	o := runUntil(t, c, ctx)
	if o.End != record.Cancelled {
		t.Errorf("%+v", o.Result)
	}
	for _, r := range []*resident{one, two} { // which go on
		if said := r.leave(t); len(said) != 1 {
			t.Errorf("the process says %v", said)
		}
	}
}

// TestNewcomers waits for the first process of a name, and takes in those that begin later, also when there is none in between.
func TestNewcomers(t *testing.T) {
	path, name := called(t, testprog.Build(t, "residents", testprog.Variant{}).Path)
	c := Config{Config: record.Config{Plan: recording.Plan(t, collectsCalls), Output: filepath.Join(t.TempDir(), "run.tf"), Follow: true},
		Names: []string{name}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	attached, gone, waits := make(chan int, 10), make(chan int, 10), make(chan string, 10)
	counted := newCounting(t, &c)
	c.Events = func(e record.Event) {
		switch e.Kind {
		case record.Attached:
			attached <- e.PID
		case record.Exited:
			gone <- e.PID
		case record.Waiting:
			waits <- e.Path
		}
	}
	said := make(map[caller]uint64)
	go func() {
		defer cancel()
		if got := <-waits; got != name {
			t.Errorf("it waits for %s", got)
		}
		begin := func() *resident {
			r := residents(t, path, 2)
			if pid := <-attached; pid != r.Process.Pid {
				t.Errorf("attached to %d, not to %d", pid, r.Process.Pid)
			}
			counted.more(r.Process.Pid)
			return r
		}
		end := func(r *resident) {
			maps.Copy(said, r.leave(t))
			<-gone
		}
		one, two := begin(), begin() // while the other runs
		end(one)
		counted.more(two.Process.Pid)
		end(two)
		end(begin())
	}()
	o := runUntil(t, c, ctx)
	seen := calls(t, o.file)
	if len(said) != 6 || len(seen) != 6 || o.End != record.Cancelled {
		t.Errorf("%d threads, %d in the file, %+v", len(said), len(seen), o.Result)
	}
	for who, calls := range said {
		if last := seen[who]; !inARow(last) || last[len(last)-1] != calls-1 {
			t.Errorf("%+v has called %d times; frames are of calls %d", who, calls, last)
		}
	}
	if pids := slices.Collect(maps.Keys(o.ends())); len(pids) != 3 {
		t.Errorf("ends of %d", pids)
	}
	// Nobody waits for a process for ever.
	interrupted := make(chan struct{})
	close(interrupted)
	c.Interrupted = interrupted
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "no process is named") {
		t.Errorf("interrupted: %v", err)
	}
}
