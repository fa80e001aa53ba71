//go:build amd64

package linux

import (
	"fmt"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/target"
	"tracewell/tracepoint"
)

// trap is an int3 over an instruction of the program.
type trap struct {
	addr     arch.Addr
	original byte
	users    int              // breakpoints of the session, 0 or 1 since insertions do not count
	site     *tracepoint.Site // nil without a tracepoint

	// How the displaced instruction happens.
	insn      *amd64.Instruction // nil if it cannot be decoded: it is stepped in place
	emulate   bool
	slot      arch.Addr // 0 without
	resume    int       // offset in the slot behind the copy
	ambiguous bool      // a step may end just behind it, where a hit would show too
}

// maxInstruction is the length of the longest instruction.
const maxInstruction = 15

// breakpointOpcode is the int3 that a trap consists of.
const breakpointOpcode = 0xcc

// trapAt returns the trap at addr, placing a new one where there is none, or where the program has put other code over it.
func (p *process) trapAt(addr arch.Addr) (*trap, error) {
	old := p.traps[addr]
	tr := &trap{addr: addr}
	if old != nil {
		if !p.overwritten(old) {
			return old, nil
		}
		tr.users, tr.site = old.users, old.site
		delete(p.traps, addr) // it would hide what is there now
	}
	err := tr.study(p)
	if err == nil {
		err = tr.place(p)
	}
	if err != nil {
		if old != nil {
			p.traps[addr] = old
		}
		return nil, err
	}
	p.traps[addr] = tr
	p.span()
	return tr, nil
}

// overwritten reports whether the program has put other code where a trap was, as the dynamic linker does that loads a library
// where one was that is gone. GDB does not remove its breakpoints from a library that it has seen go.
func (p *process) overwritten(tr *trap) bool {
	var b [1]byte
	_, err := p.mem.ReadAt(b[:], int64(tr.addr))
	return err != nil || b[0] != breakpointOpcode
}

// study reads the instruction and decides how it can happen elsewhere.
func (tr *trap) study(p *process) error {
	var code [maxInstruction]byte
	n, err := p.read(tr.addr, code[:])
	if n == 0 {
		return fmt.Errorf("no memory at %s: %w", tr.addr, err)
	}
	tr.original = code[0]
	tr.insn, err = amd64.Decode(code[:n], tr.addr)
	if err != nil {
		tr.insn = nil
	}
	tr.emulate = tr.insn != nil && tr.insn.CanEmulate() && !(p.shadowStack && tr.insn.WritesShadowStack())
	tr.ambiguous = tr.insn == nil || tr.insn.Len() == 1
	return nil
}

// renew replaces a trap after the program's code under it was written to. The old value stays for a task in its slot.
func (tr *trap) renew(p *process) {
	next := &trap{addr: tr.addr, original: tr.original, users: tr.users, site: tr.site}
	p.traps[tr.addr] = next
	if next.study(p) != nil {
		next.insn, next.ambiguous = nil, true
	}
}

// place writes the int3. It works while tasks run: one byte changes at once for all.
func (tr *trap) place(p *process) error { return p.poke(tr.addr, breakpointOpcode) }

// lift puts the original byte back, unless the program has unmapped or rewritten its code meanwhile.
func (tr *trap) lift(p *process) error {
	var b [1]byte
	if _, err := p.mem.ReadAt(b[:], int64(tr.addr)); err != nil || b[0] != breakpointOpcode {
		return nil
	}
	return p.poke(tr.addr, tr.original)
}

func (p *process) poke(addr arch.Addr, b byte) error {
	if _, err := p.mem.WriteAt([]byte{b}, int64(addr)); err != nil {
		return fmt.Errorf("cannot write memory at %s: %w", addr, err)
	}
	return nil
}

// drop removes a trap that nobody uses any more.
func (p *process) drop(tr *trap) error {
	if tr.users > 0 || tr.site != nil {
		return nil
	}
	delete(p.traps, tr.addr)
	p.span()
	return tr.lift(p)
}

// span keeps the bounds of all traps, which tell most memory reads that none is in them.
func (p *process) span() {
	p.lowest, p.behind = 0, 0
	for addr := range p.traps {
		if p.behind == 0 || addr < p.lowest {
			p.lowest = addr
		}
		p.behind = max(p.behind, addr+1)
	}
}

// stale reports whether a task stopped behind addr by an int3 that is there no more.
func (p *process) stale(addr arch.Addr) bool {
	var b [1]byte
	n, _ := p.read(addr, b[:])
	return n == 1 && b[0] != breakpointOpcode
}

// InsertBreakpoint implements target.Breakpoints.
func (t *Target) InsertBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	return t.onProcess(id.PID, func(p *process) error {
		if b.Kind != target.Software {
			return p.changeDebug(true, b.Kind, b.Addr, b.Length)
		}
		tr, err := p.trapAt(b.Addr)
		if err != nil {
			return err
		}
		tr.users = 1
		return nil
	})
}

// RemoveBreakpoint implements target.Breakpoints.
func (t *Target) RemoveBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	return t.onProcess(id.PID, func(p *process) error {
		if b.Kind != target.Software {
			return p.changeDebug(false, b.Kind, b.Addr, b.Length)
		}
		tr := p.traps[b.Addr]
		if tr == nil {
			return nil
		}
		tr.users = 0
		return p.drop(tr)
	})
}

// Installer implements target.Tracer.
func (t *Target) Installer(int) tracepoint.Installer { return t }

// SetEngine implements target.Tracer.
func (t *Target) SetEngine(e *tracepoint.Engine) { t.do(func() { t.engine = e }) }

// Install implements tracepoint.Installer.
func (t *Target) Install(site *tracepoint.Site) error {
	err := target.ErrNoProcess
	t.do(func() {
		if t.proc != nil {
			err = t.install(site)
		}
	})
	return err
}

func (t *Target) install(site *tracepoint.Site) error {
	tr, err := t.proc.trapAt(site.Addr)
	if err != nil {
		return err
	}
	tr.site = site
	if err := t.proc.examine(); err != nil {
		return err
	}
	if !tr.emulate && tr.slot == 0 {
		t.giveSlot(tr)
	}
	return nil
}

// Uninstall implements tracepoint.Installer.
func (t *Target) Uninstall(site *tracepoint.Site) error {
	var err error
	t.do(func() {
		if t.proc == nil {
			return
		}
		if tr := t.proc.traps[site.Addr]; tr != nil && tr.site == site {
			tr.site = nil
			err = t.proc.drop(tr)
		}
	})
	return err
}

// removeSites ends all tracing at once, at a hit that ended the run.
func (t *Target) removeSites() {
	for _, tr := range t.proc.traps {
		if tr.site != nil {
			tr.site = nil
			t.proc.drop(tr)
		}
	}
	for _, k := range t.order {
		k.collecting = false
	}
}
