package flow

import (
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// x86 decodes an instruction in a mode of so many bits.
func x86(bits int) func(code []byte, at uint64) Flow {
	return func(code []byte, at uint64) Flow {
		in, err := x86asm.Decode(code, bits)
		if err != nil || in.Op == 0 { // of what is cut off the decoder gives the prefixes, as an instruction without a name
			return x86Cut(code, bits)
		}
		f := Flow{Kind: x86Kinds[in.Op], Len: uint8(in.Len)}
		name := in.Op.String()
		if f.Kind == Next && (name[0] == 'J' || strings.HasPrefix(name, "LOOP")) {
			f.Kind, f.Conditional = Jump, true
		}
		if offset, ok := in.Args[0].(x86asm.Rel); ok && f.Kind != Next {
			f.Direct, f.Target = true, at+uint64(in.Len)+uint64(int64(offset))
		}
		if bits == 32 {
			f.Target &= 0xffffffff
		}
		return f
	}
}

var x86Kinds = map[x86asm.Op]Kind{
	x86asm.CALL: Call, x86asm.LCALL: Call, x86asm.RET: Return, x86asm.LRET: Return, x86asm.JMP: Jump, x86asm.LJMP: Jump,
	x86asm.IRET: TrapReturn, x86asm.IRETD: TrapReturn, x86asm.IRETQ: TrapReturn, x86asm.SYSRET: TrapReturn,
	x86asm.SYSEXIT: TrapReturn, x86asm.SYSCALL: Trap, x86asm.SYSENTER: Trap, x86asm.INT: Trap, x86asm.INTO: Trap,
	x86asm.UD2: Trap,
}

// x86Cut decodes what can be told of an instruction whose end is missing: some plugins write four bytes at most. Of a direct call
// the length is known all the same, of others it is not.
func x86Cut(code []byte, bits int) (f Flow) {
	n := 0
	for n < len(code) && (bits == 64 && code[n]&0xf0 == 0x40 || strings.IndexByte("\x66\xf2\xf3\x2e\x3e", code[n]) >= 0) {
		n++
	}
	if n >= len(code) {
		return f
	}
	switch code[n] {
	case 0xe8:
		f.Kind, f.Len = Call, uint8(n+5)
	case 0xe9:
		f.Kind, f.Len = Jump, uint8(n+5)
	case 0xff:
		if n+1 < len(code) {
			switch code[n+1] >> 3 & 7 {
			case 2, 3:
				f.Kind = Call
			case 4, 5:
				f.Kind = Jump
			}
		}
	case 0x0f:
		if n+1 < len(code) && code[n+1]&0xf0 == 0x80 {
			f.Kind, f.Conditional, f.Len = Jump, true, uint8(n+6)
		}
	}
	return f
}

func x86Name(bits int) func(code []byte, at uint64) string {
	return func(code []byte, _ uint64) string {
		in, err := x86asm.Decode(code, bits)
		if err != nil || in.Op == 0 {
			return ""
		}
		return in.Op.String()
	}
}

func x86Text(bits int) func(code []byte, at uint64) string {
	return func(code []byte, at uint64) string {
		in, err := x86asm.Decode(code, bits)
		if err != nil || in.Op == 0 {
			return ""
		}
		return x86asm.GNUSyntax(in, at, nil)
	}
}
