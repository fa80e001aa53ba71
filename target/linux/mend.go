//go:build linux

package linux

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"tracewell/arch"
	"tracewell/internal/fast"
	"tracewell/internal/sys"
)

// Mending is how a program is mended.
type Mending struct {
	// DryRun only looks: the program is not stopped, and nothing is changed.
	DryRun bool
	// Save takes the frames that nobody has fetched, before the memory goes that they are in. After an error that stays. nil
	// stands for not wanting them.
	Save func([]Salvaged) error
}

// Mended is what was found in a program, and what has become of it.
type Mended struct {
	Arenas   int // left by tracers that were killed; 0 for nothing to mend
	Sites    int // with jumps, in their directories
	Restored int // sites whose code was put back, or would be
	Foreign  int // sites at which there is neither the program's own code nor a jump that matches the directory
	Damaged  int // entries of the directories that the program has written over
	Frames   int // that nobody has fetched
	Passed   int // bytes in the buffers that belong to no whole frame
	Unmapped int // arenas that are gone
	// Kept says why memory was left in the program. It costs the program nothing but address space, and the frames' memory.
	Kept []error
}

// Mending takes three steps, since a program must not stand still while a file is written, nor lose memory that a thread is in.
// First the jumps go, with all threads stopped, which is right wherever those stand: what is in a pad goes back to instructions
// that are the program's own again. Nobody is taken out of a pad, which would need its table and could not survive the end of this
// process half-way; threads are let go, and looked at again until none is in any: pads without a tracer are a few instructions.
// Then the frames are saved. Last, the rest of the patches and the memory go.
const (
	// mendPatience is how long threads may take to leave the pads. One that has to wait for room looks every 10 ms whether the
	// tracer lives; one that waits for a page takes as long as its disk.
	mendPatience = 5 * time.Second
	// mendPause is how long threads run until they are looked at again.
	mendPause = 2 * time.Millisecond
	// mendTries is how often a moment is looked for in which no thread may come back to a pad.
	mendTries = 5
)

var errTracerLives = errors.New("its tracer is alive")

// Mend puts a program back in order whose tracer was killed: its own code comes back, the memory goes that was shared with the
// tracer, and the frames that were not fetched are saved. Nothing is written but over bytes that match a directory.
func (t *Target) Mend(pid int, how Mending) (done *Mended, err error) {
	// The kernel's word for it that nobody traces the process is the one that the program cannot forge. It is asked first.
	if !t.do(func() { err = t.attachable(pid) }) {
		return nil, errors.New("the tracer has ended")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot mend process %d: %w", pid, err)
	}
	mem, err := sys.OpenMemory(pid)
	if err != nil {
		return nil, fmt.Errorf("cannot mend process %d: %w", pid, refused(pid, err))
	}
	defer mem.Close()
	done = &Mended{}
	m := &mender{t: t, pid: pid, mem: mem, done: done, threads: padThreads{mem: mem, tids: make(map[uint64]int64)}}
	if err = m.look(); err == nil && len(m.found) > 0 {
		err = m.run(how)
	}
	if err != nil {
		return done, fmt.Errorf("cannot mend process %d: %w", pid, err)
	}
	return done, nil
}

// mender mends one process. Its methods run on the caller's goroutine, but for those that stopped is given.
type mender struct {
	t     *Target
	pid   int
	mem   *os.File
	maps  []sys.Mapping
	found []*remains
	done  *Mended

	threads padThreads // that were found
}

// look reads the mappings and what tracers have left. A tracer that lives is an error though it does not trace this process: that
// may be a child that has inherited the memory, and the frames in it are the tracer's to fetch.
func (m *mender) look() (err error) {
	if m.maps, err = sys.Mappings(m.pid); err != nil {
		return err
	}
	m.found = m.t.findRemains(m.maps, m.mem)
	for _, r := range m.found {
		if owner := r.control.Owner(); r.broken == nil && owner != 0 {
			if _, err := sys.ThreadGroup(owner); err == nil {
				return fmt.Errorf("%w (thread %d)", errTracerLives, owner)
			}
		}
	}
	return nil
}

// run does what there is to do about what look has found.
func (m *mender) run(how Mending) error {
	d := m.done
	d.Arenas = len(m.found)
	for _, r := range m.found {
		d.Sites += r.sites()
		d.Damaged += r.damaged
	}
	if how.DryRun {
		for _, r := range m.found {
			for i := range r.entries {
				m.judge(&r.entries[i], false)
			}
		}
		m.salvage()
		return nil
	}
	if err := m.restore(); err != nil {
		return err
	}
	salvaged := m.salvage()
	if how.Save != nil && len(salvaged) > 0 {
		if err := how.Save(salvaged); err != nil {
			return fmt.Errorf("the frames stay in its memory: %w", err)
		}
	}
	return m.unmap()
}

// judge counts a site, and puts its code back if it is to. One that has the program's own code already needs nothing: the tracer
// was killed before it wrote the jump, or after it removed it, or a breakpoint was in the way of the jump, which its guard has
// removed.
func (m *mender) judge(e *fast.Entry, write bool) (restored bool) {
	if len(e.Patches) == 0 { // nothing is written there
		return false
	}
	at := site(e)
	switch {
	case leads(m.mem, e) && at.Own != nil:
		if write {
			if err := restore(m.maps, m.mem, at); err != nil {
				m.done.Kept = append(m.done.Kept, err)
				return false
			}
		}
		m.done.Restored++
		return true
	case state(m.mem, at) != own && !m.led(at.Addr):
		m.done.Foreign++
	}
	return false
}

// led reports whether the jump at an address is one that a directory tells of. It may have two entries for it: that of a site which
// is gone stays until its frames have been kept.
func (m *mender) led(addr arch.Addr) bool {
	return slices.ContainsFunc(m.found, func(r *remains) bool {
		return slices.ContainsFunc(r.entries, func(e fast.Entry) bool {
			return len(e.Patches) > 0 && site(&e).Addr == addr && leads(m.mem, &e)
		})
	})
}

// stopped runs f with all threads of the process stopped. f runs on the tracer's thread. A process that job control has stopped
// stays stopped afterwards.
func (m *mender) stopped(f func(p *process) error) (err error) {
	m.t.do(func() {
		if _, err = m.t.attach(m.pid, true); err == nil {
			p := m.t.process(m.pid)
			err = f(p)
			if p = m.t.process(m.pid); p != nil {
				m.t.detach(p)
			}
		}
	})
	return err
}

// restore puts the code of all sites back, and waits until no thread is in a pad.
func (m *mender) restore() error {
	out := false
	for end := time.Now().Add(mendPatience); !out; time.Sleep(mendPause) {
		err := m.stopped(func(p *process) error {
			// What was found while the program ran is not relied on.
			if err := m.look(); err != nil {
				return err
			}
			m.restoreSites()
			out = !m.anyInside(p)
			for _, k := range p.order {
				m.threads.enter(k)
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case !out && time.Now().After(end):
			return errors.New("its code is back, but a thread does not leave the code that collected")
		}
	}
	return nil
}

// restoreSites puts code back until there is nothing more to be put back: where one tracer after the other was killed, each has
// taken the jump of the one before for code of the program.
func (m *mender) restoreSites() {
	for again := true; again; {
		again = false
		m.done.Foreign = 0
		for _, r := range m.found {
			for i := range r.entries {
				again = m.judge(&r.entries[i], true) || again
			}
		}
	}
}

// anyInside reports whether a thread is where code of ours is. No thread gets there any more once the jumps are gone.
func (m *mender) anyInside(p *process) bool {
	for _, k := range p.order {
		if k.state == zombie {
			continue
		}
		pc, err := host.fetchPC(k.tid)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(m.found, func(r *remains) bool { return r.inside().has(pc) }) {
			return true
		}
	}
	return false
}

// unmap takes the rest of the patches out, and has the program unmap the arenas. What cannot be shown to be out of use stays. The
// program's code is searched while the program runs, which takes a tenth of a second for a large one: nobody adds jumps.
func (m *mender) unmap() error {
	for _, r := range m.found {
		if err := m.unusable(r); err != nil {
			m.keep(r, err)
			continue
		}
		var busy error
		for try := 0; try < mendTries; try++ {
			busy = nil
			err := m.stopped(func(p *process) error {
				if busy = m.inUse(p, r); busy != nil {
					return nil
				}
				return m.t.unmapRemains(p, m.maps, r)
			})
			if err != nil {
				return err
			}
			if busy == nil {
				break
			}
			time.Sleep(mendPause)
		}
		if busy != nil {
			m.keep(r, busy)
		} else {
			m.done.Unmapped++
		}
	}
	return nil
}

// keep notes why an arena stays in the program.
func (m *mender) keep(r *remains, why error) {
	m.done.Kept = append(m.done.Kept, fmt.Errorf("the memory at %s stays: %w", r.areas[0], why))
}

// unusable says why an arena may still be in use, going by the program's code. nil says that no jump leads there.
func (m *mender) unusable(r *remains) error {
	switch {
	case r.broken != nil:
		return r.broken
	case r.damaged > 0:
		return errors.New("its directory is damaged")
	case r.jumpsThere(m.maps, m.mem):
		return errJumpsLeft
	}
	return nil
}

// largestStack is how much of a stack is searched.
const largestStack = 16 << 20

// inUse says why an arena may still be in use, going by threads: one may be in a handler of a signal that came to it in a pad, and
// the handler returns there. The address is on its stack then.
func (m *mender) inUse(p *process, r *remains) error {
	maps, err := sys.Mappings(m.pid)
	if err != nil {
		return err
	}
	m.maps = maps
	inside := r.inside()
	for _, k := range p.order {
		if k.state == zombie {
			continue
		}
		if err := k.fetch(); err != nil {
			return err
		}
		sp := uint64(host.sp(&k.regs))
		// Above the stack pointer is all that the thread can return to. Where it points is as good as any other memory: a
		// handler may have a stack of its own.
		i := slices.IndexFunc(maps, func(v sys.Mapping) bool { return v.Start <= sp && sp < v.End })
		if i < 0 || maps[i].End-sp > largestStack {
			return fmt.Errorf("thread %d has a stack that is too large to be searched", k.tid)
		}
		stack := make([]byte, maps[i].End-sp&^7)
		n, _ := m.mem.ReadAt(stack, int64(sp&^7))
		for at := 0; at+8 <= n; at += 8 {
			if inside.has(arch.Addr(binary.LittleEndian.Uint64(stack[at:]))) {
				return fmt.Errorf("thread %d may come back to it from a handler of a signal", k.tid)
			}
		}
	}
	return nil
}

// unmapRemains takes out the patches that led from a site to its pad, and has the program unmap the arena.
func (t *Target) unmapRemains(p *process, maps []sys.Mapping, r *remains) error {
	// No thread is on its way from a site to a pad any more, so the hops in the padding between functions can go.
	for i := range r.entries {
		for _, v := range via(&r.entries[i]) {
			if v.Own == nil || state(p.mem, &v) != ours {
				continue // a trampoline goes with its page
			}
			if err := restore(maps, p.mem, &v); err != nil {
				return err
			}
		}
	}
	c, err := t.beginCalls(p)
	if err != nil {
		return err
	}
	defer c.end()
	drop := func(at arch.Addr, size int) {
		if err == nil {
			err = c.unmap(at, size)
		}
	}
	for _, page := range r.pages {
		drop(page, pageSize)
	}
	// The pads are where the tracer had them mapped, unless the program has put something else there since.
	for _, base := range r.areas {
		drop(base, fast.ControlSize)
		if anonymousCode(maps, base+fast.ControlSize, padAreaSize) {
			drop(base+fast.ControlSize, padAreaSize)
		}
	}
	if r.shape.RingSize > 0 {
		drop(r.shape.Ring, r.shape.RingSize)
		drop(r.shape.Ring+arch.Addr(r.shape.RingSize), r.shape.RingSize)
	}
	return err
}

// anonymousCode reports whether a range is memory as the tracer maps it for its code.
func anonymousCode(maps []sys.Mapping, at arch.Addr, size int) bool {
	return slices.ContainsFunc(maps, func(m sys.Mapping) bool {
		return m.Start <= uint64(at) && uint64(at)+uint64(size) <= m.End && m.Exec && !m.Write && m.Private && m.Path == ""
	})
}
