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
	"tracewell/internal/sys"
	"tracewell/target/linux/internal/patch"
)

// The arena is what a program and the tracer share so that the program can collect by itself: the control area and the ring, of one
// file in memory that the program is made to make, and areas of its own for pads, each near the code that jumps there, with a
// mapping of the control area in front. Nothing of the program's is touched for that but its table of mappings.

const (
	// arenaName is the name of the file, by which another process finds it among the mappings of a program.
	arenaName = "tracewell"
	// waitingRing is the size of the ring in bytes where threads wait for room. It fits in the second-level cache of a processor: a
	// hit costs half as much again with a ring eight times as large. It holds 5 milliseconds, the pump's longest sleep, of 400 MB/s.
	waitingRing = 2 << 20
	// droppingRing is the size where frames are dropped for want of room: some milliseconds of the most that threads can write.
	droppingRing = 16 << 20
	// padAreaSize is the size of one area for pads: those of about four thousand sites.
	padAreaSize = 2 << 20
	// padAlign keeps a pad from sharing a line of the cache with another one.
	padAlign = 64
)

// arena is that of one address space, as the tracer has it.
type arena struct {
	file      *os.File                     // open here alone: the program has closed it once it was mapped
	owned     *sys.Owned                   // the control area
	control   fast.Control                 // the same, by its words
	directory *fast.Directory              // of the sites; the tracer's own
	ring      []byte                       // mapped twice in a row
	unmap     func() error                 // of the ring
	reader    *fast.Reader                 // its Drain is called with the collector's mu held
	take      func(*fast.Record) bool      // what Drain is given, made once
	shadow    atomic.Pointer[patch.Shadow] // of the patches in the program
	threads   padThreads
	clocked   bool // pads can tell the time
	actions   faultActions

	shape fast.Arena // Control is that of the first area
	areas []*padArea
}

// padArea is memory for pads with a mapping of the control area in front of it.
type padArea struct {
	base arch.Addr // of the control area
	used int       // bytes for pads, a multiple of padAlign
	free []span    // of them, where pads were that are gone, in order
}

func (a *padArea) pads() arch.Addr { return a.base + fast.ControlSize }

// size is that of the control area and the pads.
func (a *padArea) size() int { return fast.ControlSize + padAreaSize }

// refusedPads is why no pads were to be had in a run: the kernel would refuse the same call for each location.
type refusedPads struct {
	err error
	run uint64
}

// arenaFor returns the arena of a process, with an area for pads within reach of addr that has room. It makes what is missing.
func (t *Target) arenaFor(p *process, addr arch.Addr) (*arena, *padArea, error) {
	var a *arena
	if err := t.padsAllowed(p); err != nil {
		return nil, nil, err
	}
	if p.pads == nil && p.legacy != nil {
		if err := t.inherit(p); err != nil {
			return nil, nil, err
		}
	}
	if p.pads != nil && p.pads.arena.control.Abandoned() { // there are holes in the ring that nothing fills
		if len(p.pads.sites) > 0 {
			return nil, nil, errStoodStill
		}
		t.collector.remove(p.pads.arena)
		if err := t.unmapArena(p); err != nil {
			return nil, nil, err
		}
	}
	if p.pads != nil {
		a = p.pads.arena
		for _, area := range a.areas {
			if distance(area.base, addr) < reach && !area.full() {
				return a, area, nil
			}
		}
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
	c, err := t.beginCalls(p)
	if err != nil {
		return nil, nil, err
	}
	if a == nil {
		a, err = t.newArena(c, area)
	} else {
		err = c.mapAgain(a, area)
	}
	c.end()
	if err != nil {
		if refused := (*callError)(nil); p.pads == nil && errors.As(err, &refused) {
			p.padless = refusedPads{err, t.collector.begun.Load()}
		}
		return nil, nil, err
	}
	if p.pads == nil { // the rest is the tracer's alone, and the program may run
		a.shape.Spin = p.filtered
		a.shape.RDFSBase = host.padProcessor().RDFSBase
		a.shape.Key = newKey()
		if err := t.openArena(p, a); err != nil {
			a.areas = append(a.areas, area)
			return nil, nil, errors.Join(err, t.dropArena(p, a, nil))
		}
		sys.Populate(a.ring) // which takes milliseconds
		p.pads = &pads{arena: a, process: int64(p.pid), sites: make(map[arch.Addr]*padSite)}
		t.collector.add(a)
	}
	a.areas = append(a.areas, area)
	return a, area, nil
}

// padsAllowed says why a process cannot have pads at all, as far as that is known without an attempt.
func (t *Target) padsAllowed(p *process) error {
	if p.pads != nil {
		return nil
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

// newArena has the program make the file and map it. After an error nothing stays mapped.
func (t *Target) newArena(c *calls, area *padArea) (*arena, error) {
	if err := c.mapAt(area.base, area.size(), sys.ReadExecute, sys.OwnMemory|sys.OnlyWhereFree, -1, 0); err != nil {
		return nil, err
	}
	a := &arena{shape: fast.Arena{Control: area.base, RingSize: t.collector.ringSize()}}
	var err error
	if a.shape.Ring, err = c.mapAnywhere(2 * a.shape.RingSize); err == nil {
		if err = a.share(c); err == nil {
			return a, nil
		}
		err = errors.Join(err, c.unmap(a.shape.Ring, 2*a.shape.RingSize))
	}
	return nil, errors.Join(err, c.unmap(area.base, area.size()))
}

// share has the program make the file, and map it in place of what is where the shape says: memory of the program's own with zeros
// where the control area is to be, address space where the ring is.
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
	err = c.mapAt(a.shape.Control, fast.ControlSize, sys.ReadWrite, shared, int(fd), 0)
	for i := 0; i < 2 && err == nil; i++ {
		err = c.mapAt(a.shape.Ring+arch.Addr(i*a.shape.RingSize), a.shape.RingSize, sys.ReadWrite, shared, int(fd), fast.ControlSize)
	}
	if err == nil {
		err = a.keepActions(c)
	}
	if err != nil {
		return errors.Join(err, a.close())
	}
	return nil
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
	if err = f.Truncate(int64(fast.ControlSize + a.shape.RingSize)); err == nil {
		err = sys.SealLength(f)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// newKey makes the key of a new arena.
func newKey() uint64 {
	var key [8]byte
	rand.Read(key[:])
	return binary.LittleEndian.Uint64(key[:])
}

// openArena has an arena ready for the pads of a process. After an error it is closed.
func (t *Target) openArena(p *process, a *arena) error {
	a.threads = padThreads{mem: p.mem, tids: make(map[uint64]int64)}
	if err := a.open(t.owner); err != nil {
		return errors.Join(err, a.close())
	}
	a.control.SetProcess(int64(p.pid))
	var clock fast.Clock
	if clock, a.clocked = t.clock.clock(); a.clocked {
		a.control.SetClock(clock)
	}
	a.shadow.Store(p.code.Shadow())
	return nil
}

// open maps the file in this process, and has the control area owned by the tracer's thread.
func (a *arena) open(owner *sys.Owner) error {
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
	return errors.Join(append(errs, a.file.Close())...)
}

// unmapArena has a process unmap its arena, with no thread in any pad.
func (t *Target) unmapArena(p *process) error {
	if p.pads == nil {
		return nil
	}
	a, pages, stuck := p.pads.arena, p.pads.pages, p.pads.stuck
	p.pads = nil
	if stuck {
		return a.close()
	}
	return errors.Join(t.dropArena(p, a, pages), a.close())
}

// dropArena has a process unmap an arena with which nothing leads to a pad, and pages of trampolines.
func (t *Target) dropArena(p *process, a *arena, pages []arch.Addr) error {
	c, err := t.beginCalls(p)
	if err == nil {
		err = a.unmapFrom(c, pages)
		c.end()
	}
	return err
}

// unmapFrom has the program unmap all of an arena, and pages of trampolines.
func (a *arena) unmapFrom(c *calls, pages []arch.Addr) (err error) {
	drop := func(at arch.Addr, size int) {
		if err == nil {
			err = c.unmap(at, size)
		}
	}
	for _, area := range a.areas {
		drop(area.base, area.size())
	}
	for _, page := range pages {
		drop(page, pageSize)
	}
	drop(a.shape.Ring, 2*a.shape.RingSize)
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
		if arch.Addr(maps[i].End) > addr && ceiling >= maps[i].End+size+clearance {
			return arch.Addr(ceiling - size), true
		}
	}
	return 0, false
}
