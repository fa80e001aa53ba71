package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/trace"
)

func view(t testing.TB, b []byte) Frame {
	t.Helper()
	f, err := ParseFrame(b, binary.LittleEndian, 4)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFrameBytes(t *testing.T) {
	b := Builder{Order: binary.LittleEndian}
	b.Begin([]byte("before"), 2)
	copy(b.Registers(4), "regs")
	b.AppendMemory(0x404020, []byte("word"))
	b.Variable(2, -2)
	b.AppendStatic([]byte("st"))
	want := "before" + "\x02\x00\x26\x00\x00\x00" + "Rregs" + "M\x20\x40\x40\x00\x00\x00\x00\x00\x04\x00word" +
		"V\x02\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff" + "S\x02\x00st"
	if diff := cmp.Diff(want, string(b.Finish())); diff != "" {
		t.Errorf("little endian (-want +got):\n%s", diff)
	}

	b = Builder{Order: binary.BigEndian}
	b.Begin(nil, 0x102)
	b.AppendMemory(0x404020, []byte("x"))
	b.Variable(3, 4)
	want = "\x01\x02\x00\x00\x00\x19" + "M\x00\x00\x00\x00\x00\x40\x40\x20\x00\x01x" + "V\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x04"
	if diff := cmp.Diff(want, string(b.Finish())); diff != "" {
		t.Errorf("big endian (-want +got):\n%s", diff)
	}
}

func TestFrameRules(t *testing.T) {
	b := Builder{Order: binary.LittleEndian}
	b.Begin(nil, 7)
	copy(b.Registers(4), "1st!")
	b.AppendMemory(0x100, []byte("abcdef"))
	b.Variable(1, 10)
	b.AppendMemory(0x104, []byte("EFGHIJ"))
	b.Variable(1, 20)
	b.Memory(0x200, 0)
	copy(b.Registers(4), "2nd!")
	b.AppendMemory(0xfffffffffffffffe, []byte("yz"))
	f := view(t, b.Finish())

	if got := string(f.Registers()); got != "1st!" {
		t.Errorf("registers %q, want the first block", got)
	}
	if v, ok := f.Variable(1); v != 20 || !ok {
		t.Errorf("variable %d, %v; want the last block's 20", v, ok)
	}
	if v, ok := f.Variable(2); ok {
		t.Errorf("variable 2 is %d, but was not collected", v)
	}
	reads := []struct {
		addr uint64
		size int
		want string
	}{
		{0x100, 6, "abcdef"},
		{0x100, 20, "abcdefGHIJ"}, // the first block to its end, then the second
		{0x104, 4, "efGH"},        // the first block that holds the address, not the better one
		{0x106, 4, "GHIJ"},
		{0x10a, 1, ""}, {0xff, 4, ""}, {0x200, 1, ""},
		{0xfffffffffffffffe, 4, "yz"},
	}
	for _, read := range reads {
		p := make([]byte, read.size)
		if n := f.ReadMemory(arch.Addr(read.addr), p); string(p[:n]) != read.want {
			t.Errorf("%d bytes at %#x: %q, want %q", read.size, read.addr, p[:n], read.want)
		}
	}
	if f.Tracepoint() != 7 || f.Static() != nil || f.Check() != nil {
		t.Errorf("tracepoint %d, static %q, check %v", f.Tracepoint(), f.Static(), f.Check())
	}
}

func TestBlocks(t *testing.T) {
	f := view(t, smallFrames(binary.LittleEndian)[3])
	var got []Block
	for b := range f.Blocks() {
		got = append(got, b)
	}
	want := []Block{
		{Kind: BlockStatic, Offset: 6, Bytes: []byte("static")},
		{Kind: BlockMemory, Offset: 15, Addr: 0x10, Bytes: []byte{1, 2, 3, 4}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for b := range f.Blocks() {
		if b.Kind != BlockStatic {
			t.Error("the loop went on after break")
		}
		break
	}
}

func TestEmptyFrame(t *testing.T) {
	f := view(t, []byte("\x05\x00\x00\x00\x00\x00"))
	for b := range f.Blocks() {
		t.Errorf("block %v in an empty frame", b)
	}
	if f.Len() != 0 || f.Registers() != nil || f.Check() != nil || f.Tracepoint() != 5 {
		t.Errorf("%d bytes, registers %q, check %v, tracepoint %d", f.Len(), f.Registers(), f.Check(), f.Tracepoint())
	}
}

func TestDamage(t *testing.T) {
	const variable = "V\x01\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00"
	tests := []struct {
		name, data, want string
	}{
		{"unknown letter", variable + "Qrest", `damaged frame: offset 19: found "Qrest", expected a block (R, M, V or S)`},
		{"R cut", variable + "Rab", "damaged frame: offset 19: found 3 bytes to the end of the frame, expected a R block of 5"},
		{"M head cut", variable + "M123", "damaged frame: offset 19: found 4 bytes to the end of the frame, expected a M block of 11"},
		{"M cut", variable + "M\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00ab",
			"damaged frame: offset 19: found 13 bytes to the end of the frame, expected a M block of 14"},
		{"V cut", variable + variable[:12], "damaged frame: offset 19: found 12 bytes to the end of the frame, expected a V block of 13"},
		{"S head cut", variable + "S\x01", "damaged frame: offset 19: found 2 bytes to the end of the frame, expected a S block of 3"},
		{"S cut", variable + "S\x02\x00a", "damaged frame: offset 19: found 4 bytes to the end of the frame, expected a S block of 5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := view(t, append([]byte{1, 0, byte(len(test.data)), 0, 0, 0}, test.data...))
			err := f.Check()
			if !errors.Is(err, ErrDamaged) || err.Error() != test.want {
				t.Errorf("got %v\nwant %s", err, test.want)
			}
			if v, ok := f.Variable(1); !ok || v != 9 {
				t.Errorf("the variable before the damage is %d, %v; want 9", v, ok)
			}
		})
	}
	f, err := ParseFrame([]byte("\x01\x00\x01\x00\x00\x00R"), binary.LittleEndian, 0)
	if err != nil {
		t.Fatal(err)
	}
	const want = "damaged frame: offset 6: found an R block, expected an R line in the definitions that tells its length"
	if err := f.Check(); err == nil || err.Error() != want {
		t.Errorf("R block of unknown length: %v", err)
	}
}

func TestParseFrameErrors(t *testing.T) {
	tests := []struct {
		data string
		kind error
		want string
	}{
		{"\x01\x00", ErrTruncated, "premature end of the trace file: offset 0: found 2 bytes, expected a frame header of 6 bytes"},
		{"\x01\x00\x05\x00\x00\x00ab", ErrTruncated,
			"premature end of the trace file: offset 2: found a length of 5, expected 2, as many bytes as follow"},
		{"\x01\x00\x01\x00\x00\x00ab", ErrDamaged, "damaged frame: offset 2: found a length of 1, expected 2, as many bytes as follow"},
	}
	for _, test := range tests {
		_, err := ParseFrame([]byte(test.data), binary.LittleEndian, 4)
		if !errors.Is(err, test.kind) || err.Error() != test.want {
			t.Errorf("%q:\n got %v\nwant %s", test.data, err, test.want)
		}
	}
}

func TestNegativeTracepoint(t *testing.T) {
	f := view(t, []byte("\x01\x80\x00\x00\x00\x00"))
	if n := f.Tracepoint(); n != -0x7fff {
		t.Errorf("tracepoint %d of a header with 0x8001, want %d", n, -0x7fff)
	}
}

func TestLongMemory(t *testing.T) {
	memory := make([]byte, 2*MaxBlock+10)
	for i := range memory {
		memory[i] = byte(i / 7)
	}
	b := Builder{Order: binary.LittleEndian}
	b.Begin(nil, 1)
	b.AppendMemory(0x1000, memory)
	f := view(t, b.Finish())
	var lengths []int
	for block := range f.Blocks() {
		lengths = append(lengths, len(block.Bytes))
	}
	if diff := cmp.Diff([]int{MaxBlock, MaxBlock, 10}, lengths); diff != "" {
		t.Errorf("block lengths (-want +got):\n%s", diff)
	}
	got := make([]byte, len(memory))
	if n := f.ReadMemory(0x1000, got); n != len(memory) || !bytes.Equal(got, memory) {
		t.Errorf("%d of %d bytes came back, equal %v", n, len(memory), bytes.Equal(got, memory))
	}
	b.Begin(nil, 1)
	if n := len(b.Memory(0, MaxBlock+1)); n != MaxBlock {
		t.Errorf("one block of %d bytes", n)
	}
	b.AppendStatic(memory)
	lengths = lengths[:0]
	for block := range view(t, b.Finish()).Blocks() {
		if block.Kind == BlockStatic {
			lengths = append(lengths, len(block.Bytes))
		}
	}
	if diff := cmp.Diff([]int{MaxBlock, MaxBlock, 10}, lengths); diff != "" {
		t.Errorf("static block lengths (-want +got):\n%s", diff)
	}
}

func TestShrinkMemory(t *testing.T) {
	b := Builder{Order: binary.LittleEndian}
	b.Begin(nil, 1)
	first := b.Len()
	copy(b.Memory(0x10, 8), "firstXXX")
	second := b.Len()
	copy(b.Memory(0x20, 8), "XXXXXXXX")
	copy(b.Memory(0x30, 8), "thirdXXX")
	b.ShrinkMemory(5)
	b.ShrinkMemoryAt(second, 0)
	b.ShrinkMemoryAt(first, 5)
	b.Variable(1, 1)
	var got []string
	for block := range view(t, b.Finish()).Blocks() {
		got = append(got, block.Addr.String()+" "+string(block.Bytes))
	}
	if diff := cmp.Diff([]string{"0x10 first", "0x30 third", "0x0 "}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBuilderPanics(t *testing.T) {
	tests := map[string]func(b *Builder){
		"tracepoint 0":         func(b *Builder) { b.Begin(nil, 0) },
		"tracepoint too large": func(b *Builder) { b.Begin(nil, trace.MaxNumber+1) },
		"shrink of no memory":  func(b *Builder) { b.Begin(nil, 1); b.Registers(4); b.ShrinkMemory(1) },
		"growing":              func(b *Builder) { b.Begin(nil, 1); b.Memory(1, 4); b.ShrinkMemory(5) },
	}
	for name, act := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			act(&Builder{Order: binary.LittleEndian})
		})
	}
}

func TestQueryMatch(t *testing.T) {
	tests := []struct {
		q       Query
		match   []uint64 // addresses
		nomatch []uint64
	}{
		{Query{Kind: ByPC, Low: 5, High: 9}, []uint64{5}, []uint64{4, 6, 9}},
		{Query{Kind: ByRange, Low: 5, High: 9}, []uint64{5, 7, 9}, []uint64{4, 10}},
		{Query{Kind: ByOutside, Low: 5, High: 9}, []uint64{0, 4, 10, 1<<64 - 1}, []uint64{5, 7, 9}},
		{Query{Kind: ByTracepoint, Tracepoint: 3}, []uint64{0, 9}, nil},
		{Query{Kind: ByTracepoint, Tracepoint: 4, High: 9}, nil, []uint64{0, 3, 9}},
		{Query{Kind: 99}, nil, []uint64{0}},
	}
	for _, test := range tests {
		for _, pc := range test.match {
			if !test.q.Match(3, arch.Addr(pc)) {
				t.Errorf("%+v does not match tracepoint 3 at %#x", test.q, pc)
			}
		}
		for _, pc := range test.nomatch {
			if test.q.Match(3, arch.Addr(pc)) {
				t.Errorf("%+v matches tracepoint 3 at %#x", test.q, pc)
			}
		}
	}
}
