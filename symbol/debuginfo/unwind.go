package debuginfo

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"tracewell/arch"
	"tracewell/internal/radix"
)

// Frame says how the frame of the caller is found at a pc. Registers are numbered as DWARF does.
type Frame struct {
	Range     Range           // of the pc that the description of the function is for
	CFA       CFA             // the address that the rules are relative to
	Registers map[uint64]Rule // how the caller's registers are found; those that are missing have the same value
	Return    uint64          // the register that stands for the return address
	Signal    bool            // the frame is of a signal handler's return: the pc is not behind a call
	Signed    bool            // the return address has a signature in its upper bits (AArch64's pointer authentication)
}

// CFA is how the canonical frame address is computed: from a register, or by an expression.
type CFA struct {
	Register uint64
	Offset   int64
	Expr     []byte // instead, when it is not nil
}

// Rule is how a register of the caller is found.
type Rule struct {
	Kind     RuleKind
	Offset   int64  // from the CFA
	Register uint64 // of RuleRegister
	Expr     []byte // of RuleExpr and RuleValueExpr; evaluated with the CFA on the stack
}

// RuleKind is a way in which a register may be found.
type RuleKind uint8

// The ways.
const (
	RuleUndefined   RuleKind = iota // it is lost
	RuleSame                        // it has not been touched
	RuleOffset                      // in memory, at CFA+Offset
	RuleValueOffset                 // it is CFA+Offset
	RuleRegister                    // in another register
	RuleExpr                        // in memory, at the address that Expr computes
	RuleValueExpr                   // it is what Expr computes
)

// fde is a frame description entry: the pcs that it is for, and the instructions that make its rows.
type fde struct {
	Range
	cie   *cie
	code  cursor
	table arch.Addr // what exception handling needs (LSDA), 0 without
}

// cie is a common information entry: what several FDEs have in common. GCC, Clang and the linker write one or two in a file.
type cie struct {
	codeAlign      uint64 // the factor of advances: 1 on x86-64, 4 on AArch64
	dataAlign      int64  // that of offsets: -8 on x86-64
	returnRegister uint64 // DWARF's number: 16 on x86-64, a column of the table that is no register of its own
	augmented      bool   // FDEs have augmentation data of their own, with a length
	pointers       uint8  // how addresses are encoded (DW_EH_PE_*); 0, absolute, in .debug_frame
	tables         uint8  // likewise for those of LSDAs; pointerOmitted without any
	signal         bool   // the augmentation has an S: a signal trampoline
	code           cursor // initial instructions
}

// frameSection is a section of frame descriptions as it is being read.
type frameSection struct {
	encoding
	data []byte
	addr arch.Addr
	eh   bool // .eh_frame, which differs in a few ways from .debug_frame
	ends bool // something else may be behind the entry that marks the end
	cies map[uint64]*cie
}

// unwinding finds the descriptions of frames of a file.
type unwinding struct {
	mu     sync.Mutex   // guards frames.cies
	frames frameSection // .eh_frame
	table  searchTable
	all    func() []fde
}

// newUnwinding prepares to read the descriptions of a file, without reading any.
func (f *File) newUnwinding() *unwinding {
	u := &unwinding{all: sync.OnceValue(f.readUnwind)}
	frames, header := f.main.sections[".eh_frame"], f.main.sections[".eh_frame_hdr"]
	if frames != nil && header != nil {
		u.frames = frameSection{encoding: f.main.encoding, eh: true, cies: map[uint64]*cie{}}
		u.frames.data, u.frames.addr = f.main.section(".eh_frame"), frames.addr
		u.table = u.frames.searchTable(f.main.section(".eh_frame_hdr"), header.addr)
	}
	return u
}

// at returns the description that the table leads to, false if that is none of the pc.
func (u *unwinding) at(pc arch.Addr) (fde, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, ok := u.table.find(pc)
	if !ok || at < u.frames.addr {
		return fde{}, false
	}
	c := u.frames.cursorAt(u.frames.data, uint64(at-u.frames.addr))
	r, ok := u.frames.next(&c)
	return r, ok && r.Has(pc)
}

// usualFDE is about how long an FDE is in .eh_frame, in bytes.
const usualFDE = 32

// readUnwind lists all descriptions of frames: .eh_frame of the file, which debuggers prefer as well, then .debug_frame of
// whichever file has it, for what the former does not have. .eh_frame is loaded and survives strip; GCC and Clang write
// .debug_frame in its place with -fno-asynchronous-unwind-tables, and on ARM. Sorting is stable: of two for one pc that of
// .eh_frame is found.
func (f *File) readUnwind() []fde {
	frames := exceptionFrames(f.main.elf)
	all := make([]fde, 0, len(frames.data)/usualFDE)
	add := func(r fde) { all = append(all, r) }
	frames.each(add)
	for _, m := range []*image{f.debug, f.main} {
		if m == nil || m.section(".debug_frame") == nil {
			continue
		}
		s := frameSection{encoding: m.encoding, data: m.section(".debug_frame"), cies: map[uint64]*cie{}}
		s.each(add)
		break
	}
	all = slices.DeleteFunc(all, func(r fde) bool { return r.End <= r.Begin || !f.HasCode(r.Begin) })
	radix.Sort(all, func(r *fde) uint64 { return uint64(r.Begin) })
	return all
}

// each yields the FDEs of a section.
func (s *frameSection) each(yield func(fde)) {
	for c := s.cursorAt(s.data, 0); c.more(); {
		ahead := c
		if size, _ := ahead.length(); s.ends && size == 0 {
			break
		}
		if r, ok := s.next(&c); ok {
			yield(r)
		}
	}
}

// next reads an entry, and reports whether it is an FDE. One of length 0 marks the end, in .eh_frame; more may follow where several
// sections were joined. CIEs are read as FDEs refer to them, since .debug_frame may have them in any order.
func (s *frameSection) next(c *cursor) (fde, bool) {
	size, dwarf64 := c.length()
	body := c.part(size)
	idAt := body.at
	id := body.offset(dwarf64)
	if body.bad || s.isCIE(id, dwarf64) {
		return fde{}, false
	}
	cieAt := id
	if s.eh {
		cieAt = idAt - id
	}
	cie := s.readCIE(cieAt)
	if cie == nil {
		return fde{}, false
	}
	return s.readFDE(body, cie)
}

// isCIE reports whether an entry is a CIE, by the field that is the place of the CIE in an FDE: 0 in .eh_frame, all ones in
// .debug_frame. In .eh_frame an FDE has there the distance back to its CIE from the field itself, in .debug_frame the CIE's offset.
func (s *frameSection) isCIE(id uint64, dwarf64 bool) bool {
	switch {
	case s.eh:
		return id == 0
	case dwarf64:
		return id == 1<<64-1
	}
	return id == 1<<32-1
}

// readFDE reads an FDE behind the place of its CIE: where the code begins, its length, encoded as the former but never relative,
// augmentation data (the address of an LSDA, which only exception handling needs), and the instructions.
func (s *frameSection) readFDE(c cursor, cie *cie) (fde, bool) {
	begin := s.pointer(&c, cie.pointers)
	size := s.pointer(&c, cie.pointers&0x0f)
	var table arch.Addr
	if cie.augmented {
		n := c.uleb()
		data := c
		c.skip(n)
		table = s.table(&data, cie.tables)
	}
	return fde{Range{begin, begin + size}, cie, c, table}, !c.bad
}

// table reads the address of an LSDA, 0 if there is none. GCC writes a zero for that, whatever it would be relative to. One that is
// read from memory, which only the dynamic linker could fill, is of no use here.
func (s *frameSection) table(c *cursor, how uint8) arch.Addr {
	at := s.addr + arch.Addr(c.at)
	table := s.pointer(c, how)
	if c.bad || how&pointerIndirect != 0 || table == at {
		return 0
	}
	return table
}

// readCIE reads the CIE at an offset, once; nil if there is none that can be read. Version 1 is that of .eh_frame and DWARF 2, 3
// that of DWARF 3, 4 that of DWARF 4 and 5 (DWARF 5, 6.4.1).
func (s *frameSection) readCIE(at uint64) *cie {
	if cie, known := s.cies[at]; known {
		return cie
	}
	s.cies[at] = nil
	c := s.cursorAt(s.data, at)
	size, dwarf64 := c.length()
	body := c.part(size)
	if id := body.offset(dwarf64); !s.isCIE(id, dwarf64) {
		return nil
	}
	version := body.u8()
	augmentation := body.text()
	if version == 4 { // sizes of addresses, which is that of the file, and of segments, of which there are none
		body.skip(2)
	}
	cie := &cie{codeAlign: body.uleb(), dataAlign: body.sleb(), tables: pointerOmitted}
	if version == 1 {
		cie.returnRegister = uint64(body.u8())
	} else {
		cie.returnRegister = body.uleb()
	}
	if !s.augment(cie, augmentation, &body) || body.bad {
		return nil
	}
	cie.code = body
	s.cies[at] = cie
	return cie
}

// augment reads what the letters of an augmentation say (Linux Standard Base, exception frames). Only with a z first is it known
// where the data end, and an unknown letter can be passed over with the rest; without it the entry is unreadable.
func (s *frameSection) augment(cie *cie, letters []byte, c *cursor) bool {
	if len(letters) == 0 {
		return true
	}
	if letters[0] != 'z' {
		return false
	}
	cie.augmented = true
	part := c.part(c.uleb())
	for _, letter := range letters[1:] {
		switch letter {
		case 'L': // the encoding of the LSDA's address in FDEs
			cie.tables = part.u8()
		case 'P': // the personality routine, with its encoding in front
			s.pointer(&part, part.u8())
		case 'R':
			cie.pointers = part.u8()
		case 'S':
			cie.signal = true
		case 'B', 'G': // AArch64: which key signs return addresses, and whether stack memory is tagged
		default:
			return true // its data have a length
		}
	}
	return true
}

// The ways to write a pointer (DW_EH_PE_*): a size in the lower half of a byte, what it is relative to in the next three bits. On
// x86-64 compilers write 0x1b, four signed bytes relative to where they stand. Those relative to other sections are not used in
// code.
const (
	pointerSigned   = 0x08
	pointerUleb     = 0x01
	pointerSleb     = 0x09
	pointerRelative = 0x10
	pointerIndirect = 0x80
	pointerOmitted  = 0xff
)

// pointer reads one. That in the image of the file and that in memory are the same, as addresses are those that it was linked for.
func (s *frameSection) pointer(c *cursor, how uint8) arch.Addr {
	if how == pointerOmitted {
		return 0
	}
	at := s.addr + arch.Addr(c.at)
	var n uint64
	switch how & 0x0f {
	case pointerUleb:
		n = c.uleb()
	case pointerSleb:
		n = uint64(c.sleb())
	case 0x02:
		n = uint64(c.u16())
	case 0x02 | pointerSigned:
		n = uint64(int16(c.u16()))
	case 0x03:
		n = uint64(c.u32())
	case 0x03 | pointerSigned:
		n = uint64(int32(c.u32()))
	case 0x04, 0x04 | pointerSigned:
		n = c.u64()
	default:
		n = uint64(c.addr())
	}
	if how&0x70 == pointerRelative {
		n += uint64(at)
	}
	return s.truncate(n)
}

// CFA is how the frame of the caller is found at a pc: by the table that the file has for the program itself, or else, where it has
// none for the pc, by all FDEs. FDEs do not overlap; the steps back are for damaged files, in which they may. The rows are computed
// anew at each call. An error means that no FDE has the pc, as in assembly without .cfi directives.
func (f *File) CFA(pc arch.Addr) (Frame, error) {
	unwinding := f.unwind()
	if r, ok := unwinding.at(pc); ok && f.HasCode(r.Begin) {
		return r.frame(pc)
	}
	all := unwinding.all()
	i := sort.Search(len(all), func(i int) bool { return all[i].Begin > pc })
	for back := 0; i > 0 && back < 8; back++ {
		i--
		if all[i].Has(pc) {
			return all[i].frame(pc)
		}
	}
	return Frame{}, fmt.Errorf("%s has no frame description for %v", f.Path(), pc)
}
