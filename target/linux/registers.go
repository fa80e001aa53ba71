//go:build linux

package linux

import (
	"fmt"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/tdesc"
)

// registerFile maps the registers of the g packet to where the kernel keeps them: the general registers, and the extended state,
// which is in register sets of its own (floating point, vectors). The machine makes it (machine.newRegisterFile).
type registerFile struct {
	description *tdesc.Target
	size        int // of the g packet
	general     int // of what it begins with that takes nothing but the general registers
	fields      []field
	byNumber    map[arch.Reg]*field

	sets []*registerSet // of the extended state, no more than stateSets has bits
}

// registerSet is one register set of the extended state.
type registerSet struct {
	number   int
	state    []byte // buffer, a little longer than the set is
	length   int
	owner    *task // whose state is in the buffer
	readOnly bool  // what a session writes to it has no effect

	// loaded brings a state that was read into the form that fields are for, and returns its length; nil for one that is. modified
	// marks a state as one that the kernel is to load all of; nil if that needs no mark.
	loaded   func(state []byte, length int) int
	modified func(state []byte)
}

// stateSets is a set of register sets, bit n for number n of registerFile.sets.
type stateSets uint8

// field is one register, or a run of registers that lie together on both sides.
type field struct {
	offset, size int // in the g packet
	from         place
	set          int // of the extended state: its number in registerFile.sets
	index        int // of a general register, or offset in the extended state
	width        int // bytes there; the g packet's are filled up with zeros

	// Of a converted register, which the extended state holds in another form. put reports whether it has changed the state.
	get func(state []byte) uint64
	put func(state []byte, v uint64) (changed bool)
}

// place is where a register is kept.
type place uint8

const (
	general   place = iota
	extended        // as it lies in the extended state
	converted       // there in another form
	constant        // nowhere: it is 0 whatever is written to it
)

// layOut takes the registers of the description in, each from where locate says that it is.
func (f *registerFile) layOut(locate func(name string) (field, bool)) error {
	layout, err := f.description.Layout()
	if err != nil {
		return err
	}
	f.size, f.byNumber = layout.Size, make(map[arch.Reg]*field)
	for _, slot := range layout.Slots {
		if err := f.add(&slot, locate); err != nil {
			return err
		}
	}
	f.general = f.size
	for _, fd := range f.fields {
		if fd.from != general && fd.from != constant {
			f.general = min(f.general, fd.offset)
		}
	}
	f.merge()
	return nil
}

func (f *registerFile) add(slot *tdesc.Slot, locate func(name string) (field, bool)) error {
	fd, ok := locate(slot.Reg.Name)
	if !ok {
		return fmt.Errorf("register %s of the target description has no place", slot.Reg.Name)
	}
	fd.offset, fd.size = slot.Offset, slot.Size
	fd.width = min(fd.width, fd.size)
	f.fields = append(f.fields, fd)
	f.byNumber[slot.Reg.Num] = &fd
	return nil
}

// merge joins neighbours, so that copying the register file takes few copies.
func (f *registerFile) merge() {
	merged := f.fields[:1]
	for _, fd := range f.fields[1:] {
		last := &merged[len(merged)-1]
		if fd.from == extended && last.from == extended && fd.set == last.set && last.width == last.size && fd.width == fd.size &&
			last.offset+last.size == fd.offset && last.index+last.width == fd.index {
			last.size += fd.size
			last.width = last.size
			continue
		}
		merged = append(merged, fd)
	}
	f.fields = merged
}

// load makes the buffer of a set hold the state of k.
func (f *registerFile) load(k *task, set int) error {
	s := f.sets[set]
	if k.haveState&(1<<set) != 0 && s.owner == k {
		return nil
	}
	n, err := sys.GetRegSet(k.tid, s.number, s.state)
	if err != nil {
		return fmt.Errorf("reading the extended state of thread %d: %w", k.tid, err)
	}
	if s.loaded != nil {
		n = s.loaded(s.state, n)
	}
	s.length, s.owner = n, k
	k.haveState |= 1 << set
	return nil
}

// prepare has the registers of a task at hand that are in a block.
func (f *registerFile) prepare(k *task, block []byte) error {
	if len(block) > f.size {
		return fmt.Errorf("register block of %d bytes, want %d", len(block), f.size)
	}
	if err := k.fetch(); err != nil || len(block) <= f.general {
		return err
	}
	for set := range f.sets {
		if err := f.load(k, set); err != nil {
			return err
		}
	}
	return nil
}

// read fills block with the registers of a stopped task, or those that it has room for.
func (f *registerFile) read(k *task, block []byte) error {
	if err := f.prepare(k, block); err != nil {
		return err
	}
	for i := range f.fields {
		fd := &f.fields[i]
		if fd.offset >= len(block) {
			break
		}
		dst := block[fd.offset:min(fd.offset+fd.size, len(block))]
		switch fd.from {
		case extended:
			n := copy(dst, f.sets[fd.set].state[fd.index:fd.index+fd.width])
			clear(dst[n:])
		case general:
			putUint(dst, k.regs[fd.index])
		case converted:
			putUint(dst, fd.get(f.sets[fd.set].state))
		case constant:
			clear(dst)
		}
	}
	return nil
}

// write stores block as the registers of a stopped task, touching the extended state only where it differs.
func (f *registerFile) write(k *task, block []byte) error {
	if len(block) < f.size {
		return fmt.Errorf("register block of %d bytes, want %d", len(block), f.size)
	}
	if err := f.prepare(k, block); err != nil {
		return err
	}
	changed, was := stateSets(0), k.regs
	for i := range f.fields {
		fd := &f.fields[i]
		src := block[fd.offset : fd.offset+fd.size]
		switch fd.from {
		case general:
			k.regs[fd.index] = mergeUint(k.regs[fd.index], src)
		case extended:
			dst := f.sets[fd.set].state[fd.index : fd.index+fd.width]
			if string(dst) != string(src[:fd.width]) {
				changed |= 1 << fd.set
			}
			copy(dst, src)
		case converted:
			if fd.put(f.sets[fd.set].state, getUint(src)) {
				changed |= 1 << fd.set
			}
		}
	}
	k.dirty = dirtyAll
	if err := k.flush(); err != nil { // the kernel has taken those before the one that it refuses
		k.regs, k.dirty = was, dirtyAll
		k.flush()
		return fmt.Errorf("writing the registers of thread %d: %w", k.tid, err)
	}
	for i, s := range f.sets {
		if changed&(1<<i) == 0 {
			continue
		}
		if s.readOnly {
			k.haveState &^= 1 << i
			continue
		}
		if s.modified != nil {
			s.modified(s.state)
		}
		if err := sys.SetRegSet(k.tid, s.number, s.state[:s.length]); err != nil {
			return fmt.Errorf("writing the extended state of thread %d: %w", k.tid, err)
		}
	}
	return nil
}

// value returns one register of up to eight bytes.
func (f *registerFile) value(k *task, r arch.Reg) (uint64, error) {
	fd := f.byNumber[r]
	switch {
	case fd == nil:
		return 0, fmt.Errorf("no register %d", r)
	case fd.size > 8:
		return 0, fmt.Errorf("register %d has %d bytes, more than a number holds", r, fd.size)
	}
	if err := k.fetch(); err != nil {
		return 0, err
	}
	if fd.from == constant {
		return 0, nil
	}
	if fd.from == general {
		return k.regs[fd.index] & (^uint64(0) >> (64 - 8*fd.size)), nil
	}
	if err := f.load(k, fd.set); err != nil {
		return 0, err
	}
	if fd.from == converted {
		return fd.get(f.sets[fd.set].state), nil
	}
	return getUint(f.sets[fd.set].state[fd.index : fd.index+fd.width]), nil
}

// putUint stores the low bytes of v, little-endian.
func putUint(dst []byte, v uint64) {
	for i := range dst {
		dst[i] = byte(v)
		v >>= 8
	}
}

func getUint(src []byte) (v uint64) {
	for i := len(src) - 1; i >= 0; i-- {
		v = v<<8 | uint64(src[i])
	}
	return v
}

// mergeUint replaces the low bytes of old.
func mergeUint(old uint64, src []byte) uint64 {
	if len(src) == 8 {
		return getUint(src)
	}
	mask := uint64(1)<<(8*len(src)) - 1
	return old&^mask | getUint(src)
}

// ReadRegisters implements target.Target.
func (t *Target) ReadRegisters(id target.ThreadID, block []byte) error {
	return t.onTask(id, func(k *task) error { return t.regs.read(k, block) })
}

// WriteRegisters implements target.Target. A task whose pc moves has no hit behind it any more.
func (t *Target) WriteRegisters(id target.ThreadID, block []byte) error {
	return t.onTask(id, func(k *task) error {
		k.divert()
		err := t.regs.write(k, block)
		if k.passed != 0 && k.pc() != k.passed {
			k.passed = 0
		}
		return err
	})
}
