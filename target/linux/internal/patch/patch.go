package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"tracewell/arch"
)

// Memory is the memory of a program. An address is an offset. Calls may come short, with an error.
type Memory interface {
	io.ReaderAt
	io.WriterAt
}

// Guard is told of every inserted byte. Set comes before the byte is written and again when the program's own byte changes; Unset
// comes when no attempt is made any more to put the program's byte back. internal/guard implements it.
type Guard interface {
	Set(addr arch.Addr, original, inserted byte)
	Unset(addr arch.Addr)
}

// Patch is bytes of ours over bytes of a program.
type Patch struct {
	addr     arch.Addr
	original []byte // the program's own
	inserted []byte // as long
	lifted   bool
	lasting  bool // the guard is not told
	lid      []byte
}

// Addr is the address of the first byte.
func (p *Patch) Addr() arch.Addr { return p.addr }

// End is the address behind the last byte.
func (p *Patch) End() arch.Addr { return p.addr + arch.Addr(len(p.inserted)) }

// OverlapError says that a patch was not inserted because another one is in its range.
type OverlapError struct {
	Addr  arch.Addr // of the patch that was to be inserted
	Other *Patch
}

// Error names both.
func (e *OverlapError) Error() string {
	return fmt.Sprintf("cannot patch memory at %s: there is a patch from %s to %s", e.Addr, e.Other.addr, e.Other.End()-1)
}

// Space is what a tracer has put into one address space. It is for one goroutine.
type Space struct {
	mem   Memory
	guard Guard
	users int

	patches []*Patch                  // in the order of their addresses
	places  []arch.Addr               // their addresses, which are searched more quickly
	removed map[arch.Addr][]takenByte // bytes that were inserted once and are not now: forks that are reported late have them still
	gone    map[arch.Addr][]Patch     // the same of lasting patches, which are put back as a whole

	areas   []*area
	buffers []*Buffer               // in the order of their addresses
	copies  map[arch.Addr][]*Buffer // by the address of their first instruction

	shadow  *Shadow     // the last that was made, nil for none that is of use for the next
	changed []arch.Addr // of patches that have changed since
	copied  int         // patches into Shadows so far

	buf []byte
}

// takenByte is one byte of a patch.
type takenByte struct{ original, inserted byte }

// New returns the empty Space of a memory, with one user.
func New(mem Memory, guard Guard) *Space {
	return &Space{
		mem: mem, guard: guard, users: 1,
		removed: make(map[arch.Addr][]takenByte), gone: make(map[arch.Addr][]Patch), copies: make(map[arch.Addr][]*Buffer),
	}
}

// Share counts another process that runs in the address space.
func (s *Space) Share() *Space {
	s.users++
	return s
}

// Leave is for a process that leaves the address space. The last one removes the patches, since another program may go on in the
// memory that nobody traces. It reports whether it was the last, with the error of RemoveAll.
func (s *Space) Leave() (last bool, err error) {
	if s.users--; s.users > 0 {
		return false, nil
	}
	return true, s.RemoveAll()
}

// At returns the patch that begins at an address, nil if there is none.
func (s *Space) At(addr arch.Addr) *Patch {
	if i, found := slices.BinarySearch(s.places, addr); found {
		return s.patches[i]
	}
	return nil
}

// Within returns the patches that have bytes from low up to but not including high, in order. It is valid until the next change.
func (s *Space) Within(low, high arch.Addr) []*Patch {
	first, _ := slices.BinarySearch(s.places, low)
	end := first
	for end < len(s.places) && s.places[end] < high {
		end++
	}
	if first > 0 && s.patches[first-1].End() > low {
		first--
	}
	return s.patches[first:end]
}

// Insert writes bytes over the program's own at an address. Where they are inserted already it returns the patch that is there,
// renewed if it is lifted or the program has put other code in its place. The error is an *OverlapError, or says that the memory
// cannot be read or written; then nothing has changed.
func (s *Space) Insert(addr arch.Addr, inserted []byte) (*Patch, error) {
	p := s.At(addr)
	if p == nil || !bytes.Equal(p.inserted, inserted) {
		if others := s.Within(addr, addr+arch.Addr(len(inserted))); len(others) > 0 {
			return nil, &OverlapError{addr, others[0]}
		}
		p = &Patch{addr: addr, inserted: slices.Clone(inserted), lifted: true}
	}
	if err := s.Replace(p); err != nil {
		return nil, err
	}
	return p, nil
}

// InsertLasting is Insert for bytes that stay in a program that outlives its tracer: the guard is not told of them.
func (s *Space) InsertLasting(addr arch.Addr, inserted []byte) (*Patch, error) {
	if others := s.Within(addr, addr+arch.Addr(len(inserted))); len(others) > 0 {
		return nil, &OverlapError{addr, others[0]}
	}
	p := &Patch{addr: addr, inserted: slices.Clone(inserted), lifted: true, lasting: true}
	return p, s.Replace(p)
}

// set has the guard know what the program's own byte at an index is, unless the patch is none of its business.
func (s *Space) set(p *Patch, i int, original byte) {
	if !p.lasting {
		s.guard.Set(p.addr+arch.Addr(i), original, p.inserted[i])
	}
}

// unset has the guard forget a byte.
func (s *Space) unset(p *Patch, i int) {
	if !p.lasting {
		s.guard.Unset(p.addr + arch.Addr(i))
	}
}

// Replace inserts a patch that is lifted, or of which the program has overwritten something, over the bytes that the program has
// there now.
func (s *Space) Replace(p *Patch) error {
	before := make([]byte, len(p.inserted))
	if n, err := s.mem.ReadAt(before, int64(p.addr)); n < len(before) {
		return fmt.Errorf("cannot read memory at %s: %w", p.addr+arch.Addr(n), err)
	}
	original := slices.Clone(before)
	if !p.lifted {
		if bytes.Equal(before, p.inserted) {
			return nil
		}
		p.hide(p.addr, original)
	}
	for i, b := range original {
		s.set(p, i, b)
	}
	if n, err := s.mem.WriteAt(p.inserted, int64(p.addr)); err != nil {
		return errors.Join(cannotWrite(p.addr+arch.Addr(n), err), s.undo(p, before[:n]))
	}
	s.remembered(p)
	p.original, p.lifted = original, false
	s.change(p)
	if i, found := slices.BinarySearch(s.places, p.addr); !found {
		s.places = slices.Insert(s.places, i, p.addr)
		s.patches = slices.Insert(s.patches, i, p)
	}
	return nil
}

// undo writes back what a failed Replace has overwritten, and has the guard know what it knew before.
func (s *Space) undo(p *Patch, overwritten []byte) (err error) {
	if len(overwritten) > 0 {
		err = s.putBack(s.mem, p.addr, overwritten)
	}
	for i := range p.inserted {
		if p.lifted {
			s.unset(p, i)
		} else {
			s.set(p, i, p.original[i])
		}
	}
	return err
}

// Intact reports whether all of a patch is in memory. It is not if it is lifted, or if the program has put other code there, as
// the dynamic linker does that loads a library where one was that is gone.
func (s *Space) Intact(p *Patch) bool {
	now := s.room(len(p.inserted))
	n, _ := s.mem.ReadAt(now, int64(p.addr))
	return !p.lifted && bytes.Equal(now[:n], p.inserted)
}

// Lift puts the program's own bytes back, until Replace. After an error the patch is not lifted.
func (s *Space) Lift(p *Patch) error {
	if p.lifted {
		return nil
	}
	if err := s.restore(s.mem, p); err != nil {
		return err
	}
	p.lifted = true
	s.change(p)
	s.remember(p)
	return nil
}

// remember notes what a patch was that is taken out. There may have been others at its address, and a copy of the memory may be
// from the time of any.
func (s *Space) remember(p *Patch) {
	s.remembered(p)
	if p.lasting {
		was := *p
		s.gone[p.addr] = append(s.gone[p.addr], was)
		return
	}
	for i, original := range p.original {
		at := p.addr + arch.Addr(i)
		s.removed[at] = append(s.removed[at], takenByte{original, p.inserted[i]})
	}
}

// remembered forgets what a patch was that is the same as another.
func (s *Space) remembered(p *Patch) {
	if p.lasting {
		s.gone[p.addr] = slices.DeleteFunc(s.gone[p.addr], func(o Patch) bool { return bytes.Equal(o.inserted, p.inserted) })
		return
	}
	for i, inserted := range p.inserted {
		at := p.addr + arch.Addr(i)
		s.removed[at] = slices.DeleteFunc(s.removed[at], func(b takenByte) bool { return b.inserted == inserted })
	}
}

// Remove puts the program's own bytes back and forgets the patch, even if that fails.
func (s *Space) Remove(p *Patch) error {
	err := s.Lift(p)
	if i, found := slices.BinarySearch(s.places, p.addr); found && s.patches[i] == p {
		s.places, s.patches = slices.Delete(s.places, i, i+1), slices.Delete(s.patches, i, i+1)
		s.change(p)
		for i := range p.inserted {
			s.unset(p, i)
		}
		for i := range p.lid {
			s.guard.Unset(p.addr + arch.Addr(i))
		}
	}
	return err
}

// RemoveAll removes all patches. The error is the first of Remove, and says how many others there are.
func (s *Space) RemoveAll() error {
	var errs []error
	for len(s.patches) > 0 {
		errs = append(errs, s.Remove(s.patches[len(s.patches)-1]))
	}
	return summary(errs)
}

// summary is the first of several errors, with the number of the others: a program may have thousands of patches.
func summary(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch others := len(errs) - 1; {
	case others < 0:
		return nil
	case others > 0:
		return fmt.Errorf("%w (%d more like this)", errs[0], others)
	}
	return errs[0]
}

// restore writes the program's own bytes over those of a patch that are still there, in this or another memory.
func (s *Space) restore(mem Memory, p *Patch) error {
	now := s.room(len(p.inserted))
	n, _ := mem.ReadAt(now, int64(p.addr))
	if p.lasting && !p.whole(now[:n]) || !p.hide(p.addr, now[:n]) {
		return nil
	}
	return s.putBack(mem, p.addr, now[:n])
}

// whole reports whether what was read at the address of a patch is all of it, with or without its lid. A part of a jump is no jump:
// single bytes that are the same are those of other code that the program has mapped there.
func (p *Patch) whole(now []byte) bool {
	if len(now) < len(p.inserted) {
		return false
	}
	for i, b := range now {
		if b != p.inserted[i] && (i >= len(p.lid) || b != p.lid[i]) {
			return false
		}
	}
	return true
}

// putBack writes bytes of the program's own. It fails silently if the memory has gone meanwhile.
func (s *Space) putBack(mem Memory, addr arch.Addr, own []byte) error {
	_, err := mem.WriteAt(own, int64(addr))
	if err == nil {
		return nil
	}
	if n, _ := mem.ReadAt(s.room(len(own)), int64(addr)); n == 0 {
		return nil
	}
	return fmt.Errorf("cannot put back the program's own code at %s: %w", addr, err)
}

// room is a buffer for bytes that were read, good until the next call.
func (s *Space) room(n int) []byte {
	s.buf = slices.Grow(s.buf[:0], n)[:n]
	return s.buf
}

// Borrow writes code over whatever is in memory, patches included, and returns a function that puts it back. Meanwhile no thread
// of the program runs but for what it is borrowed for, and nothing else is done to the Space.
func (s *Space) Borrow(addr arch.Addr, code []byte) (giveBack func() error, err error) {
	before := make([]byte, len(code))
	if n, err := s.mem.ReadAt(before, int64(addr)); n < len(before) {
		return nil, fmt.Errorf("cannot read memory at %s: %w", addr+arch.Addr(n), err)
	}
	giveBack = func() error { return s.putBack(s.mem, addr, before) }
	if n, err := s.mem.WriteAt(code, int64(addr)); err != nil {
		return nil, errors.Join(cannotWrite(addr+arch.Addr(n), err), giveBack())
	}
	return giveBack, nil
}

// Clean puts the program's own bytes into a copy of the memory, that of a forked child. The copy may be from a time when there
// were other patches than now, for a fork is reported late, and until then patches come and go.
func (s *Space) Clean(copied Memory) error {
	var errs []error
	for _, p := range s.patches {
		errs = append(errs, s.restore(copied, p))
	}
	for addr, list := range s.gone {
		for i := range list {
			if now := s.At(addr); now == nil || !bytes.Equal(now.inserted, list[i].inserted) {
				errs = append(errs, s.restoreGone(copied, &list[i]))
			}
		}
	}
	for addr, list := range s.removed {
		for _, b := range list {
			if holds(copied, addr, b.inserted) && !holds(s.mem, addr, b.inserted) {
				errs = append(errs, s.putBack(copied, addr, []byte{b.original}))
			}
		}
	}
	return summary(errs)
}

// restoreGone is restore for a patch that is not there any more, unless the program itself has the same bytes there.
func (s *Space) restoreGone(copied Memory, p *Patch) error {
	now := s.room(len(p.inserted))
	n, _ := s.mem.ReadAt(now, int64(p.addr))
	if p.whole(now[:n]) {
		return nil
	}
	return s.restore(copied, p)
}

// holds reports whether a byte in memory has a value.
func holds(mem Memory, addr arch.Addr, value byte) bool {
	var b [1]byte
	_, err := mem.ReadAt(b[:], int64(addr))
	return err == nil && b[0] == value
}

// Fork returns the Space of a child's copy of the memory: it has the buffers, and none of the patches. The error is that of
// Clean; the Space is good all the same.
func (s *Space) Fork(mem Memory, guard Guard) (*Space, error) {
	child := New(mem, guard)
	for _, a := range s.areas {
		child.areas = append(child.areas, &area{a.base, a.size, a.used})
	}
	child.buffers = slices.Clone(s.buffers)
	for addr, copies := range s.copies {
		child.copies[addr] = slices.Clone(copies)
	}
	return child, s.Clean(mem)
}
