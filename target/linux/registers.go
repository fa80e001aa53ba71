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
// which is a register set of its own (floating point, vectors). The machine makes it (machine.newRegisterFile).
type registerFile struct {
	description *tdesc.Target
	size        int // of the g packet
	general     int // of what it begins with that takes nothing but the general registers
	fields      []field
	byNumber    map[arch.Reg]*field

	set      int                // number of the extended state's register set
	modified func(state []byte) // marks an extended state as one that the kernel is to load all of
	state    []byte             // buffer for the extended state, a little longer than it is
	stateLen int
	owner    *task // whose state is in the buffer
}

// field is one register, or a run of registers that lie together on both sides.
type field struct {
	offset, size int // in the g packet
	from         place
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
		if fd.from != general {
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
		if fd.from == extended && last.from == extended && last.width == last.size && fd.width == fd.size &&
			last.offset+last.size == fd.offset && last.index+last.width == fd.index {
			last.size += fd.size
			last.width = last.size
			continue
		}
		merged = append(merged, fd)
	}
	f.fields = merged
}

// load makes the buffer hold the extended state of k.
func (f *registerFile) load(k *task) error {
	if k.haveState && f.owner == k {
		return nil
	}
	n, err := sys.GetRegSet(k.tid, f.set, f.state)
	if err != nil {
		return fmt.Errorf("reading the extended state of thread %d: %w", k.tid, err)
	}
	f.stateLen, f.owner, k.haveState = n, k, true
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
	return f.load(k)
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
			n := copy(dst, f.state[fd.index:fd.index+fd.width])
			clear(dst[n:])
		case general:
			putUint(dst, k.regs[fd.index])
		case converted:
			putUint(dst, fd.get(f.state))
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
	changed, was := false, k.regs
	for i := range f.fields {
		fd := &f.fields[i]
		src := block[fd.offset : fd.offset+fd.size]
		switch fd.from {
		case general:
			k.regs[fd.index] = mergeUint(k.regs[fd.index], src)
		case extended:
			dst := f.state[fd.index : fd.index+fd.width]
			changed = changed || string(dst) != string(src[:fd.width])
			copy(dst, src)
		case converted:
			changed = fd.put(f.state, getUint(src)) || changed
		}
	}
	k.dirty = dirtyAll
	if err := k.flush(); err != nil { // the kernel has taken those before the one that it refuses
		k.regs, k.dirty = was, dirtyAll
		k.flush()
		return fmt.Errorf("writing the registers of thread %d: %w", k.tid, err)
	}
	if !changed {
		return nil
	}
	f.modified(f.state)
	if err := sys.SetRegSet(k.tid, f.set, f.state[:f.stateLen]); err != nil {
		return fmt.Errorf("writing the extended state of thread %d: %w", k.tid, err)
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
	if fd.from == general {
		return k.regs[fd.index] & (^uint64(0) >> (64 - 8*fd.size)), nil
	}
	if err := f.load(k); err != nil {
		return 0, err
	}
	if fd.from == converted {
		return fd.get(f.state), nil
	}
	return getUint(f.state[fd.index : fd.index+fd.width]), nil
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
