package emulatetest

import (
	"encoding/binary"
	"math/rand/v2"
)

// long is an instruction of two halfwords, the first in the upper half of the pattern.
func long(name string, fixed, mask uint32) form {
	return form{name, func(r *rand.Rand) []byte {
		i := fixed | r.Uint32()&^mask
		return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, uint16(i>>16)), uint16(i))
	}}
}

// thumbForms are all of 16 bits, and what is emulated of 32 with what stands beside it.
var thumbForms = []form{
	half("shift, add", 0, 0xe000), half("immediate", 0x2000, 0xe000), half("registers", 0x4000, 0xfc00),
	half("high registers", 0x4400, 0xfc00), half("bx", 0x4700, 0xff07), half("ldr constant", 0x4800, 0xf800),
	half("load, store", 0x5000, 0xf000), half("word, byte", 0x6000, 0xe000), half("halfword", 0x8000, 0xf000),
	half("on the stack", 0x9000, 0xf000), half("address", 0xa000, 0xf000), half("miscellaneous", 0xb000, 0xf000),
	half("push", 0xb400, 0xfe00), half("pop", 0xbc00, 0xff00), half("nop", 0xbf00, 0xffff), half("list", 0xc000, 0xf000),
	half("branch if", 0xd000, 0xf000), half("branch", 0xe000, 0xf800),
	long("list.w", 0xe8000000, 0xfe400000), long("push.w", 0xe92d0000, 0xffffa000), long("pair", 0xe8400000, 0xfe400000),
	long("shifted", 0xea000000, 0xfe008000), long("mov.w", 0xea4f0000, 0xffef8000), long("modified", 0xf0000000, 0xfa008000),
	long("of sp", 0xf10d0d00, 0xfb5f8f00), long("compare", 0xf0100f00, 0xfa108f00), long("constants", 0xf2000000, 0xfa008000),
	long("movw", 0xf2400000, 0xfb708000), long("branches.w", 0xf0008000, 0xf8008000), long("bl", 0xf000d000, 0xf800d000),
	long("nop.w", 0xf3af8000, 0xffffffff), long("ldr.w", 0xf8d00000, 0xfff00000), long("access", 0xf8000000, 0xfe000000),
	long("access indexed", 0xf8000800, 0xfe800800), long("access by sum", 0xf8000000, 0xfe800fc0),
	long("shift by register", 0xfa00f000, 0xff80f0f0), long("extension", 0xfa0ff080, 0xff8ff0c0), long("product", 0xfb000000, 0xffe000c0),
}
