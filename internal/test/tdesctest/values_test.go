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
	"tracewell/internal/test/gdbtest"
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

// compareValues gives GDB a trace file for each and has it print the registers. It takes a GDB each, since one does not open
// a second trace file with other registers.
func compareValues(t *testing.T, all []*valued) {
	for _, v := range all {
		t.Run(v.name+"/"+v.endian, func(t *testing.T) {
			t.Parallel()
			v.compare(t)
		})
	}
}

func (v *valued) compare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.tf")
	if err := os.WriteFile(file, v.traceFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	fmt.Fprintf(&script, "set endian %s\ntarget tfile %s\n? tfind 0\n", v.endian, file)
	for i, s := range v.slots {
		fmt.Fprintf(&script, "-- %d --\n? info registers %s\n", i, s.Reg.Name)
	}
	output := gdbtest.RunMultiarch(t, script.String())
	compared := 0
	for i, s := range v.slots {
		printed := output.Section(t, fmt.Sprint(i))
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
}

// TestValues shows the least machine of each architecture in both byte orders, where there are two, and the others in the one
// that they mostly have. It leaves out what there is no GDB for here, and MIPS, for which GDB prints tables of its own making.
func TestValues(t *testing.T) {
	var all []*valued
	for _, s := range machine.Shapes() {
		target := s.Target()
		family, _, _ := strings.Cut(target.Architecture, ":")
		if family == "mips" || strings.HasPrefix(family, "loongarch") {
			continue
		}
		big := family == "powerpc" || family == "s390"
		both := !strings.Contains(s.Name, "-") && family != "i386"
		if big || both {
			all = append(all, newValued(t, s.Name, target, binary.BigEndian))
		}
		if !big || both {
			all = append(all, newValued(t, s.Name, target, binary.LittleEndian))
		}
	}
	compareValues(t, all)
}

// TestTypesByBits shows what the types int and float are on architectures of each kind at each size: chars with or without a
// sign, and long doubles of every format.
func TestTypesByBits(t *testing.T) {
	var all []*valued
	for _, s := range machine.Shapes() {
		var float int // bits of a long double
		order := byteOrder(binary.BigEndian)
		switch s.Name {
		case "power64", "s390x", "s390":
			float = 128
		case "aarch64", "amd64", "x32-avx":
			float, order = 128, binary.LittleEndian
		case "i386":
			float, order = 96, binary.LittleEndian
		default:
			continue
		}
		target := s.Target()
		f := &tdesc.Feature{Name: "org.tracewell.bits"}
		add := func(typ string, bits, count int) {
			for range count {
				n := len(f.Registers)
				f.Registers = append(f.Registers, &tdesc.Register{
					Name: fmt.Sprint("q", n), Bits: bits, Num: arch.Reg(1000 + n), Type: typ, SaveRestore: true,
				})
			}
		}
		for _, bits := range []int{8, 16, 32, 64} {
			add("int", bits, 4)
		}
		for _, bits := range []int{32, 64, float} {
			add("float", bits, 4)
		}
		target.Features = append(target.Features, f)
		all = append(all, newValued(t, s.Name, target, order))
	}
	compareValues(t, all)
}
