package arch

import "strings"

// Encoding is how the opcodes of a target are laid out.
type Encoding struct {
	InMemory bool // their bytes are written in the order of memory, as they are no numbers or those of big-endian processors
	// State is that of the instruction set, as traces name it: A and T of Arm's with 32 bits, O of that with 64. It is 0 for others.
	State byte
}

// EncodingOf is that of a target by its triple, as LLVM has it.
func EncodingOf(triple string) (e Encoding) {
	for _, name := range []string{"i386", "i686", "x86", "ppc", "powerpc", "sparc"} {
		e.InMemory = e.InMemory || strings.HasPrefix(triple, name)
	}
	switch {
	case strings.HasPrefix(triple, "thumb"):
		e.State = 'T'
	case strings.HasPrefix(triple, "arm64"), strings.HasPrefix(triple, "aarch64"):
		e.State = 'O'
	case strings.HasPrefix(triple, "arm"):
		e.State = 'A'
	}
	return e
}
