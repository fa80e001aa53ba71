package emulatetest

import (
	"encoding/binary"
	"math/rand/v2"
)

// x86 is an instruction of given bytes, of which those in mask are fixed, and with random bytes behind them.
func x86(name string, fixed, mask []byte, more int) form {
	return form{name, func(r *rand.Rand) []byte {
		code := make([]byte, 0, 15)
		for i, b := range fixed {
			code = append(code, b|byte(r.Uint32())&^mask[i])
		}
		code = binary.LittleEndian.AppendUint64(code, r.Uint64())
		return code[:len(fixed)+more]
	}}
}

func always(n int) []byte {
	mask := make([]byte, n)
	for i := range mask {
		mask[i] = 0xff
	}
	return mask
}

// x86Forms are what stands at the beginning of functions and lines. That the emulator is right is proved by the processor itself, in
// its own package: this is about what is between.
var x86Forms = []form{
	x86("endbr64", []byte{0xf3, 0x0f, 0x1e, 0xfa}, always(4), 0), x86("push", []byte{0x50}, []byte{0xf8}, 0),
	x86("push r8", []byte{0x41, 0x50}, []byte{0xff, 0xf8}, 0), x86("pop", []byte{0x58}, []byte{0xf8}, 0),
	x86("mov", []byte{0x48, 0x89, 0xc0}, []byte{0xfa, 0xff, 0xc0}, 0), x86("mov constant", []byte{0xb8}, []byte{0xf8}, 4),
	x86("sub", []byte{0x48, 0x81, 0xe8}, []byte{0xfe, 0xff, 0xf8}, 4), x86("sub short", []byte{0x48, 0x83, 0xc0}, []byte{0xfe, 0xff, 0xc0}, 1),
	x86("arithmetic", []byte{0x01, 0xc0}, []byte{0xc7, 0xc0}, 0), x86("lea", []byte{0x48, 0x8d, 0x40}, []byte{0xff, 0xff, 0xc0}, 6),
	x86("call", []byte{0xe8}, always(1), 4), x86("ret", []byte{0xc3}, always(1), 0), x86("jmp", []byte{0xeb}, always(1), 1),
	x86("jcc", []byte{0x70}, []byte{0xf0}, 1), x86("test", []byte{0x85, 0xc0}, []byte{0xff, 0xc0}, 0), x86("nop", []byte{0x90}, always(1), 0),
}
