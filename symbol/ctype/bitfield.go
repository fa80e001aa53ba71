package ctype

import "tracewell/arch"

// Span is how many bytes a member takes up from its Offset on; of a bit field those that have a bit of it, up to nine if it has
// 64 bits.
func (f Field) Span() int {
	if f.Bits == 0 {
		return f.Type.Size
	}
	return (f.Shift + f.Bits + 7) / 8
}

// Part is an integer of 1, 2, 4 or 8 bytes that has some bits of a bit field.
type Part struct {
	Offset int // bytes, from that of the field
	Size   int // bytes
	Shift  int // by how many bits it is shifted left to take its place in the field, right if negative
}

// Parts are integers which together have a bit field, and no byte besides. Their shifted values or-ed have it from the lowest bit
// on; Extend removes what lies above it.
func (f Field) Parts(order arch.ByteOrder) []Part {
	var parts []Part
	span := f.Span()
	for at := 0; at < span; {
		// Powers of two only, as bytecode has references to 1, 2, 4 and 8 bytes; no byte beyond the field is read, as
		// it may not be collected.
		size := 8
		for size > span-at {
			size /= 2
		}
		// How many bytes of lower value the field has beside this part.
		below := at
		if !littleEndian(order) {
			below = span - at - size
		}
		parts = append(parts, Part{at, size, 8*below - f.Shift})
		at += size
	}
	return parts
}

// Shifted puts the value of the part in its place.
func (p Part) Shifted(n uint64) uint64 {
	if p.Shift < 0 {
		return n >> -p.Shift
	}
	return n << p.Shift
}

// Extend widens a bit field of at most 64 bits, from the lowest bit on, to 64 bits by the sign of its type.
func (f Field) Extend(n uint64) uint64 {
	out := uint(64 - f.Bits)
	if f.Type.Signed {
		return uint64(int64(n<<out) >> out)
	}
	return n << out >> out
}

// Extract takes a bit field of at most 64 bits out of its bytes, extended to 64 bits by its sign.
func (f Field) Extract(b []byte, order arch.ByteOrder) uint64 {
	var n uint64
	for _, p := range f.Parts(order) {
		n |= p.Shifted(arch.Uint(b[p.Offset:p.Offset+p.Size], order))
	}
	return f.Extend(n)
}

// Unpack takes a bit field of any size out of its bytes: memory of its Type that has the same value.
func (f Field) Unpack(b []byte, order arch.ByteOrder) []byte {
	whole := make([]byte, f.Type.Size)
	bit := func(i int) byte { // the i-th lowest of the field
		i += f.Shift
		at := i / 8
		if !littleEndian(order) {
			at = f.Span() - 1 - at
		}
		return b[at] >> (i % 8) & 1
	}
	for i := range 8 * len(whole) {
		at := i / 8
		if !littleEndian(order) {
			at = len(whole) - 1 - at
		}
		if i < f.Bits {
			whole[at] |= bit(i) << (i % 8)
		} else if f.Type.Signed {
			whole[at] |= bit(f.Bits-1) << (i % 8)
		}
	}
	return whole
}
