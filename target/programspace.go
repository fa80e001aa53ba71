package target

import (
	"os"
	"slices"

	"tracewell/arch"
	"tracewell/inferior"
)

// ProgramSpace returns the files of one of the target's processes, read through the groups Auxv and Files. It fails with
// ErrUnsupported if the target has no auxiliary vectors.
func ProgramSpace(t Target, pid int) (*inferior.ProgramSpace, error) {
	return inferior.New(process{t, pid}, t.ISA())
}

// process is a process of a target as package inferior reads it. Its memory is that of its first thread.
type process struct {
	target Target
	pid    int
}

// ReadMemory implements inferior.Process.
func (p process) ReadMemory(addr arch.Addr, b []byte) (int, error) {
	return p.target.ReadMemory(Leader(p.target, p.pid), addr, b)
}

// Leader is the thread that stands for a process: the one with its number or, for a target that numbers threads in another way, its
// first.
func Leader(t Target, pid int) ThreadID {
	leader := ThreadID{PID: pid, TID: pid}
	threads := t.Threads()
	if !slices.Contains(threads, leader) {
		if i := slices.IndexFunc(threads, func(id ThreadID) bool { return id.PID == pid }); i >= 0 {
			return threads[i]
		}
	}
	return leader
}

// ReadAuxv implements inferior.Process.
func (p process) ReadAuxv() ([]byte, error) {
	auxv := p.target.Auxv()
	if auxv == nil {
		return nil, ErrUnsupported
	}
	return auxv.ReadAuxv(p.pid)
}

// Open implements inferior.Process.
func (p process) Open(path string) (inferior.File, error) {
	files := p.target.Files()
	if files == nil {
		return nil, ErrUnsupported
	}
	return files.Open(p.pid, path, os.O_RDONLY, 0)
}
