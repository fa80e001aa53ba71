//go:build linux

package linux

import (
	"errors"
	"fmt"
	"math"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
)

// read reads the readable prefix of dst at addr, page protections notwithstanding, with the breakpoints hidden.
func (s *addrSpace) read(addr arch.Addr, dst []byte) (int, error) { return s.code.Read(addr, dst) }

// write writes b at addr. Breakpoints in the range stay inserted. Those whose instructions have changed are studied anew.
func (s *addrSpace) write(addr arch.Addr, b []byte) error {
	_, err := s.code.Write(addr, b)
	for _, p := range s.code.Within(addr-min(addr, maxInstruction-1), addr+arch.Addr(len(b))) {
		if bp := s.inserted[p.Addr()]; bp != nil && bp.pad == nil {
			bp.renew(s)
		}
	}
	return err
}

// ReadMemory implements target.Target.
func (t *Target) ReadMemory(id target.ThreadID, addr arch.Addr, dst []byte) (n int, err error) {
	err = t.onProcess(id.PID, func(p *process) error {
		n, err = p.read(addr, dst)
		return err
	})
	return n, err
}

// WriteMemory implements target.Target.
func (t *Target) WriteMemory(id target.ThreadID, addr arch.Addr, b []byte) error {
	return t.onProcess(id.PID, func(p *process) error {
		before := min(addr, maxInstruction-1) // an instruction that begins there may reach into what is written
		return errors.Join(t.demote(p, addr-before, int(before)+len(b)), p.write(addr, b))
	})
}

// mappings answers target.ReadOnly.
type mappings struct{ t *Target }

// ReadOnly implements target.ReadOnly.
func (m mappings) ReadOnly(id target.ThreadID, addr arch.Addr, n int) bool {
	ok := false
	m.t.onProcess(id.PID, func(p *process) error {
		maps, err := sys.Mappings(p.alive())
		if err != nil {
			return err
		}
		at, end := uint64(addr), uint64(addr)+uint64(n)
		for _, mapping := range maps {
			if mapping.Start <= at && at < mapping.End && !mapping.Write {
				at = mapping.End
			}
		}
		ok = at >= end
		return nil
	})
	return ok
}

// Region implements target.Mappings.
func (t *Target) Region(pid int, addr arch.Addr) (r target.Region, err error) {
	err = t.onProcess(pid, func(p *process) error {
		maps, err := sys.Mappings(p.alive())
		if err == nil {
			r = regionOf(maps, addr)
		}
		return err
	})
	return r, err
}

// regionOf finds the mapping that has an address, or the gap. Mappings are in order of their addresses.
func regionOf(maps []sys.Mapping, addr arch.Addr) target.Region {
	gap := uint64(0) // where it begins
	for _, m := range maps {
		switch {
		// The first mapping behind the address: what is in front of it ends there.
		case uint64(addr) < m.Start:
			return target.Region{Start: arch.Addr(gap), Size: m.Start - gap}
		case uint64(addr) < m.End:
			return target.Region{
				Start: arch.Addr(m.Start), Size: m.End - m.Start,
				Access: target.Access{Read: m.Read, Write: m.Write, Exec: m.Exec}, Name: m.Path,
			}
		}
		gap = m.End
	}
	if gap == 0 { // the size of everything is no number of 64 bits
		return target.Region{Size: math.MaxUint64}
	}
	return target.Region{Start: arch.Addr(gap), Size: -gap}
}

// ReadAuxv implements target.Auxv.
func (t *Target) ReadAuxv(pid int) (b []byte, err error) {
	err = t.onProcess(pid, func(p *process) error {
		b, err = sys.Auxv(p.alive())
		return err
	})
	return b, err
}

// ReadExecFile implements target.ExecFile.
func (t *Target) ReadExecFile(pid int) (path string, err error) {
	err = t.onProcess(pid, func(p *process) error {
		path, err = sys.Executable(p.alive())
		return err
	})
	return path, err
}

// ReadSiginfo implements target.Siginfo.
func (t *Target) ReadSiginfo(id target.ThreadID) ([]byte, error) {
	var info [sys.SiginfoSize]byte
	err := t.onTask(id, func(k *task) error { return sys.GetSiginfo(k.tid, &info) })
	return info[:], err
}

// WriteSiginfo implements target.Siginfo.
func (t *Target) WriteSiginfo(id target.ThreadID, b []byte) error {
	if len(b) != sys.SiginfoSize {
		return fmt.Errorf("siginfo of %d bytes, want %d", len(b), sys.SiginfoSize)
	}
	return t.onTask(id, func(k *task) error { return sys.SetSiginfo(k.tid, (*[sys.SiginfoSize]byte)(b)) })
}
