//go:build linux

package linux

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/fast"
)

// build makes the pad of a site, of which what is to be done at a hit is given, and writes it into the program.
func (s *padSite) build(p *process, what fast.Site, full fast.WhenFull) error {
	at, ok := s.area.reserve(0)
	if !ok {
		return errors.New("the memory for pads is full")
	}
	// A pad reaches the control area relative to its own pc: by the mapping that is in front of it.
	shape := s.arena.shape
	shape.Control, shape.WhenFull = s.area.base, full
	displace := func(at arch.Addr) (code []byte, err error) {
		if s.copy, err = amd64.Displace(s.plan.Run, at); err != nil {
			return nil, err
		}
		return s.copy.Code, nil
	}
	what.Arena, what.Index, what.Addr, what.Pad, what.Tracepoints = &shape, s.index, s.addr, at, s.list
	what.NoRedZone, what.Displace, what.Next = s.module.isGo, displace, s.plan.Next
	var err error
	if s.pad, err = fast.Build(&what); err != nil {
		return err
	}
	// Nobody else has taken room since; how much it takes is known only now.
	if _, ok := s.area.reserve(len(s.pad.Code)); !ok {
		return errors.New("the memory for pads is full")
	}
	if _, err := p.mem.WriteAt(s.pad.Code, int64(at)); err != nil {
		return fmt.Errorf("cannot write a pad at %s: %w", at, err)
	}
	return nil
}
