package debuginfo

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
)

// TestGeneratedRules compares the rows of random programs of call frame instructions with those that readelf prints, in files of
// either class and order, in .debug_frame, also in the 64-bit format, and in .eh_frame.
func TestGeneratedRules(t *testing.T) {
	for _, kind := range kinds {
		for _, eh := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v-%v", kind.machine, eh), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "program")
				content := generated(kind.machine, kind.big, kind.addr, eh, rand.New(rand.NewPCG(uint64(kind.machine), 1)))
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				compareRows(t, path)
			})
		}
	}
}

// compareRows looks at every row that readelf prints.
func compareRows(t *testing.T, path string) {
	t.Helper()
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var columns []string
	rows := 0
	for line := range strings.Lines(run(t, "", "readelf", "--debug-dump=frames-interp", path)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 1 && fields[0] == "LOC":
			columns = fields
			continue
		case len(fields) != len(columns) || len(fields) < 2:
			columns = nil
			continue
		}
		pc, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if pc == 0 {
			continue // of a CIE
		}
		rows++
		got, err := f.CFA(arch.Addr(pc))
		if err != nil {
			t.Error(err)
			continue
		}
		for i, column := range columns[1:] {
			if text := ruleText(f, got, column); text != fields[i+1] {
				t.Errorf("%#x: %s of %s, readelf prints %s", pc, text, column, fields[i+1])
			}
		}
	}
	if rows < 250 {
		t.Errorf("only %d rows", rows)
	}
}

// ruleText is what readelf prints in a column: that of the CFA, of a register, or of the return address.
func ruleText(f *File, got Frame, column string) string {
	name := func(n uint64) string { return f.Arch().DWARFName(n) }
	switch {
	case column != "CFA":
	case got.CFA.Expr != nil:
		return "exp"
	default:
		return fmt.Sprintf("%s%+d", name(got.CFA.Register), got.CFA.Offset)
	}
	for n, rule := range got.Registers {
		if name(n) != column && (n != got.Return || column != "ra") {
			continue
		}
		return map[RuleKind]string{
			RuleUndefined: "u", RuleSame: "s", RuleOffset: fmt.Sprintf("c%+d", rule.Offset), RuleValueOffset: fmt.Sprintf("v%+d", rule.Offset),
			RuleRegister: name(rule.Register), RuleExpr: "exp", RuleValueExpr: "vexp",
		}[rule.Kind]
	}
	return "u"
}

// generated makes a file whose functions of 256 bytes have random frame descriptions.
func generated(machine elf.Machine, big bool, addr int, eh bool, random *rand.Rand) []byte {
	order := binary.ByteOrder(binary.LittleEndian)
	if big {
		order = binary.BigEndian
	}
	const functions, size = 60, 256
	a := &assembly{order: order, addr: addr}
	for i := range functions {
		long := !eh && random.IntN(4) == 0 // readelf does not find CIEs of the 64-bit format in .eh_frame
		cie := a.Len()
		a.entry(long, func(b *assembly) {
			id, version := ^uint64(0), []uint8{1, 3, 4}[random.IntN(3)]
			if eh {
				id, version = 0, 1+2*uint8(random.IntN(2))
			}
			b.offset(long, id)
			b.put(version, "")
			if version == 4 {
				b.put(uint8(addr), uint8(0))
			}
			b.put(uint8(1), uint8(0x7c), uint8(8), []byte{frameDefCFA, 5, 16, frameOffset | 8, 1})
			b.instructions(random, 3, nil)
		})
		// In .eh_frame the place of the CIE is counted from where it is written, which is behind the length.
		at := uint64(cie)
		if eh {
			at = uint64(a.Len() + 4 - cie)
		}
		begin := foreignCode + arch.Addr(i*size)
		a.entry(long, func(b *assembly) {
			b.offset(long, at)
			b.put(begin, arch.Addr(size))
			left := size - 8
			b.instructions(random, 40, &left)
		})
	}
	name := ".debug_frame"
	if eh {
		name = ".eh_frame"
	}
	return foreignFile(machine, order, addr, []foreignSection{
		{".text", elf.SHT_PROGBITS, elf.SHF_ALLOC | elf.SHF_EXECINSTR, make([]byte, functions*size)},
		{name, elf.SHT_PROGBITS, 0, a.Bytes()},
	})
}

// entry writes an entry with its length, in the 64-bit format if it is long.
func (a *assembly) entry(long bool, write func(b *assembly)) {
	inner := &assembly{order: a.order, addr: a.addr}
	write(inner)
	if long {
		a.put(^uint32(0))
	}
	a.offset(long, uint64(inner.Len()))
	a.Write(inner.Bytes())
}

func (a *assembly) offset(long bool, n uint64) {
	if long {
		a.put(n)
	} else {
		a.put(uint32(n))
	}
}

// instructions writes random ones. Advances are taken off what is left of the function; in a CIE there are none, nor what refers to
// rules of a CIE.
func (a *assembly) instructions(random *rand.Rand, n int, left *int) {
	expression := func() []byte { return []byte{2, 0x75, byte(random.IntN(64))} } // DW_OP_breg5
	remembered, byRegister := 0, true
	for range n {
		register, small := byte(random.IntN(9)), byte(random.IntN(64))
		if step := 1 + random.IntN(5); left != nil && random.IntN(3) == 0 && *left > step {
			*left -= step
			switch random.IntN(4) {
			case 0:
				a.put(uint8(frameAdvance | step))
			case 1:
				a.put(uint8(frameAdvance1), uint8(step))
			case 2:
				a.put(uint8(frameAdvance2), uint16(step))
			default:
				a.put(uint8(frameAdvance4), uint32(step))
			}
		}
		switch random.IntN(18) {
		case 0:
			a.put([]byte{frameDefCFA, register, small})
			byRegister = true
		case 1:
			a.put([]byte{frameDefCFASigned, register, small})
			byRegister = true
		case 2, 3:
			if byRegister { // what an offset means behind an expression is not defined
				a.put([]byte{[]byte{frameDefCFAOffset, frameDefCFARegister, frameDefOffSigned}[random.IntN(3)], register})
			}
		case 4:
			if remembered == 0 && left != nil {
				a.put([]byte{frameDefCFAExpr}, expression())
				byRegister = false
			}
		case 5:
			a.put([]byte{frameOffset | register, small})
		case 6:
			a.put([]byte{[]byte{frameOffsetExt, frameOffsetSigned, frameGNUNegOffset, frameValOffset, frameValOffSigned}[random.IntN(5)], register, small})
		case 7:
			a.put([]byte{[]byte{frameUndefined, frameSame}[random.IntN(2)], register})
		case 8:
			a.put([]byte{frameRegister, register, byte(random.IntN(8))})
		case 9:
			a.put([]byte{[]byte{frameExpr, frameValExpr}[random.IntN(2)], register}, expression())
		case 10:
			a.put([]byte{frameGNUArgsSize, small, frameNop})
		case 11, 12:
			if left != nil {
				a.put([]byte{[]byte{frameRestore | register, frameRestoreExt}[random.IntN(2)]})
				if a.Bytes()[a.Len()-1] == frameRestoreExt {
					a.put(register)
				}
			}
		case 13, 14:
			if left != nil && byRegister {
				a.put(uint8(frameRemember))
				remembered++
			}
		case 15, 16:
			if remembered > 0 {
				a.put(uint8(frameRestoreState))
				remembered--
			}
		default:
			a.put(uint8(frameNegateRA))
		}
	}
}
