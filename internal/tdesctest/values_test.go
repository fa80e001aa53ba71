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

// traceFile is the smallest trace file with one frame that holds the register block.
func traceFile(target *tdesc.Target, block []byte, order binary.AppendByteOrder) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "\x7fTRACE0\nR %x\n", len(block))
	for line := range strings.Lines(string(target.XML())) {
		text.WriteString("tdesc " + line)
	}
	text.WriteString("status 0;tstop::0;tframes:1;tcreated:1;tfree:0;tsize:10000\ntp T1:1000:E:0:0\n\n")
	out := order.AppendUint16([]byte(text.String()), 1)
	out = order.AppendUint32(out, uint32(1+len(block)))
	out = append(append(out, 'R'), block...)
	return order.AppendUint32(out, 0)
}

// sampleBlock fills a block with bytes that make floating-point numbers of every kind: each register is random bits, small
// numbers, one float in each lane or a single byte over and over.
func sampleBlock(size int, l *tdesc.Layout) []byte {
	random := rand.New(rand.NewPCG(1, uint64(size)))
	block := make([]byte, size)
	for _, s := range l.Slots {
		b, _ := s.Bytes(block)
		switch random.IntN(4) {
		case 0:
			for i := range b {
				b[i] = byte(random.Uint32())
			}
		case 1:
			if len(b) > 0 {
				b[0], b[len(b)-1] = byte(random.IntN(4)), byte(random.IntN(4))
			}
		case 2:
			for i := range b {
				b[i] = []byte{0x3f, 0xc0, 0, 0, 0, 0, 0xf8, 0x3f}[i%8]
			}
		case 3:
			fill := byte(random.Uint32())
			for i := range b {
				b[i] = fill
			}
		}
	}
	return block
}

func TestValues(t *testing.T) {
	random := map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}
	for _, s := range machine.Shapes() {
		if strings.HasPrefix(s.Name, "loong") {
			continue
		}
		for name, order := range random {
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				target := s.Target()
				compareValues(t, target, order, name)
			})
		}
	}
}

func compareValues(t *testing.T, target *tdesc.Target, order binary.AppendByteOrder, endian string) {
	l, err := target.Layout()
	if err != nil {
		t.Fatal(err)
	}
	block := sampleBlock(l.Size, l)
	file := filepath.Join(t.TempDir(), "values.tf")
	if err := os.WriteFile(file, traceFile(target, block, order), 0o644); err != nil {
		t.Fatal(err)
	}
	script := "set endian " + endian + "\n? target tfile " + file + "\n? tfind 0\n"
	for i, s := range l.Slots {
		script += fmt.Sprintf("-- r%d --\n? info registers %s\n", i, s.Reg.Name)
	}
	output := gdbtest.RunMultiarch(t, script)
	for i, s := range l.Slots {
		want := strings.TrimSpace(output.Section(t, fmt.Sprint("r", i)))
		_, want, _ = strings.Cut(want, " ")
		if got := s.Format(block, order.(arch.ByteOrder)); got != strings.TrimSpace(want) {
			t.Errorf("%s: -GDB +ours\n-%s\n+%s", s.Reg.Name, strings.TrimSpace(want), got)
		}
	}
}
