package fake

import (
	"fmt"
	"maps"

	"tracewell/arch"
	"tracewell/internal/routine"
	"tracewell/target"
)

// Step is one thing that happens to the running program: a thread arrives somewhere. What it sets is set first; then the
// tracepoints and breakpoints at PC have their turn; then comes the event, unless a breakpoint has ended the Resume before.
type Step struct {
	Thread    target.ThreadID      // the first thread when zero
	PC        arch.Addr            // where it arrives; 0 leaves it where it is, and then no breakpoint or site counts
	Registers map[string]uint64    // set on arrival, by name
	Memory    map[arch.Addr][]byte // written on arrival
	Event     *target.Event        // ends the Resume; a zero Thread in it becomes the step's thread
}

// Play adds steps to the script. In non-stop mode a step waits until its thread runs, and those behind it wait with it.
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
	for t.running && t.busy() {
		t.changed.Wait()
	}
}

// Left counts the steps of the script that have not been played.
func (t *Target) Left() int { return locked(t, func() int { return len(t.script) }) }

// busy reports whether there is something that can happen now: an interrupt to be answered, a step of the script that has begun, a
// thread that is to step, or a step of the script that is due.
func (t *Target) busy() bool {
	if t.interrupt || t.within {
		return true
	}
	for _, th := range t.threads {
		if th.runs && th.action.Verb == target.StepOne {
			return true
		}
	}
	return len(t.script) > 0 && t.due(t.script[0])
}

// due reports whether the thread of a step runs. A step of a thread that does not exist is due, too, to be dropped, or it would
// keep those behind it for ever. What happens to no thread in particular is always due.
func (t *Target) due(step Step) bool {
	if !t.nonStop || step.Event != nil && step.Event.Kind == target.NoneResumed {
		return true
	}
	th, err := t.find(step.Thread)
	return err != nil || th.runs
}

// Events delivers what happens. It holds so many events that the program never waits for a session.
func (t *Target) Events() <-chan target.Event { return t.events }

// Resume lets the script go on. In all-stop mode threads that actions leave stopped are not told apart: the script says who
// moves. A stepping first action takes one step of the script, or moves the pc on by one when there is none; in non-stop
// mode each stepping thread does so.
func (t *Target) Resume(actions []target.Action) error { return t.resume(false, actions) }

// ResumeBackwards is Resume, but that a step without a script moves the pc back by one. What goes on takes the script as it is.
func (t *Target) ResumeBackwards(actions []target.Action) error { return t.resume(true, actions) }

// resume starts a player, unless one plays in non-stop mode already, which then sees the threads that were released. A child of
// a fork that is resumed is held no longer: it inherits nothing when its parent is detached later.
func (t *Target) resume(back bool, actions []target.Action) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.running && !t.nonStop:
		return target.ErrRunning
	case len(t.threads) == 0:
		return target.ErrNoProcess
	case len(actions) == 0:
		return fmt.Errorf("nothing to resume")
	}
	// Both modes go through this: in all-stop mode a client resumes the child by an action that covers it (vCont;c).
	for child := range t.parents {
		if covered(actions, target.ThreadID{PID: child, TID: child}) != nil {
			delete(t.parents, child)
		}
	}
	if t.nonStop && !t.release(actions) {
		return fmt.Errorf("%w: nothing to resume", target.ErrNoThread)
	}
	if t.running {
		t.changed.Broadcast()
		return nil
	}
	t.turn++
	t.running, t.interrupt, t.back = true, false, back
	p := player{t, t.turn}
	if t.nonStop {
		routine.Go(p.runThreads)
	} else {
		routine.Go(func() { p.run(actions[0]) })
	}
	return nil
}

// covered returns the first action for a thread, nil if there is none.
func covered(actions []target.Action, id target.ThreadID) *target.Action {
	for i := range actions {
		if actions[i].Thread.Covers(id) {
			return &actions[i]
		}
	}
	return nil
}

// release sets the stopped threads going that actions cover, and reports whether they cover any thread. Of several actions for one
// thread the first counts, as vCont has it.
func (t *Target) release(actions []target.Action) bool {
	found := false
	for _, th := range t.threads {
		a := covered(actions, th.ID)
		if a == nil {
			continue
		}
		found = true
		if !th.runs {
			th.runs, th.action = true, *a
		}
	}
	return found
}

// finish ends the pending Resume. What the Collector holds is deposited before the event, so that a session which hears of the
// event finds the frames. An event of no thread in particular becomes the leader's.
func (t *Target) finish(event target.Event) {
	t.collector.drain()
	if event.Thread == (target.ThreadID{}) && len(t.threads) > 0 {
		event.Thread = t.threads[0].ID
	}
	if ends(event) {
		t.clear(event.Thread.PID)
	}
	t.running, t.interrupt = false, false
	t.events <- event
	t.changed.Broadcast()
}

// ends reports whether an event is the end of a process.
func ends(event target.Event) bool {
	return event.Kind == target.Exited || event.Kind == target.Terminated
}

// Stop stops the running threads that id covers, each with an event.
func (t *Target) Stop(id target.ThreadID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.nonStop {
		return target.ErrUnsupported
	}
	if t.deaf {
		return nil
	}
	for _, th := range t.threads {
		if th.runs && id.Covers(th.ID) {
			th.runs = false
			t.events <- target.Event{Thread: th.ID}
		}
	}
	t.changed.Broadcast()
	return nil
}

// SetNonStop chooses the mode. It may not change to non-stop while a Resume is pending, whose one event would be missing then;
// back to all-stop mode it stops all threads without events.
func (t *Target) SetNonStop(on bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if on == t.nonStop {
		return nil
	}
	if t.program.AllStopOnly {
		return target.ErrUnsupported
	}
	if t.running && on {
		return target.ErrRunning
	}
	if t.deaf && t.running {
		return fmt.Errorf("%w and cannot be stopped", target.ErrRunning)
	}
	t.nonStop, t.running = on, false
	for _, th := range t.threads {
		th.runs = false
	}
	t.changed.Broadcast()
	return nil
}

// SetReports says which events of the script are to be seen. The others happen unseen.
func (t *Target) SetReports(r target.Reports) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reports = r
}

// Reports returns what SetReports was last given.
func (t *Target) Reports() target.Reports {
	return locked(t, func() target.Reports { return t.reports })
}

// IgnoreInterrupts makes the program deaf to Interrupt and Stop, as one is that hangs in the kernel.
func (t *Target) IgnoreInterrupts(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deaf = on
}

// Interrupt ends the pending Resume, or in non-stop mode stops the first thread that runs, with SignalInt.
func (t *Target) Interrupt() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running && !t.deaf {
		t.interrupt = true
		t.changed.Broadcast()
	}
	return nil
}

// Kill ends a process. If it was the last one, a pending Resume ends as killed.
func (t *Target) Kill(pid int) error {
	return t.end(pid, target.Event{Kind: target.Terminated, Signal: target.SignalKill})
}

// Detach lets a process go. If it was the last one, a pending Resume ends as if it had exited. When its forked child is
// still held the sites go over to that.
func (t *Target) Detach(pid int) error {
	return t.end(pid, target.Event{Kind: target.Exited})
}

// end removes a process at once. In all-stop mode the pending Resume must still be answered, if nothing is left that could; in
// non-stop mode nobody waits for an answer.
func (t *Target) end(pid int, event target.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	th, err := t.find(target.ThreadID{PID: pid, TID: target.All})
	if err != nil {
		return target.ErrNoProcess
	}
	event.Thread = th.ID
	if event.Kind == target.Exited {
		t.handOver(pid)
	}
	t.clear(pid)
	if len(t.threads) == 0 && t.running && !t.nonStop {
		t.finish(event)
	}
	t.changed.Broadcast()
	return nil
}

// handOver gives the tracepoints of a process to its child, as target.Tracer says of a client that follows the child at a fork: the
// run goes on there.
func (t *Target) handOver(pid int) {
	for child, parent := range t.parents {
		if parent != pid {
			continue
		}
		move(t.sites, pid, child)
		move(t.collector.offloaded, pid, child)
		delete(t.parents, child)
		return
	}
}

// move makes what is at places in one process what is at those places in another.
func move[T any](all map[place]T, from, to int) {
	for at, what := range maps.Clone(all) {
		if at.pid == from {
			delete(all, at)
			all[place{to, at.addr}] = what
		}
	}
}
