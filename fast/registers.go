package fast

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	asm "tracewell/internal/asm/amd64"
	"tracewell/tdesc"
)

// Registers is how the R block is collected. General registers are stored one by one. Vector and x87 state is stored raw, in the
// few stores that the processor has for it, in a place behind the frames; the reader makes registers of that, where time is
// nobody's. Nothing of it is touched by a pad, so it is live whenever a pad runs, and no XSAVE is needed.
type Registers struct {
	size    int // of the block
	general []generalRegister
	raw     rawState
	moves   []move // from a slot's general registers and raw state to the block; nil if general registers are all there is
}

// source is where a general register comes from.
type source uint8

const (
	fromRegister source = iota
	fromPC
	fromFlags
	fromSegment
	fromFSBase
	fromGSBase
	fromNothing // a register that only the kernel has; -1 as between system calls
)

// generalRegister is one that a pad stores. The offset counts from the contents of the R block in the slot.
type generalRegister struct {
	from   source
	number uint8 // of the general or segment register by the processor's count
	offset int
}

// rawState is which of the raw state a pad stores. Offsets count from where that begins.
type rawState struct {
	legacy  bool // fxsave: x87, and the lower 16 bytes of 16 registers
	high    bool // upper halves of 16 registers of 32 bytes
	zmm     bool // 32 registers of 64 bytes
	masks   bool
	pkru    bool
	wide    bool // masks of 64 bits rather than 16
	vectors int  // offset of high or zmm
	masksAt int
	pkruAt  int
	size    int
}

// move copies n bytes of a slot into the block, and clears what follows them up to size.
type move struct {
	raw      bool // from the raw state, else from the general registers
	from, to int
	n, size  int
	tag      bool // the x87 tag word, which the raw state has abridged
}

// Processor is what the processor has of the registers that descriptions can contain.
type Processor struct {
	AVX512BW bool // masks have 64 bits
	RDFSBase bool // programs may execute rdfsbase
}

var errSegmentBase = errors.New("this kernel keeps rdfsbase from programs, so segment bases cannot be collected")

// NewRegisters plans a block of the registers that a layout begins with, length bytes of it, as the g packet has them. A register
// of which only a part fits in reads as zeros, as it does not count. The error names a register that a pad cannot collect.
func NewRegisters(l *tdesc.Layout, length int, has Processor) (*Registers, error) {
	r := &Registers{size: length}
	r.raw.wide = has.AVX512BW
	compact, expanded := 0, false
	for i := range l.Slots {
		s := &l.Slots[i]
		if s.Offset+s.Size > length || s.Size == 0 {
			continue
		}
		name := s.Reg.Name
		if from, number, ok := generalSource(name); ok {
			if (from == fromFSBase || from == fromGSBase) && !has.RDFSBase {
				return nil, errSegmentBase
			}
			size := from.size()
			expanded = expanded || s.Offset != compact || s.Size != size
			r.general = append(r.general, generalRegister{from, number, compact})
			r.moves = append(r.moves, move{from: compact, to: s.Offset, n: min(size, s.Size), size: s.Size})
			compact += size
			continue
		}
		m, ok := r.raw.find(name)
		if !ok {
			return nil, fmt.Errorf("a pad cannot collect register %s", name)
		}
		m.raw, m.to, m.size, expanded = true, s.Offset, s.Size, true
		m.n = min(m.n, m.size)
		r.moves = append(r.moves, m)
	}
	// Only now is known which parts of the raw state there are.
	r.raw.layOut()
	for i := range r.moves {
		if m := &r.moves[i]; m.raw {
			m.from = r.raw.offset(m.from)
		}
	}
	if !expanded && compact == length {
		r.moves = nil
	}
	return r, nil
}

// room is the number of bytes of the R block's contents in a slot.
func (r *Registers) room() int {
	if r.moves == nil {
		return r.size
	}
	n := 0
	for _, g := range r.general {
		n += g.from.size()
	}
	return n
}

// size is the number of bytes that a pad stores of a source.
func (s source) size() int {
	if s == fromFlags || s == fromSegment {
		return 4
	}
	return 8
}

// generalNames are the registers that a pad stores one by one, by their names in descriptions.
var generalNames = []struct {
	name   string
	from   source
	number uint8
}{
	{"rax", fromRegister, uint8(asm.RAX)}, {"rbx", fromRegister, uint8(asm.RBX)}, {"rcx", fromRegister, uint8(asm.RCX)},
	{"rdx", fromRegister, uint8(asm.RDX)}, {"rsi", fromRegister, uint8(asm.RSI)}, {"rdi", fromRegister, uint8(asm.RDI)},
	{"rbp", fromRegister, uint8(asm.RBP)}, {"rsp", fromRegister, uint8(asm.RSP)}, {"r8", fromRegister, uint8(asm.R8)},
	{"r9", fromRegister, uint8(asm.R9)}, {"r10", fromRegister, uint8(asm.R10)}, {"r11", fromRegister, uint8(asm.R11)},
	{"r12", fromRegister, uint8(asm.R12)}, {"r13", fromRegister, uint8(asm.R13)}, {"r14", fromRegister, uint8(asm.R14)},
	{"r15", fromRegister, uint8(asm.R15)},
	{"rip", fromPC, 0}, {"eflags", fromFlags, 0},
	{"cs", fromSegment, uint8(asm.CS)}, {"ss", fromSegment, uint8(asm.SS)}, {"ds", fromSegment, uint8(asm.DS)},
	{"es", fromSegment, uint8(asm.ES)}, {"fs", fromSegment, uint8(asm.FS)}, {"gs", fromSegment, uint8(asm.GS)},
	{"fs_base", fromFSBase, 0}, {"gs_base", fromGSBase, 0}, {"orig_rax", fromNothing, 0},
}

// generalSource finds a register that is stored by itself.
func generalSource(name string) (source, uint8, bool) {
	for _, g := range generalNames {
		if g.name == name {
			return g.from, g.number, true
		}
	}
	return 0, 0, false
}

// The fields of an area of fxsave64 that are registers, as {offset, bytes} (Intel SDM volume 1, table 10-2).
var legacyFields = map[string][2]int{
	"fctrl": {0, 2}, "fstat": {2, 2}, "ftag": {4, 1}, "fop": {6, 2}, "fioff": {8, 4}, "fiseg": {12, 2}, "fooff": {16, 4},
	"foseg": {20, 2}, "mxcsr": {24, 4},
}

// Offsets in an area of fxsave64, and its size.
const (
	legacyStatus = 2
	legacyTag    = 4
	legacyStack  = 32
	legacyXMM    = 160
	legacySize   = 512
)

// While a block is planned, where the parts of the raw state will lie is not known: offsets have the part in their upper bits.
const (
	partVectors = 1 << 20
	partMasks   = 2 << 20
	partPKRU    = 3 << 20
	partMask    = 3 << 20
)

// bank is a row of registers that are stored raw.
type bank struct {
	prefix, suffix string
	first, count   int
	from, stride   int // in zmm registers, if those are stored
	n              int
	use            func(*rawState)
}

var banks = []bank{
	{"st", "", 0, 8, legacyStack, 16, 10, func(r *rawState) { r.legacy = true }},
	{"xmm", "", 0, 16, legacyXMM, 16, 16, func(r *rawState) { r.legacy = true }},
	{"ymm", "h", 0, 16, partVectors | 16, 64, 16, func(r *rawState) { r.high = true }},
	{"k", "", 0, 8, partMasks, 8, 8, func(r *rawState) { r.masks = true }},
	{"zmm", "h", 0, 16, partVectors | 32, 64, 32, func(r *rawState) { r.zmm = true }},
	{"xmm", "", 16, 16, partVectors | 64*16, 64, 16, func(r *rawState) { r.zmm = true }},
	{"ymm", "h", 16, 16, partVectors | 64*16 + 16, 64, 16, func(r *rawState) { r.zmm = true }},
	{"zmm", "h", 16, 16, partVectors | 64*16 + 32, 64, 32, func(r *rawState) { r.zmm = true }},
}

// find says where a register is in the raw state, and has that be stored.
func (r *rawState) find(name string) (move, bool) {
	if f, ok := legacyFields[name]; ok {
		r.legacy = true
		return move{from: f[0], n: f[1], tag: name == "ftag"}, true
	}
	if name == "pkru" {
		r.pkru = true
		return move{from: partPKRU, n: 4}, true
	}
	for _, b := range banks {
		digits, ok := strings.CutPrefix(name, b.prefix)
		if !ok || !strings.HasSuffix(digits, b.suffix) {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSuffix(digits, b.suffix)); err == nil && n >= b.first && n < b.first+b.count {
			b.use(r)
			return move{from: b.from + (n-b.first)*b.stride, n: b.n}, true
		}
	}
	return move{}, false
}

// layOut gives the parts their places.
func (r *rawState) layOut() {
	l := layout{}
	if r.legacy {
		l.take(legacySize)
	}
	r.vectors = l.next
	switch {
	case r.zmm:
		l.take(32 * 64)
	case r.high:
		l.take(16 * 16)
	}
	r.masksAt = l.next
	if r.masks {
		l.take(8 * 8)
	}
	r.pkruAt = l.next
	if r.pkru {
		l.take(8)
	}
	r.size = l.next
}

// offset is where something is whose offset find has returned.
func (r *rawState) offset(planned int) int {
	within := planned &^ partMask
	switch planned & partMask {
	case partVectors:
		if !r.zmm { // only the upper halves are there, one after the other
			within = (within - 16) / 4
		}
		return r.vectors + within
	case partMasks:
		return r.masksAt + within
	case partPKRU:
		return r.pkruAt + within
	}
	return within
}

// expand makes the block of what a slot has of it.
func (r *Registers) expand(block, general, raw []byte) {
	clear(block)
	for _, m := range r.moves {
		from := general
		if m.raw {
			from = raw
		}
		if m.tag {
			tag := fullTag(raw)
			block[m.to], block[m.to+1] = byte(tag), byte(tag>>8)
			continue
		}
		copy(block[m.to:m.to+m.n], from[m.from:])
	}
}

// fullTag makes the two bits for each x87 register out of the raw state's one.
func fullTag(state []byte) (tag uint16) {
	const valid, zero, special, empty = 0, 1, 2, 3
	top := state[legacyStatus+1] >> 3 & 7
	for physical := range uint8(8) {
		kind := uint16(empty)
		if state[legacyTag]&(1<<physical) != 0 {
			st := state[legacyStack+16*int((physical-top)&7):]
			exponent := uint16(st[8]) | uint16(st[9]&0x7f)<<8
			nothing := !slices.ContainsFunc(st[:8], func(b byte) bool { return b != 0 })
			switch {
			case exponent == 0 && nothing:
				kind = zero
			case exponent == 0 || exponent == 0x7fff || st[7]>>7 == 0:
				kind = special
			default:
				kind = valid
			}
		}
		tag |= kind << (2 * physical)
	}
	return tag
}
