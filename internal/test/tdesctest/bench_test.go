package tdesctest

import (
	"encoding/binary"
	"testing"

	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// avx512Block is the layout of an x86-64 with AVX-512 and a register block of it, of 2.4 kB or more.
func avx512Block(tb testing.TB) (*tdesc.Layout, []byte) {
	tb.Helper()
	l, err := machine.AMD64{OrigRAX: true, Segments: true, AVX: true, AVX512: true, PKU: true}.Target().Layout()
	if err != nil {
		tb.Fatal(err)
	}
	block := make([]byte, l.Size)
	for i := range block {
		block[i] = byte(i)
	}
	return l, block
}

// few are registers of which one looks at a few in each frame: a number, a pointer, flags and the lane of a vector.
var few = []string{"rip", "rsp", "rax", "eflags"}

// sumFew decodes a few registers and a lane of a vector, and adds them up.
func sumFew(b *tdesc.Block) uint64 {
	sum := uint64(0)
	for _, name := range few {
		if v, ok := b.Value(name); ok {
			sum += v.Uint64()
		}
	}
	if v, ok := b.Value("xmm1"); ok {
		if lanes, ok := v.Field("v4_int32"); ok {
			sum += lanes.Elem(2).Uint64()
		}
	}
	return sum
}

func TestDecodingAllocatesNothing(t *testing.T) {
	l, bytes := avx512Block(t)
	block := l.Block(bytes, binary.LittleEndian)
	want := sumFew(block)
	if n := testing.AllocsPerRun(100, func() { sumFew(block) }); n != 0 || want == 0 {
		t.Errorf("%v allocations for a block, sum %#x", n, want)
	}
}

// BenchmarkDecodeFew has the budget of 200 MB/s for a few registers of each block, as numbers.
func BenchmarkDecodeFew(b *testing.B) {
	l, bytes := avx512Block(b)
	b.SetBytes(int64(len(bytes)))
	b.ReportAllocs()
	for b.Loop() {
		sumFew(l.Block(bytes, binary.LittleEndian))
	}
}

// BenchmarkFormatFew is the same as GDB shows them.
func BenchmarkFormatFew(b *testing.B) {
	l, bytes := avx512Block(b)
	b.SetBytes(int64(len(bytes)))
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range few {
			l.ByName(name).Format(bytes, binary.LittleEndian)
		}
	}
}

// BenchmarkFormatAll shows every register, with all views of all vectors.
func BenchmarkFormatAll(b *testing.B) {
	l, bytes := avx512Block(b)
	b.SetBytes(int64(len(bytes)))
	b.ReportAllocs()
	for b.Loop() {
		for i := range l.Slots {
			l.Slots[i].Format(bytes, binary.LittleEndian)
		}
	}
}

// BenchmarkLayout is a description of 600 registers, as AArch64 has with all that its system registers are; the budget is a
// millisecond together with parsing it.
func BenchmarkLayout(b *testing.B) {
	target := &tdesc.Target{}
	for range 4 {
		target.Features = append(target.Features, machine.AMD64{AVX: true, AVX512: true, PKU: true}.Target().Features...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := target.Layout(); err != nil {
			b.Fatal(err)
		}
	}
}
