package patch

import "tracewell/arch"

// A lid is a breakpoint instruction over the beginning of a patch that is a jump, for a time in which threads may not all go where
// the jump leads. Like any patch of one byte it may come and go while threads run. It counts as ours for as long as the patch is
// there: a fork that is reported late has a copy from another time.

// Cover puts a lid on a patch, which the guard takes off again.
func (s *Space) Cover(p *Patch, lid []byte) error {
	p.lid = lid
	s.change(p)
	for i := range lid {
		s.guard.Set(p.addr+arch.Addr(i), p.inserted[i], lid[i])
	}
	if n, err := s.mem.WriteAt(lid, int64(p.addr)); err != nil {
		return cannotWrite(p.addr+arch.Addr(n), err)
	}
	return nil
}

// Uncover takes the lid of a patch off.
func (s *Space) Uncover(p *Patch) error {
	err := s.putBack(s.mem, p.addr, p.inserted[:len(p.lid)])
	for i := range p.lid {
		s.guard.Unset(p.addr + arch.Addr(i))
	}
	return err
}
