//go:build linux

package floor

import (
	"fmt"
	"os"
	"runtime"

	"tracewell/arch/amd64"
	"tracewell/internal/routine"
	"tracewell/internal/sys"
)

// Run runs a program to its end, with its standard output to out, and returns how often it came by the site. Where extended is set a
// hit reads the vector registers, too.
func Run(out *os.File, site Site, extended bool, path string, args ...string) (hits int, err error) {
	done := make(chan struct{})
	routine.Go(func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends, and its affinity and policy with it
		var t *tracer
		if t, err = launch(out, site, path, args); err != nil {
			return
		}
		defer t.close()
		t.vectors = extended
		err = t.run()
		hits = t.hits
	})
	<-done
	if err != nil {
		err = fmt.Errorf("tracing %s: %w", path, err)
	}
	return hits, err
}

// tracer owns one program. All it needs for a hit is in it already.
type tracer struct {
	pid     int
	site    Site
	vectors bool
	insn    *amd64.Instruction
	hits    int

	regs     amd64.UserRegs
	extended [1 << 14]byte
	memory   [MemorySize]byte
	vector   sys.Vector
	stack    stack

	stat *os.File
	cpu  int // that the tracer is on, -1 for any
	line [512]byte
}

// launch starts the program and puts the trap in its place.
func launch(out *os.File, site Site, path string, args []string) (*tracer, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	l := sys.Launch{Path: path, Args: append([]string{path}, args...), Env: os.Environ(),
		Files: []*os.File{null, out, os.Stderr}, Terminal: -1, FixedAddresses: true}
	pid, err := l.Start(sys.ExitKill)
	if err != nil {
		return nil, err
	}
	t := &tracer{pid: pid, site: site, cpu: -1}
	if t.stat, err = sys.OpenStat(pid); err == nil {
		err = t.plant()
	}
	if err != nil {
		sys.Kill(pid, sys.SIGKILL)
		return nil, err
	}
	return t, nil
}

// plant takes the instruction at the site apart and writes the trap over it.
func (t *tracer) plant() error {
	mem, err := sys.OpenMemory(t.pid)
	if err != nil {
		return err
	}
	defer mem.Close()
	var code [16]byte
	if _, err := mem.ReadAt(code[:], int64(t.site.PC)); err != nil {
		return err
	}
	if t.insn, err = amd64.Decode(code[:], t.site.PC); err != nil {
		return err
	}
	if !t.insn.CanEmulate() {
		return fmt.Errorf("instruction at %s cannot be emulated: %s", t.site.PC, t.insn)
	}
	t.stack.pid = t.pid
	_, err = mem.WriteAt(amd64.ISA.Machine.Breakpoint, int64(t.site.PC))
	return err
}

func (t *tracer) close() { t.stat.Close() }

// run takes one stop after another.
func (t *tracer) run() error {
	for {
		if err := sys.Cont(t.pid, 0); err != nil {
			return err
		}
		_, s, err := sys.Wait(t.pid)
		if err != nil {
			return err
		}
		if code, exited := s.Exited(); exited && code == 0 {
			return nil
		}
		if signal, stopped := s.Stopped(); !stopped || signal != sys.SIGTRAP || s.Event() != 0 {
			return fmt.Errorf("unexpected: %s", s)
		}
		if err := t.hit(); err != nil {
			return err
		}
	}
}

// hit is what is measured.
func (t *tracer) hit() error {
	if err := sys.GetRegs(t.pid, (*[27]uint64)(&t.regs)); err != nil {
		return err
	}
	if t.vectors {
		if _, err := sys.GetRegSet(t.pid, sys.RegSetXState, t.extended[:]); err != nil {
			return err
		}
	}
	t.vector.Reset()
	t.vector.Add(uint64(t.site.Memory), t.memory[:])
	if _, err := t.vector.Read(t.pid); err != nil {
		return err
	}
	t.hits++
	if err := t.follow(); err != nil {
		return err
	}
	t.regs[amd64.RIP] = uint64(t.site.PC)
	if !t.insn.Emulate(&t.regs, &t.stack) {
		return fmt.Errorf("emulating %s failed", t.insn)
	}
	return sys.SetRegs(t.pid, (*[27]uint64)(&t.regs))
}

// follow looks up where the program runs, once in several hits, and moves there. A processor on which only threads of the idle policy
// run counts as idle, so the kernel leaves the program where the tracer is. On a busy machine such a tracer hardly runs at all.
func (t *tracer) follow() error {
	const lookUpEvery = 16
	if t.hits%lookUpEvery != 1 {
		return nil
	}
	cpu, err := sys.LastCPU(t.stat, t.line[:])
	if err != nil || cpu == t.cpu {
		return err
	}
	if t.cpu < 0 {
		if err := sys.SetPolicy(sys.ThreadID(), sys.PolicyIdle); err != nil {
			return err
		}
	}
	t.cpu = cpu
	only := sys.Single(cpu)
	return only.Apply(sys.ThreadID())
}
