package remote

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"tracewell/arch"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// own is the goroutine that owns the connection.
func (t *Target) own() {
	defer close(t.closed)
	for !t.isClosing() {
		<-t.wake
		t.serve()
		for t.going != nil && !t.isClosing() {
			t.advance()
			t.serve()
		}
	}
}

// serve carries out the calls that wait.
func (t *Target) serve() {
	for c := t.next(); c != nil; c = t.next() {
		err := c.do()
		if lost := t.lost(); lost != nil && !t.ended {
			t.lose(lost)
		}
		c.done <- err
	}
}

// Runner implements target.Groups.
func (t *Target) Runner() target.Runner { return t }

// Events implements target.Runner.
func (t *Target) Events() <-chan target.Event { return t.events }

// Resume implements target.Runner.
func (t *Target) Resume(actions []target.Action) error { return t.resume(actions, false) }

func (t *Target) resume(actions []target.Action, backwards bool) error {
	return t.do(func() error {
		switch {
		case t.going != nil || len(t.events) > 0: // an event that nobody has received yet ends no resumption
			return target.ErrRunning
		case t.lost() != nil:
			return t.lost()
		case t.ended:
			return target.ErrNoProcess
		}
		if t.backwards = backwards; backwards {
			t.going = slices.Clone(actions)
			t.setRunning(true)
			return nil
		}
		return t.goOnWith(slices.Clone(actions))
	})
}

// goOnWith begins a resumption. The thread that stands at a breakpoint goes on past it, unless it is to meet that.
func (t *Target) goOnWith(actions []target.Action) error {
	if len(t.places) > 0 {
		pc, err := t.pc(t.current)
		if err != nil {
			return err
		}
		delete(t.standing, t.current)
		a := actionFor(actions, t.current)
		if p := t.places[pc]; p != nil && a != nil {
			if a.Anew && (stops(p.soft) || stops(p.hard)) {
				t.going = actions
				t.setRunning(true)
				t.tell(target.Event{Kind: target.Stopped, Thread: t.current, Signal: target.SignalTrap, Reason: reasonOf(p)})
				return nil
			}
			t.standing[t.current] = pc
		}
	}
	t.going, t.resumes = actions, nil
	t.setRunning(true)
	return nil
}

// stops reports whether a breakpoint stops whoever comes there.
func stops(b *target.Breakpoint) bool { return b != nil && b.Check == nil }

// setRunning says whether there is something that Interrupt can stop.
func (t *Target) setRunning(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = on
	if !on {
		t.halt = false
	}
}

// Interrupt implements target.Runner.
func (t *Target) Interrupt() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running {
		t.halt = true
		t.interrupt()
	}
	return nil
}

// Stop implements target.Runner, for non-stop mode, which there is not.
func (t *Target) Stop(target.ThreadID) error { return target.ErrUnsupported }

// SetNonStop implements target.Runner.
func (t *Target) SetNonStop(on bool) error {
	if on {
		return target.ErrUnsupported
	}
	return nil
}

// SetReports implements target.Runner. Stubs tell of forks and threads only if they are asked to, and are not.
func (t *Target) SetReports(target.Reports) {}

// actionFor is the first action that covers a thread, nil if there is none.
func actionFor(actions []target.Action, id target.ThreadID) *target.Action {
	for i := range actions {
		if actions[i].Thread.Covers(id) || actions[i].Thread == (target.ThreadID{}) {
			return &actions[i]
		}
	}
	return nil
}

// steps is the thread that the client steps, if any.
func (t *Target) steps() (target.ThreadID, bool) {
	for _, a := range t.going {
		if a.Verb != target.Go {
			id := a.Thread
			if id.TID == target.All || id == (target.ThreadID{}) {
				id = t.current
			}
			return id, true
		}
	}
	return target.ThreadID{}, false
}

// advance lets the program run until it stops once, and does what is due then.
func (t *Target) advance() {
	calls, halt := t.wanted()
	switch {
	case calls:
		return
	case halt:
		t.tell(target.Event{Kind: target.Stopped, Thread: t.current, Signal: target.SignalInt})
		return
	case t.backwards:
		t.retreat()
		return
	}
	for id := range t.standing {
		if a := actionFor(t.going, id); a != nil {
			t.stepOff(id, a)
			return
		}
	}
	actions := t.going
	if t.once != nil {
		actions, t.once = t.once, nil
	}
	t.costs.end()
	stop, asked, err := t.run(func() error { return t.send(actions) })
	t.settleSignals()
	if id, ok := t.halted(stop, err); ok {
		t.judge(id, stop, asked)
	}
}

// settleSignals notes that the signals of the resumption have been delivered.
func (t *Target) settleSignals() {
	for i := range t.going {
		t.going[i].Signal = target.SignalNone
	}
}

// stopOf takes note of who has stopped.
func (t *Target) stopOf(stop reply.Stop) target.ThreadID {
	if stop.Thread != nil {
		t.current = t.threadOf(*stop.Thread)
	}
	t.selected = target.ThreadID{}
	if stop.Thread == nil && !t.plain {
		if id, err := ask(&t.link, client.Ask(request.CurrentThread, request.None{}, reply.Current)); err == nil && id.TID > 0 {
			t.current = t.threadOf(id)
		}
	}
	if t.profile.Selects || len(t.threads) == 1 {
		t.selected = t.current
	}
	t.note(stop)
	return t.current
}

// halted is who has stopped after a resumption; ok is false where nobody has, as the stub did not do it, or the program is gone.
func (t *Target) halted(stop reply.Stop, err error) (id target.ThreadID, ok bool) {
	switch {
	case errors.Is(err, errReleased):
	case err != nil:
		t.refused(err)
	case stop.Ended():
		t.gone(stop)
	default:
		return t.stopOf(stop), true
	}
	return id, false
}

// judge does what is due after a stop of the program as a whole.
func (t *Target) judge(id target.ThreadID, stop reply.Stop, asked bool) {
	if isTrap(stop) {
		switch {
		case historyEnds[stop.Detail] != target.ReasonNone && stop.Reason == "replaylog":
			t.tell(target.Event{Kind: target.Stopped, Thread: id, Signal: target.SignalTrap, Reason: historyEnds[stop.Detail]})
			return
		case watchReasons[stop.Reason] != target.ReasonNone:
			t.stray = t.stray || asked
			t.watched(id, stop)
			return
		case t.trapped(id, stop):
			t.stray = t.stray || asked
			return
		}
		if stepping, ok := t.steps(); ok && stepping == id {
			t.stray = t.stray || asked
			t.stepped(id)
			return
		}
	}
	signal := target.Signal(stop.Number)
	switch {
	case asked && isInterrupt(signal): // whoever has asked is next
	case t.stray && signal == target.SignalInt:
		t.stray = false
	case t.passes[signal]:
		t.stray = t.stray || asked
		t.deliver(id, signal)
	default:
		t.stray = t.stray || asked
		t.tell(target.Event{Kind: target.Stopped, Thread: id, Signal: signal, Reason: ofSteps(stop)})
	}
}

// ofSteps is the reason of stops of which nothing here knows the cause: breakpoints that others have inserted.
func ofSteps(stop reply.Stop) target.Reason {
	switch stop.Reason {
	case "swbreak":
		return target.ReasonSwBreak
	case "hwbreak":
		return target.ReasonHwBreak
	}
	return target.ReasonNone
}

// isTrap reports whether a stop is one of a breakpoint, a watchpoint or a step.
func isTrap(stop reply.Stop) bool { return stop.Number == int(target.SignalTrap) }

// isInterrupt reports whether a signal can be that of a program which was asked to stop: SIGINT, none, SIGTRAP (Valgrind), SIGSTOP.
func isInterrupt(s target.Signal) bool {
	return s == target.SignalInt || s == target.SignalNone || s == target.SignalTrap || s == 17
}

// deliver has a thread take a signal with it as it goes on.
func (t *Target) deliver(id target.ThreadID, signal target.Signal) {
	a := actionFor(t.going, id)
	if a == nil {
		return
	}
	one := *a
	one.Thread, one.Signal = id, signal
	t.once = append([]target.Action{one}, t.going...)
}

// trapped does what is due if a thread has stopped at a place, and reports whether it has.
func (t *Target) trapped(id target.ThreadID, stop reply.Stop) bool {
	if len(t.places) == 0 {
		return false
	}
	pc, err := t.pc(id)
	if err != nil {
		t.refused(err)
		return client.IsLost(err)
	}
	p := t.places[pc]
	// A stub that does not say swbreak may leave the pc behind the breakpoint instruction, as the processor does.
	if shift := arch.Addr(t.isa.Machine.TrapShift); p == nil && shift > 0 && stop.Reason == "" {
		if _, stepping := t.steps(); !stepping {
			if p = t.places[pc-shift]; p != nil && p.inserted && p.kind == target.Software {
				if err := t.move(id, pc-shift); err != nil {
					t.refused(err)
					return true
				}
			} else {
				p = nil
			}
		}
	}
	if p == nil || !p.inserted {
		return false
	}
	if stepping, ok := t.steps(); ok && stepping == id && stop.Reason == "" { // it has come there by its step, and has not met it
		return false
	}
	t.arrive(id, p)
	return true
}

// move sets the pc of a thread.
func (t *Target) move(id target.ThreadID, pc arch.Addr) error {
	slot := t.layout.ByNumber(t.isa.PC)
	if slot.Size != 4 && slot.Size != 8 {
		return errors.New("the program counter has a strange size")
	}
	value := make([]byte, slot.Size)
	arch.PutAddr(value, t.isa.Order, pc)
	return t.put(id, slot, value)
}

// stepped is the end of a step of the client's, unless it steps in a range that the thread has not left.
func (t *Target) stepped(id target.ThreadID) {
	pc, err := t.pc(id)
	if err != nil {
		t.refused(err)
		return
	}
	p := t.places[pc]
	if p != nil && p.location {
		t.hit(id, p)
		if t.going == nil {
			return
		}
		t.standing[id] = pc
	}
	if a := actionFor(t.going, id); a != nil && a.Verb == target.StepRange && pc >= t.short(a.Start) && pc < t.short(a.End) {
		if p == nil || p.soft == nil && p.hard == nil {
			return
		}
		if !t.chooses(id, p) {
			t.standing[id] = pc
			return
		}
	}
	t.tell(target.Event{Kind: target.Stopped, Thread: id, Signal: target.SignalTrap})
}

// watchReasons are the words of stop replies for watchpoints.
var watchReasons = map[string]target.Reason{
	"watch": target.ReasonWatch, "rwatch": target.ReasonReadWatch, "awatch": target.ReasonAccessWatch,
}

// historyEnds are the words of stop replies for the ends of what a recording knows.
var historyEnds = map[string]target.Reason{"begin": target.ReasonBegin, "end": target.ReasonEnd}

// watched decides about a watchpoint that was met.
func (t *Target) watched(id target.ThreadID, stop reply.Stop) {
	n, _ := strconv.ParseUint(stop.Detail, 16, 64)
	addr := t.short(arch.Addr(n))
	for w, b := range t.watches {
		if b.Check != nil && addr >= w.addr && addr < w.addr+arch.Addr(max(1, w.length)) {
			if !b.Check(t.snapshot(id)) {
				return
			}
		}
	}
	t.tell(target.Event{Kind: target.Stopped, Thread: id, Signal: target.SignalTrap, Reason: watchReasons[stop.Reason], Addr: addr})
}

// tell ends the client's resumption by an event.
func (t *Target) tell(ev target.Event) {
	t.costs.since = time.Time{} // how long the client takes is not the hit's cost
	_, stepping := t.steps()
	t.going, t.once = nil, nil
	t.setRunning(false)
	if t.collector != nil {
		t.collector.drain()
	}
	if !t.ended {
		err := t.listThreads()
		if err == nil && !stepping && isUnexplained(ev) {
			_ = t.renew(false) // what fails ends the trace run, which has the reason
			err = t.lost()
		}
		if err != nil {
			t.lose(err)
			ev = target.Event{Kind: target.Terminated, Thread: t.current, Signal: target.SignalKill}
		} else if !slices.Contains(t.threads, ev.Thread) {
			t.setThreads(append(t.threads, ev.Thread))
		}
	}
	select {
	case <-t.events: // a request that nobody has received is void
	default:
	}
	t.events <- ev
}

// Signals implements target.Groups.
func (t *Target) Signals() target.Signals { return t }

// PassSignals implements target.Signals. The stub is told if it knows the packet; otherwise each such stop is passed here.
func (t *Target) PassSignals(signals []target.Signal) {
	_ = t.do(func() error {
		t.passes = make(map[target.Signal]bool)
		var numbers []int
		for _, s := range signals {
			if s != target.SignalTrap && s != target.SignalInt {
				t.passes[s] = true
				numbers = append(numbers, int(s))
			}
		}
		if t.ended || t.lost() != nil || !t.c.Features().Has("QPassSignals") {
			return nil
		}
		return command(&t.link, request.PassSignals, numbers)
	})
}

// ProgramSignals implements target.Signals.
func (t *Target) ProgramSignals([]target.Signal) {}
