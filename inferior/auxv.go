package inferior

import "tracewell/arch"

// AuxvType is the type of an entry of the auxiliary vector (System V ABI; the kernel's uapi/linux/auxvec.h).
type AuxvType uint64

// The types of entries that matter here.
const (
	AtNull        AuxvType = 0  // ends the vector
	AtPhdr        AuxvType = 3  // address of the program's headers
	AtPhent       AuxvType = 4  // size of one
	AtPhnum       AuxvType = 5  // their number
	AtBase        AuxvType = 7  // bias of the program's interpreter, the dynamic linker; 0 for none
	AtEntry       AuxvType = 9  // where the program itself starts
	AtSysinfoEhdr AuxvType = 33 // address of the kernel's own object (vDSO)
)

// AuxvEntry is one entry of the auxiliary vector.
type AuxvEntry struct {
	Type  AuxvType
	Value arch.Addr
}

// AppendAuxv appends entries to dst, and AtNull after them, as they lie in a process.
func AppendAuxv(dst []byte, isa *arch.ISA, entries ...AuxvEntry) []byte {
	for _, e := range append(entries, AuxvEntry{}) {
		for _, word := range [...]uint64{uint64(e.Type), uint64(e.Value)} {
			if isa.AddrSize == 4 {
				dst = isa.Order.AppendUint32(dst, uint32(word))
			} else {
				dst = isa.Order.AppendUint64(dst, word)
			}
		}
	}
	return dst
}

// parseAuxv reads entries up to AtNull, or as far as there are whole ones. The first of a type counts, as it does for the C
// library.
func parseAuxv(b []byte, isa *arch.ISA) map[uint64]uint64 {
	auxv := make(map[uint64]uint64)
	for size := isa.AddrSize; len(b) >= 2*size; b = b[2*size:] {
		key, value := arch.Uint(b[:size], isa.Order), arch.Uint(b[size:2*size], isa.Order)
		if AuxvType(key) == AtNull {
			break
		}
		if _, twice := auxv[key]; !twice {
			auxv[key] = value
		}
	}
	return auxv
}

// value is that of an entry of the auxiliary vector, 0 if there is none.
func (s *ProgramSpace) value(t AuxvType) arch.Addr { return arch.Addr(s.auxv[uint64(t)]) }

// Entry returns the address where the program itself starts, after its dynamic linker; 0 if the process does not tell.
func (s *ProgramSpace) Entry() arch.Addr { return s.value(AtEntry) }

// LinkerBias returns the bias of the program's dynamic linker, 0 if it has none. It is known before the linker has run.
func (s *ProgramSpace) LinkerBias() arch.Addr { return s.value(AtBase) }
