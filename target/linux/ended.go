//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tracepoint"
)

// Ended is a program that has ended, as it was when it was last let go on: one thread that will not run again, its registers
// of then, and of its memory what is backed by files that it could not write. GDB shows the frames of a trace run only for a
// target with a program; with this one they can be looked at after the end.
//
// Resuming it, killing it and detaching from it all end it, with the event that the program ended with.
type Ended struct {
	target.Base
	description *tdesc.Target
	last        lastState
	end         target.Event
	events      chan target.Event // of the one that there can be

	mu   sync.Mutex
	over bool
}

var (
	_ target.Target = (*Ended)(nil)
	_ target.Runner = (*Ended)(nil)
	_ target.Tracer = (*Ended)(nil)
)

// lastState is what is kept of a program whenever it goes on while a trace run is on.
type lastState struct {
	id        target.ThreadID
	name      string
	registers []byte
	auxv      []byte
	exec      string
	links     inferior.LinkMap
	maps      []sys.Mapping
	end       target.Event // how it ended, zero before
}

// remember keeps the state of the program, in case that it ends before the run does. What cannot be read is left out.
func (t *Target) remember() {
	t.last = nil
	p := t.tracedProcess()
	if p == nil || len(p.order) == 0 || t.engine == nil || !t.engine.Status().Running {
		return
	}
	k := p.order[0]
	s := &lastState{id: k.id(), name: sys.ThreadName(k.tid), registers: make([]byte, t.regs.size)}
	if k.state != stopped || t.regs.read(k, s.registers) != nil {
		return
	}
	s.auxv, _ = sys.Auxv(k.proc.pid)
	s.exec, _ = sys.Executable(k.proc.pid)
	s.maps, _ = sys.Mappings(k.proc.pid)
	s.links, _ = k.proc.libraries()
	t.last = s
}

// Ended returns what is left of a program that went on in a trace run and then ended by itself, nil for any other.
func (t *Target) Ended() (e *Ended) {
	t.do(func() {
		if len(t.procs) == 0 && t.last != nil && t.last.end != (target.Event{}) {
			e = &Ended{description: t.regs.description, last: *t.last, end: t.last.end, events: make(chan target.Event, 1)}
		}
	})
	return e
}

// errEnded answers what needs a live program.
var errEnded = errors.New("the program has ended")

// ISA implements target.Target.
func (e *Ended) ISA() *arch.ISA { return host.isa() }

// Description implements target.Target.
func (e *Ended) Description() *tdesc.Target { return e.description }

// Threads implements target.Target.
func (e *Ended) Threads() []target.ThreadID {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return nil
	}
	return []target.ThreadID{e.last.id}
}

// Thread implements target.Target.
func (e *Ended) Thread(id target.ThreadID) (target.Thread, error) {
	if !slices.Contains(e.Threads(), id) {
		return target.Thread{}, fmt.Errorf("%w: %s", target.ErrNoThread, id)
	}
	return target.Thread{ID: id, Name: e.last.name, Core: -1}, nil
}

// ReadRegisters implements target.Target.
func (e *Ended) ReadRegisters(id target.ThreadID, block []byte) error {
	if id != e.last.id {
		return fmt.Errorf("%w: %s", target.ErrNoThread, id)
	}
	copy(block, e.last.registers)
	return nil
}

// WriteRegisters implements target.Target.
func (e *Ended) WriteRegisters(target.ThreadID, []byte) error { return errEnded }

// ReadMemory implements target.Target from the files that were mapped.
func (e *Ended) ReadMemory(_ target.ThreadID, addr arch.Addr, dst []byte) (int, error) {
	done := 0
	for done < len(dst) {
		n := e.readMapped(uint64(addr)+uint64(done), dst[done:])
		if n == 0 {
			return done, fmt.Errorf("cannot read memory at %s: %w", addr+arch.Addr(done), errEnded)
		}
		done += n
	}
	return done, nil
}

// readMapped reads what one mapping has of dst.
func (e *Ended) readMapped(addr uint64, dst []byte) int {
	m, ok := e.mapping(addr)
	if !ok {
		return 0
	}
	f, err := os.Open(m.Path)
	if err != nil {
		return 0
	}
	defer f.Close()
	dst = dst[:min(uint64(len(dst)), m.End-addr)]
	n, _ := f.ReadAt(dst, int64(m.Offset+addr-m.Start))
	return n
}

// mapping finds the mapping of a file at addr that the program could not write.
func (e *Ended) mapping(addr uint64) (sys.Mapping, bool) {
	for _, m := range e.last.maps {
		if m.Start <= addr && addr < m.End {
			return m, !m.Write && len(m.Path) > 0 && m.Path[0] == '/'
		}
	}
	return sys.Mapping{}, false
}

// WriteMemory implements target.Target.
func (e *Ended) WriteMemory(target.ThreadID, arch.Addr, []byte) error { return errEnded }

// Runner implements target.Groups.
func (e *Ended) Runner() target.Runner { return e }

// Tracer implements target.Groups.
func (e *Ended) Tracer() target.Tracer { return e }

// Breakpoints implements target.Groups. GDB inserts some by itself before it resumes.
func (e *Ended) Breakpoints() target.Breakpoints { return e }

// InsertBreakpoint implements target.Breakpoints: nothing will come by.
func (e *Ended) InsertBreakpoint(target.ThreadID, target.Breakpoint) error { return nil }

// RemoveBreakpoint implements target.Breakpoints.
func (e *Ended) RemoveBreakpoint(target.ThreadID, target.Breakpoint) error { return nil }

// Auxv implements target.Groups.
func (e *Ended) Auxv() target.Auxv { return e }

// ExecFile implements target.Groups.
func (e *Ended) ExecFile() target.ExecFile { return e }

// Libraries implements target.Groups.
func (e *Ended) Libraries() target.Libraries { return e }

// ReadOnly implements target.Groups.
func (e *Ended) ReadOnly() target.ReadOnly { return endedMappings{e} }

// Files implements target.Groups.
func (e *Ended) Files() target.Files { return files{} }

// ReadAuxv implements target.Auxv.
func (e *Ended) ReadAuxv(int) ([]byte, error) { return e.last.auxv, nil }

// ReadExecFile implements target.ExecFile.
func (e *Ended) ReadExecFile(int) (string, error) { return e.last.exec, nil }

// ReadLibraries implements target.Libraries.
func (e *Ended) ReadLibraries(int) (inferior.LinkMap, error) { return e.last.links, nil }

// endedMappings answers target.ReadOnly.
type endedMappings struct{ e *Ended }

// ReadOnly implements target.ReadOnly.
func (m endedMappings) ReadOnly(_ target.ThreadID, addr arch.Addr, n int) bool {
	for at, end := uint64(addr), uint64(addr)+uint64(n); at < end; {
		mapping, ok := m.e.mapping(at)
		if !ok {
			return false
		}
		at = mapping.End
	}
	return true
}

// Events implements target.Runner.
func (e *Ended) Events() <-chan target.Event { return e.events }

// Resume implements target.Runner: what follows is the program's end.
func (e *Ended) Resume([]target.Action) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return target.ErrNoProcess
	}
	e.over = true
	e.events <- e.end
	return nil
}

// Stop implements target.Runner. Nothing ever runs.
func (e *Ended) Stop(target.ThreadID) error { return nil }

// SetNonStop implements target.Runner: one thread that never runs is as good in either mode.
func (e *Ended) SetNonStop(bool) error { return nil }

// SetReports implements target.Runner. Nothing ever happens.
func (e *Ended) SetReports(target.Reports) {}

// Interrupt implements target.Runner. Nothing ever runs.
func (e *Ended) Interrupt() error { return nil }

// Kill implements target.Runner.
func (e *Ended) Kill(int) error { return e.Detach(0) }

// Detach implements target.Runner.
func (e *Ended) Detach(int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	return nil
}

// Installer implements target.Tracer.
func (e *Ended) Installer(int) tracepoint.Installer { return e }

// Install implements tracepoint.Installer.
func (e *Ended) Install(*tracepoint.Site) error { return errEnded }

// Uninstall implements tracepoint.Installer.
func (e *Ended) Uninstall(*tracepoint.Site) error { return nil }

// SetEngine implements target.Tracer. Nothing here ever calls the engine.
func (e *Ended) SetEngine(*tracepoint.Engine) {}
