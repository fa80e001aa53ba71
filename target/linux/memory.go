//go:build linux && amd64

package linux

import (
	"errors"
	"fmt"
	"io"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
)

// read reads the readable prefix of dst at addr, page protections notwithstanding, with the traps hidden.
func (s *space) read(addr arch.Addr, dst []byte) (int, error) {
	n, err := s.mem.ReadAt(dst, int64(addr))
	s.hide(addr, dst[:n])
	if n < len(dst) {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("no memory there")
		}
		return n, fmt.Errorf("cannot read memory at %s: %w", addr+arch.Addr(n), err)
	}
	return n, nil
}

// hide puts the program's own bytes where traps were read.
func (s *space) hide(addr arch.Addr, b []byte) {
	for _, at := range s.between(addr, addr+arch.Addr(len(b))) {
		b[at-addr] = s.traps[at].original
	}
}

// write writes b at addr. Traps in the range stay, over the new bytes.
func (s *space) write(addr arch.Addr, b []byte) error {
	end := addr + arch.Addr(len(b))
	masked := b
	var changed []*trap
	for _, at := range s.between(addr-min(addr, maxInstruction-1), end) {
		changed = append(changed, s.traps[at])
	}
	if len(changed) > 0 {
		masked = append([]byte(nil), b...)
	}
	for _, tr := range changed {
		if addr <= tr.addr && tr.addr < end {
			masked[tr.addr-addr] = breakpointOpcode
			s.guard.Set(tr.addr, b[tr.addr-addr], breakpointOpcode)
		}
	}
	if n, err := s.mem.WriteAt(masked, int64(addr)); err != nil {
		return fmt.Errorf("cannot write memory at %s: %w", addr+arch.Addr(n), err)
	}
	for _, tr := range changed {
		if addr <= tr.addr && tr.addr < end {
			tr.original = b[tr.addr-addr]
		}
		tr.renew(s)
	}
	return nil
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
	return t.onProcess(id.PID, func(p *process) error { return p.write(addr, b) })
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
