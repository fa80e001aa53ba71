//go:build linux

package linux

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"tracewell/internal/cpuid"
	"tracewell/internal/sys"
	machines "tracewell/tdesc/machine"
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

// newRegisterFile implements machine. The extended state is a save area in the form of the XSAVE instruction, whose length only the
// kernel can tell (11,008 bytes where there is AMX) and whose components lie where the processor says.
func (x86) newRegisterFile(tid int) (*registerFile, error) {
	set := &registerSet{number: sys.RegSetXState, modified: saveAll, state: make([]byte, stateRoom)}
	f := &registerFile{sets: []*registerSet{set}}
	n, err := sys.GetRegSet(tid, set.number, set.state)
	if err != nil || n < headerBV {
		return nil, fmt.Errorf("reading the extended state (%d bytes): %w", n, err)
	}
	set.length = n
	enabled := binary.LittleEndian.Uint64(set.state[legacyFeature:])
	has := func(components ...int) bool {
		for _, c := range components {
			if enabled&(1<<c) == 0 {
				return false
			}
		}
		return true
	}
	m := machines.LinuxAMD64
	m.AVX = has(componentAVX)
	m.AVX512 = has(componentK, componentZMMHigh, componentZMM16)
	m.PKU = has(componentPKRU)
	f.description = m.Target()
	return f, f.layOut(locate)
}

// saveAll marks the components that registers come from as not in their initial state, or XRSTOR would ignore what is in them.
func saveAll(state []byte) {
	enabled := binary.LittleEndian.Uint64(state[legacyFeature:])
	const written = 1<<componentX87 | 1<<componentSSE | 1<<componentAVX | 1<<componentK | 1<<componentZMMHigh | 1<<componentZMM16 |
		1<<componentPKRU
	binary.LittleEndian.PutUint64(state[headerBV:], binary.LittleEndian.Uint64(state[headerBV:])|enabled&written)
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
	"ftag":  {from: converted, width: 4, get: fullTag, put: putTag},
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

// fullTag makes the two bits for each x87 register out of the save area's one.
func fullTag(state []byte) uint64 {
	const valid, zero, special, empty = 0, 1, 2, 3
	top := state[legacyStatus+1] >> 3 & 7
	var tag uint64
	for physical := range uint8(8) {
		kind := uint64(empty)
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

// putTag stores a tag word.
func putTag(state []byte, tag uint64) (changed bool) {
	short := shortTag(uint16(tag))
	changed = state[legacyTag] != short
	state[legacyTag] = short
	return changed
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
