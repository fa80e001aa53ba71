package fake

import (
	"fmt"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tracepoint"
)

// Step is one thing that happens to the running program: a thread arrives somewhere.
type Step struct {
	Thread    target.ThreadID      // the first thread when zero
	PC        arch.Addr            // where it arrives; 0 leaves it where it is, and then no breakpoint or site counts
	Registers map[string]uint64    // set on arrival, by name
	Memory    map[arch.Addr][]byte // written on arrival
	Event     *target.Event        // ends the Resume; a zero Thread in it becomes the step's thread
}

// Play adds steps to the script.
func (t *Target) Play(steps ...Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.script = append(t.script, steps...)
	t.changed.Broadcast()
}

// Settle waits until a running program has nothing left to do but wait for more script.
func (t *Target) Settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.running && (len(t.script) > 0 || t.interrupt) {
		t.changed.Wait()
	}
}

// Events delivers the outcome of each Resume. It holds one event, so the program never waits for a session.
func (t *Target) Events() <-chan target.Event { return t.events }

// Resume lets the script go on. Threads that actions leave stopped are not told apart: the script says who moves. A
// stepping first action takes one step of the script, or moves the pc on by one when there is none.
func (t *Target) Resume(actions []target.Action) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.running:
		return target.ErrRunning
	case len(t.threads) == 0:
		return target.ErrNoProcess
	case len(actions) == 0:
		return fmt.Errorf("nothing to resume")
	}
	t.running, t.interrupt = true, false
	go t.run(actions[0])
	return nil
}

// run is the goroutine of one Resume.
func (t *Target) run(first target.Action) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.running { // killed or detached before this goroutine came to its turn
		return
	}
	var event *target.Event
	if first.Verb == target.StepOne {
		event = t.stepOne(first.Thread)
	} else {
		event = t.untilEvent()
	}
	if event == nil || !t.running { // killed or detached meanwhile, which sent the event
		return
	}
	t.finish(*event)
}

// untilEvent plays the script until an event, an interrupt or the end of the process; it returns nil after the last.
func (t *Target) untilEvent() *target.Event {
	for t.running {
		switch {
		case t.interrupt:
			return &target.Event{Signal: target.SignalInt}
		case len(t.script) == 0:
			t.changed.Wait()
		default:
			step := t.script[0]
			t.script = t.script[1:]
			if event := t.perform(step); event != nil {
				return event
			}
			t.changed.Broadcast()
		}
	}
	return nil
}

// stepOne moves one thread by one step.
func (t *Target) stepOne(id target.ThreadID) *target.Event {
	th, err := t.find(id)
	if err != nil {
		return &target.Event{Signal: target.SignalTrap}
	}
	t.advance(th)
	if event := t.arrive(th); event != nil {
		return event
	}
	return &target.Event{Thread: th.ID, Signal: target.SignalTrap}
}

// advance gives th the next step of the script when that is one of its own without an event, else the next address.
func (t *Target) advance(th *thread) {
	if len(t.script) > 0 {
		next := t.script[0]
		if other, err := t.find(next.Thread); err == nil && other == th && next.Event == nil {
			t.script = t.script[1:]
			t.apply(th, next)
			return
		}
	}
	t.setPC(th, t.pc(th)+1)
}

// perform lets a step happen and returns the event that it ends the Resume with, if any.
func (t *Target) perform(step Step) *target.Event {
	th, err := t.find(step.Thread)
	if err != nil {
		return nil
	}
	t.apply(th, step)
	if step.PC != 0 {
		if event := t.arrive(th); event != nil {
			return event
		}
	}
	if step.Event == nil || t.passes(*step.Event) {
		return nil
	}
	event := *step.Event
	if event.Thread == (target.ThreadID{}) {
		event.Thread = th.ID
	}
	return &event
}

// passes reports whether an event is a signal that goes to the program without a word.
func (t *Target) passes(event target.Event) bool {
	return event.Kind == target.Stopped && event.Reason == target.ReasonNone && t.passing[event.Signal]
}

// apply sets what a step changes. A script that names what the program lacks is a mistake of the test.
func (t *Target) apply(th *thread, step Step) {
	for name, v := range step.Registers {
		if err := t.setRegister(th, name, v); err != nil {
			panic("fake: script: " + err.Error())
		}
	}
	for addr, b := range step.Memory {
		if err := t.write(addr, b); err != nil {
			panic("fake: script: " + err.Error())
		}
	}
	if step.PC != 0 {
		t.setPC(th, step.PC)
	}
}

// arrive hits the sites at the pc of th, follows the stepping that they ask for, and reports a breakpoint that is met.
func (t *Target) arrive(th *thread) *target.Event {
	verdict := t.hit(th)
	for {
		if verdict&tracepoint.Halt != 0 {
			t.removeSites()
		}
		if b, ok := t.breaks[breakpoint{target.Software, t.pc(th)}]; ok && (b.Check == nil || b.Check(snapshot{t, th})) {
			return &target.Event{Thread: th.ID, Signal: target.SignalTrap, Reason: target.ReasonSwBreak}
		}
		if verdict&tracepoint.Halt != 0 || verdict&tracepoint.Step == 0 {
			return nil
		}
		if !t.letIn() {
			return nil
		}
		t.advance(th)
		verdict = t.engine.Stepped(snapshot{t, th}) | t.hit(th)
	}
}

// letIn lets other goroutines have the target for a moment, and reports whether the program is to run on after that. There
// may be steps without end.
func (t *Target) letIn() bool {
	t.mu.Unlock()
	t.mu.Lock()
	return t.running && !t.interrupt
}

// hit calls the sites at the pc of th.
func (t *Target) hit(th *thread) tracepoint.Verdict {
	verdict := tracepoint.Continue
	for _, site := range t.sites[t.pc(th)] {
		verdict |= site.Hit(snapshot{t, th})
	}
	return verdict
}

// finish ends the pending Resume. An event of no thread in particular becomes the leader's.
func (t *Target) finish(event target.Event) {
	if event.Thread == (target.ThreadID{}) && len(t.threads) > 0 {
		event.Thread = t.threads[0].ID
	}
	if event.Kind == target.Exited || event.Kind == target.Terminated {
		t.clear()
	}
	t.running, t.interrupt = false, false
	t.events <- event
	t.changed.Broadcast()
}

// Stop is not for a target that stops as a whole.
func (t *Target) Stop(target.ThreadID) error { return target.ErrUnsupported }

// SetNonStop refuses the non-stop mode.
func (t *Target) SetNonStop(on bool) error {
	if on {
		return target.ErrUnsupported
	}
	return nil
}

// SetReports is of no account: the script says what happens.
func (t *Target) SetReports(target.Reports) {}

// IgnoreInterrupts makes the program deaf to Interrupt, as one is that hangs in the kernel.
func (t *Target) IgnoreInterrupts(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deaf = on
}

// Interrupt ends the pending Resume with SignalInt.
func (t *Target) Interrupt() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running && !t.deaf {
		t.interrupt = true
		t.changed.Broadcast()
	}
	return nil
}

// Kill ends the process; a pending Resume ends as killed.
func (t *Target) Kill(pid int) error {
	return t.end(pid, target.Event{Kind: target.Terminated, Signal: target.SignalKill})
}

// Detach lets the process go; a pending Resume ends as if it had exited.
func (t *Target) Detach(pid int) error {
	return t.end(pid, target.Event{Kind: target.Exited})
}

func (t *Target) end(pid int, event target.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	th, err := t.find(target.ThreadID{PID: pid, TID: target.All})
	if err != nil {
		return target.ErrNoProcess
	}
	event.Thread = th.ID
	if t.running {
		t.finish(event)
		return nil
	}
	t.clear()
	return nil
}
