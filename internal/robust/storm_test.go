package robust

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/testprog"
	"tracewell/rsp"
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
}

const (
	stormThreads = 3
	stormRounds  = 12
	// fatherhood is one more than the calls of step() and add_base() of each thread for each child.
	callsPerRound = 2
)

// stopEvent is what a stop reply says.
type stopEvent struct {
	text   string
	kind   byte   // T, W, X, w or N
	signal string // or status, as it is
	thread string
	pid    int
	child  string // of a fork
	at     bool   // a breakpoint
	pc     uint64
}

var (
	stopForm  = regexp.MustCompile(`^([TWX])([0-9a-f]{2})|^(w)([0-9a-f]{2});(p[0-9a-f]+\.[0-9a-f]+)|^(N)`)
	stopField = regexp.MustCompile(`(?:^T..|;)(thread|fork|vfork|process|swbreak|10):([^;]*)`)
)

// parseStop reads a stop reply.
func (st *storm) parseStop(reply string) stopEvent {
	st.Helper()
	m := stopForm.FindStringSubmatch(reply)
	if m == nil {
		st.fail("stop reply %q", reply)
	}
	ev := stopEvent{text: reply, kind: (m[1] + m[3] + m[6])[0], signal: m[2] + m[4], thread: m[5]}
	for _, f := range stopField.FindAllStringSubmatch(reply, -1) {
		switch f[1] {
		case "thread":
			ev.thread = f[2]
		case "fork", "vfork":
			ev.child = f[2]
		case "process":
			pid, _ := strconv.ParseInt(f[2], 16, 32)
			ev.pid = int(pid)
		case "10":
			b, err := rsp.ParseHexBytes(f[2])
			if err != nil || len(b) != 8 {
				st.fail("stop reply %q", reply)
			}
			ev.pc = binary.LittleEndian.Uint64(b)
		case "swbreak":
			ev.at = true
		}
	}
	if ev.thread != "" {
		ev.pid = processOf(ev.thread)
	}
	return ev
}

// processOf is the process of a thread-id like p1a.1b.
func processOf(thread string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(thread, "p"), ".")
	pid, _ := strconv.ParseInt(number, 16, 32)
	return int(pid)
}

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
		st.heard = append(st.heard, st.parseStop(strings.TrimPrefix(text, "Stop:")))
	}
	st.exchange("qSupported:multiprocess+;swbreak+;hwbreak+;fork-events+;vfork-events+;exec-events+;no-resumed+;error-message+")
	if err := st.StartNoAck(); err != nil {
		st.fail("%v", err)
	}
	st.order("!")
	if st.nonStop {
		st.order("QNonStop:1")
	}
	if st.chance(2) {
		st.order("QPassSignals:14") // SIGCHLD
	}
}

// alone reports whether nothing is left to be dealt with.
func (st *storm) alone() bool { return len(st.procs) == 0 }

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

// release lets a process go.
func (st *storm) release(pid int) {
	st.Helper()
	st.order("D;%x", pid)
	delete(st.procs, pid)
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
	st.order("Hg%s", ev.thread)
	st.order("z0,%x,1", ev.pc)
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
		if !st.procs[pid] && !slices.ContainsFunc(st.events, func(ev stopEvent) bool { return ev.child != "" && processOf(ev.child) == pid }) && !st.nonStop {
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
	s := serve(t, []string{"--debug", "--remote-debug"}, "forkstorm", strconv.Itoa(stormThreads), strconv.Itoa(stormRounds), st.how)
	st.procs = map[int]bool{s.pid: true}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("at last:\n%s", strings.Join(st.log[max(0, len(st.log)-60):], "\n"))
			if os.Getenv("STORMLOG") != "" {
				out, _ := exec.Command("sh", "-c", fmt.Sprintf("for p in %d %d %s; do for t in /proc/$p/task/*; do echo $t $(grep -e State -e Tracer -e PPid $t/status) $(cat $t/wchan $t/syscall); done; done", st.server.PID(), st.pid, strings.Join(func() (l []string) {
					for p := range st.procs {
						l = append(l, fmt.Sprint(p))
					}
					return l
				}(), " "))).CombinedOutput()
				t.Logf("%s", out)
				st.server.Signal(st, 3)
				time.Sleep(300 * time.Millisecond)
			}

			if os.Getenv("STORMLOG") != "" {
				os.WriteFile(os.Getenv("STORMLOG")+strings.ReplaceAll(t.Name(), "/", "-"), []byte(strings.Join(st.log, "\n")), 0o600)
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

// settle waits for the end of everything and looks at what came of it.
func (st *storm) settle() {
	st.Helper()
	if st.traced {
		const calls = stormThreads * stormRounds * callsPerRound
		st.wantHits(1, st.at("step"), calls)
		st.wantHits(2, st.at("add_base"), calls)
	}
	if st.watch && st.stops != stormThreads*stormRounds*callsPerRound {
		st.Errorf("%d stops at the breakpoint", st.stops)
	}
	st.lodger.leave()
	if err := st.lodger.Wait(); err != nil {
		st.Errorf("the process that was only visited: %v", err)
	}
	st.note("OUTPUT %s", st.server.Stdout())
	finished := func() (lines []testprog.Record) {
		for _, line := range testprog.OfKind(testprog.Records(st.server.Stdout()), "done") {
			if line.Fields["children"] != "" {
				lines = append(lines, line)
			}
		}
		return lines
	}
	if !st.gone {
		st.await("the root's last line", func() bool { return len(finished()) > 0 })
		if wrong := finished()[0].Int(st, "wrong"); wrong != int64(st.killed) {
			st.Errorf("%d children had a wrong end or thread a wrong result, want the %d that were killed", wrong, st.killed)
		}
	}
	st.await("the last lines of the programs that were started", func() bool {
		return len(testprog.OfKind(testprog.Records(st.server.Stdout()), "done"))-len(finished()) == st.extra
	})
	st.server.Signal(st, terminate)
	if code := st.server.Wait(st.T); code != 0 {
		st.Errorf("exit status %d, want 0", code)
	}
	st.noneLeft()
	st.soundServer()
}

// TestStorm deals with processes that come and go all the time, until all are gone.
func TestStorm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("all-stop/", seed), func(t *testing.T) {
			t.Parallel()
			st := newStorm(t, seed, false)
			st.allStop(-1)
			st.settle()
		})
		t.Run(fmt.Sprint("non-stop/", seed), func(t *testing.T) {
			t.Parallel()
			st := newStorm(t, seed, true)
			st.threadByThread(-1)
			st.settle()
		})
	}
}
