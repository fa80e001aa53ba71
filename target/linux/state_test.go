//go:build linux && amd64

package linux

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/sys"
	"tracewell/target"
)

// stoppedBy is the wait status of a stop.
func stoppedBy(signal, event int) sys.Status { return sys.Status(event<<16 | signal<<8 | 0x7f) }

// population is a target without a tracer, and a process with as many tasks as asked for.
func population(n int) (*Target, []*task) {
	t := &Target{tasks: make(map[int]*task)}
	p := &process{pid: 100, addrSpace: &addrSpace{}}
	t.procs = append(t.procs, p)
	for i := range n {
		t.adopt(100+i, p)
	}
	return t, p.order
}

// TestQueue has stops of tasks that may be handled and others in the queue, and takes out what is due in order.
func TestQueue(t *testing.T) {
	tg, k := population(4)
	for i, task := range k {
		tg.queueStop(task, stoppedBy(10+i, 0))
	}
	tg.stops = append(tg.stops, stop{tid: 999, status: stoppedBy(sys.SIGSTOP, sys.EventStop)}) // its parent's event is to come
	k[1].wants, k[2].wants, k[3].role = toRun, toHalt, vforkChild
	if i := tg.due(); i != 3 {
		t.Errorf("stop %d is due while nothing is resumed, want that of the vfork child", i)
	}
	tg.active, tg.stops[0].stood = true, true
	for _, want := range []*task{k[1], k[2], k[3]} {
		i := tg.due()
		if i < 0 || tg.stops[i].task != want {
			t.Fatalf("%d is due of %+v, want %s", i, tg.stops, want)
		}
		if s, ok := tg.takeStop(want.tid); !ok || s != want.status || want.has(owesStop) {
			t.Errorf("took %s, %v, and the task is %s", s, ok, want)
		}
	}
	if i := tg.due(); i >= 0 {
		t.Errorf("stop %d is due, want none: one task was stopped and is to stay, one is not known", i)
	}
	tg.queueStop(k[0], stoppedBy(sys.SIGTRAP, sys.EventExec)) // of a leader that had stopped before
	if len(tg.stops) != 2 || k[0].status.Event() != sys.EventExec {
		t.Errorf("queue %+v, want one stop for each task", tg.stops)
	}
	if i := tg.due(); i < 0 || tg.stops[i].task != k[0] {
		t.Errorf("stop %d is due, want that of the leader, though it was not resumed: another thread has taken its id", i)
	}
	if _, ok := tg.takeStop(999); !ok {
		t.Error("the stop of a new tracee is lost")
	}
}

// TestEnds forgets tasks as they end: a thread, and a leader, after which nothing more is heard of its process.
func TestEnds(t *testing.T) {
	tg, k := population(3)
	other := &task{tid: 200, tgid: 200, proc: k[0].proc} // a clone that is a thread group of its own
	tg.tasks[200] = other
	other.proc.order = append(other.proc.order, other)
	tg.queueStop(k[1], stoppedBy(sys.SIGINT, 0))
	for _, tid := range []int{102, 100, 200} {
		tg.note(tid, 0)
	}
	if len(tg.tasks) != 0 || len(tg.stops) != 0 || len(tg.ends) != 3 {
		t.Fatalf("what is left:\n%s", tg.dump())
	}
	for i, last := range []bool{false, false, true} {
		if tg.ends[i].last != last {
			t.Errorf("end %d is the process's: %v, want %v", i, tg.ends[i].last, last)
		}
	}
}

// TestReady resumes nobody that has been stopped for good since.
func TestReady(t *testing.T) {
	tg, k := population(3)
	k[0].wants, k[1].wants = toRun, toRun
	k[1].state = running
	for _, task := range k {
		tg.resumeLater(task)
		tg.resumeLater(task)
	}
	if len(tg.ready) != 3 || tg.resumeNext(true) {
		t.Errorf("ready are %v, and a vfork child is among them", tg.ready)
	}
	for tg.resumeNext(false) { // no Resume is pending: the first must not be let go either, or ptrace would be asked
	}
	for _, task := range k {
		if task.has(owesResume) || task != k[1] && task.state != stopped {
			t.Errorf("%s", task)
		}
	}
}

// TestStateStrings has the words of a state, and the dump that a state which cannot be ends in.
func TestStateStrings(t *testing.T) {
	tg, k := population(2)
	k[0].why, k[0].event, k[0].wants, k[0].verb = atEvent, sys.EventVfork, toHalt, target.StepRange
	k[0].rangeStart, k[0].rangeEnd, k[0].passed, k[0].vforked = 0x1000, 0x1004, 0x1000, 101
	k[0].owes, k[0].deferred = owesResume|owesStep|owesEntry, make([]deferred, 2)
	want := "thread 100.100 stopped at an event (2), to halt by steps in [0x1000, 0x1004); " +
		"owes a resume, a step to the engine, an entry shown; the instruction at 0x1000; 2 signals; waits for its child 101"
	if got := k[0].String(); got != want {
		t.Errorf("state %q, want %q", got, want)
	}
	k[1].role, k[1].state = partingChild, running
	tg.stops = append(tg.stops, stop{tid: 101, task: k[1], status: stoppedBy(5, 0)})
	k[1].status, k[1].owes = stoppedBy(5, 0), owesStop
	defer func() {
		text := fmt.Sprint(recover())
		for _, want := range []string{"thread that runs", "parting vfork child 100.101 running, to stay; owes its stop", "queued: 101", want} {
			if !strings.Contains(text, want) {
				t.Errorf("the dump lacks %q:\n%s", want, text)
			}
		}
	}()
	tg.handleNext()
	t.Error("a thread that runs has its stop handled")
}
