package fast

import (
	"encoding/binary"
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
	packed  []move // the same where raw has the upper halves of 16 vectors by themselves
	gaps    []span // of the block, that no move fills
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
//
// A processor knows which components of the state are in use: the others are as at the start of the program, that is, zeros.
// AVX-512 is 2 KiB in 32 lines of the cache, which the pad writes and the reader reads on another processor; so the pad looks
// what of it is in use, stores that, and says so in a word. Where no upper half of a zmm register is, what ymm registers have
// above xmm is stored packed.
type rawState struct {
	legacy  bool // fxsave: x87, and the lower 16 bytes of 16 registers
	high    bool // upper halves of 16 registers of 32 bytes
	zmm     bool // 32 registers of 64 bytes
	masks   bool
	pkru    bool
	wide    bool // masks of 64 bits rather than 16
	tracked bool // what is in use is looked at, by xgetbv
	vectors int  // offset of high or zmm
	masksAt int
	pkruAt  int
	inUseAt int
	size    int
}

// Components of the extended state in the processor's words (Intel SDM volume 1, 13.1).
const (
	inUseAVX   = 1 << 2 // upper halves of ymm0 to ymm15
	inUseUpper = 1 << 6 // upper halves of zmm0 to zmm15
	inUseMore  = 1 << 7 // zmm16 to zmm31
)

// move copies rows of n bytes of a slot into the block, one behind the other. What follows the last up to size is a gap.
type move struct {
	raw      bool // from the raw state, else from the general registers
	from, to int
	n, size  int
	rows     int
	stride   int    // from one row to the next in the slot
	needs    uint32 // component that has to be in use, or what is copied is zeros; 0 for none
	tag      bool   // the x87 tag word, which the raw state has abridged
}

// Processor is what the processor has of the registers that descriptions can contain.
type Processor struct {
	AVX512BW bool // masks have 64 bits
	RDFSBase bool // programs may execute rdfsbase
	XGETBV1  bool // xgetbv tells which components of the state are in use
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
	r.raw.tracked = has.XGETBV1 && r.raw.zmm
	r.raw.layOut()
	r.gaps = gaps(r.moves, length)
	if !expanded && compact == length {
		r.moves = nil
	}
	if r.raw.tracked {
		r.packed = r.raw.place(r.moves, true)
	}
	r.moves = r.raw.place(r.moves, false)
	return r, nil
}

// gaps are the parts of a block that no move fills.
func gaps(moves []move, length int) (all []span) {
	filled := make([]bool, length)
	for _, m := range moves {
		for i := range m.n {
			filled[m.to+i] = true
		}
	}
	for i, yes := range filled {
		switch n := len(all); {
		case yes:
		case n > 0 && all[n-1].to == i:
			all[n-1].to++
		default:
			all = append(all, span{i, i + 1})
		}
	}
	return all
}

// place gives moves their offsets in the raw state, and joins them.
func (r *rawState) place(moves []move, packed bool) (placed []move) {
	for _, m := range moves {
		if m.raw {
			m.from = r.offset(m.from, packed)
		}
		placed = append(placed, m)
	}
	return join(placed)
}

// join makes one of moves that lie one behind the other on both sides, and one of rows.
func join(moves []move) (joined []move) {
	var pieces []move
	for _, m := range moves {
		m.rows = 1
		if n := len(pieces); n > 0 && pieces[n-1].continues(m) && pieces[n-1].from+pieces[n-1].n == m.from {
			pieces[n-1].n, pieces[n-1].size = pieces[n-1].n+m.n, pieces[n-1].size+m.size
			continue
		}
		pieces = append(pieces, m)
	}
	for _, m := range pieces {
		if n := len(joined); n > 0 {
			last := &joined[n-1]
			stride := m.from - last.from - (last.rows-1)*last.stride
			if last.continues(m) && last.n == m.n && stride > 0 && (last.rows == 1 || stride == last.stride) {
				last.rows, last.stride, last.size = last.rows+1, stride, m.size
				continue
			}
		}
		joined = append(joined, m)
	}
	return joined
}

// continues reports whether another move goes on in the block where one ends, from the same part of the slot.
func (m *move) continues(next move) bool {
	return m.raw == next.raw && m.needs == next.needs && !m.tag && !next.tag && m.n == m.size && m.to+m.rows*m.n == next.to
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
	"fctrl": {0, 2}, "fstat": {2, 2}, "ftag": {4, 2}, "fop": {6, 2}, "fioff": {8, 4}, "fiseg": {12, 2}, "fooff": {16, 4},
	"foseg": {20, 2}, "mxcsr": {24, 4},
}

// Offsets in an area of fxsave64, and its size.
const (
	legacyStatus = 2
	legacyTag    = 4
	legacyStack  = 32
	legacyXMM    = 160
	legacySpare  = 416
	legacySize   = 512
)

// While a block is planned, where the parts of the raw state will lie is not known: offsets have the part in their upper bits.
const (
	partVectors = 1 << 20
	partMasks   = 2 << 20
	partPKRU    = 3 << 20
	partMask    = 3 << 20
)

// firstMore is the offset of zmm16 among the vectors.
const firstMore = 16 * 64

// bank is a row of registers that are stored raw.
type bank struct {
	prefix, suffix string
	first, count   int
	from, stride   int // in zmm registers, if those are stored
	n              int
	needs          uint32
	use            func(*rawState)
}

var banks = []bank{
	{"st", "", 0, 8, legacyStack, 16, 10, 0, func(r *rawState) { r.legacy = true }},
	{"xmm", "", 0, 16, legacyXMM, 16, 16, 0, func(r *rawState) { r.legacy = true }},
	{"ymm", "h", 0, 16, partVectors | 16, 64, 16, inUseAVX, func(r *rawState) { r.high = true }},
	{"k", "", 0, 8, partMasks, 8, 8, 0, func(r *rawState) { r.masks = true }},
	{"zmm", "h", 0, 16, partVectors | 32, 64, 32, inUseUpper, func(r *rawState) { r.zmm = true }},
	{"xmm", "", 16, 16, partVectors | firstMore, 64, 16, inUseMore, func(r *rawState) { r.zmm = true }},
	{"ymm", "h", 16, 16, partVectors | firstMore + 16, 64, 16, inUseMore, func(r *rawState) { r.zmm = true }},
	{"zmm", "h", 16, 16, partVectors | firstMore + 32, 64, 32, inUseMore, func(r *rawState) { r.zmm = true }},
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
			return move{from: b.from + (n-b.first)*b.stride, n: b.n, needs: b.needs}, true
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
	// fxsave leaves the end of its area alone.
	small := layout{next: legacySpare}
	if !r.legacy {
		small = l
	}
	r.masksAt = small.take(8 * 8)
	r.pkruAt = small.take(8)
	r.inUseAt = small.take(8)
	r.size = max(l.next, small.next)
}

// offset is where something is whose offset find has returned. Of zmm registers that are packed there is nothing.
func (r *rawState) offset(planned int, packed bool) int {
	within := planned &^ partMask
	switch planned & partMask {
	case partVectors:
		if (packed || !r.zmm) && within < firstMore { // only the upper halves are there, one after the other
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

// expand makes the block of what a slot has of it. The slot may be memory that somebody writes.
func (r *Registers) expand(block, general, raw []byte) {
	inUse, moves := ^uint32(0), r.moves
	if r.raw.tracked {
		if inUse = binary.LittleEndian.Uint32(raw[r.raw.inUseAt:]); inUse&inUseUpper == 0 {
			moves = r.packed
		}
	}
	for _, g := range r.gaps {
		clear(block[g.from:g.to])
	}
	for i := range moves {
		m := &moves[i]
		from, to := general, block[m.to:][:m.rows*m.n]
		if m.raw {
			from = raw
		}
		switch {
		case m.tag:
			binary.LittleEndian.PutUint16(to, fullTag(raw))
		case m.needs&^inUse != 0:
			clear(to)
		default:
			m.copy(to, from[m.from:])
		}
	}
}

// copy copies the rows. Those of the two sizes that vectors have take no calls.
func (m *move) copy(to, from []byte) {
	switch {
	case m.rows == 1:
		copy(to, from)
	case m.n == 16:
		for n := range m.rows {
			*(*[16]byte)(to[16*n:]) = [16]byte(from[m.stride*n:])
		}
	case m.n == 32:
		for n := range m.rows {
			*(*[32]byte)(to[32*n:]) = [32]byte(from[m.stride*n:])
		}
	default:
		for n := range m.rows {
			copy(to[m.n*n:][:m.n], from[m.stride*n:])
		}
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
