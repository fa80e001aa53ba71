//go:build linux

package robust

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// visitor is a client that attaches to a program, stops it in all the ways that there are, and detaches, again and again. It gives
// each thread the signal that it was stopped by when it has it go on.
type visitor struct {
	*client
	random   *rand.Rand
	nonStop  bool
	notified []string          // stop replies of notifications that are not acknowledged yet
	signals  map[string]string // by thread, in GDB's numbers
	log      []string
}

// exchange sends a packet and returns its reply.
func (v *visitor) exchange(format string, args ...any) string {
	v.Helper()
	packet := fmt.Sprintf(format, args...)
	v.log = append(v.log, packet)
	v.conn.SetDeadline(time.Now().Add(patience))
	reply, err := v.Exchange(packet)
	if err != nil {
		v.Fatalf("%v after %q", err, v.log)
	}
	return reply
}

// note takes a stop reply.
func (v *visitor) note(text string) {
	v.Helper()
	v.log = append(v.log, fmt.Sprintf("-> %s", text))
	stop, err := reply.Stopped.Parse(text)
	if err != nil || stop.Kind != 'T' || stop.Thread == nil {
		v.Fatalf("stop reply %q after %q", text, v.log)
	}
	if n := stop.Number; n != 0 && n != 2 && n != 5 {
		v.signals[stop.Thread.String()] = fmt.Sprintf("%02x", n)
	}
}

// resume has the program go on in all-stop mode until something stops it, maybe a Ctrl-C, which may also come too late.
func (v *visitor) resume(order string) {
	v.Helper()
	v.log = append(v.log, order)
	v.tell("%s", order)
	if v.random.IntN(2) == 0 {
		time.Sleep(time.Duration(v.random.IntN(1000)) * time.Microsecond)
	}
	if err := v.Interrupt(); err != nil {
		v.Fatal(err)
	}
	v.note(v.hear())
	v.tell("vMustReplyEmpty")
	for reply := v.hear(); reply != ""; reply = v.hear() {
		v.note(reply)
	}
}

// action has threads go on: verb is c or s, and thread one of them or all.
func (v *visitor) action(verb, thread string) string {
	var all []string
	for _, stopped := range slices.Sorted(maps.Keys(v.signals)) {
		if stopped == thread || thread == "" {
			all = append(all, strings.ToUpper(verb)+v.signals[stopped]+":"+stopped)
			delete(v.signals, stopped)
		}
	}
	if thread == "" {
		thread = fmt.Sprintf("p%x.-1", v.pid)
	}
	return strings.Join(append(all, verb+":"+thread), ";")
}

// someone is one of the threads, at random.
func (v *visitor) someone() string {
	v.Helper()
	return pick(v.random, v.threads())
}

// prepare has something stop the program, or something that did not stop it any more.
func (v *visitor) prepare() {
	v.Helper()
	place := v.at("tick") + pick(v.random, []uint64{0, 1, 4}) // instructions that are emulated, and executed in a slot
	switch v.random.IntN(6) {
	case 0, 1:
		v.exchange("QCatchSyscalls:%s", pick(v.random, []string{"1", "1", "1;e6", "0"})) // clock_nanosleep
	case 2:
		v.exchange("%s0,%x,1", pick(v.random, []string{"Z", "z"}), place)
	case 3:
		v.exchange("%s1,%x,1", pick(v.random, []string{"Z", "z"}), place)
	case 4:
		v.exchange("QTStop")
		v.trace(place)
	case 5:
		v.exchange("QPassSignals:%s", pick(v.random, []string{"", "31"})) // SIGRTMIN+3
	}
}

// moveAllStop has threads run, or step.
func (v *visitor) moveAllStop() {
	v.Helper()
	switch v.random.IntN(5) {
	case 0, 1:
		v.resume("vCont;" + v.action("s", ""))
	case 2:
		v.resume("vCont;" + v.action("s", v.someone()) + ";" + v.action("c", ""))
	case 3:
		v.resume("vCont;" + v.action("s", v.someone()))
	case 4:
		v.resume("vCont;" + v.action("c", ""))
	}
}

// moveNonStop has threads run, step or stop, and sometimes takes note of what has become of them.
func (v *visitor) moveNonStop() {
	v.Helper()
	switch v.random.IntN(5) {
	case 0, 1:
		v.exchange("vCont;%s", v.action(pick(v.random, []string{"s", "c"}), v.someone()))
	case 2:
		v.exchange("vCont;%s", v.action(pick(v.random, []string{"s", "c"}), ""))
	case 3:
		v.exchange("vCont;t:%s", v.someone())
	case 4:
		time.Sleep(time.Duration(v.random.IntN(500)) * time.Microsecond)
		v.exchange("vMustReplyEmpty")
		v.acknowledge()
	}
}

// acknowledge takes the events that a notification began.
func (v *visitor) acknowledge() {
	v.Helper()
	for len(v.notified) > 0 {
		v.note(v.notified[0])
		v.notified = nil
		for reply := v.exchange("vStopped"); reply != "OK"; reply = v.exchange("vStopped") {
			v.note(reply)
		}
	}
}

// enter attaches to the program, which runs, in one of the modes.
func (v *visitor) enter(nonStop bool) {
	v.Helper()
	v.log, v.nonStop, v.signals = v.log[:0], nonStop, make(map[string]string)
	v.exchange("QNonStop:%d", map[bool]int{true: 1}[nonStop])
	if reply := v.exchange("vAttach;%x", v.pid); reply == "" || reply[0] == 'E' {
		v.Fatalf("vAttach: %q", reply)
	}
	v.exchange("Hgp%x.0", v.pid)
}

// leave detaches. A signal that the program should not have had is noticed by it, or kills it.
func (v *visitor) leave() {
	v.Helper()
	if reply := v.exchange("D;%x", v.pid); reply != "OK" {
		v.Fatalf("D: %q after %q", reply, v.log)
	}
	v.notified = nil
	if !alive(v.pid) {
		v.Fatalf("the program has died after %q", v.log)
	}
	if v.random.IntN(8) > 0 {
		return
	}
	before := strings.Count(v.server.Stdout(), "\n")
	if _, err := v.input.Write([]byte{'\n'}); err != nil {
		v.Fatal(err)
	}
	v.await("what the program says", func() bool { return strings.Count(v.server.Stdout(), "\n") > before })
	if line, _ := v.line("progress"); line.Int(v, "other")+line.Int(v, "disorder")+line.Int(v, "wrong") != 0 {
		v.Fatalf("%v after %q", line.Fields, v.log)
	}
}

// visit does anything to the program between attaching and detaching.
func (v *visitor) visit() {
	v.Helper()
	v.enter(v.random.IntN(2) == 0)
	for range 1 + v.random.IntN(6) {
		if v.random.IntN(2) == 0 {
			v.prepare()
		}
		if v.nonStop {
			v.moveNonStop()
		} else {
			v.moveAllStop()
		}
	}
	if v.random.IntN(3) == 0 { // what stops it may be gone by now
		v.exchange("QCatchSyscalls:0")
	}
	v.leave()
}

// visitStepping leaves all threads behind a step that began where system calls are caught.
func (v *visitor) visitStepping() {
	v.Helper()
	v.enter(false)
	v.exchange("QCatchSyscalls:1")
	for _, verb := range []string{"c", "s", "s"} {
		order := "vCont;" + v.action(verb, "")
		v.log = append(v.log, order)
		v.tell("%s", order)
		v.note(v.hear())
	}
	v.leave()
}

// TestCatchAfterDetach: a client that has left the program to a trace run cannot have it stop at system calls, and is answered.
func TestCatchAfterDetach(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "hammer", "4")
	c := s.connect()
	c.trace(s.at("tick_slot"))
	do(c, request.Disconnected, true)
	do(c, request.Detach, request.MaybeProcess{})
	c.wants(c.ask("QCatchSyscalls:1"), "E")
	do(c, request.ThreadEvents, true)
	c.do("QPassSignals:")
	s.makesProgress()
	c.wants(c.ask("qTStatus"), "T1")
	if err := c.Interrupt(); err != nil {
		t.Fatal(err)
	}
	s.await("a stop", func() bool { return c.ask("QCatchSyscalls:1") == "OK" })
	c.wants(c.ask("vCont;c"), "T05syscall_entry:")
	command(c, request.TraceStop)
	do(c, request.Detach, request.MaybeProcess{})
	s.asBefore()
	s.end()
	s.rightResults()
	s.soundServer()
}

// TestDetachAnyTime detaches from a program whose threads are caught in any state: behind a step, at a system call, a breakpoint,
// a tracepoint or a signal, reported or not. The program counts signals that nobody sent it, and those that it lacks.
func TestDetachAnyTime(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "busy", "4")
	v := &visitor{client: s.connect(), random: rand.New(rand.NewPCG(1, 3))}
	v.Notify = func(payload []byte) {
		v.notified = append(v.notified, strings.TrimPrefix(string(payload), reply.Notification))
	}
	v.do("!")
	v.exchange("qSupported:multiprocess+;swbreak+;hwbreak+;no-resumed+;error-message+")
	v.do("D;%x", s.pid)
	visits := 0
	for end := time.Now().Add(*soak / 2); time.Now().Before(end); visits++ {
		v.visitStepping()
		v.visit()
	}
	t.Logf("%d visits", visits)
	s.asBefore()
	s.end()
	if done := s.rightResults(); done.Int(t, "lost")+done.Int(t, "disorder")+done.Int(t, "other") != 0 {
		t.Errorf("the program has not had the signals that were sent to it, and no others: %v", done.Fields)
	}
	s.soundServer()
}
