package retrace

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/renode"
)

// file puts a file together. Beside the bytes it has the lines of the tracer's text.
type file struct {
	data    []byte
	text    strings.Builder
	pcBytes int
	opcodes bool
}

func newFile(version byte, pcBytes int, blocks bool, names ...string) *file {
	f := &file{pcBytes: pcBytes, opcodes: len(names) > 0}
	f.data = append(append(f.data, "ReTrace"...), version, byte(pcBytes), 0)
	if !f.opcodes {
		return f
	}
	f.data[9] = 1
	count := byte(len(names))
	if version < 5 {
		count = map[bool]byte{true: 1}[blocks]
	}
	f.data = append(f.data, count)
	for _, name := range names {
		f.data = append(append(f.data, byte(len(name))), name...)
	}
	return f
}

func (f *file) block(mode byte, count uint64) {
	f.data = binary.LittleEndian.AppendUint64(append(f.data, mode), count)
}

// instruction adds one with its data.
func (f *file) instruction(pc uint64, opcode string, data ...[]byte) {
	f.data = append(f.data, binary.LittleEndian.AppendUint64(nil, pc)[:f.pcBytes]...)
	fmt.Fprintf(&f.text, "0x%0*x", 2*f.pcBytes, pc)
	if f.opcodes {
		f.data = append(append(f.data, byte(len(opcode))), opcode...)
		f.text.WriteString(": 0x")
		for i := len(opcode) - 1; i >= 0; i-- {
			fmt.Fprintf(&f.text, "%02x", opcode[i])
		}
	}
	f.text.WriteByte('\n')
	for _, d := range data {
		f.data = append(f.data, d...)
		f.text.WriteString(said(d) + "\n")
	}
	f.data = append(f.data, 0)
}

// said is the tracer's line of data.
func said(d []byte) string {
	le := binary.LittleEndian
	switch d[0] {
	case 1:
		addr, value, phys := le.Uint64(d[2:]), le.Uint64(d[10:]), le.Uint64(d[18:])
		line := []string{"MemoryIORead", "MemoryIOWrite", "MemoryRead", "MemoryWrite", "InsnFetch"}[d[1]] + fmt.Sprintf(" with address 0x%x", addr)
		if addr != phys {
			line += fmt.Sprintf(" => 0x%x", phys)
		}
		return line + fmt.Sprintf(", value 0x%x", value)
	case 2:
		return fmt.Sprintf("Vector configured to VL: 0x%x, VTYPE: 0x%x", le.Uint64(d[1:]), le.Uint64(d[9:]))
	case 3:
		v := make([]uint64, 4)
		for i := range v {
			if v[i] = uint64(le.Uint32(d[4+4*i%len(d):])); d[2] == 3 {
				v[i] = le.Uint64(d[4+8*i:])
			}
		}
		return fmt.Sprintf("AMO operands %s - RD: 0x%x, RS1: 0x%x (memory value: 0x%x), RS2: 0x%x", []string{"before", "after"}[d[1]],
			v[0], v[1], v[3], v[2])
	}
	line := []string{"Post: ", "Pre: "}[d[1]]
	for i, at := 0, 3; i < int(d[2]); i++ {
		if i > 0 {
			line += " | "
		}
		name := string(d[at+1 : at+1+int(d[at])])
		at += 1 + len(name)
		var value uint64
		for k := range int(d[at]) {
			value |= uint64(d[at+1+k]) << (8 * k)
		}
		at += 1 + int(d[at])
		line += fmt.Sprintf("%s: 0x%x", name, value)
	}
	return line
}

func accessed(kind byte, addr, value, phys uint64) []byte {
	le := binary.LittleEndian
	return le.AppendUint64(le.AppendUint64(le.AppendUint64([]byte{1, kind}, addr), value), phys)
}

func shaped(vl, vtype uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{2}, vl), vtype)
}

func atomic(after, width byte, operands ...uint64) []byte {
	d := []byte{3, after, width, 0}
	for _, o := range operands {
		d = append(d, binary.LittleEndian.AppendUint64(nil, o)[:1<<width]...)
	}
	return d
}

type register struct {
	name  string
	size  byte
	value uint64
}

func registers(pre byte, all ...register) []byte {
	d := []byte{4, pre, byte(len(all))}
	for _, r := range all {
		d = append(append(d, byte(len(r.name))), r.name...)
		d = append(append(d, r.size), binary.LittleEndian.AppendUint64(nil, r.value)[:r.size]...)
	}
	return d
}

// code is an opcode in the order of memory.
func code(value uint64, size int) string {
	return string(binary.LittleEndian.AppendUint64(nil, value)[:size])
}

// everything is a file with data of every kind.
func everything() *file {
	f := newFile(5, 8, false, "riscv64 rocket")
	f.instruction(0x80000000, code(0x00000297, 4))
	f.instruction(0x80000004, code(0x4188, 2), accessed(2, 0x80001000, 0x2a, 0x80001000), accessed(4, 0x80000004, 0, 0x80000004))
	f.instruction(0x80000006, code(0x00b52023, 4), accessed(3, 0x1000, 0xffffffff, 0x80001000), accessed(1, 0x10000000, 0, 0x10000000),
		accessed(0, ^uint64(0), ^uint64(0), 0))
	f.instruction(0x8000000a, code(0x0062a02f, 4), atomic(0, 2, 1, 2, 3, 4), atomic(1, 2, 0xffffffff, 0, 0x10, 0x100))
	f.instruction(0x8000000e, code(0x0062b02f, 4), atomic(0, 3, 1<<40, 2, 3, ^uint64(0)))
	f.instruction(0x80000012, code(0x0d007057, 4), shaped(16, 0xd0))
	f.instruction(0x80000016, code(0x00500293, 4), registers(1, register{"x5", 8, 0}, register{"x6", 4, 0x10}), registers(0, register{"x5", 8, 5}))
	f.instruction(0x8000001a, code(0x00500293, 4), registers(1, register{"x5", 8, 7}), registers(0, register{"x5", 8, 7}, register{"pc", 8, 1 << 63}))
	return f
}

func TestMuseum(t *testing.T) {
	dialecttest.Run(t, Dialect, string(everything().data))
	dialecttest.Run(t, Dialect, string(arm().data))
	dialecttest.Run(t, Dialect, string(everything().data[:200]))
}

// meaning is records without their places, and without remarks.
func meaning(records []itrace.Record) (all []string) {
	for i := range records {
		if records[i].Kind != itrace.Remark {
			all = append(all, string(jsonl.Append(nil, &records[i])))
		}
	}
	return all
}

// TestAgainstText: a binary file tells what the text of the same run does, with the option and without, and is quoted in its words.
func TestAgainstText(t *testing.T) {
	files := []*file{everything(), random(1, 4, 4, "riscv32 generic"), random(2, 8, 5, "riscv64 rocket"), random(3, 2, 2), random(4, 8, 3)}
	for i, f := range files {
		for _, setting := range []string{"", ":sizes=opcode"} {
			of := func(name string) *itrace.Dialect {
				d, err := itrace.Registry{Dialect, renode.Dialect}.ByName(name + setting)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			got := dialecttest.Read(t, of("retrace"), strings.NewReader(string(f.data)), 512)
			want := dialecttest.Read(t, of("renode"), strings.NewReader(f.text.String()), 512)
			if diff := cmp.Diff(meaning(want), meaning(got)); diff != "" {
				t.Fatalf("file %d%s (-text +binary):\n%.2000s", i, setting, diff)
			}
			words := make(map[int64]string)
			for _, r := range got {
				words[r.Line] = string(r.Text)
			}
			for n, line := range strings.Split(strings.TrimSpace(f.text.String()), "\n") {
				if words[int64(n)+2] != line {
					t.Fatalf("file %d: packet %d is %q, want %q", i, n+2, words[int64(n)+2], line)
				}
			}
		}
	}
}

// random is a file of instructions with any values.
func random(seed uint64, pcBytes int, version byte, names ...string) *file {
	r := rand.New(rand.NewPCG(seed, seed))
	f := newFile(version, pcBytes, false, names...)
	value := func() uint64 { return r.Uint64() >> (8 * r.UintN(8)) }
	pc := uint64(0x1000)
	for range 300 {
		var data [][]byte
		for range r.UintN(4) {
			switch addr := value(); r.UintN(6) {
			case 0:
				data = append(data, shaped(value(), value()))
			case 1:
				data = append(data, atomic(byte(r.UintN(2)), byte(2+r.UintN(2)), value(), value(), value(), value()))
			case 2:
				size := byte(1 + r.UintN(8))
				data = append(data, registers(byte(r.UintN(2)), register{fmt.Sprintf("x%d", r.UintN(32)), size, value() & (1<<(8*size-1)<<1 - 1)},
					register{"sp", 8, uint64(r.UintN(3))}))
			case 3:
				data = append(data, accessed(byte(r.UintN(5)), addr, value(), addr))
			default:
				data = append(data, accessed(byte(r.UintN(5)), addr, value(), value()))
			}
		}
		size := 2 + 2*r.IntN(2)
		opcode := uint64(r.Uint32() | 3)
		if size == 2 {
			opcode &^= 2
		}
		f.instruction(pc, code(opcode, size), data...)
		pc = (pc + uint64(size) + uint64(r.UintN(2)*16)) & (1<<(8*pcBytes-1)<<1 - 1)
	}
	return f
}

// arm is a file with blocks of two instruction sets, of which the second ends early.
func arm() *file {
	f := newFile(5, 4, true, "armv7a cortex-a9", "thumb cortex-a9")
	f.block(0, 2)
	f.instruction(0x100, code(0xe59f1198, 4))
	f.instruction(0x104, code(0xe12fff1e, 4))
	f.block(1, 3)
	f.instruction(0x200, code(0xb580, 2))
	f.instruction(0x202, "\x00\xf0\x10\xf8") // bl, of two halfwords
	f.block(0, 1)
	f.instruction(0x108, code(0xe12fff1e, 4))
	return f
}

// TestModes: the opcodes of each instruction set are as others write them, and a block that ends early is told.
func TestModes(t *testing.T) {
	of := func(f *file) (got []string) {
		for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(string(f.data)), 64) {
			switch r.Kind {
			case itrace.Instruction:
				got = append(got, fmt.Sprintf("%d %x %s %c", r.Line, r.Addr, r.Digits, max(r.State, '-')))
			case itrace.Unknown:
				got = append(got, fmt.Sprintf("%d %v", r.Line, r.Problem))
			}
		}
		return got
	}
	block := func(version byte, mode byte, opcode string, names ...string) *file {
		f := newFile(version, 8, true, names...)
		f.block(mode, 1)
		f.instruction(0x100, opcode)
		return f
	}
	x86 := newFile(4, 8, false, "i386 x")
	x86.instruction(0x100, "\x48\x89\xe5")
	x86.instruction(0x103, "\xc3")
	for i, test := range []struct {
		f    *file
		want []string
	}{
		{arm(), []string{"2 100 e59f1198 A", "3 104 e12fff1e A", "4 200 b580 T", "5 202 f000f810 T",
			"6 column 1: found a block, expected another instruction of the block before", "6 108 e12fff1e A"}},
		{block(4, 1, "\x00\xf0\x10\xf8", "armv7a cortex-a9"), []string{"2 100 f000f810 T"}},
		{block(2, 0, "\x00\xf0\x10\xf8", "armv7a cortex-a9"), []string{"2 100 f810f000 A"}},
		{block(4, 0, "\x00\xf0\x10\xf8", "arm64 cortex-a53"), []string{"2 100 f810f000 O"}},
		{block(4, 2, "\x00\xf0\x10\xf8", "arm64 cortex-a53"), []string{"2 100 f810f000 A"}},
		{block(4, 3, "\x00\xf0\x10\xf8", "arm64 cortex-a53"), []string{"2 100 f000f810 T"}},
		{block(4, 1, "\x00\xf0\x10\xf8", "arm64 cortex-a53"), []string{"2 column 1: found the mode 1, expected one of the header"}},
		{block(5, 2, "\x00\xf0\x10\xf8", "a b", "c d"), []string{"2 column 1: found the mode 2, expected one of the header"}},
		{x86, []string{"2 100 4889e5 -", "3 103 c3 -"}},
	} {
		if diff := cmp.Diff(test.want, of(test.f)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", i, diff)
		}
	}
}

// TestDamage: what is cut or wrong is told, and nothing behind it is made up.
func TestDamage(t *testing.T) {
	whole := everything().data
	all := len(dialecttest.Read(t, Dialect, strings.NewReader(string(whole)), 64))
	for n := 1; n < len(whole); n++ {
		records := dialecttest.Read(t, Dialect, strings.NewReader(string(whole[:n])), 64)
		for i, r := range records {
			if r.Kind == itrace.Unknown && i != len(records)-1 || i >= all {
				t.Fatalf("%d bytes: record %d of %d is %v", n, i, len(records), r.Problem)
			}
		}
	}
	spoil := func(at int, b byte) []byte {
		bad := append([]byte(nil), whole...)
		bad[at] = b
		return bad
	}
	opcodesAlone := newFile(5, 0, false, "riscv64 rocket")
	opcodesAlone.instruction(0, code(0x13, 4))
	const first = 12 + len("riscv64 rocket")
	for i, test := range []struct {
		data []byte
		want string
	}{
		{spoil(3, 'x'), `column 1: found "ReTxace\x05\b\x01\x01\x0eriscv64", expected ReTrace`},
		{spoil(7, 6), "column 8: found version 6, expected a version from 2 to 5"},
		{spoil(7, 1), "column 8: found version 1, expected a version from 2 to 5"},
		{spoil(8, 9), "column 9: found the length 9, expected a pc of 8 bytes at most"},
		{spoil(9, 2), "column 10: found the byte 2, expected 0 or 1, for opcodes"},
		{spoil(10, 0), "column 11: found the number 0, expected the name of a processor"},
		{spoil(first+8, 0), "column 9: found the length 0, expected an opcode of 1 to 16 bytes"},
		{spoil(first+13, 9), "column 1: found the type 9, expected one of data, 0 to 4"},
		{spoil(first+14+12, 5), "column 2: found the kind 5, expected one of an access, 0 to 4"},
		{opcodesAlone.data, "column 1: found an opcode, expected an address; opcodes alone do not tell where they were executed"},
		{whole[:first-1], "column 26: found the end, expected the rest of the header"},
	} {
		if got, _ := dialecttest.Problem(t, Dialect, string(test.data)); got != test.want {
			t.Errorf("%d: got %q, want %q", i, got, test.want)
		}
	}
}

func TestDetect(t *testing.T) {
	registry := itrace.Registry{renode.Dialect, Dialect}
	d := registry.Detect(everything().data)
	const want = "the header of ReTrace 5, pcs of 8 bytes, opcodes of riscv64 rocket; 17 of 17 packets can be read"
	if d.Dialect != Dialect || d.Why != want {
		t.Errorf("%+v", d)
	}
	if d := registry.Detect([]byte("ReTrace")); d.Dialect != Dialect {
		t.Errorf("the beginning is taken for %+v", d)
	}
}

func TestAllocations(t *testing.T) {
	short, long := random(9, 8, 5, "riscv64 rocket"), newFile(5, 8, false, "riscv64 rocket")
	for range 20 {
		long.data = append(long.data, short.data[12+len("riscv64 rocket"):]...)
	}
	records := make([]itrace.Record, 512)
	read := func(data []byte) float64 {
		return testing.AllocsPerRun(5, func() {
			r := itrace.NewReader(strings.NewReader(string(data)), Dialect)
			for {
				if _, err := r.Read(records); err != nil {
					return
				}
			}
		})
	}
	if once, often := read(short.data), read(long.data); often > once+20 {
		t.Errorf("%v allocations for a trace, %v for one twenty times as long", once, often)
	}
}

func FuzzReTrace(f *testing.F) {
	dialecttest.Fuzz(f, Dialect, string(everything().data), string(arm().data), string(newFile(2, 4, false).data), "ReTrace\x05")
}

// BenchmarkRead reads instructions with opcodes, and with accesses.
func BenchmarkRead(b *testing.B) {
	for _, of := range []string{"opcodes", "accesses"} {
		f := newFile(5, 8, false, "riscv64 rocket")
		for i := range uint64(1 << 16) {
			if i%4 == 0 && of == "accesses" {
				f.instruction(0x80000000+4*i, code(0x00b52023, 4), accessed(2, 0x80001000+8*i, i, 0x80001000+8*i))
			} else {
				f.instruction(0x80000000+4*i, code(0x00000297, 4))
			}
		}
		b.Run(of, func(b *testing.B) {
			records := make([]itrace.Record, 128)
			b.SetBytes(int64(len(f.data)))
			b.ReportAllocs()
			text := string(f.data)
			for b.Loop() {
				r := itrace.NewReader(strings.NewReader(text), Dialect)
				for {
					if _, err := r.Read(records); err != nil {
						break
					}
				}
			}
		})
	}
}
