//go:build linux

package robust

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/rsp/reply"
)

// storm is a client of several processes at a time, which deals at random with what happens to them, and knows what must come of
// it. The root is the program forkstorm, whose threads start processes without pause; the lodger is a process that was there
// before, which the client takes on and lets go; and now and then the client starts a third, which replaces itself.
type storm struct {
	*client
	random  *rand.Rand
	nonStop bool
	how     string // forkstorm's
	log     []string

	procs  map[int]bool // under trace, as far as the client knows
	stray  []string     // threads that the client leaves stopped for a while, in non-stop mode
	events []stopEvent  // of non-stop mode, not dealt with yet
	heard  []stopEvent  // notified and not acknowledged yet

	lodger *lodger
	extra  int // programs that the client started and did not kill

	killed int  // children
	traced bool // the tracepoints have counted everything so far
	watch  bool // there is a breakpoint that counts, too
	stops  int  // at that
	gone   bool // the root was killed
	over   bool // the server has been told to end
	last   int  // processes that may have been killed by that
}

const (
	stormThreads = 3
	stormRounds  = 12
	stormCalls   = 2 * stormThreads * stormRounds // of step() and add_base() by the root
)

func (st *storm) fail(format string, args ...any) {
	st.Helper()
	st.Fatalf(format, args...)
}

func (st *storm) note(format string, args ...any) {
	st.log = append(st.log, fmt.Sprintf(format, args...))
}

// exchange sends a packet and returns its reply.
func (st *storm) exchange(format string, args ...any) string {
	st.Helper()
	packet := fmt.Sprintf(format, args...)
	st.note("%s", packet)
	st.conn.SetDeadline(time.Now().Add(patience))
	reply, err := st.Exchange(packet)
	if err != nil {
		st.fail("%v", err)
	}
	st.note("   %.100s", reply)
	return reply
}

// order sends a packet that is to be answered by OK.
func (st *storm) order(format string, args ...any) {
	st.Helper()
	if reply := st.exchange(format, args...); reply != "OK" {
		st.fail("not OK")
	}
}

// chance is true once in n times.
func (st *storm) chance(n int) bool { return st.random.IntN(n) == 0 }

// introduce begins a connection.
func (st *storm) introduce(c *client) {
	st.client = c
	c.Notify = func(payload []byte) {
		text := string(payload)
		st.note("   %%%s", text)
		st.heard = append(st.heard, st.parseStop(strings.TrimPrefix(text, reply.Notification)))
	}
	st.exchange("qSupported:multiprocess+;swbreak+;hwbreak+;fork-events+;vfork-events+;exec-events+;no-resumed+;error-message+")
	st.endAcks()
	st.order("!")
	if st.nonStop {
		st.order("QNonStop:1")
	}
	if st.chance(2) {
		st.order("QPassSignals:14") // SIGCHLD
	}
}

// alone reports whether nothing is left to be dealt with, but for the lodger.
func (st *storm) alone() bool {
	for pid := range st.procs {
		if pid != st.lodger.pid() {
			return false
		}
	}
	return true
}

// forked decides what becomes of a new process and its parent.
func (st *storm) forked(ev stopEvent) {
	st.Helper()
	child := processOf(ev.child)
	st.procs[child] = true
	switch n := st.random.IntN(40); {
	case n < 24:
		st.release(child)
	case n < 34:
		// Both go on under trace.
		st.stray = append(st.stray, ev.child)
	case n < 38:
		st.order("vKill;%x", child)
		delete(st.procs, child)
		st.killed++
	case n == 38:
		st.traced, st.watch = false, false
		st.release(st.pid)
		st.stray = append(st.stray, ev.child)
	default:
		st.killRoot()
		st.stray = append(st.stray, ev.child)
	}
}

// release lets a process go, unless it has ended, which is then still to be told.
func (st *storm) release(pid int) {
	st.Helper()
	switch reply := st.exchange("D;%x", pid); reply {
	case "OK":
		delete(st.procs, pid)
	case "E.no process":
	default:
		st.fail("not OK")
	}
}

// killRoot ends the root.
func (st *storm) killRoot() {
	st.Helper()
	st.order("vKill;%x", st.pid)
	delete(st.procs, st.pid)
	st.gone, st.traced, st.watch = true, false, false
}

// take deals with an event and returns the order that lets its thread go on, "" if there is none to.
func (st *storm) take(ev stopEvent) string {
	st.Helper()
	switch ev.kind {
	case 'W', 'X':
		st.ended(ev)
		return ""
	case 'w', 'N':
		return ""
	}
	if !st.procs[ev.pid] { // let go while this waited
		if ev.child != "" {
			st.order("D;%x", processOf(ev.child))
		}
		return ""
	}
	if ev.at {
		return st.atBreakpoint(ev)
	}
	if ev.child != "" {
		st.forked(ev)
		if !st.procs[ev.pid] {
			return ""
		}
	}
	switch ev.signal {
	case "00", "02", "05":
		return "c:" + ev.thread
	}
	return "C" + ev.signal + ":" + ev.thread
}

// atBreakpoint has a thread go on from a breakpoint as GDB does, without it. In non-stop mode, where others may come by meanwhile,
// it is not put back.
func (st *storm) atBreakpoint(ev stopEvent) string {
	st.Helper()
	if ev.pid == st.pid && ev.pc == st.at("add_base") {
		st.stops++
	}
	st.exchange("Hg%s", ev.thread) // it may have ended since, with an exec
	st.exchange("z0,%x,1", ev.pc)
	if st.nonStop {
		return "c:" + ev.thread
	}
	for order := "s:" + ev.thread; ; {
		next := st.resume(order, false)
		switch {
		case next.thread != ev.thread:
			st.take(next)
			if !st.procs[ev.pid] {
				return ""
			}
			order = "s:" + ev.thread
		case next.pc != ev.pc:
			st.order("Z0,%x,1", ev.pc)
			return st.take(next)
		case next.signal == "02" || next.signal == "05":
			order = "s:" + ev.thread
		default:
			order = "S" + next.signal + ":" + ev.thread
		}
	}
}

// ended takes note of the end of a process.
func (st *storm) ended(ev stopEvent) {
	st.Helper()
	if !st.procs[ev.pid] {
		st.fail("process %x has ended, which is not one of %v", ev.pid, st.procs)
	}
	delete(st.procs, ev.pid)
	if ev.kind == 'X' {
		st.Errorf("process %d died: %s", ev.pid, ev.text)
	}
}

// run lets the program run for a while in all-stop mode, and returns the event that ends it.
func (st *storm) run(order string) stopEvent {
	st.Helper()
	interrupt := false
	switch n := st.random.IntN(12); {
	case n < 8 || order != "" && order[0] == 'C':
		order = strings.TrimPrefix(order+";c", ";")
		interrupt = st.chance(4)
	case n < 10 && order != "":
		order = "s" + order[1:] + ";c"
	case n < 11 && order != "":
		order, interrupt = "s"+order[1:], true
	case st.procs[st.pid]:
		order, interrupt = fmt.Sprintf("c:p%x.-1", st.pid), true
	default:
		order = "c"
	}
	return st.resume(order, interrupt)
}

// resume has threads go on in all-stop mode, and returns the event that stops them.
func (st *storm) resume(order string, interrupt bool) stopEvent {
	st.Helper()
	st.note("vCont;%s", order)
	st.tell("vCont;%s", order)
	if interrupt {
		time.Sleep(time.Duration(st.random.IntN(3000)) * time.Microsecond)
		st.note("Ctrl-C")
		st.Interrupt()
	}
	st.conn.SetDeadline(time.Now().Add(patience))
	reply, err := st.Receive()
	if err != nil {
		st.fail("%v", err)
	}
	st.note("   %s", reply)
	return st.parseStop(string(reply))
}

// allStop goes through the storm in all-stop mode until no process is left, or the client has had enough.
func (st *storm) allStop(steps int) {
	st.Helper()
	order := ""
	for ; !st.alone() && steps != 0; steps-- {
		if order != "" && !st.procs[processOf(order[strings.IndexByte(order, ':')+1:])] {
			order = ""
		}
		order = st.take(st.run(order))
		st.stray = nil // all of them go on with the next order
		if st.chance(3) {
			st.meddle()
		}
	}
}

// proceed lets a thread go on in non-stop mode.
func (st *storm) proceed(order string) {
	st.Helper()
	if order != "" && st.procs[processOf(order[strings.IndexByte(order, ':')+1:])] {
		st.order("vCont;%s", order)
	}
}

// threadByThread goes through the storm in non-stop mode.
func (st *storm) threadByThread(steps int) {
	st.Helper()
	idle := time.Now()
	for ; !st.alone() && steps != 0; steps-- {
		st.listen()
		for len(st.events) > 0 {
			ev := st.events[0]
			if ev.signal != "00" && ev.signal != "02" && ev.pid != st.lodger.pid() {
				idle = time.Now()
			}
			st.events = st.events[1:]
			order := st.take(ev)
			if order != "" && order[0] == 'c' && st.chance(4) {
				st.stray = append(st.stray, ev.thread)
				continue
			}
			st.proceed(order)
		}
		if len(st.stray) > 0 && st.chance(2) {
			i := st.random.IntN(len(st.stray))
			thread := st.stray[i]
			st.stray = slices.Delete(st.stray, i, i+1)
			st.proceed(pick(st.random, []string{"c:", "c:", "c:", "s:"}) + thread)
		}
		if st.chance(12) {
			st.meddle()
		}
		if time.Since(idle) > patience/4 {
			st.fail("nothing happens")
		}
	}
}

// listen takes what the server has to tell in non-stop mode, which it does in between of replies.
func (st *storm) listen() {
	st.Helper()
	time.Sleep(time.Duration(st.random.IntN(300)) * time.Microsecond)
	if reply := st.exchange("vMustReplyEmpty"); reply != "" {
		st.fail("not empty")
	}
	for len(st.heard) > 0 {
		st.events = append(st.events, st.heard...)
		st.heard = nil
		for reply := st.exchange("vStopped"); reply != "OK"; reply = st.exchange("vStopped") {
			st.events = append(st.events, st.parseStop(reply))
		}
	}
}

// meddle does something that is not called for.
func (st *storm) meddle() {
	st.Helper()
	switch st.random.IntN(14) {
	case 0:
		st.exchange("QThreadEvents:%d", st.random.IntN(2))
	case 1:
		if st.procs[st.pid] && st.exchange("Hgp%x.0", st.pid) == "OK" {
			st.exchange("QCatchSyscalls:%s", pick(st.random, []string{"0", "0", "0", "1;3d", "1;27"}))
		}
	case 2:
		if st.procs[st.pid] && st.exchange("Hgp%x.0", st.pid) == "OK" {
			st.exchange("Z0,%x,1;X3,220027", st.at("child_status")) // never
		}
	case 3:
		if st.procs[st.pid] && st.exchange("Hgp%x.0", st.pid) == "OK" {
			st.exchange("%s0,%x,1", pick(st.random, []string{"Z", "z"}), st.at("step")+1)
		}
	case 4, 5:
		st.visit()
	case 6:
		st.start()
	case 7:
		if st.nonStop {
			st.exchange("vCont;t:p%x.-1", st.pid)
		}
	case 8:
		if st.nonStop {
			st.order("vCtrlC")
		}
	case 9:
		for _, thread := range st.list() {
			st.exchange("T%s", thread)
			st.exchange("Hg%s", thread)
			st.exchange("p10")
			st.exchange("m%x,10", st.at("step"))
		}
	case 10:
		if !st.procs[st.pid] && !st.gone && alive(st.pid) {
			st.takeOn(st.pid)
		}
	case 11:
		if st.procs[st.pid] && st.chance(10) {
			st.traced, st.watch = false, false
			st.release(st.pid)
		}
	}
}

// list is all threads that the server knows.
func (st *storm) list() (all []string) {
	st.Helper()
	for reply := st.exchange("qfThreadInfo"); reply != "l"; reply = st.exchange("qsThreadInfo") {
		all = append(all, strings.Split(reply[1:], ",")...)
	}
	for _, thread := range all {
		pid := processOf(thread)
		if !st.procs[pid] && !st.nonStop && !st.over {
			st.fail("thread %s is of no process of %v", thread, st.procs)
		}
	}
	return all
}

// takeOn attaches to a process.
func (st *storm) takeOn(pid int) {
	st.Helper()
	switch reply := st.exchange("vAttach;%x", pid); {
	case reply[0] == 'T' && !st.nonStop, reply == "OK" && st.nonStop:
		st.procs[pid] = true
	case reply[0] != 'E' || pid == st.lodger.pid():
		st.fail("attached?")
	}
}

// visit takes the lodger on, or lets it go.
func (st *storm) visit() {
	st.Helper()
	pid := st.lodger.pid()
	if st.procs[pid] {
		st.release(pid)
		return
	}
	st.takeOn(pid)
	st.order("Hgp%x.0", pid)
	st.order("Z0,%x,1", st.lodger.tick)
}

// start starts a program.
func (st *storm) start() {
	st.Helper()
	if st.extra > 2 {
		return
	}
	path := testprog.Build(st.T, "execs", testprog.Variant{NoPIE: true}).Path
	ev := st.parseStop(st.exchange("vRun;%x;%x;%x", path, "30", pick(st.random, []string{"leader", "thread"})))
	st.procs[ev.pid] = true
	if st.chance(3) {
		st.order("vKill;%x", ev.pid)
		delete(st.procs, ev.pid)
		return
	}
	st.extra++
	st.stray = append(st.stray, ev.thread)
}

// lodger is a process that does not belong to the server.
type lodger struct {
	*exec.Cmd
	tick  uint64
	leave func()
}

func (l *lodger) pid() int { return l.Process.Pid }

func newLodger(t *testing.T) *lodger {
	t.Helper()
	path := testprog.Build(t, "sleeper", testprog.Variant{NoPIE: true}).Path
	l := &lodger{Cmd: exec.Command(path, "500", "stdin"), tick: symbols(t, path)["tick"].Value}
	input, err := l.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	l.leave = func() { input.Close() }
	t.Cleanup(func() { l.Process.Kill() })
	return l
}

// newStorm starts everything. The tracepoints count the calls of the root.
func newStorm(t *testing.T, seed uint64, nonStop bool) *storm {
	t.Helper()
	st := &storm{random: rand.New(rand.NewPCG(seed, 4)), nonStop: nonStop, lodger: newLodger(t)}
	st.how = pick(st.random, []string{"fork", "vfork"})
	s := serve(t, nil, "forkstorm", strconv.Itoa(stormThreads), strconv.Itoa(stormRounds), st.how)
	st.procs = map[int]bool{s.pid: true}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("at last:\n%s", strings.Join(st.log[max(0, len(st.log)-60):], "\n"))
			for _, pid := range append([]int{st.pid}, sys.Children(st.pid)...) {
				t.Log(doings(pid))
			}
		}
	})
	st.introduce(s.dial())
	if st.traced = !st.chance(4); st.traced {
		st.trace(s.at("step"), s.at("add_base"))
	}
	if st.watch = !nonStop && st.chance(2); st.watch {
		st.order("Z0,%x,1", s.at("add_base"))
	}
	if nonStop {
		st.parseStop(st.exchange("?"))
		st.order("vStopped")
		st.order("vCont;c:p%x.-1", s.pid)
	}
	return st
}

// doings tells what the threads of a process are doing, and who traces them.
func doings(pid int) string {
	var b strings.Builder
	tids, _ := sys.Threads(pid)
	for _, tid := range tids {
		state, _ := sys.StatusField(tid, "State")
		tracer, _ := sys.StatusField(tid, "TracerPid")
		waits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", tid))
		fmt.Fprintf(&b, "%x.%x: %s, in %s, traced by %s\n", pid, tid, state, waits, tracer)
	}
	return b.String()
}
