package arm64

import (
	"encoding/binary"

	"tracewell/arch"
)

// Step is what Scan tells about an instruction.
type Step struct {
	At       arch.Addr
	Flow     Flow
	Target   arch.Addr // of a direct branch or call; 0 without
	Indirect bool      // a jump through a register
	Always   bool      // a jump to Target under no condition
	Unknown  bool      // no instruction
}

// Scan calls visit for the instructions of code, which is executed at an address, one after the other.
func Scan(code []byte, at arch.Addr, visit func(Step)) {
	for ; len(code) >= Length; code, at = code[Length:], at+Length {
		word := binary.LittleEndian.Uint32(code)
		s := Step{At: at}
		for _, p := range places {
			if word&p.mask == p.value {
				s.Flow, s.Unknown = p.flow, p.reason == Unallocated || p.reason == Traps && word>>16 == 0
				s.Target = target(word, at, p)
				break
			}
		}
		s.Indirect = s.Flow == FlowJump && s.Target == 0
		s.Always = word>>26 == 5
		visit(s)
	}
	if len(code) > 0 {
		visit(Step{At: at, Unknown: true})
	}
}

// target is where a direct branch or call leads, 0 if the instruction is none.
func target(word uint32, at arch.Addr, p place) arch.Addr {
	from, bits := 5, 19
	switch {
	case word>>26&31 == 5: // b, bl
		from, bits = 0, 26
	case p.reason != RelativeBranch:
		return 0
	case word>>25&0x3f == 0x1b: // tbz, tbnz
		bits = 14
	case word>>25&0x3e == 0x3a: // cb<cond>
		bits = 9
	}
	offset := int64(word) << (64 - from - bits) >> (64 - bits) << 2
	return at + arch.Addr(offset)
}
