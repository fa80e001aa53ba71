//go:build linux

package linux

import (
	"fmt"
	"os"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/target/ended"
)

// Ended is a program that has ended, as it was when it was last let go on, with what of its memory is backed by files that it could
// not write.
type Ended struct {
	*ended.Target
	last lastState
}

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
	if p == nil || len(p.order) == 0 {
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
			e = &Ended{ended.New(ended.Program{
				ISA: host.isa(), Description: t.regs.description, Thread: target.Thread{ID: t.last.id, Name: t.last.name, Core: -1},
				Registers: t.last.registers, End: t.last.end,
			}), *t.last}
		}
	})
	return e
}

// ReadMemory implements target.Target from the files that were mapped.
func (e *Ended) ReadMemory(_ target.ThreadID, addr arch.Addr, dst []byte) (int, error) {
	done := 0
	for done < len(dst) {
		n := e.readMapped(uint64(addr)+uint64(done), dst[done:])
		if n == 0 {
			return done, fmt.Errorf("cannot read memory at %s: %w", addr+arch.Addr(done), ended.Error)
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
