//go:build linux

package linux

import (
	"os"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/internal/sys"
)

// ReadLibraries implements target.Libraries. Before the dynamic linker has run the list is empty. GDB reads the list by itself
// where this fails, for instance when the program is the dynamic linker (GDB's gdb.server/solib-list.exp).
func (t *Target) ReadLibraries(pid int) (inferior.LinkMap, error) {
	var m inferior.LinkMap
	err := t.onProcess(pid, func(p *process) (err error) {
		m, err = p.libraries()
		return err
	})
	return m, err
}

func (p *process) libraries() (inferior.LinkMap, error) {
	space, err := p.programSpace()
	if err != nil {
		return inferior.LinkMap{}, err
	}
	return space.LinkMap()
}

// programSpace is read anew for each request: a process may have executed another program since the last one.
func (p *process) programSpace() (*inferior.ProgramSpace, error) {
	return inferior.New(stoppedProcess{p}, host.isa())
}

// stoppedProcess is a process as package inferior reads it, on the tracer goroutine.
type stoppedProcess struct{ p *process }

// ReadMemory implements inferior.Process.
func (s stoppedProcess) ReadMemory(addr arch.Addr, b []byte) (int, error) { return s.p.read(addr, b) }

// ReadAuxv implements inferior.Process.
func (s stoppedProcess) ReadAuxv() ([]byte, error) { return sys.Auxv(s.p.alive()) }

// Open implements inferior.Process.
func (s stoppedProcess) Open(path string) (inferior.File, error) {
	return files{}.Open(s.p.pid, path, os.O_RDONLY, 0)
}
