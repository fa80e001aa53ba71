package arch

import (
	"encoding/binary"
	"testing"
)

func TestUint(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for n, want := range []struct{ little, big uint64 }{
		{0, 0}, {0x01, 0x01}, {0x0201, 0x0102}, {0x030201, 0x010203}, {0x04030201, 0x01020304}, {0x0504030201, 0x0102030405},
		{0x060504030201, 0x010203040506}, {0x07060504030201, 0x01020304050607}, {0x0807060504030201, 0x0102030405060708},
	} {
		if got := Uint(b[:n], binary.LittleEndian); got != want.little {
			t.Errorf("%d bytes, little endian: %#x, want %#x", n, got, want.little)
		}
		if got := Uint(b[:n], binary.BigEndian); got != want.big {
			t.Errorf("%d bytes, big endian: %#x, want %#x", n, got, want.big)
		}
	}
}

// TestPutAddr reads addresses back by Uint. A size that no register has for an address is left alone.
func TestPutAddr(t *testing.T) {
	const addr = 0x0807060504030201
	for _, order := range []ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for size, want := range map[int]uint64{8: addr, 4: addr & 0xffffffff, 2: addr & 0xffff, 3: 0, 0: 0} {
			b := make([]byte, size)
			if PutAddr(b, order, addr); Uint(b, order) != want {
				t.Errorf("%d bytes, %s: % x", size, OrderName(order), b)
			}
		}
	}
}

func TestOrderName(t *testing.T) {
	if OrderName(binary.LittleEndian) != "little" || OrderName(binary.BigEndian) != "big" {
		t.Errorf("%s and %s", OrderName(binary.LittleEndian), OrderName(binary.BigEndian))
	}
}

// TestLLVM has names of machines in both byte orders.
func TestLLVM(t *testing.T) {
	for _, test := range []struct {
		machine string
		order   ByteOrder
		want    string
	}{
		{"x86-64", little, "x86_64"}, {"aarch64", little, "aarch64"}, {"aarch64", big, ""}, {"riscv64", little, "riscv64"},
		{"powerpc64", little, "powerpc64le"}, {"powerpc64", big, ""}, {"mips", big, "mips"}, {"mips", little, ""}, {"m68k", big, ""},
	} {
		isa := &ISA{Machine: ByName(test.machine), Order: test.order}
		if got := isa.LLVM(); got != test.want {
			t.Errorf("%s, %s-endian: %q, want %q", test.machine, OrderName(test.order), got, test.want)
		}
	}
}
