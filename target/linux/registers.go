//go:build linux && amd64

package linux

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/cpuid"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// registerFile knows where the kernel keeps each register of the g packet. One part is the general registers; the other
// is the extended state, a save area in the form of the XSAVE instruction whose length only the kernel can tell (11,008
// bytes where there is AMX) and whose components lie where the processor says.
type registerFile struct {
	description *tdesc.Target
	size        int // of the g packet
	general     int // of what it begins with that takes nothing but the general registers
	fields      []field
	byNumber    map[arch.Reg]*field

	state    []byte // buffer for the extended state, a little longer than it is
	stateLen int
	owner    *task // whose state is in the buffer
}

// field is one register, or a run of registers that lie together on both sides.
type field struct {
	offset, size int // in the g packet
	from         place
	index        int // of a general register, or offset in the extended state
	width        int // bytes there; the g packet's are filled up with zeros
}

// place is where a register is kept.
type place uint8

const (
	general  place = iota
	extended       // as it lies in the save area
	tagWord        // the x87 tag word, which the save area holds in short
)

// Offsets in the save area (Intel SDM volume 1, chapter 13).
const (
	legacyStatus  = 2
	legacyTag     = 4
	legacyStack   = 32
	legacyXMM     = 160
	legacyFeature = 464 // Linux stores the enabled components here
	headerBV      = 512 // which components are not in their initial state
	stateRoom     = 1 << 16
)

// The components of the extended state that registers come from.
const (
	componentX87 = iota
	componentSSE
	componentAVX
	_
	_
	componentK
	componentZMMHigh
	componentZMM16
	_
	componentPKRU
)

// newRegisterFile describes the registers of the machine as a stopped tracee has them.
func newRegisterFile(tid int) (*registerFile, error) {
	f := &registerFile{state: make([]byte, stateRoom), byNumber: make(map[arch.Reg]*field)}
	n, err := sys.GetRegSet(tid, sys.RegSetXState, f.state)
	if err != nil || n < headerBV {
		return nil, fmt.Errorf("reading the extended state (%d bytes): %w", n, err)
	}
	f.stateLen = n
	enabled := binary.LittleEndian.Uint64(f.state[legacyFeature:])
	has := func(components ...int) bool {
		for _, c := range components {
			if enabled&(1<<c) == 0 {
				return false
			}
		}
		return true
	}
	m := machine.LinuxAMD64
	m.AVX = has(componentAVX)
	m.AVX512 = has(componentK, componentZMMHigh, componentZMM16)
	m.PKU = has(componentPKRU)
	f.description = m.Target()
	layout, err := f.description.Layout()
	if err != nil {
		return nil, err
	}
	f.size = layout.Size
	for _, slot := range layout.Slots {
		if err := f.add(&slot); err != nil {
			return nil, err
		}
	}
	f.general = f.size
	for _, fd := range f.fields {
		if fd.from != general {
			f.general = min(f.general, fd.offset)
		}
	}
	f.merge()
	return f, nil
}

func (f *registerFile) add(slot *tdesc.Slot) error {
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

// generalNames are the registers of user_regs_struct, in its order.
var generalNames = [...]string{
	"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "orig_rax",
	"rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs",
}

// fixedFields are the single registers of the save area.
var fixedFields = map[string]field{
	"fctrl": {from: extended, index: 0, width: 2},
	"fstat": {from: extended, index: legacyStatus, width: 2},
	"ftag":  {from: tagWord, index: legacyTag, width: 4},
	"fop":   {from: extended, index: 6, width: 2},
	"fioff": {from: extended, index: 8, width: 4},
	"fiseg": {from: extended, index: 12, width: 2},
	"fooff": {from: extended, index: 16, width: 4},
	"foseg": {from: extended, index: 20, width: 2},
	"mxcsr": {from: extended, index: 24, width: 4},
}

// bank is a row of registers at equal distances in one component.
type bank struct {
	prefix, suffix string
	first, count   int
	component      int // 0: index counts from the save area's beginning
	index, stride  int
	width          int
}

var banks = []bank{
	{"st", "", 0, 8, 0, legacyStack, 16, 10},
	{"xmm", "", 0, 16, 0, legacyXMM, 16, 16},
	{"ymm", "h", 0, 16, componentAVX, 0, 16, 16},
	{"k", "", 0, 8, componentK, 0, 8, 8},
	{"zmm", "h", 0, 16, componentZMMHigh, 0, 32, 32},
	{"xmm", "", 16, 16, componentZMM16, 0, 64, 16},
	{"ymm", "h", 16, 16, componentZMM16, 16, 64, 16},
	{"zmm", "h", 16, 16, componentZMM16, 32, 64, 32},
	{"pkr", "u", 0, 0, componentPKRU, 0, 0, 4},
}

// locate finds where the kernel keeps a register.
func locate(name string) (field, bool) {
	for i, n := range generalNames {
		if n == name {
			return field{from: general, index: i, width: 8}, true
		}
	}
	if fd, ok := fixedFields[name]; ok {
		return fd, true
	}
	for _, b := range banks {
		if i, ok := b.member(name); ok {
			index := b.index + i*b.stride
			if b.component != 0 {
				index += cpuid.StateComponent(b.component).Offset
			}
			return field{from: extended, index: index, width: b.width}, true
		}
	}
	return field{}, false
}

// member reports whether name belongs to the bank, and as which one.
func (b *bank) member(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, b.prefix)
	if !ok || !strings.HasSuffix(digits, b.suffix) {
		return 0, false
	}
	digits = strings.TrimSuffix(digits, b.suffix)
	if b.count == 0 {
		return 0, digits == ""
	}
	n, err := strconv.Atoi(digits)
	return n - b.first, err == nil && n >= b.first && n < b.first+b.count
}

// load makes the buffer hold the extended state of k.
func (f *registerFile) load(k *task) error {
	if k.haveState && f.owner == k {
		return nil
	}
	n, err := sys.GetRegSet(k.tid, sys.RegSetXState, f.state)
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
		case tagWord:
			putUint(dst, uint64(fullTag(f.state)))
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
		case tagWord:
			short := shortTag(uint16(getUint(src)))
			changed = changed || f.state[legacyTag] != short
			f.state[legacyTag] = short
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
	bv := binary.LittleEndian.Uint64(f.state[headerBV:])
	enabled := binary.LittleEndian.Uint64(f.state[legacyFeature:])
	bv |= enabled & (1<<componentX87 | 1<<componentSSE | 1<<componentAVX | 1<<componentK | 1<<componentZMMHigh |
		1<<componentZMM16 | 1<<componentPKRU)
	binary.LittleEndian.PutUint64(f.state[headerBV:], bv)
	if err := sys.SetRegSet(k.tid, sys.RegSetXState, f.state[:f.stateLen]); err != nil {
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
	if fd.from == tagWord {
		return uint64(fullTag(f.state)), nil
	}
	return getUint(f.state[fd.index : fd.index+fd.width]), nil
}

// fullTag makes the two bits for each x87 register out of the save area's one.
func fullTag(state []byte) uint16 {
	const valid, zero, special, empty = 0, 1, 2, 3
	top := state[legacyStatus+1] >> 3 & 7
	var tag uint16
	for physical := range uint8(8) {
		kind := uint16(empty)
		if state[legacyTag]&(1<<physical) != 0 {
			st := state[legacyStack+16*int((physical-top)&7):]
			mantissa := binary.LittleEndian.Uint64(st)
			exponent := binary.LittleEndian.Uint16(st[8:]) & 0x7fff
			switch {
			case exponent == 0 && mantissa == 0:
				kind = zero
			case exponent == 0 || exponent == 0x7fff || mantissa>>63 == 0:
				kind = special
			default:
				kind = valid
			}
		}
		tag |= kind << (2 * physical)
	}
	return tag
}

// shortTag is the reverse of fullTag.
func shortTag(tag uint16) (short byte) {
	for i := range 8 {
		if tag>>(2*i)&3 != 3 {
			short |= 1 << i
		}
	}
	return short
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
		if k.passed != 0 && k.regs[amd64.RIP] != uint64(k.passed) {
			k.passed = 0
		}
		return err
	})
}
