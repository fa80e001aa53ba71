// Package ended has what is left of a program that is gone: one thread that will not run again, with its registers as they were
// last. GDB shows the frames of a trace run only for a target with a program; with this one they can be looked at after the end.
//
// Resuming it, killing it and detaching from it all end it, with the event that the program ended with.
package ended

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tdesc"
)

// Error answers what needs a live program.
var Error = errors.New("the program has ended")

// Program is what was known of the program last.
type Program struct {
	ISA         *arch.ISA
	Description *tdesc.Target
	Thread      target.Thread
	Registers   []byte       // as the g packet has them, or the beginning
	End         target.Event // how it ended
}

// Target is a program that has ended. It has no memory; targets that embed it may know some.
type Target struct {
	target.Base
	program Program
	events  chan target.Event // of the one that there can be

	mu   sync.Mutex
	over bool
}

var (
	_ target.Target = (*Target)(nil)
	_ target.Runner = (*Target)(nil)
	_ target.Tracer = (*Target)(nil)
)

// New makes a target of what is left of a program.
func New(p Program) *Target { return &Target{program: p, events: make(chan target.Event, 1)} }

// ISA implements target.Target.
func (t *Target) ISA() *arch.ISA { return t.program.ISA }

// Description implements target.Target.
func (t *Target) Description() *tdesc.Target { return t.program.Description }

// Threads implements target.Target.
func (t *Target) Threads() []target.ThreadID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil
	}
	return []target.ThreadID{t.program.Thread.ID}
}

// Thread implements target.Target.
func (t *Target) Thread(id target.ThreadID) (target.Thread, error) {
	if !slices.Contains(t.Threads(), id) {
		return target.Thread{}, fmt.Errorf("%w: %s", target.ErrNoThread, id)
	}
	return t.program.Thread, nil
}

// ReadRegisters implements target.Target.
func (t *Target) ReadRegisters(id target.ThreadID, block []byte) error {
	if id != t.program.Thread.ID {
		return fmt.Errorf("%w: %s", target.ErrNoThread, id)
	}
	copy(block, t.program.Registers)
	return nil
}

// WriteRegisters implements target.Target.
func (t *Target) WriteRegisters(target.ThreadID, []byte) error { return Error }

// ReadMemory implements target.Target.
func (t *Target) ReadMemory(_ target.ThreadID, addr arch.Addr, _ []byte) (int, error) {
	return 0, fmt.Errorf("cannot read memory at %s: %w", addr, Error)
}

// WriteMemory implements target.Target.
func (t *Target) WriteMemory(target.ThreadID, arch.Addr, []byte) error { return Error }

// Runner implements target.Groups.
func (t *Target) Runner() target.Runner { return t }

// Tracer implements target.Groups.
func (t *Target) Tracer() target.Tracer { return t }

// Breakpoints implements target.Groups. GDB inserts some by itself before it resumes.
func (t *Target) Breakpoints() target.Breakpoints { return t }

// InsertBreakpoint implements target.Breakpoints: nothing will come by.
func (t *Target) InsertBreakpoint(target.ThreadID, target.Breakpoint) error { return nil }

// RemoveBreakpoint implements target.Breakpoints.
func (t *Target) RemoveBreakpoint(target.ThreadID, target.Breakpoint) error { return nil }

// Events implements target.Runner.
func (t *Target) Events() <-chan target.Event { return t.events }

// Resume implements target.Runner: what follows is the program's end.
func (t *Target) Resume([]target.Action) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return target.ErrNoProcess
	}
	t.over = true
	t.events <- t.program.End
	return nil
}

// Stop implements target.Runner. Nothing ever runs.
func (t *Target) Stop(target.ThreadID) error { return nil }

// SetNonStop implements target.Runner: one thread that never runs is as good in either mode.
func (t *Target) SetNonStop(bool) error { return nil }

// SetReports implements target.Runner. Nothing ever happens.
func (t *Target) SetReports(target.Reports) {}

// Interrupt implements target.Runner. Nothing ever runs.
func (t *Target) Interrupt() error { return nil }

// Kill implements target.Runner.
func (t *Target) Kill(int) error { return t.Detach(0) }

// Detach implements target.Runner.
func (t *Target) Detach(int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	return nil
}

// Install implements target.Tracer.
func (t *Target) Install(int, arch.Addr, []arch.Addr) error { return Error }

// Uninstall implements target.Tracer.
func (t *Target) Uninstall(int, arch.Addr) error { return nil }

// SetHandler implements target.Tracer. Nothing here is ever hit.
func (t *Target) SetHandler(target.Handler) {}

// Collector implements target.Tracer.
func (t *Target) Collector() target.Collector { return nil }
