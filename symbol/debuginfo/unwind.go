package debuginfo

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"tracewell/arch"
)

// Frame says how the frame of the caller is found at a pc. Registers are numbered as DWARF does.
type Frame struct {
	Range     Range           // of the pc that the description of the function is for
	CFA       CFA             // the address that the rules are relative to
	Registers map[uint64]Rule // how the caller's registers are found; those that are missing have the same value
	Return    uint64          // the register that stands for the return address
	Signal    bool            // the frame is of a signal handler's return: the pc is not behind a call
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

// frameRange is the pcs that a description (an FDE) is for.
type frameRange struct {
	Range
	common *commonFrame
	code   cursor
}

// commonFrame is what several descriptions have in common (a CIE).
type commonFrame struct {
	codeAlign      uint64
	dataAlign      int64
	returnRegister uint64
	augmented      bool // descriptions have a length and data of their own
	pointers       uint8
	signal         bool
	code           cursor
}

// frameSection is a section of frame descriptions as it is being read.
type frameSection struct {
	encoding
	data    []byte
	addr    arch.Addr
	eh      bool // .eh_frame, which differs in a few ways from .debug_frame
	commons map[uint64]*commonFrame
}

// readUnwind lists all descriptions of frames: .eh_frame of the file, which debuggers prefer as well, then .debug_frame of whichever file has
// it, for what the former does not have.
func (f *File) readUnwind() []frameRange {
	var all []frameRange
	if content, addr, ok := f.Section(".eh_frame"); ok {
		s := frameSection{encoding: f.main.encoding, data: content, addr: addr, eh: true, commons: map[uint64]*commonFrame{}}
		all = s.read(all)
	}
	for _, m := range []*image{f.debug, f.main} {
		if m == nil || m.section(".debug_frame") == nil {
			continue
		}
		s := frameSection{encoding: m.encoding, data: m.section(".debug_frame"), commons: map[uint64]*commonFrame{}}
		all = s.read(all)
		break
	}
	all = slices.DeleteFunc(all, func(r frameRange) bool { return r.End <= r.Begin || !f.isCode(r.Begin) })
	slices.SortStableFunc(all, func(a, b frameRange) int { return cmp.Compare(a.Begin, b.Begin) })
	return all
}

func (s *frameSection) read(all []frameRange) []frameRange {
	c := s.cursorAt(s.data, 0)
	for c.more() {
		size, dwarf64 := c.length()
		if c.bad {
			break
		}
		if size == 0 { // the end, in .eh_frame; more may follow where several were joined
			continue
		}
		body := c.part(size)
		idAt := body.at
		id := body.offset(dwarf64)
		if s.isCommon(id, dwarf64) {
			continue
		}
		commonAt := id
		if s.eh {
			commonAt = idAt - id
		}
		common := s.common(commonAt)
		if common == nil {
			continue
		}
		if r, ok := s.description(body, common); ok {
			all = append(all, r)
		}
	}
	return all
}

func (s *frameSection) isCommon(id uint64, dwarf64 bool) bool {
	switch {
	case s.eh:
		return id == 0
	case dwarf64:
		return id == 1<<64-1
	}
	return id == 1<<32-1
}

func (s *frameSection) description(c cursor, common *commonFrame) (frameRange, bool) {
	begin := s.pointer(&c, common.pointers)
	size := s.pointer(&c, common.pointers&0x0f)
	if common.augmented {
		c.skip(c.uleb())
	}
	return frameRange{Range{begin, begin + size}, common, c}, !c.bad
}

// common reads what descriptions have in common, once for each place.
func (s *frameSection) common(at uint64) *commonFrame {
	if common, known := s.commons[at]; known {
		return common
	}
	s.commons[at] = nil
	c := s.cursorAt(s.data, at)
	size, dwarf64 := c.length()
	body := c.part(size)
	if id := body.offset(dwarf64); !s.isCommon(id, dwarf64) {
		return nil
	}
	version := body.u8()
	augmentation := body.text()
	if version == 4 { // sizes of addresses, which is that of the file, and of segments, of which there are none
		body.skip(2)
	}
	common := &commonFrame{codeAlign: body.uleb(), dataAlign: body.sleb()}
	if version == 1 {
		common.returnRegister = uint64(body.u8())
	} else {
		common.returnRegister = body.uleb()
	}
	if !s.augment(common, augmentation, &body) || body.bad {
		return nil
	}
	common.code = body
	s.commons[at] = common
	return common
}

// augment reads what the letters of an augmentation say; an unknown one makes the rest unreadable.
func (s *frameSection) augment(common *commonFrame, letters []byte, c *cursor) bool {
	if len(letters) == 0 {
		return true
	}
	if letters[0] != 'z' {
		return false
	}
	common.augmented = true
	part := c.part(c.uleb())
	for _, letter := range letters[1:] {
		switch letter {
		case 'L':
			part.u8()
		case 'P':
			s.pointer(&part, part.u8())
		case 'R':
			common.pointers = part.u8()
		case 'S':
			common.signal = true
		default:
			return true // its data have a length
		}
	}
	return true
}

// The ways to write a pointer: a size in the lower half of a byte, what it is relative to in the next three bits.
const (
	pointerSigned   = 0x08
	pointerUleb     = 0x01
	pointerSleb     = 0x09
	pointerRelative = 0x10
	pointerOmitted  = 0xff
)

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
	return s.cut(n)
}

// CFA is how the frame of the caller is found at a pc.
func (f *File) CFA(pc arch.Addr) (Frame, error) {
	all := f.unwind()
	i := sort.Search(len(all), func(i int) bool { return all[i].Begin > pc })
	for back := 0; i > 0 && back < 8; back++ {
		i--
		if all[i].Has(pc) {
			return all[i].frame(pc)
		}
	}
	return Frame{}, fmt.Errorf("%s has no frame description for %v", f.Path(), pc)
}
