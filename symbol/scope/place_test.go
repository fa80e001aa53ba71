package scope

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/expr"
)

// registersAndMemory is an ax.Env in which a register holds 0x100 times its number, and memory at each address the address itself.
type registersAndMemory struct{ ax.Env }

func (registersAndMemory) Register(r arch.Reg) (uint64, error) { return 0x100 * uint64(r), nil }

func (registersAndMemory) Ref(addr arch.Addr, size int) (uint64, error) {
	return uint64(addr) & (1<<(8*size) - 1), nil
}

// exampleFrame is a frame whose base is 0x7000 and whose CFA is 0x8000. The base types at the offsets 1 to 4 are int, unsigned int, char
// and double.
func exampleFrame(entry bool) *frame {
	constant := func(n int64) func() (emit, error) {
		return func() (emit, error) { return func(b *ax.Builder) error { b.Const(n); return nil }, nil }
	}
	name := func(n uint64) string {
		if n < uint64(len(arch.AMD64.DWARF)) {
			return arch.AMD64.DWARF[n]
		}
		return ""
	}
	f := &frame{
		addrSize: 8,
		order:    binary.LittleEndian, bias: 0x100000, entry: entry, base: constant(0x7000), cfa: constant(0x8000), name: name,
		register: func(n uint64) (arch.Reg, int, error) {
			if slot := defaultLayout(arch.AMD64).ByName(name(n)); slot != nil {
				return slot.Reg.Num, slot.Size, nil
			}
			return 0, 0, fmt.Errorf("the target has no register %d", n)
		},
		tls: func() (emit, error) {
			return func(b *ax.Builder) error { addOffset(b, 0x9000); return nil }, nil
		},
		address: func(index uint64) (arch.Addr, bool) { return arch.Addr(0x1000 * index), index < 10 },
		cell: func(offset uint64) (cell, error) {
			if offset == 4 {
				return cell{}, errors.New("its location computes with floating-point numbers")
			}
			return []cell{{}, {4, true}, {4, false}, {1, true}}[offset&3], nil
		},
	}
	f.push = f.current
	return f
}

// shown writes a place with what its code computes.
func shown(p expr.Place) string {
	run := func(emit func(*ax.Builder) error) string {
		var b ax.Builder
		if err := emit(&b); err != nil {
			return err.Error()
		}
		b.Emit(ax.OpEnd)
		program, err := b.Program()
		if err != nil {
			return err.Error()
		}
		var m ax.Machine
		n, err := m.Value(program, registersAndMemory{})
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%#x", uint64(n))
	}
	switch at := p.(type) {
	case expr.Memory:
		return "memory " + run(at.Emit)
	case expr.Register:
		return fmt.Sprintf("register %d of %d", at.Num, at.Size)
	case expr.Value:
		return "value " + run(at.Emit)
	case expr.Constant:
		return fmt.Sprintf("constant % x", at.Bytes)
	case expr.Absent:
		return at.Reason
	case expr.Pieces:
		var texts []string
		for _, piece := range at {
			texts = append(texts, fmt.Sprintf("%d bits from %d of %s", piece.Bits, piece.Offset, shown(piece.Place)))
		}
		return strings.Join(texts, "; ")
	}
	return "nowhere"
}

func TestPlace(t *testing.T) {
	for _, test := range []struct {
		code string
		want string
	}{
		{"", "optimized out"},
		{"\x03\x34\x12\x00\x00\x00\x00\x00\x00", "memory 0x101234"},
		{"\xa1\x02", "memory 0x102000"},
		{"\xa1\x20", "its location is damaged"},
		{"\x91\x68", "memory 0x6fe8"},
		{"\x9c\x23\x10", "memory 0x8010"},
		{"\x76\x70", "memory 0x5f0"}, // rbp has the number 6 in both
		{"\x71\x08", "memory 0x308"}, // rdx has the number 3
		{"\x92\x04\x7f", "memory 0x3ff"},
		{"\x51", "register 3 of 4"},
		{"\x90\x11", "register 40 of 4"},
		{"\x91\x00\x06", "memory 0x7000"},
		{"\x91\x00\x94\x01", "memory 0x0"},
		{"\x91\x00\x94\x03", "its location reads 3 bytes as a number"},
		{"\x35\x33\x1c\x9f", "value 0x2"},
		{"\x33\x35\x1c\x19\x9f", "value 0x2"},
		{"\x33\x1f\x9f", "value 0xfffffffffffffffd"},
		{"\x33\x1f\x19\x9f", "value 0x3"},
		{"\x33\x20\x9f", "value 0xfffffffffffffffc"},
		{"\x31\x32\x33\x17\x1c\x1e\x9f", "value 0xfffffffffffffffd"}, // rot: 3 1 2, then 3 * (1 - 2)
		{"\x31\x32\x14\x22\x22\x9f", "value 0x4"},
		{"\x31\x32\x33\x15\x02\x9f", "value 0x1"},
		{"\x31\x32\x16\x1c\x9f", "value 0x1"},
		{"\x31\x32\x13\x9f", "value 0x1"},
		{"\x09\xf0\x32\x1b\x9f", "value 0xfffffffffffffff8"}, // -16 / 2
		{"\x09\xf0\x33\x1d\x9f", "value 0x0"},                // 2^64 - 16 modulo 3
		{"\x09\xf0\x32\x25\x9f", "value 0x3ffffffffffffffc"},
		{"\x09\xf0\x32\x26\x9f", "value 0xfffffffffffffffc"},
		{"\x09\xf0\x30\x2d\x9f", "value 0x1"},
		{"\x09\xf0\x30\x2b\x9f", "value 0x0"},
		{"\x33\x33\x2a\x9f", "value 0x1"},
		{"\x33\x34\x2c\x9f", "value 0x1"},
		{"\x33\x34\x2e\x9f", "value 0x1"},
		{"\x09\xff\xa8\x02\x32\x1b\x9f", "value 0x7fffffff"}, // as unsigned int
		{"\x09\xff\xa8\x02\x31\x22\x9f", "value 0x0"},
		{"\x09\xff\xa8\x01\x31\x25\x9f", "value 0x7fffffff"},
		{"\x0a\xff\x01\xa8\x03\x9f", "value 0xffffffffffffffff"},
		{"\xa5\x05\x03\x9f", "value 0x0"}, // the lowest byte of rdi
		{"\xa8\x04\x9f", "its location computes with floating-point numbers"},
		{"\x30\x28\x04\x00\x35\x2f\x01\x00\x36\x9f", "value 0x5"}, // if 0 then 6 else 5
		{"\x31\x28\x04\x00\x35\x2f\x01\x00\x36\x9f", "value 0x6"},
		{"\x2f\x01\x00\x0a\x31\x9f", "its location is damaged"}, // into the middle of an operator
		{"\x2f\xff\x7f", "its location is damaged"},
		{"\x0e\x10\x00\x00\x00\x00\x00\x00\x00\xe0", "memory 0x9010"},
		{"\x9e\x04\x01\x02\x03\x04", "constant 01 02 03 04"},
		{"\x9e\x7f\x01", "its location is damaged"},
		{"\xf2\x00\x00\x00\x00\x00", "synthetic pointer"},
		{"\xa3\x01\x55\x9f", "entry value of $rdi is not known here"},
		{"\xf3\x01\x55\x9f", "entry value of $rdi is not known here"},
		{"\xa3\x02\x75\x00\x9f", "what its location had when the function was entered is not known here"},
		{"\x50\x93\x04\x93\x04", "32 bits from 0 of register 0 of 4; 32 bits from 0 of optimized out"},
		{"\x91\x10\x93\x02\x31\x9f\x93\x02", "16 bits from 0 of memory 0x7010; 16 bits from 0 of value 0x1"},
		{"\x50\x9d\x03\x05", "3 bits from 5 of register 0 of 1"},
		{"\x50\x93\x04\x51", "its location is damaged"},
		{"\x50\x31", "its location is damaged"},
		{"\x22", "its location takes more from the stack than there is"},
		{"\x97", "its location uses an operation (0x97) that agent expressions do not have"},
		{"\x0c\x01", "its location is damaged"},
	} {
		if got := shown(exampleFrame(false).locate([]byte(test.code), 4)); got != test.want {
			t.Errorf("% x is %s, want %s", test.code, got, test.want)
		}
	}
	if got := shown(exampleFrame(true).locate([]byte("\xa3\x01\x55\x9f"), 4)); got != "value 0x500" {
		t.Errorf("where the function is entered, an entry value is %s", got)
	}
	if got := shown(exampleFrame(false).locate([]byte("\x50"), 16)); got != "its 16 bytes are said to be in a register of 8" {
		t.Errorf("16 bytes in rax are %s", got)
	}
}

// FuzzPlace: whatever stands where an expression should, it becomes a place, whose code runs to an end.
func FuzzPlace(f *testing.F) {
	for _, code := range []string{
		"\x91\x68", "\x30\x28\x04\x00\x35\x2f\x01\x00\x36\x9f", "\x50\x93\x04\x93\x04", "\xa5\x05\x03\xa8\x02\x9f", "\x31\x2f\xfc\xff\x9f",
	} {
		f.Add([]byte(code))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		if shown(exampleFrame(false).locate(code, 8)) == "nowhere" {
			t.Error("there is no place")
		}
	})
}
