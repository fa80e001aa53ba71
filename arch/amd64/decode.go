package amd64

import (
	"fmt"

	"golang.org/x/arch/x86/x86asm"

	"tracewell/arch"
)

// DecodeError says that bytes are no instruction that this package is sure of. What stands there can only be stepped.
type DecodeError struct {
	At    arch.Addr
	Code  []byte // what was looked at, at most 15 bytes
	Cause string
}

// Error names the address, the bytes and the cause.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode the instruction at %v, bytes % x: %s", e.At, e.Code, e.Cause)
}

// Decode takes apart the instruction that code begins with and that runs at address at. More bytes than the instruction has
// are welcome; 15 are always enough. The error is a *DecodeError. Code is not kept.
//
// Traps that are in memory must be out of code: an int3 decodes as what it is.
func Decode(code []byte, at arch.Addr) (*Instruction, error) {
	code = code[:min(len(code), maxLength)]
	l, cause := measure(code)
	if cause == "" {
		cause = l.secondOpinion(code)
	}
	if cause != "" {
		return nil, &DecodeError{At: at, Code: append([]byte(nil), code...), Cause: cause}
	}
	in := &Instruction{at: at, length: l.length}
	copy(in.code[:], code[:l.length])
	in.flow, in.reason = l.traits()
	if l.ripRelative() {
		in.dispAt = l.dispAt
		if l.has(prefixAddress) && in.reason == Relocatable {
			in.reason = NarrowAddress
		}
	}
	in.effect = l.effect(uint64(in.Next()))
	return in, nil
}

// secondOpinion asks golang.org/x/arch whether it knows the instruction and finds the same length, except where it is
// known to be wrong.
func (l *layout) secondOpinion(code []byte) (cause string) {
	if l.gapName() != "" {
		return ""
	}
	inst, err := x86asm.Decode(code, 64)
	switch {
	case err != nil:
		return "not a known instruction"
	case inst.Len != int(l.length):
		return fmt.Sprintf("its length is doubtful, %d or %d bytes", l.length, inst.Len)
	}
	return ""
}

// gap is a range of encodings for which golang.org/x/arch is no authority.
type gap struct {
	name        string
	encoding    encoding
	first, last uint8     // opcodes behind 0f
	prefixes    prefixSet // all of these, and no other that could matter; or anyPrefix
	modrm       [2]uint8  // the first and last ModRM byte; 0 without one
}

// anyPrefix stands for any set of prefixes.
const anyPrefix = ^prefixSet(0)

// gaps are the encodings that golang.org/x/arch v0.32 refuses or gets wrong though they are met in programs: it takes
// endbr64 for a one-byte rep (golang/go#35865), and looks for a ModRM byte behind vzeroupper. Intel's manual, volume 2,
// has them all.
var gaps = []gap{
	{"endbr64", legacy, 0x1e, 0x1e, prefixRep, [2]uint8{0xfa, 0xfa}},
	{"endbr32", legacy, 0x1e, 0x1e, prefixRep, [2]uint8{0xfb, 0xfb}},
	{"rdssp", legacy, 0x1e, 0x1e, prefixRep, [2]uint8{0xc8, 0xcf}},
	{"nop", legacy, 0x18, 0x1f, anyPrefix, [2]uint8{0x00, 0xff}},
	{"clac", legacy, 0x01, 0x01, 0, [2]uint8{0xca, 0xca}},
	{"stac", legacy, 0x01, 0x01, 0, [2]uint8{0xcb, 0xcb}},
	{"serialize", legacy, 0x01, 0x01, 0, [2]uint8{0xe8, 0xe8}},
	{"rdpkru", legacy, 0x01, 0x01, 0, [2]uint8{0xee, 0xee}},
	{"wrpkru", legacy, 0x01, 0x01, 0, [2]uint8{0xef, 0xef}},
	{"incssp", legacy, 0xae, 0xae, prefixRep, [2]uint8{0xe8, 0xef}},
	{"rdseed", legacy, 0xc7, 0xc7, 0, [2]uint8{0xf8, 0xff}},
	{"rdpid", legacy, 0xc7, 0xc7, prefixRep, [2]uint8{0xf8, 0xff}},
	{"vzeroupper", vex, 0x77, 0x77, 0, [2]uint8{}}, // and vzeroall
}

// gapName is the mnemonic of an encoding among the gaps, else empty.
func (l *layout) gapName() string {
	for i := range gaps {
		g := &gaps[i]
		if l.space == space0F && g.encoding == l.encoding && g.first <= l.opcode && l.opcode <= g.last &&
			(g.prefixes == anyPrefix || g.prefixes == l.prefixes&^(prefixNull|prefixSegment)) &&
			g.modrm[0] <= l.modrm && l.modrm <= g.modrm[1] {
			return g.name
		}
	}
	return ""
}
