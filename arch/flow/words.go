package flow

import (
	"debug/elf"
	"encoding/hex"
	"fmt"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/riscv64/riscv64asm"
	"golang.org/x/arch/x86/x86asm"

	"tracewell/arch"
)

// Words gives the instruction at the beginning of code in the words of GNU's assembler, and its length in bytes. The code lies at
// an address, and symbol names addresses. What is not known comes as a directive with the bytes, so that a listing can go on behind
// it.
func Words(
	m *arch.Machine, code []byte, at uint64, symbol func(addr uint64) (name string, base uint64),
) (words string, length int) {
	if len(code) == 0 {
		return "", 0
	}
	size := 1
	if m != nil {
		switch m.ELF {
		case elf.EM_X86_64, elf.EM_386:
			const bitsOfByte = 8
			if i, err := x86asm.Decode(code, bitsOfByte*m.AddrSize); err == nil {
				return x86asm.GNUSyntax(i, at, symbol), i.Len
			}
		case elf.EM_AARCH64:
			size = 4
			if i, err := arm64asm.Decode(code); err == nil {
				return arm64asm.GNUSyntax(i), size
			}
		case elf.EM_RISCV:
			size = 2
			if code[0]&3 == 3 { // the lowest two bits of all but compressed instructions
				size = 4
			}
			if i, err := riscv64asm.Decode(code); err == nil {
				return riscv64asm.GNUSyntax(i), i.Len
			}
		default:
			size = max(1, len(m.Breakpoint))
		}
	}
	size = min(size, len(code))
	if size == 1 {
		return fmt.Sprintf(".byte 0x%02x", code[0]), 1
	}
	return ".inst " + hex.EncodeToString(code[:size]), size
}
