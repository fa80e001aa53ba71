//go:build linux

package linux

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"tracewell/arch"
	"tracewell/fast"
	"tracewell/fast/jump"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
)

// The arena is what a program and the tracer share so that the program can collect by itself: the control area and the ring, of one
// file in memory that the program is made to make, and areas of its own for pads, each near the code that jumps there, with a
// mapping of the control area in front. Nothing of the program's is touched for that but its table of mappings.

const (
	// arenaName is the name of the file, by which another process finds it among the mappings of a program.
	arenaName = "tracewell"
	// waitingRing is the size of the ring in bytes where threads wait for room. With twice as much a hit costs half as much again, for
	// want of cache; with half of it threads wait for longer in all. It holds 5 milliseconds, the pump's longest sleep, of 800 MB/s.
	waitingRing = 4 << 20
	// droppingRing is the size where frames are dropped for want of room: some milliseconds of the most that threads can write.
	droppingRing = 16 << 20
	// padAreaSize is the size of one area for pads: those of about four thousand sites.
	padAreaSize = 2 << 20
	// padAlign keeps a pad from sharing a line of the cache with another one.
	padAlign = 64
)

// arena is that of one address space, as the tracer has it.
type arena struct {
	file      *os.File        // open here alone: the program has closed it once it was mapped
	owned     *sys.Owned      // the control area
	control   fast.Control    // the same, by its words
	directory *fast.Directory // of the sites; the tracer's own
	retired   map[int]uint64  // sites that are gone, by index, with the position up to which the ring may hold frames of theirs
	ring      []byte          // mapped twice in a row
	unmap     func() error    // of the ring
	reader    *fast.Reader    // its Drain is called with the collector's mu held
	marks     []mark          // of slots that are held; guarded by the collector's mu, as is the next
	sleepers  sleepers
	shadow    atomic.Pointer[patch.Shadow] // of the patches in the program
	threads   padThreads
	clocked   bool // pads can tell the time
	actions   faultActions

	shape fast.Arena // Control is that of the first area
	areas []*padArea
}

func newPads() *pads {
	return &pads{
		sites: make(map[arch.Addr]*padSite), judged: make(map[arch.Addr]*padSite), ways: make(map[arch.Addr]*padSite),
	}
}

// arenas are those that there are.
func (s *pads) arenas() (all []*arena) {
	for _, a := range []*arena{s.arena, s.breaks} {
		if a != nil {
			all = append(all, a)
		}
	}
	return all
}

// padArea is memory for pads with a mapping of the control area in front of it.
type padArea struct {
	base arch.Addr // of the control area
	used int       // bytes for pads, a multiple of padAlign
	free []span    // of them, where pads were that are gone, in order
}

func (a *padArea) pads() arch.Addr { return a.base + fast.ControlSize }

// padRange is where the pads are.
func (a *padArea) padRange() jump.Range {
	return jump.Range{Start: a.pads(), End: a.base + arch.Addr(a.size())}
}

// size is that of the control area and the pads.
func (a *padArea) size() int { return fast.ControlSize + padAreaSize }

// arenaFor returns the arena for the tracepoints of a process, with an area for pads within reach of addr that has room for
// a row. It makes what is missing.
func (t *Target) arenaFor(p *process, addr arch.Addr) (*arena, *padArea, error) {
	if p.pads == nil && p.legacy != nil && t.padsAllowed(p) == nil {
		if err := t.inherit(p); err != nil {
			return nil, nil, err
		}
	}
	if p.pads == nil {
		p.pads = newPads()
	}
	if a := p.pads.arena; a != nil && a.control.Abandoned() { // there are holes in the ring that nothing fills
		if len(p.pads.sites) > 0 {
			return nil, nil, target.ErrStoodStill
		}
		t.collector.remove(a)
		p.pads.arena = nil
		gone := a.close
		if !p.pads.stuck {
			gone = func() error { return t.discard(p, nil, a) }
		}
		if err := gone(); err != nil {
			return nil, nil, err
		}
	}
	had := p.pads.arena
	a, area, err := t.arenaNear(p, had, t.collector.ringSize(), addr, rowRoom)
	if err != nil || had != nil {
		return a, area, err
	}
	t.adopted(p, a)
	return a, area, nil
}

// adopted has the tracepoints of a process use an arena.
func (t *Target) adopted(p *process, a *arena) {
	var clock fast.Clock
	if clock, a.clocked = t.clock.clock(); a.clocked {
		a.control.SetClock(clock)
	}
	a.shadow.Store(p.code.Shadow())
	p.pads.arena, p.pads.process = a, int64(p.pid)
	t.collector.add(a)
}

// refusedPads is why no pads were to be had in a run: the kernel would refuse the same call for each location.
type refusedPads struct {
	err error
	run uint64
}

// padsAllowed says why a process cannot have pads at all, as far as that is known without an attempt.
func (t *Target) padsAllowed(p *process) error {
	if err := host.noPads(); err != nil {
		return err
	}
	if run := t.collector.begun.Load(); p.padless.err != nil && p.padless.run == run {
		return p.padless.err
	}
	if err := t.examine(p); err != nil {
		return err
	}
	if p.shadowStack { // a thread whose tracer is killed in such a call goes back by rt_sigreturn
		return errShadowStack
	}
	return nil
}

var errShadowStack = errors.New("the program has a shadow stack (CET), which system calls that the tracer has it make do not bear")

// arenaNear returns an arena that has an area near an address, or makes one with a ring of a size if there is none yet.
func (t *Target) arenaNear(p *process, a *arena, ring int, addr arch.Addr, size int) (*arena, *padArea, error) {
	if a != nil {
		for _, area := range a.areas {
			if distance(area.base, addr) < reach && area.has(size) {
				return a, area, nil
			}
		}
	} else if err := t.padsAllowed(p); err != nil {
		return nil, nil, err
	}
	if t.owner == nil {
		var err error
		if t.owner, err = sys.NewOwner(fast.OwnerAt); err != nil {
			return nil, nil, err
		}
	}
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return nil, nil, err
	}
	area := &padArea{}
	var ok bool
	if area.base, ok = roomNear(maps, addr, uint64(area.size())); !ok {
		return nil, nil, fmt.Errorf("no free address space for pads near %s", addr)
	}
	fresh := a == nil
	mayFilter := fresh && p.mayFilter() // before a thread stands still for it
	c, err := t.beginCalls(p)
	if err != nil {
		return nil, nil, err
	}
	if fresh {
		a, err = newArena(c, area, ring)
	} else if err = c.mapAgain(a, area); err == nil {
		a.areas = append(a.areas, area)
	}
	c.end()
	if err != nil {
		if refused := (*callError)(nil); fresh && errors.As(err, &refused) {
			p.padless = refusedPads{err, t.collector.begun.Load()}
		}
		return nil, nil, err
	}
	if fresh {
		a.shape.RDFSBase = host.padProcessor().RDFSBase
		a.shape.Key = newKey()
		if err := a.open(t.owner, p, mayFilter); err != nil {
			return nil, nil, errors.Join(err, t.discard(p, nil, a))
		}
		a.shape.Filtered = a.sleepers.wary // and may have one by the next hit
	}
	return a, area, nil
}

// newArena has the program make an arena, with one area for pads.
func newArena(c *calls, area *padArea, ring int) (*arena, error) {
	if err := c.mapAt(area.base, area.size(), sys.ReadExecute, sys.OwnMemory|sys.OnlyWhereFree, -1, 0); err != nil {
		return nil, err
	}
	a := &arena{shape: fast.Arena{Control: area.base, RingSize: ring}, areas: []*padArea{area}, retired: make(map[int]uint64)}
	err := a.share(c)
	if err == nil {
		err = a.keepActions(c)
	}
	if err != nil {
		return nil, errors.Join(err, c.unmapArena(a), a.close())
	}
	return a, nil
}

// share has the program make the file, and map it in place of what is where the shape says: memory of the program's own with zeros
// where the control area is to be, and a ring, unless there is none yet.
func (a *arena) share(c *calls) error {
	fd, err := c.makeFile(a.shape.Control)
	if err != nil {
		return err
	}
	defer c.make(sys.CallClose, fd) // the program must not find a descriptor that it has not opened
	if err := a.shareFile(c.k.tid, int(fd)); err != nil {
		return err
	}
	const shared = sys.SharedFile | sys.InPlaceOf
	if err := c.mapAt(a.shape.Control, fast.ControlSize, sys.ReadWrite, shared, int(fd), 0); err != nil {
		return err
	}
	if a.shape.Ring == 0 {
		a.shape.Ring, err = c.mapAnywhere(2 * a.shape.RingSize)
	}
	for i := 0; i < 2 && err == nil; i++ {
		err = c.mapAt(a.shape.Ring+arch.Addr(i*a.shape.RingSize), a.shape.RingSize, sys.ReadWrite, shared, int(fd), fast.ControlSize)
	}
	return err
}

// makeFile has the program make a file in memory, and returns its descriptor. The name is put where nothing is yet.
func (c *calls) makeFile(scratch arch.Addr) (fd uint64, err error) {
	if _, err := c.k.proc.mem.WriteAt([]byte(arenaName+"\x00"), int64(scratch)); err != nil {
		return 0, fmt.Errorf("cannot write new memory of the program at %s: %w", scratch, err)
	}
	fd, err = c.make(sys.CallMemfdCreate, uint64(scratch), sys.SealableMemory|sys.NotExecutable)
	if err != nil {
		fd, err = c.make(sys.CallMemfdCreate, uint64(scratch), sys.SealableMemory)
	}
	return fd, err
}

// mapAt has the program map memory at an address.
func (c *calls) mapAt(at arch.Addr, size, protection, flags, fd int, offset uint64) error {
	got, err := c.make(sys.CallMmap, uint64(at), uint64(size), uint64(protection), uint64(flags), uint64(fd), offset)
	if err == nil && arch.Addr(got) != at {
		err = fmt.Errorf("mmap in the program returned %#x, want %s", got, at)
	}
	return err
}

// unmap has the program unmap memory.
func (c *calls) unmap(at arch.Addr, size int) error {
	_, err := c.make(sys.CallMunmap, uint64(at), uint64(size))
	return err
}

// mapAnywhere has the program set address space aside.
func (c *calls) mapAnywhere(size int) (arch.Addr, error) {
	at, err := c.make(sys.CallMmap, 0, uint64(size), sys.Inaccessible, sys.OwnMemory, ^uint64(0), 0)
	return arch.Addr(at), err
}

// mapAgain has the program make another area for pads. Its mapping of the control area is a second one of the same pages, which
// mremap makes of no bytes of the first: the file is closed.
func (c *calls) mapAgain(a *arena, area *padArea) error {
	if err := c.mapAt(area.base, area.size(), sys.ReadExecute, sys.OwnMemory|sys.OnlyWhereFree, -1, 0); err != nil {
		return err
	}
	err := c.mapControl(a, area)
	if err != nil {
		err = errors.Join(err, c.unmap(area.base, area.size()))
	}
	return err
}

// mapControl has the program map the control area in front of another area for pads, in place of what is there.
func (c *calls) mapControl(a *arena, area *padArea) error {
	got, err := c.make(sys.CallMremap, uint64(a.shape.Control), 0, fast.ControlSize, sys.MoveTo, uint64(area.base))
	if err == nil && arch.Addr(got) != area.base {
		err = fmt.Errorf("mremap in the program returned %#x, want %s", got, area.base)
	}
	return err
}

// shareFile opens the file that a thread of the program has open, and gives it the length that it has from then on.
func (a *arena) shareFile(tid, fd int) error {
	f, err := sys.OpenFileOf(tid, fd)
	if err != nil {
		return err
	}
	a.file = f
	if err := f.Truncate(int64(fast.ControlSize + a.shape.RingSize)); err != nil {
		return err
	}
	return sys.SealLength(f)
}

// newKey makes the key of a new arena.
func newKey() uint64 {
	var key [8]byte
	rand.Read(key[:])
	return binary.LittleEndian.Uint64(key[:])
}

// open maps the file in this process, has the control area owned by the tracer's thread, and the pads tell a process, whose files
// may make it filter its system calls. The program may run meanwhile.
func (a *arena) open(owner *sys.Owner, p *process, mayFilter bool) error {
	a.threads = padThreads{mem: p.mem, tids: make(map[uint64]int64)}
	var err error
	if a.ring, a.unmap, err = sys.MapRing(a.file, fast.ControlSize, a.shape.RingSize); err != nil {
		return err
	}
	if a.owned, err = owner.Own(a.file, fast.ControlSize); err != nil {
		return err
	}
	if a.control, err = fast.NewControl(a.owned.Words, &a.shape); err != nil {
		return err
	}
	if a.reader, err = fast.NewReader(&a.shape, a.control, a.ring); err != nil {
		return err
	}
	a.directory = fast.NewDirectory(a.control)
	a.noteActions()
	wake := a.owned.Half(fast.WakeAt)
	a.reader.Wake = func() { sys.WakeWaiters(wake) }
	a.reader.Thread = a.threads.of
	a.reader.Own = func(addr arch.Addr, memory []byte) { a.shadow.Load().Hide(addr, memory) }
	a.control.SetProcess(int64(p.pid))
	a.beginSleepers(p.filtered, mayFilter)
	a.control.SwitchOn()
	return nil
}

// close gives up the tracer's part, which leaves the pads inert for good.
func (a *arena) close() error {
	var errs []error
	if a.owned != nil {
		errs = append(errs, a.owned.Disown())
	}
	if a.unmap != nil {
		errs = append(errs, a.unmap())
	}
	if a.file != nil {
		errs = append(errs, a.file.Close())
	}
	return errors.Join(errs...)
}

// unmapArenas has a process unmap its arenas, with no thread in any pad.
func (t *Target) unmapArenas(p *process) error {
	if p.pads == nil {
		return nil
	}
	arenas, pages, stuck := p.pads.arenas(), p.pads.pages, p.pads.stuck
	p.pads = nil
	if !stuck && len(arenas)+len(pages) > 0 {
		return t.discard(p, pages, arenas...)
	}
	var errs []error
	for _, a := range arenas {
		errs = append(errs, a.close())
	}
	return errors.Join(errs...)
}

// discard has a process unmap arenas and pages of trampolines, and gives up the tracer's part of them.
func (t *Target) discard(p *process, pages []arch.Addr, arenas ...*arena) error {
	c, err := t.beginCalls(p)
	if err == nil {
		for _, a := range arenas {
			err = errors.Join(err, c.unmapArena(a))
		}
		for _, page := range pages {
			err = errors.Join(err, c.unmap(page, pageSize))
		}
		c.end()
	}
	for _, a := range arenas {
		err = errors.Join(err, a.close())
	}
	return err
}

// unmapArena has the program unmap what it has of an arena.
func (c *calls) unmapArena(a *arena) error {
	var err error
	for _, area := range a.areas {
		err = errors.Join(err, c.unmap(area.base, area.size()))
	}
	if a.shape.Ring != 0 {
		err = errors.Join(err, c.unmap(a.shape.Ring, 2*a.shape.RingSize))
	}
	return err
}

// roomNear finds address space for size bytes within reach of addr: below the code if there is room, as freeNear does, else as far
// above it as reaches, where the heap of a program at a fixed low address does not come soon.
func roomNear(maps []sys.Mapping, addr arch.Addr, size uint64) (arch.Addr, bool) {
	for i := len(maps) - 1; i >= 0; i-- {
		if arch.Addr(maps[i].Start) > addr {
			continue
		}
		floor := uint64(lowestMapping)
		if i > 0 {
			floor = maps[i-1].End
		}
		if maps[i].Start >= floor+size+clearance {
			base := arch.Addr(maps[i].Start - size - clearance)
			return base, distance(base, addr) < reach
		}
	}
	for i := range slices.Backward(maps) {
		ceiling := uint64(addr) + reach
		if i+1 < len(maps) {
			ceiling = min(ceiling, maps[i+1].Start-clearance)
		}
		ceiling &^= 0xfff
		// The kernel's own mapping is at the end of all addresses, where a sum would be too large.
		if end := maps[i].End; arch.Addr(end) > addr && end < ceiling && ceiling-end >= size+clearance {
			return arch.Addr(ceiling - size), true
		}
	}
	return 0, false
}

// publish has whoever drains the ring know which patches there are. Pads collect memory as it is, with the patches in it; what is
// in frames is to be the program's own.
func (s *addrSpace) publish() {
	if s.pads != nil && s.pads.arena != nil {
		s.pads.arena.shadow.Store(s.code.Shadow())
	}
}
