//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"tracewell/arch"
	"tracewell/internal/fast"
	"tracewell/internal/fast/jump"
	"tracewell/internal/sys"
)

// What a tracer that was killed has left in a program is found by the mappings, and read from a copy. All of it is memory that
// the program may have written over, so nothing is believed that cannot be checked against the program's code and mappings.

// remains is one arena that has lost its tracer.
type remains struct {
	inode   uint64
	areas   []arch.Addr // of the control area's mappings, with the pads behind each
	control fast.Control
	shape   fast.Arena // a ring of size 0 if there is none
	entries []fast.Entry
	pages   []arch.Addr // of trampolines
	damaged int         // entries that cannot be believed
	broken  error       // why there are none
}

// memfdPath is how the kernel prints the mappings of an arena's file.
const memfdPath = "/memfd:" + arenaName + " (deleted)"

// findRemains finds the arenas in a memory, each with what its directory tells.
func (t *Target) findRemains(maps []sys.Mapping, mem io.ReaderAt) (found []*remains) {
	// Several arenas have one name but different inodes; an arena has several control areas, which are one, and a ring twice.
	for _, m := range maps {
		if m.Path != memfdPath {
			continue
		}
		i := slices.IndexFunc(found, func(r *remains) bool { return r.inode == m.Inode })
		if i < 0 {
			i = len(found)
			found = append(found, &remains{inode: m.Inode})
		}
		r := found[i]
		size := int(m.End - m.Start)
		switch {
		case m.Offset == 0 && size == fast.ControlSize:
			r.areas = append(r.areas, arch.Addr(m.Start))
		case m.Offset == fast.ControlSize && r.shape.RingSize == 0:
			r.shape.Ring, r.shape.RingSize = arch.Addr(m.Start), size
		}
	}
	// Without a control area there is nothing that tells of jumps. A file of that name may be anybody's.
	found = slices.DeleteFunc(found, func(r *remains) bool { return len(r.areas) == 0 })
	for _, r := range found {
		r.broken = t.readRemains(r, mem)
	}
	return found
}

// readRemains reads the control area and its directory.
func (t *Target) readRemains(r *remains, mem io.ReaderAt) error {
	r.shape.Control = r.areas[0]
	var id fast.Identity
	var err error
	r.control, id, err = fast.CopyControl(func(offset int, p []byte) error {
		_, err := mem.ReadAt(p, int64(r.shape.Control)+int64(offset))
		return err
	})
	if err != nil {
		return err
	}
	if !r.control.Begun() { // the tracer was killed before it patched anything
		return nil
	}
	r.shape.Key = id.Key
	layout, err := t.regs.description.Layout()
	if err != nil {
		return err
	}
	r.entries, r.damaged = r.control.Entries(&r.shape, func(length int) (*fast.Registers, error) {
		return fast.NewRegisters(layout, length, host.padProcessor())
	})
	// The site of an entry whose pad is elsewhere is none of this arena.
	pads := r.pads()
	r.entries = slices.DeleteFunc(r.entries, func(e fast.Entry) bool {
		if pads.has(e.Pad) {
			return false
		}
		r.damaged++
		return true
	})
	return nil
}

// sites is how many sites have jumps of their own.
func (r *remains) sites() (n int) {
	for i := range r.entries {
		if len(r.entries[i].Patches) > 0 {
			n++
		}
	}
	return n
}

// spans are ranges of addresses.
type spans []jump.Range

func (s spans) has(addr arch.Addr) bool {
	return slices.ContainsFunc(s, func(r jump.Range) bool { return addr >= r.Start && addr < r.End })
}

// pads are where an arena's pads are.
func (r *remains) pads() (all spans) {
	for _, base := range r.areas {
		at := base + fast.ControlSize
		all = append(all, jump.Range{Start: at, End: at + padAreaSize})
	}
	return all
}

// inside is where a thread is on its way to a pad, in one, or on its way back.
func (r *remains) inside() spans {
	all := r.pads()
	for i := range r.entries {
		for _, p := range via(&r.entries[i]) {
			all = append(all, jump.Range{Start: p.Addr, End: p.Addr + arch.Addr(len(p.Ours))})
		}
	}
	for _, page := range r.pages {
		all = append(all, jump.Range{Start: page, End: page + pageSize})
	}
	return all
}

// site and via are the patch at a site itself, and those by which its jump gets to the pad. A site that another one's jump
// displaces has none.
func site(e *fast.Entry) *fast.Patch { return &e.Patches[len(e.Patches)-1] }
func via(e *fast.Entry) []fast.Patch { return e.Patches[:max(len(e.Patches)-1, 0)] }

// patchState is what there is of a patch in a memory.
type patchState uint8

const (
	foreign patchState = iota // something else, or no memory: a library that was unloaded
	own                       // the program's own bytes
	ours
)

// state tells what there is of a patch.
func state(mem io.ReaderAt, p *fast.Patch) patchState {
	now := make([]byte, len(p.Ours))
	if _, err := mem.ReadAt(now, int64(p.Addr)); err != nil {
		return foreign
	}
	switch {
	case bytes.Equal(now, p.Ours):
		return ours
	case p.Own != nil && bytes.Equal(now, p.Own): // never of a trampoline, which lies over nothing
		return own
	}
	return foreign
}

// leads reports whether the jump at a site is in memory as the directory says, and leads to its pad by way of its other patches.
func leads(mem io.ReaderAt, e *fast.Entry) bool {
	at := site(e).Addr
	for i := len(e.Patches) - 1; i >= 0; i-- {
		p := &e.Patches[i]
		var code [maxInstruction]byte // the end of the jump may be bytes of the program's own
		n, _ := mem.ReadAt(code[:], int64(at))
		to, ok := jump.Follow(code[:n], at)
		if p.Addr != at || state(mem, p) != ours || !ok {
			return false
		}
		at = to
	}
	return at == e.Pad
}

// restore puts the program's own bytes back where a patch is. The file of the memory writes to anything that is mapped, so what is
// no code is refused here.
func restore(maps []sys.Mapping, mem io.WriterAt, p *fast.Patch) error {
	end := uint64(p.Addr) + uint64(len(p.Own))
	if !slices.ContainsFunc(maps, func(m sys.Mapping) bool { return m.Exec && m.Start <= uint64(p.Addr) && end <= m.End }) {
		return fmt.Errorf("there is no code at %s", p.Addr)
	}
	_, err := mem.WriteAt(p.Own, int64(p.Addr))
	return err
}

var errJumpsLeft = errors.New("the program's code has jumps to it that its directory does not tell of")

// jumpsThere reports whether the code of the program leads to an arena by jumps that the directory does not tell of, as the program
// may have written over it. All of the code is searched, from each byte on; instructions need not be known for that. It finds
// the pages of trampolines besides.
func (r *remains) jumpsThere(maps []sys.Mapping, mem io.ReaderAt) bool {
	pads, told := r.pads(), r.inside()
	used := make(map[arch.Addr][]byte) // the pads themselves
	for _, s := range pads {
		b := make([]byte, s.End-s.Start)
		n, _ := mem.ReadAt(b, int64(s.Start))
		used[s.Start] = b[:n]
	}
	// Pads begin at certain places, and are not empty. That keeps bytes that only look like a jump from being taken for one: in a
	// hundred megabytes of code some two hundred have a distance that leads to the area.
	isPad := func(to arch.Addr) bool {
		for start, b := range used {
			if i := to - start; to >= start && i < arch.Addr(len(b)) {
				return i%padAlign == 0 && b[i] != 0
			}
		}
		return false
	}
	var code []sys.Mapping
	for _, m := range maps {
		switch {
		case !m.Exec || pads.has(arch.Addr(m.Start)) || m.Path == "[vsyscall]":
		case anonymousCode(maps, arch.Addr(m.Start), pageSize):
			code = append(code, r.trampolines(m, mem, isPad)...)
		default:
			code = append(code, m)
		}
	}
	pages := make(map[arch.Addr]bool)
	for _, p := range r.pages {
		pages[p] = true
	}
	// Chunks overlap by a jump, which may lie on the border.
	const chunk = 1 << 20
	buf := make([]byte, chunk+jump.Trampoline)
	for _, m := range code {
		for at := m.Start; at < m.End; at += chunk {
			n, _ := mem.ReadAt(buf[:min(uint64(len(buf)), m.End-at)], int64(at))
			if jump.Leads(buf[:n], arch.Addr(at), func(from, to arch.Addr) bool {
				return (isPad(to) || pages[to&^(pageSize-1)]) && !told.has(from)
			}) {
				return true
			}
		}
	}
	return false
}

// trampolines adds the pages of a mapping that hold nothing but jumps to pads, and returns the rest of the mapping.
func (r *remains) trampolines(m sys.Mapping, mem io.ReaderAt, isPad func(arch.Addr) bool) (rest []sys.Mapping) {
	b := make([]byte, pageSize)
	for at := m.Start; at < m.End; at += pageSize {
		n, _ := mem.ReadAt(b, int64(at))
		if onlyTrampolines(b[:n], arch.Addr(at), isPad) {
			r.pages = append(r.pages, arch.Addr(at))
			continue
		}
		page := m
		page.Start, page.End = at, min(at+pageSize+jump.Trampoline-1, m.End) // one may run over the end
		rest = append(rest, page)
	}
	return rest
}

// onlyTrampolines reports whether a page holds jumps to pads, and zeros.
func onlyTrampolines(page []byte, at arch.Addr, isPad func(arch.Addr) bool) bool {
	found := false
	for i := 0; i < len(page); {
		if page[i] == 0 {
			i++
			continue
		}
		if to, ok := jump.Follow(page[i:], at+arch.Addr(i)); !ok || !isPad(to) {
			return false
		}
		found = true
		i += jump.Trampoline
	}
	return found
}
