package tdesctest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/gdbtest"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// byteOrder is one of Go's two, which can also append.
type byteOrder interface {
	arch.ByteOrder
	binary.AppendByteOrder
}

// valued is a description with a register block to hold against GDB.
type valued struct {
	name   string
	target *tdesc.Target
	order  byteOrder
	endian string // as set endian takes it
	layout *tdesc.Layout
	block  []byte
	slots  []*tdesc.Slot // of the registers to compare
}

// newValued takes the first registers of each type, enough to see one of every kind of bytes.
func newValued(t *testing.T, name string, target *tdesc.Target, order byteOrder) *valued {
	t.Helper()
	layout, err := target.Layout()
	if err != nil {
		t.Fatal(err)
	}
	v := &valued{name: name, target: target, order: order, endian: "little", layout: layout, block: sampleBlock(layout)}
	if order.Uint16([]byte{0, 1}) == 1 {
		v.endian = "big"
	}
	const each = 4
	seen := map[string]int{}
	for i := range layout.Slots {
		s := &layout.Slots[i]
		kind := fmt.Sprint(s.Feature.Name, s.Reg.Type, s.Reg.Bits)
		if seen[kind]++; seen[kind] <= each || s.Reg.Type == "int" && s.Reg.Bits == 32 {
			v.slots = append(v.slots, s)
		}
	}
	return v
}

// sampleBlock fills a block so that registers of one type become in turn random bits, small numbers, floats in each lane, and
// a byte over and over.
func sampleBlock(l *tdesc.Layout) []byte {
	random := rand.New(rand.NewPCG(1, uint64(l.Size)))
	block := make([]byte, l.Size)
	for i, s := range l.Slots {
		b, _ := s.Bytes(block)
		switch {
		case len(b) == 0:
		case i%4 == 0:
			for i := range b {
				b[i] = byte(random.Uint32())
			}
		case i%4 == 1:
			b[0], b[len(b)-1] = byte(random.IntN(4)), byte(random.IntN(4))
		case i%4 == 2:
			for i := range b {
				b[i] = []byte{0x3f, 0xc0, 0, 0, 0, 0, 0xf8, 0x3f}[i%8]
			}
		case i%4 == 3:
			fill := byte(random.Uint32())
			for i := range b {
				b[i] = fill
			}
		}
	}
	return block
}

// traceFile is the smallest trace file with one frame that holds the register block.
func (v *valued) traceFile() []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "\x7fTRACE0\nR %x\n", len(v.block))
	for line := range strings.Lines(string(v.target.XML())) {
		text.WriteString("tdesc " + line)
	}
	text.WriteString("status 0;tstop::0;tframes:1;tcreated:1;tfree:0;tsize:10000\ntp T1:1000:E:0:0\n\n")
	out := v.order.AppendUint16([]byte(text.String()), 1)
	out = v.order.AppendUint32(out, uint32(1+len(v.block)))
	out = append(append(out, 'R'), v.block...)
	return v.order.AppendUint32(out, 0)
}

// hidden is what GDB says of a register that it shows only as a part of another.
const hidden = "error: Invalid register"

// compareValues gives GDB a trace file for each and has it print the registers.
func compareValues(t *testing.T, all []*valued) {
	t.Helper()
	dir := t.TempDir()
	var script strings.Builder
	for i, v := range all {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, v.traceFile(), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&script, "-- open --\nset endian %s\ntarget tfile %s\n? tfind 0\n", v.endian, file)
		for j, s := range v.slots {
			fmt.Fprintf(&script, "-- %d %d --\n? info registers %s\n", i, j, s.Reg.Name)
		}
	}
	output := gdbtest.RunMultiarch(t, script.String())
	for i, v := range all {
		t.Run(v.name+"/"+v.endian, func(t *testing.T) {
			compared := 0
			for j, s := range v.slots {
				printed := output.Section(t, fmt.Sprint(i, j))
				if strings.HasPrefix(printed, hidden) {
					continue
				}
				compared++
				name, want, _ := strings.Cut(printed, " ")
				got := s.Format(v.block, v.order)
				if name != s.Reg.Name || got != strings.TrimSpace(want) {
					t.Errorf("%s %s: -GDB +ours\n-%s\n+%s", s.Reg.Name, s.Reg.Type, printed, got)
				}
			}
			if compared == 0 {
				t.Error("GDB showed no register")
			}
		})
	}
}

// TestValues leaves out what there is no GDB for here, and MIPS, for which GDB prints tables of its own making.
func TestValues(t *testing.T) {
	var all []*valued
	for _, s := range machine.Shapes() {
		target := s.Target()
		switch family, _, _ := strings.Cut(target.Architecture, ":"); family {
		case "loongarch32", "loongarch64", "mips":
			continue
		case "i386":
			all = append(all, newValued(t, s.Name, target, binary.LittleEndian))
		default:
			all = append(all, newValued(t, s.Name, target, binary.LittleEndian), newValued(t, s.Name, target, binary.BigEndian))
		}
	}
	compareValues(t, all)
}
