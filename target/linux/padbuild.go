//go:build linux

package linux

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/fast"
)

// build makes the pad of a site, of which what is to be done at a hit is given, and writes it into the program.
func (s *padSite) build(p *process, what fast.Site, full fast.WhenFull) error {
	return s.place(p, what, func(what *fast.Site) (*fast.Pad, error) {
		what.Arena.WhenFull = full
		return fast.Build(what)
	})
}

// place gives a pad its place, and writes it there.
func (s *padSite) place(p *process, what fast.Site, build func(*fast.Site) (*fast.Pad, error)) error {
	run := s.run
	if run == nil {
		run = s.plan.Run
	}
	// A pad reaches the control area relative to its own pc: by the mapping that is in front of it.
	shape := s.arena.shape
	shape.Control = s.area.base
	displace := func(at arch.Addr) (code []byte, err error) {
		if s.copy, err = amd64.Displace(run, at); err != nil {
			return nil, err
		}
		return s.copy.Code, nil
	}
	what.Arena, what.Index, what.Addr, what.Tracepoints = &shape, s.index, s.addr, s.list
	what.NoRedZone, what.Displace, what.Next, what.Onward = s.golang, displace, run[len(run)-1].Next(), s.onward
	for _, at := range s.area.places() { // how much it takes is known only when it is built
		var err error
		what.Pad = at
		if s.pad, err = build(&what); err != nil {
			return err
		}
		if !s.area.take(at, len(s.pad.Code)) {
			continue
		}
		if _, err := p.mem.WriteAt(s.pad.Code, int64(at)); err != nil {
			return fmt.Errorf("cannot write a pad at %s: %w", at, err)
		}
		return nil
	}
	return errors.New("the memory for pads is full")
}
