//go:build amd64

package linux

import (
	"fmt"
	"os"

	"tracewell/arch"
	"tracewell/internal/linux"
)

// process is one address space under trace.
type process struct {
	pid      int
	mem      *os.File // /proc/PID/mem
	stack    stack
	launched bool // by us, so it dies with us

	traps          map[arch.Addr]*trap
	lowest, behind arch.Addr // all traps lie in [lowest, behind)
	debug          debugRegisters
	scratch        []*scratch
	noScratch      bool // slots are refused: the program's seccomp filter might kill it for an mmap
	shadowStack    bool // calls and returns must not be emulated
	foreign        map[arch.Addr]foreignCopy
}

func newProcess(pid int, launched bool) (*process, error) {
	p := &process{pid: pid, launched: launched}
	return p, p.renew()
}

// renew forgets what an exec has made untrue.
func (p *process) renew() error {
	if p.mem != nil {
		p.mem.Close()
	}
	mem, err := linux.OpenMemory(p.pid)
	if err != nil {
		return fmt.Errorf("opening the memory of process %d: %w", p.pid, err)
	}
	p.mem = mem
	p.traps = make(map[arch.Addr]*trap)
	p.lowest, p.behind = 0, 0
	p.debug = debugRegisters{generation: p.debug.generation}
	p.scratch, p.noScratch, p.shadowStack = nil, false, false
	p.foreign = make(map[arch.Addr]foreignCopy)
	return nil
}

func (p *process) close() { p.mem.Close() }
