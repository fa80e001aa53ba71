//go:build linux

package linux

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/sys"
	"tracewell/target"
)

// oweStop has a task owe a stop.
func oweStop(t *Target, k *task, signal, event int) {
	k.stop = ptraceStop{signal, event}
	t.queueStop(k)
}

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
		oweStop(tg, task, 10+i, 0)
	}
	tg.stops = append(tg.stops, stop{tid: 999}) // its parent's event is to come
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
		if !tg.takeStop(want.tid) || want.has(owesStop) {
			t.Errorf("the queue did not have the stop, and the task is %s", want)
		}
	}
	if i := tg.due(); i >= 0 {
		t.Errorf("stop %d is due, want none: one task was stopped and is to stay, one is not known", i)
	}
	oweStop(tg, k[0], sys.SIGTRAP, sys.EventExec) // of a leader that had stopped before
	if len(tg.stops) != 2 || k[0].stop.event != sys.EventExec {
		t.Errorf("queue %+v, want one stop for each task", tg.stops)
	}
	if i := tg.due(); i < 0 || tg.stops[i].task != k[0] {
		t.Errorf("stop %d is due, want that of the leader, though it was not resumed: another thread has taken its id", i)
	}
	if !tg.takeStop(999) {
		t.Error("the stop of a new tracee is lost")
	}
}

// TestEnds forgets tasks as they end: a thread, and a leader, after which nothing more is heard of its process.
func TestEnds(t *testing.T) {
	tg, order := population(3)
	k := slices.Clone(order)                             // the process forgets its tasks
	other := &task{tid: 200, tgid: 200, proc: k[0].proc} // a clone that is a thread group of its own
	tg.tasks[200] = other
	other.proc.order = append(other.proc.order, other)
	oweStop(tg, k[1], sys.SIGINT, 0)
	for i, tid := range []int{102, 100, 200} {
		tg.note(tid, []sys.Status{3 << 8, sys.Status(sys.SIGKILL), 0x80 | sys.Status(sys.SIGSEGV)}[i])
	}
	if len(tg.tasks) != 0 || len(tg.stops) != 0 || len(tg.ends) != 3 {
		t.Fatalf("what is left:\n%s", tg.dump())
	}
	for i, want := range []end{{k[2], 3, 0, false}, {k[0], -1, sys.SIGKILL, false}, {other, -1, sys.SIGSEGV, true}} {
		if tg.ends[i] != want {
			t.Errorf("end %d is %+v, want %+v", i, tg.ends[i], want)
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
	tg.stops = append(tg.stops, stop{tid: 101, task: k[1]})
	k[1].stop, k[1].owes = ptraceStop{signal: 5}, owesStop
	defer func() {
		text := fmt.Sprint(recover())
		for _, want := range []string{"thread that runs", "parting vfork child 100.101 running, to stay; owes its stop (stopped by signal 0x5, event 0)", "queued: 101", want} {
			if !strings.Contains(text, want) {
				t.Errorf("the dump lacks %q:\n%s", want, text)
			}
		}
	}()
	tg.handleNext()
	t.Error("a thread that runs has its stop handled")
}
