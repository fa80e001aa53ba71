package main

import (
	"tracewell/arch"
	"tracewell/target"
)

// segmentationFault is SIGSEGV by the number that GDB gives it.
const segmentationFault target.Signal = 11

// Running: a Resume sets a goroutine going, which ends with one Event.

func (e *emulator) Runner() target.Runner       { return e }
func (e *emulator) Events() <-chan target.Event { return e.events }

func (e *emulator) Resume(actions []target.Action) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.core == nil:
		return target.ErrNoProcess
	case e.running:
		return target.ErrRunning
	case len(actions) == 0 || !actions[0].Thread.Covers(thread):
		return target.ErrNoThread
	}
	e.running, e.interrupted = true, false
	go e.run(actions[0])
	return nil
}

func (e *emulator) Interrupt() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.interrupted = true
	return nil
}

// Stop and SetNonStop are for more than one thread.
func (e *emulator) Stop(target.ThreadID) error { return e.Interrupt() }

func (e *emulator) SetNonStop(on bool) error {
	if on {
		return target.ErrUnsupported
	}
	return nil
}

func (e *emulator) SetReports(target.Reports) {}

func (e *emulator) Kill(int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.core = nil
	return nil
}

func (e *emulator) Detach(int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.breakpoints)
	clear(e.tracepoints)
	return nil
}

// run executes instructions until there is something to tell.
func (e *emulator) run(a target.Action) {
	for first := true; ; first = false {
		e.mu.Lock()
		event := e.advance(a, first)
		if event != nil {
			e.running = false
			e.mu.Unlock()
			e.events <- *event
			return
		}
		e.mu.Unlock()
	}
}

// advance executes one instruction, with what has to happen ahead of it and behind it; nil if nothing has happened that is to be
// told. The breakpoint at which a thread has stopped is not met again as it goes on.
func (e *emulator) advance(a target.Action, first bool) *target.Event {
	at := arch.Addr(e.core.pc)
	if e.interrupted {
		return stopped(target.SignalInt, target.ReasonNone)
	}
	if b, ok := e.breakpoints[at]; ok && (!first || a.Anew) && (b.Check == nil || b.Check(snapshot{e})) {
		return stopped(target.SignalTrap, target.ReasonSwBreak)
	}
	if e.tracepoints[at] {
		e.obey(e.handler.Hit(at, snapshot{e}))
	}
	steps := e.steps
	switch e.core.step() {
	case exited:
		code := int(e.core.x[10])
		if e.handler != nil {
			e.handler.ThreadGone(int64(thread.TID))
		}
		e.core = nil
		return &target.Event{Kind: target.Exited, Thread: thread, Code: code}
	case faulted:
		return stopped(segmentationFault, target.ReasonNone)
	}
	if steps {
		e.obey(e.handler.Stepped(snapshot{e}))
	}
	now := arch.Addr(e.core.pc)
	if a.Verb == target.StepOne || a.Verb == target.StepRange && (now < a.Start || now >= a.End) {
		return stopped(target.SignalTrap, target.ReasonNone)
	}
	return nil
}

// obey does what the engine says.
func (e *emulator) obey(v target.Verdict) {
	e.steps = v&target.Step != 0
	if v&target.Halt != 0 {
		clear(e.tracepoints)
	}
}

func stopped(signal target.Signal, reason target.Reason) *target.Event {
	return &target.Event{Kind: target.Stopped, Thread: thread, Signal: signal, Reason: reason}
}
