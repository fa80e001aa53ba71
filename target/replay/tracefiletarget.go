package replay

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tdesc"
)

// TraceTarget is a TraceFile as one client sees it: a program of one thread that stands still, until the client lets it go.
type TraceTarget struct {
	target.Base
	file *TraceFile

	mu   sync.Mutex
	gone bool // the client has detached from it, or ended it; guarded by mu
}

var (
	_ target.Target       = (*TraceTarget)(nil)
	_ target.Breakpoints  = (*TraceTarget)(nil)
	_ target.Runner       = (*TraceTarget)(nil)
	_ target.TraceRun     = (*TraceFile)(nil)
	_ target.Availability = (*TraceTarget)(nil)
)

// Target returns a target for a client that comes.
func (f *TraceFile) Target() *TraceTarget { return &TraceTarget{file: f} }

// only is the one thread. Linux gives no process such a number (PID_MAX_LIMIT): LLDB takes the executable of the local process of
// this number for the program's, and in a container it can read that of process 1.
var only = target.ThreadID{PID: 1 << 22, TID: 1}

var (
	errStands  = errors.New("a trace file cannot be run: it holds what was collected, see tfind")
	errWritten = errors.New("a trace file cannot be changed")
)

// ISA implements target.Target.
func (t *TraceTarget) ISA() *arch.ISA { return t.file.isa }

// Description implements target.Target.
func (t *TraceTarget) Description() *tdesc.Target { return t.file.view.Target }

// Threads implements target.Target.
func (t *TraceTarget) Threads() []target.ThreadID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil
	}
	return []target.ThreadID{only}
}

// check says that there is no such thread.
func (t *TraceTarget) check(id target.ThreadID) error {
	if !slices.Contains(t.Threads(), id) {
		return fmt.Errorf("%w: %s", target.ErrNoThread, id)
	}
	return nil
}

// Thread implements target.Target.
func (t *TraceTarget) Thread(id target.ThreadID) (target.Thread, error) {
	return target.Thread{ID: id, Name: t.file.program.name(), Core: -1}, t.check(id)
}

// ReadRegisters implements target.Target: outside frames nothing is known but a place to stand at.
func (t *TraceTarget) ReadRegisters(id target.ThreadID, block []byte) error {
	clear(block)
	if slot := t.file.view.PC(); slot != nil {
		if b, ok := slot.Bytes(block); ok {
			arch.PutAddr(b, t.file.isa.Order, t.file.program.start())
		}
	}
	return t.check(id)
}

// AvailableRegisters implements target.Availability.
func (t *TraceTarget) AvailableRegisters(id target.ThreadID, known []bool) error {
	clear(known)
	if t.file.isa.Machine.Unwinding >= arch.UnwindsAlways { // GDB would fail without; there they are zero
		for i := range known {
			known[i] = true
		}
	}
	if slot := t.file.view.PC(); slot != nil {
		for i := slot.Offset; i < min(slot.Offset+slot.Size, len(known)); i++ {
			known[i] = true
		}
	}
	return t.check(id)
}

// WriteRegisters implements target.Target.
func (t *TraceTarget) WriteRegisters(target.ThreadID, []byte) error { return errWritten }

// WriteMemory implements target.Target.
func (t *TraceTarget) WriteMemory(target.ThreadID, arch.Addr, []byte) error { return errWritten }

// ReadMemory implements target.Target: what of the program could not change.
func (t *TraceTarget) ReadMemory(_ target.ThreadID, addr arch.Addr, p []byte) (int, error) {
	n := t.file.readConstant(addr, p)
	if n < len(p) {
		return n, fmt.Errorf("nothing is known of memory at %v", addr+arch.Addr(n))
	}
	return n, nil
}

// ReadOnly implements target.ReadOnly.
func (t *TraceTarget) readOnly(addr arch.Addr, n int) bool {
	return t.file.readConstant(addr, make([]byte, n)) == n
}

// TraceRun implements target.Groups.
func (t *TraceTarget) TraceRun() target.TraceRun { return t.file }

// Availability implements target.Groups.
func (t *TraceTarget) Availability() target.Availability { return t }

// Runner implements target.Groups, so that clients can leave, and are told why nothing runs.
func (t *TraceTarget) Runner() target.Runner { return t }

// Breakpoints implements target.Groups. GDB inserts some by itself before it resumes.
func (t *TraceTarget) Breakpoints() target.Breakpoints { return t }

// InsertBreakpoint implements target.Breakpoints: nothing will come by.
func (t *TraceTarget) InsertBreakpoint(target.ThreadID, target.Breakpoint) error { return nil }

// RemoveBreakpoint implements target.Breakpoints.
func (t *TraceTarget) RemoveBreakpoint(target.ThreadID, target.Breakpoint) error { return nil }

// Events implements target.Runner. There are none.
func (t *TraceTarget) Events() <-chan target.Event { return nil }

// Resume implements target.Runner.
func (t *TraceTarget) Resume([]target.Action) error { return errStands }

// Interrupt implements target.Runner. Nothing ever runs.
func (t *TraceTarget) Interrupt() error { return nil }

// Stop implements target.Runner. Nothing ever runs.
func (t *TraceTarget) Stop(target.ThreadID) error { return nil }

// SetNonStop implements target.Runner: one thread that never runs is as good in either mode.
func (t *TraceTarget) SetNonStop(bool) error { return nil }

// SetReports implements target.Runner. Nothing ever happens.
func (t *TraceTarget) SetReports(target.Reports) {}

// Kill implements target.Runner.
func (t *TraceTarget) Kill(pid int) error { return t.Detach(pid) }

// Detach implements target.Runner: the client is done with it. The file serves others.
func (t *TraceTarget) Detach(int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
	return nil
}
