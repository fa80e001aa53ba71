package ctype

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
)

// TestBitFields writes values bit by bit at every place and takes them out again, in both byte orders.
func TestBitFields(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, order := range []arch.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for shift := range 8 {
			for bits := 1; bits <= 64; bits++ {
				f := Field{Type: Int(8, bits%2 == 0), Bits: bits, Shift: shift}
				value := random.Uint64() >> (64 - bits)
				record := make([]byte, f.Span())
				for i := range record {
					record[i] = byte(random.Uint32())
				}
				for i := range bits {
					at := (i + shift) / 8
					if order == arch.ByteOrder(binary.BigEndian) {
						at = len(record) - 1 - at
					}
					record[at] = record[at]&^(1<<((i+shift)%8)) | byte(value>>i&1)<<((i+shift)%8)
				}
				want := value
				if f.Type.Signed && value>>(bits-1) == 1 {
					want |= ^uint64(0) << (bits - 1)
				}
				if got := f.Extract(record, order); got != want {
					t.Fatalf("%d bits from %d in %x, %v: %#x, want %#x", bits, shift, record, order, got, want)
				}
				if got := arch.Uint(f.Unpack(record, order), order); got != want {
					t.Fatalf("%d bits from %d in %x, %v: unpacked %#x, want %#x", bits, shift, record, order, got, want)
				}
				for _, p := range f.Parts(order) {
					if p.Offset+p.Size > f.Span() || p.Size&(p.Size-1) != 0 {
						t.Fatalf("%d bits from %d: part %v of %d bytes", bits, shift, p, f.Span())
					}
				}
			}
		}
	}
}
