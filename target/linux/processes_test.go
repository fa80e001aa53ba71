//go:build linux

package linux_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/target"
	"tracewell/trace"
)

var everything = target.ThreadID{PID: target.All, TID: target.All}

// of is all threads of one process.
func of(pid int) target.Action {
	return target.Action{Thread: target.ThreadID{PID: pid, TID: target.All}}
}

func (r *run) next() target.Event {
	r.t.Helper()
	select {
	case ev := <-r.target.Events():
		return ev
	case <-time.After(60 * time.Second):
		r.t.Fatal("no event within a minute")
		panic("unreachable")
	}
}

func (r *run) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// quiet keeps SIGCHLD, which children end with, from stopping the program.
func (r *run) quiet() { r.target.PassSignals([]target.Signal{20}) }

// block is room for the registers of a thread.
func (r *run) block() []byte {
	layout, err := r.target.Description().Layout()
	r.must(err)
	return make([]byte, layout.Size)
}

// count is how often a tracepoint was hit.
func (r *run) count(n trace.Number) int64 {
	r.t.Helper()
	for _, tp := range r.engine.Tracepoints() {
		if tp.Number == n {
			return int64(tp.Hits)
		}
	}
	r.t.Fatalf("no tracepoint %d", n)
	return 0
}

// gone reports whether no process of that id is left, but for one that its parent has yet to take note of.
func gone(pid int) bool {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if errors.Is(err, os.ErrNotExist) || strings.Contains(string(status), "State:\tZ") {
			return true
		}
	}
	return false
}

// TestForksDetached lets every child go that it is told of, which must do its work as if nothing had been there.
func TestForksDetached(t *testing.T) {
	for _, how := range []string{"fork", "vfork"} {
		t.Run(how, func(t *testing.T) {
			path := testprog.Build(t, "forkstorm", fixed).Path
			r := launch(t, path, "4", "25", how)
			r.quiet()
			r.target.SetReports(target.Reports{Fork: true, Vfork: true})
			r.trace(1, symbol(t, path, "step"))
			r.trace(2, symbol(t, path, "add_base"))
			r.must(r.engine.Start(r.target, r.pid))
			at := target.Breakpoint{Addr: symbol(t, path, "add_base"), Length: 1}
			children := 0
			ev := r.resume(0)
			for ; ev.Kind != target.Exited; ev = r.resume(0) {
				switch ev.Kind {
				case target.Forked, target.Vforked:
					children++
					if children == 5 { // is inherited by the children of the fork, and must not stay there
						r.must(r.target.InsertBreakpoint(ev.Thread, at))
						r.must(r.target.RemoveBreakpoint(ev.Thread, at))
					}
					r.must(r.target.Detach(ev.Child.PID))
				case target.VforkDone:
				default:
					t.Fatalf("event %+v", ev)
				}
			}
			if ev.Code != 0 || children != 100 {
				t.Errorf("%d children, exit %d", children, ev.Code)
			}
			if out := r.output(); !strings.Contains(out, "done wrong=0") {
				t.Errorf("output %q", out)
			}
			if hits := r.count(1); hits != 200 {
				t.Errorf("%d hits of step, want 200", hits)
			}
		})
	}
}

// TestFollowChild lets the parent go at a fork. The tracepoint goes on in the child.
func TestFollowChild(t *testing.T) {
	path := testprog.Build(t, "forks", fixed).Path
	r := launch(t, path, "1", "5")
	r.target.SetReports(target.Reports{Fork: true})
	r.trace(1, symbol(t, path, "step"))
	r.must(r.engine.Start(r.target, r.pid))
	ev := r.resume(0)
	if ev.Kind != target.Forked || r.count(1) != 5 {
		t.Fatalf("%+v after %d hits, want a fork after 5", ev, r.count(1))
	}
	child := ev.Child
	r.must(r.target.Detach(ev.Thread.PID))
	if threads := r.target.Threads(); len(threads) != 1 || threads[0] != child {
		t.Fatalf("threads %v, want %v alone", threads, child)
	}
	ev = r.resume(0)
	if ev.Kind != target.Exited || ev.Thread != child || ev.Code != 1 {
		t.Errorf("got %+v, want exit 1 of %v", ev, child)
	}
	if hits := r.count(1); hits != 10 {
		t.Errorf("%d hits, want 10", hits)
	}
	if out := r.output(); !strings.Contains(out, "done calls=10") || strings.Contains(out, "signal=5") {
		t.Errorf("output %q", out)
	}
}

// TestKeepBoth runs parent and child, together and one after the other.
func TestKeepBoth(t *testing.T) {
	path := testprog.Build(t, "forks", fixed).Path
	r := launch(t, path, "2", "5")
	r.quiet()
	r.target.SetReports(target.Reports{Fork: true, Vfork: true, NoneResumed: true})
	step := target.Breakpoint{Addr: symbol(t, path, "step"), Length: 1}
	ev := r.resume(0)
	if ev.Kind != target.Forked {
		t.Fatalf("got %+v", ev)
	}
	child := ev.Child
	r.must(r.target.InsertBreakpoint(child, step))
	if ev = r.do(of(child.PID)); ev.Thread != child || ev.Reason != target.ReasonSwBreak {
		t.Fatalf("got %+v, want a breakpoint of the child", ev)
	}
	r.must(r.target.ReadRegisters(child, r.block()))
	var b [1]byte
	if _, err := r.target.ReadMemory(target.ThreadID{PID: r.pid, TID: r.pid}, step.Addr, b[:]); err != nil || b[0] == 0xcc {
		t.Errorf("the parent's memory there: %x, %v", b, err)
	}
	r.must(r.target.RemoveBreakpoint(child, step))
	if ev = r.do(of(child.PID)); ev.Kind != target.Exited || ev.Thread != child || ev.Code != 1 {
		t.Fatalf("got %+v, want exit 1 of the child", ev)
	}
	ev = r.resume(0)
	if ev.Kind != target.Forked || ev.Thread.PID != r.pid {
		t.Fatalf("got %+v, want the second fork", ev)
	}
	for ev = r.resume(0); ev.Kind != target.Exited || ev.Thread.PID != r.pid; ev = r.resume(0) {
		if ev.Kind == target.Stopped {
			t.Fatalf("got %+v", ev)
		}
	}
	if out := r.output(); !strings.Contains(out, "child number=2 exit=2") || !strings.Contains(out, "spawn number=0 exit=0") {
		t.Errorf("output %q", out)
	}
}

// TestFollowVforkChild runs the child of a vfork in its parent's memory up to its exec, and then lets the parent go.
func TestFollowVforkChild(t *testing.T) {
	path := testprog.Build(t, "forkstorm", fixed).Path
	r := launch(t, path, "1", "1", "vfork")
	r.target.SetReports(target.Reports{Fork: true, Vfork: true})
	step := target.Breakpoint{Addr: symbol(t, path, "step"), Length: 1}
	ev := r.resume(0)
	if ev.Kind != target.Vforked {
		t.Fatalf("got %+v", ev)
	}
	child := ev.Child
	r.must(r.target.InsertBreakpoint(child, step))
	if ev = r.do(of(child.PID)); ev.Thread != child || ev.Reason != target.ReasonSwBreak {
		t.Fatalf("got %+v, want a breakpoint of the child", ev)
	}
	ev = r.do(of(child.PID))
	if ev.Kind != target.Execed || ev.Thread != child {
		t.Fatalf("got %+v, want an exec of the child", ev)
	}
	// The breakpoint is still in the parent, which must go on without it.
	r.must(r.target.Detach(r.pid))
	r.must(r.target.InsertBreakpoint(child, step))
	if ev = r.do(of(child.PID)); ev.Reason != target.ReasonSwBreak {
		t.Fatalf("got %+v, want a breakpoint in the new program", ev)
	}
	if ev = r.do(of(child.PID)); ev.Kind != target.Exited || ev.Code != 5 {
		t.Fatalf("got %+v, want exit 5", ev)
	}
	if out := r.output(); !strings.Contains(out, "done wrong=0") {
		t.Errorf("output %q", out)
	}
}

// TestKillWithUntoldChild kills a program whose fork nobody has been told of yet; no process may be left.
func TestKillWithUntoldChild(t *testing.T) {
	path := testprog.Build(t, "forkstorm", fixed).Path
	r := launch(t, path, "8", "50", "fork")
	r.quiet()
	r.target.SetReports(target.Reports{Fork: true})
	var children []int
	for len(children) < 10 {
		switch ev := r.resume(0); ev.Kind {
		case target.Forked:
			children = append(children, ev.Child.PID)
		case target.Exited:
		default:
			t.Fatalf("got %+v", ev)
		}
	}
	r.must(r.target.Kill(r.pid))
	for _, pid := range children {
		if err := r.target.Kill(pid); err != nil && !errors.Is(err, target.ErrNoProcess) {
			t.Error(err)
		}
	}
	if threads := r.target.Threads(); len(threads) != 0 {
		t.Errorf("threads left: %v", threads)
	}
	r.must(r.target.Close())
	for _, pid := range append(children, r.pid) {
		if !gone(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

// TestThreadEvents is told of every thread that begins and ends.
func TestThreadEvents(t *testing.T) {
	for _, nonStop := range []bool{false, true} {
		r := launch(t, testprog.Build(t, "manythreads", fixed).Path, "20", "10")
		r.target.SetReports(target.Reports{Threads: true, NoneResumed: true})
		r.must(r.target.SetNonStop(nonStop))
		created, exited := 0, 0
		r.must(r.target.Resume([]target.Action{{Thread: everything}}))
		ev := r.next()
		for ; ev.Kind != target.Exited; ev = r.next() {
			switch ev.Kind {
			case target.ThreadCreated:
				created++
			case target.ThreadExited:
				exited++
			default:
				t.Fatalf("got %+v", ev)
			}
			if !nonStop || ev.Kind == target.ThreadCreated {
				r.must(r.target.Resume([]target.Action{{Thread: everything}}))
			}
		}
		if created != 20 || exited != 20 || ev.Code != 0 {
			t.Errorf("non-stop %v: %d threads began and %d ended, exit code %d", nonStop, created, exited, ev.Code)
		}
	}
}

// TestCatchSyscalls sees each write of a program twice.
func TestCatchSyscalls(t *testing.T) {
	write := map[string]int{"amd64": 1, "arm64": 64, "riscv64": 64}[runtime.GOARCH]
	r := launch(t, testprog.Build(t, "threads", fixed).Path, "3")
	r.must(r.target.CatchSyscalls(r.pid, true, []int{write}))
	entries, returns := 0, 0
	ev := r.resume(0)
	for ; ev.Kind != target.Exited; ev = r.resume(0) {
		switch {
		case ev.Syscall != write:
			t.Fatalf("got %+v", ev)
		case ev.Kind == target.SyscallEntry:
			entries++
		case ev.Kind == target.SyscallReturn:
			returns++
		default:
			t.Fatalf("got %+v", ev)
		}
	}
	if entries == 0 || entries != returns {
		t.Errorf("%d entries, %d returns", entries, returns)
	}
	if out := r.output(); !strings.Contains(out, "done calls=6") {
		t.Errorf("output %q", out)
	}
}

// TestCallAtSyscall sends a thread elsewhere that is about to make a system call, and puts it back, as GDB does that calls a
// function there. The return from nothing is not shown, and the call is made after all.
func TestCallAtSyscall(t *testing.T) {
	const write = 1
	p := testprog.Build(t, "threads", fixed)
	r := launch(t, p.Path, "3")
	r.must(r.target.CatchSyscalls(r.pid, true, []int{write}))
	ev := r.resume(0)
	if ev.Kind != target.SyscallEntry {
		t.Fatalf("got %+v, want a system call", ev)
	}
	layout, err := r.target.Description().Layout()
	r.must(err)
	saved := make([]byte, layout.Size)
	r.must(r.target.ReadRegisters(ev.Thread, saved))

	function := symbol(t, p.Path, "work")
	r.insert(target.Breakpoint{Addr: function, Length: 1})
	elsewhere := slices.Clone(saved)
	binary.LittleEndian.PutUint64(elsewhere[layout.ByName("rip").Offset:], uint64(function))
	binary.LittleEndian.PutUint64(elsewhere[layout.ByName("orig_rax").Offset:], ^uint64(0))
	r.must(r.target.WriteRegisters(ev.Thread, elsewhere))
	if ev = r.resume(0); ev.Reason != target.ReasonSwBreak {
		t.Fatalf("got %+v, want the function's breakpoint", ev)
	}
	r.remove(target.Breakpoint{Addr: function, Length: 1})
	r.must(r.target.WriteRegisters(ev.Thread, saved))
	if ev = r.resume(0); ev.Kind != target.SyscallReturn || ev.Syscall != write {
		t.Fatalf("got %+v, want the return from the system call", ev)
	}
	r.must(r.target.CatchSyscalls(r.pid, false, nil))
	if ev = r.resume(0); ev.Kind != target.Exited {
		t.Fatalf("got %+v, want the end", ev)
	}
	if out := r.output(); strings.Count(out, "done calls=6") != 1 {
		t.Errorf("output %q", out)
	}
}

// TestCatchNothingStill asks for no system calls where none are caught: the program goes on meanwhile.
func TestCatchNothingStill(t *testing.T) {
	p := testprog.Build(t, "spin", fixed)
	r := launch(t, p.Path, "1000000000000")
	tick := target.Breakpoint{Addr: symbol(t, p.Path, "tick_mov"), Length: 1}
	r.insert(tick)
	r.resume(0)
	r.remove(tick)
	r.must(r.target.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}))
	before := r.switches()
	for range 10 {
		r.must(r.target.CatchSyscalls(r.pid, false, nil))
	}
	if n := r.switches() - before; n != 0 {
		t.Errorf("the program stood still %d times", n)
	}
}

// TestCatchReturnFromVfork catches system calls from the end of a vfork on, whose return is the first to be seen, and which a
// signal given there does not take away.
func TestCatchReturnFromVfork(t *testing.T) {
	vfork := map[string]int{"amd64": 58, "arm64": 220, "riscv64": 220}[runtime.GOARCH] // a clone, where there is no vfork
	r := launch(t, testprog.Build(t, "forks", fixed).Path, "0", "1")
	r.target.SetReports(target.Reports{Vfork: true})
	ev := r.resume(0)
	if ev.Kind != target.Vforked {
		t.Fatalf("got %+v, want a vfork", ev)
	}
	r.must(r.target.Detach(ev.Child.PID))
	if ev = r.resume(0); ev.Kind != target.VforkDone {
		t.Fatalf("got %+v, want the end of the vfork", ev)
	}
	r.must(r.target.CatchSyscalls(r.pid, true, nil))
	const usr1 target.Signal = 30
	if ev = r.resume(usr1); ev.Kind != target.SyscallReturn || ev.Syscall != vfork {
		t.Fatalf("got %+v, want the return from the vfork", ev)
	}
	if ev = r.resume(0); ev.Kind != target.Terminated || ev.Signal != usr1 {
		t.Fatalf("got %+v, want the death of signal %d", ev, usr1)
	}
}

// TestStepOutOfVfork steps from the end of a vfork: the step ends at the return from the call, before the next instruction.
func TestStepOutOfVfork(t *testing.T) {
	r := launch(t, testprog.Build(t, "forks", fixed).Path, "0", "1")
	r.target.SetReports(target.Reports{Vfork: true})
	ev := r.resume(0)
	for ev.Kind == target.Vforked {
		r.must(r.target.Detach(ev.Child.PID))
		ev = r.resume(0)
	}
	before := r.pc(ev.Thread)
	if ev.Kind != target.VforkDone {
		t.Fatalf("got %+v, want the end of the vfork", ev)
	}
	if ev = r.do(target.Action{Thread: ev.Thread, Verb: target.StepOne}); ev.Signal != target.SignalTrap || r.pc(ev.Thread) != before {
		t.Errorf("got %+v at %s, want a finished step at %s", ev, r.pc(ev.Thread), before)
	}
}

// TestChildSharesMemory has a child in its parent's memory whom nobody waits for as after a vfork. A session that would hear of
// vforks hears nothing of it, for it would wait for the end of that. The inserted breakpoints do not harm it.
func TestChildSharesMemory(t *testing.T) {
	p := testprog.Build(t, "shares", fixed)
	r := launch(t, p.Path, "50")
	r.target.SetReports(target.Reports{Fork: true, Vfork: true})
	const ended target.Signal = 20 // SIGCHLD
	r.target.PassSignals([]target.Signal{ended})
	r.insert(target.Breakpoint{Addr: symbol(t, p.Path, "step"), Length: 1})
	for n := range 50 {
		if ev := r.resume(0); ev.Reason != target.ReasonSwBreak || ev.Thread != r.leader() {
			t.Fatalf("call %d: %+v, want the parent at the breakpoint", n, ev)
		}
	}
	if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
		t.Errorf("%+v, want exit with status 0", ev)
	}
}

// TestAttach takes a running program with threads under trace, traces it and lets it go.
func TestAttach(t *testing.T) {
	path := testprog.Build(t, "hammer", fixed).Path
	cmd := exec.Command(path, "4")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := launch(t, testprog.Build(t, "threads", fixed).Path, "3")
	for range 5 {
		id, err := r.target.Attach(cmd.Process.Pid)
		r.must(err)
		if _, err := r.target.Attach(id.PID); err == nil {
			t.Error("attached twice")
		}
		threads := r.target.Threads()
		last := threads[len(threads)-1]
		ev := r.do(target.Action{Thread: last, Verb: target.StepOne})
		if ev.Kind != target.Stopped || ev.Thread != last {
			t.Fatalf("got %+v", ev)
		}
		r.must(r.target.Detach(id.PID))
	}
	in.Close()
	text, err := bufio.NewReader(out).ReadString(0)
	if err == nil || !strings.Contains(text, "wrong=0") {
		t.Errorf("output %q", text)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		pid  int
		want string
	}{
		{os.Getpid(), "it is this server"}, {1 << 30, "no such process"}, {r.pid, "under trace already"},
	} {
		if _, err := r.target.Attach(c.pid); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("attach %d: %v, want %q", c.pid, err, c.want)
		}
	}
}

// TestWrapper starts a program by way of another.
func TestWrapper(t *testing.T) {
	r := launch(t, testprog.Build(t, "threads", fixed).Path, "3")
	path := testprog.Build(t, "exits", fixed).Path
	id, err := r.target.Start(target.Program{Path: path, Args: []string{"3"}, Wrapper: []string{"env", "X=1"}})
	r.must(err)
	if got, err := r.target.ReadExecFile(id.PID); err != nil || got != path {
		t.Errorf("runs %q, %v, want %q", got, err, path)
	}
	if ev := r.do(of(id.PID)); ev.Kind != target.Exited || ev.Code != 7 {
		t.Errorf("got %+v, want exit 7", ev)
	}
	if _, err := r.target.Start(target.Program{Path: path, Wrapper: []string{"false"}}); err == nil {
		t.Error("a wrapper that does not execute the program is no error")
	}
}

// TestProgramInFolder starts a program by a name that is that of a file in the working folder before all others.
func TestProgramInFolder(t *testing.T) {
	r := launch(t, testprog.Build(t, "threads", fixed).Path, "3")
	folder, err := filepath.EvalSymlinks(t.TempDir())
	r.must(err)
	t.Chdir(folder)
	program, err := os.ReadFile(testprog.Build(t, "exits", fixed).Path)
	r.must(err)
	r.must(os.WriteFile("sleep", program, 0o700))
	for _, name := range []string{"sleep", "./sleep"} {
		id, err := r.target.Start(target.Program{Path: name, Dir: "/"})
		r.must(err)
		if got, err := r.target.ReadExecFile(id.PID); err != nil || got != folder+"/sleep" {
			t.Errorf("%s runs %q, %v, want the one in %s", name, got, err, folder)
		}
		r.must(r.target.Kill(id.PID))
	}
	t.Setenv("HOME", folder)
	id, err := r.target.Start(target.Program{Path: "sleep", Dir: "~/."})
	r.must(err)
	if got, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", id.PID)); err != nil || got != folder {
		t.Errorf("begins in %q, %v, want the home folder %s", got, err, folder)
	}
	r.must(os.Remove("sleep"))
	id, err = r.target.Start(target.Program{Path: "sleep", Args: []string{"9"}})
	r.must(err)
	if got, err := r.target.ReadExecFile(id.PID); err != nil || strings.HasPrefix(got, folder) {
		t.Errorf("sleep runs %q, %v, want the system's", got, err)
	}
}

// TestAttachGenerations takes a program under trace again and again whose threads make others and end all the while. One that
// is missed dies of the breakpoint.
func TestAttachGenerations(t *testing.T) {
	path := testprog.Build(t, "generations", fixed).Path
	cmd := exec.Command(path, "8", "stdin")
	in, err1 := cmd.StdinPipe()
	if err := errors.Join(err1, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	r := launch(t, testprog.Build(t, "spin", fixed).Path, "1", "nop")
	at := target.Breakpoint{Addr: symbol(t, path, "step"), Length: 1}
	for i := range 30 {
		id, err := r.target.Attach(cmd.Process.Pid)
		r.must(err)
		r.must(r.target.InsertBreakpoint(id, at))
		for range 20 {
			if ev := r.do(of(id.PID)); ev.Reason != target.ReasonSwBreak {
				t.Fatalf("round %d: %+v, want the breakpoint", i, ev)
			}
		}
		r.must(r.target.Detach(id.PID))
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestDetachDying lets a process go that somebody has killed while all its threads were stopped. Its parent must hear of the end.
func TestDetachDying(t *testing.T) {
	const script = `exec 3<&0; "$0" 4 <&3 >/dev/null & echo $!; wait $!; echo $?`
	cmd := testtool.Command(t, "sh", "-c", script, testprog.Build(t, "hammer", fixed).Path)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewScanner(out)
	lines.Scan()
	pid, err := strconv.Atoi(lines.Text())
	if err != nil {
		t.Fatal(err)
	}
	r := launch(t, testprog.Build(t, "spin", fixed).Path, "1", "nop")
	_, err = r.target.Attach(pid)
	r.must(err)
	process, _ := os.FindProcess(pid)
	r.must(process.Kill())
	r.must(r.target.Detach(pid))
	told := make(chan string, 1)
	go func() {
		lines.Scan()
		told <- lines.Text()
	}()
	select {
	case status := <-told:
		if status != "137" {
			t.Errorf("the process ended with status %s, want that of a kill", status)
		}
	case <-time.After(time.Minute):
		t.Error("the parent has not heard of the end of the process")
		r.target.Close()
	}
}
