package jump

import (
	"slices"

	"tracewell/arch"
)

// maxPadding is how much there can be between functions of which one is aligned: more is data, or a function without a symbol.
const maxPadding = 64

// Filler is bytes between functions that nothing executes.
type Filler struct {
	At   arch.Addr
	Code []byte
}

// Range is where the bytes are.
func (f *Filler) Range() Range { return Range{f.At, f.At + arch.Addr(len(f.Code))} }

// Padding finds the fillers between functions: bytes that are in none, and that are nothing but what assemblers fill gaps with.
// The text is the program's own code at an address, which is not copied; the functions are in order.
func Padding(text []byte, at arch.Addr, functions []Range) (padding []Filler) {
	end := at
	for _, f := range functions {
		if end > at && end < f.Start && f.Start <= at+arch.Addr(len(text)) && f.Start-end <= maxPadding {
			if gap := text[end-at : f.Start-at : f.Start-at]; isPadding(gap) {
				padding = append(padding, Filler{end, gap})
			}
		}
		end = max(end, f.End)
	}
	return padding
}

// fillers are what assemblers and linkers fill gaps with: the long nops of binutils, int3 of Go and LLD, zeros.
var fillers = [][]byte{
	{0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	{0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	{0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	{0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	{0x0f, 0x1f, 0x80, 0, 0, 0, 0},
	{0x66, 0x0f, 0x1f, 0x44, 0, 0},
	{0x0f, 0x1f, 0x44, 0, 0},
	{0x0f, 0x1f, 0x40, 0},
	{0x0f, 0x1f, 0},
	{0x66, 0x90},
	{0x90},
	{0xcc},
	{0},
	{0x66}, // more prefixes of any of them
}

// isPadding reports whether the bytes are fillers.
func isPadding(b []byte) bool {
	for len(b) > 0 {
		i := slices.IndexFunc(fillers, func(f []byte) bool { return len(b) >= len(f) && slices.Equal(b[:len(f)], f) })
		if i < 0 {
			return false
		}
		b = b[len(fillers[i]):]
	}
	return true
}
