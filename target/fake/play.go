package fake

import (
	"maps"

	"tracewell/target"
)

// player is the goroutine that plays the script. It stops being one when the program stops, or when another takes its turn.
type player struct {
	*Target
	mine int
}

// plays reports whether the player is still to play.
func (p player) plays() bool { return p.running && p.turn == p.mine }

// run plays one Resume in all-stop mode.
func (p player) run(first target.Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.plays() { // killed or detached before this goroutine came to its turn
		return
	}
	var event *target.Event
	if first.Verb == target.StepOne {
		event = p.stepOne(first.Thread)
	} else {
		event = p.untilEvent()
	}
	if event == nil || !p.plays() { // killed or detached meanwhile, which sent the event
		return
	}
	p.finish(*event)
}

// untilEvent plays the script until an event, an interrupt or the end of the last process; it returns nil after that.
func (p player) untilEvent() *target.Event {
	for p.plays() {
		switch {
		case p.interrupt:
			return &target.Event{Signal: target.SignalInt}
		case len(p.script) == 0:
			p.changed.Wait()
		default:
			if event := p.next(); event != nil {
				return event
			}
			p.changed.Broadcast()
		}
	}
	return nil
}

// runThreads plays in non-stop mode as long as any thread runs.
func (p player) runThreads() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.plays() {
		var event *target.Event
		first, stepping := p.runner()
		switch {
		case first != nil && p.interrupt:
			p.interrupt = false
			event = &target.Event{Thread: first.ID, Signal: target.SignalInt}
		case stepping != nil:
			stepping.action.Verb = target.Go
			event = p.stepOne(stepping.ID)
		case len(p.script) > 0 && p.due(p.script[0]):
			event = p.next()
		case first == nil:
			p.running = false
		default:
			p.changed.Wait()
			continue
		}
		if event != nil && p.plays() {
			p.stopAlone(*event)
		}
		p.changed.Broadcast()
	}
}

// runner returns the first thread that runs, and the first one that is to step; nil for none. Threads step one by one, in the order of
// the list, before the script goes on, so that the outcome does not depend on scheduling.
func (p player) runner() (first, stepping *thread) {
	for _, th := range p.threads {
		if th.runs && first == nil {
			first = th
		}
		if th.runs && th.action.Verb == target.StepOne {
			return first, th
		}
	}
	return first, nil
}

// stopAlone stops the thread of an event and sends the event: in non-stop mode the others run on.
func (p player) stopAlone(event target.Event) {
	p.collector.drain()
	if ends(event) {
		p.clear(event.Thread.PID)
	}
	if th, err := p.find(event.Thread); err == nil && event.Thread != (target.ThreadID{}) {
		th.runs = false
	}
	p.events <- event
}

// next lets the first step of the script happen.
func (p player) next() *target.Event {
	step := p.script[0]
	p.script = p.script[1:]
	return p.perform(step)
}

// stepOne moves one thread by one step. What it arrives at counts as for a thread that runs: a tracepoint is a hit, and a
// breakpoint is reported as one, and not as a step, as target/linux and gdbserver do.
func (p player) stepOne(id target.ThreadID) *target.Event {
	th, err := p.find(id)
	if err != nil {
		return &target.Event{Signal: target.SignalTrap}
	}
	p.advance(th)
	if event := p.arrive(th); event != nil {
		return event
	}
	return &target.Event{Thread: th.ID, Signal: target.SignalTrap}
}

// advance gives th the next step of the script when that is one of its own without an event, else the next address: instructions
// here have one byte. So a test of while-stepping need not script each step, but can where it matters what a step collects.
func (p player) advance(th *thread) {
	if len(p.script) > 0 {
		next := p.script[0]
		if other, err := p.find(next.Thread); err == nil && other == th && next.Event == nil {
			p.script = p.script[1:]
			p.apply(th, next)
			return
		}
	}
	if p.back {
		p.setPC(th, p.pc(th)-1)
		return
	}
	p.setPC(th, p.pc(th)+1)
}

// perform lets a step happen and returns the event that it ends the Resume with, if any.
func (p player) perform(step Step) *target.Event {
	th, err := p.find(step.Thread)
	if err != nil {
		return nil
	}
	p.apply(th, step)
	if step.PC != 0 {
		if event := p.arrive(th); event != nil {
			return event
		}
	}
	if step.Event == nil {
		return nil
	}
	event := *step.Event
	if event.Thread == (target.ThreadID{}) && event.Kind != target.NoneResumed {
		event.Thread = th.ID
	}
	if !p.happen(th, event) {
		return nil
	}
	return &event
}

// happen changes the program as an event says, and reports whether the event is one that is to be seen. At an exec the other
// threads end first, then the frames of the old program are deposited, and then its breakpoints and tracepoints are gone with
// its memory.
func (p player) happen(th *thread, event target.Event) bool {
	switch event.Kind {
	case target.Stopped:
		return event.Reason != target.ReasonNone || !p.passing[event.Signal]
	case target.Forked, target.Vforked:
		return p.fork(th, event)
	case target.VforkDone:
		return p.reports.Vfork
	case target.Execed:
		p.remove(func(id target.ThreadID) bool { return id.PID == event.Thread.PID && id != event.Thread })
		p.collector.drain()
		p.clearTraps(event.Thread.PID)
	case target.ThreadCreated:
		fresh := p.add(target.Thread{ID: event.Thread, Core: -1})
		fresh.runs = p.nonStop
		return p.reports.Threads
	case target.ThreadExited:
		p.remove(func(id target.ThreadID) bool { return id == event.Thread })
		return p.reports.Threads
	case target.NoneResumed:
		return p.reports.NoneResumed
	}
	return true
}

// fork makes the child, with the registers and breakpoints of its parent. One that nobody asked for is let go at once. Tracepoints
// stay with the parent: the child has them only when the parent is detached from (handOver).
func (p player) fork(th *thread, event target.Event) bool {
	if seen := map[target.EventKind]bool{target.Forked: p.reports.Fork, target.Vforked: p.reports.Vfork}; !seen[event.Kind] {
		return false
	}
	child := p.add(target.Thread{ID: event.Child, Name: th.Name, Core: -1})
	copy(child.block, th.block)
	for at, b := range maps.Clone(p.breaks) {
		if at.pid == th.ID.PID {
			at.pid = event.Child.PID
			p.breaks[at] = b
		}
	}
	p.parents[event.Child.PID] = th.ID.PID
	return true
}

// apply sets what a step changes. A script that names what the program lacks is a mistake of the test.
func (p player) apply(th *thread, step Step) {
	for name, v := range step.Registers {
		if err := p.setRegister(th, name, v); err != nil {
			panic("fake: script: " + err.Error())
		}
	}
	for addr, b := range step.Memory {
		if err := p.write(addr, b); err != nil {
			panic("fake: script: " + err.Error())
		}
	}
	if step.PC != 0 {
		p.setPC(th, step.PC)
	}
}

// arrive hits the sites at the pc of th, follows the stepping that they ask for, and reports a breakpoint that is met.
func (p player) arrive(th *thread) *target.Event {
	verdict := p.hit(th)
	for {
		if verdict&target.Halt != 0 {
			p.removeSites()
		}
		if b, ok := p.breaks[breakpoint{target.Software, p.where(th)}]; ok && (b.Check == nil || b.Check(snapshot{p.Target, th})) {
			return &target.Event{Thread: th.ID, Signal: target.SignalTrap, Reason: target.ReasonSwBreak}
		}
		if verdict&target.Halt != 0 || verdict&target.Step == 0 {
			return nil
		}
		if !p.letIn(th) {
			return nil
		}
		p.advance(th)
		verdict = p.collector.drain() | p.handle(func() target.Verdict { return p.handler.Stepped(snapshot{p.Target, th}) }) | p.hit(th)
	}
}

// letIn lets other goroutines have the target for a moment, and reports whether the thread is to run on after that. There
// may be steps without end (while-stepping of a billion), which a session must be able to interrupt; Settle waits through the
// moment all the same (within), since the step of the script is not over.
func (p player) letIn(th *thread) bool {
	p.within = true
	p.mu.Unlock()
	p.mu.Lock()
	p.within = false
	return p.plays() && !p.interrupt && (th.runs || !p.nonStop)
}

// hit collects at the pc of th, or has the handler do so. A batch that is full is deposited with the hit that fills it. Before the
// handler is called everything is deposited, so that frames are in the order of the hits wherever they were collected.
func (p player) hit(th *thread) target.Verdict {
	if tracepoints := p.collector.offloaded[p.where(th)]; tracepoints != nil {
		return p.collector.hit(th, tracepoints)
	}
	verdict := target.Continue
	if _, installed := p.sites[p.where(th)]; installed {
		verdict = p.collector.drain() | p.handle(func() target.Verdict { return p.handler.Hit(p.pc(th), snapshot{p.Target, th}) })
	}
	return verdict
}

// handle calls the handler, which only one goroutine at a time may. A player whose hit waits for a silent program keeps another one
// waiting, that of a program which was started when the first was killed.
func (p player) handle(call func() target.Verdict) target.Verdict {
	for p.handling {
		p.changed.Wait()
	}
	p.handling = true
	defer func() {
		p.handling = false
		p.changed.Broadcast()
	}()
	return call()
}

// where is the place of a thread.
func (t *Target) where(th *thread) place { return place{th.ID.PID, t.pc(th)} }
