package amd64

import "tracewell/arch"

// Step is what Scan tells about an instruction.
type Step struct {
	At       arch.Addr
	Len      int
	Flow     Flow
	Target   arch.Addr // of a direct branch or call; 0 without
	Indirect bool      // a jump through a register or memory
	Always   bool      // a jump to Target under no condition
	Unknown  bool      // no instruction that this package knows; Len is 1
}

// Scan calls visit for the instructions of code, which is executed at an address, one after the other. It takes what looks like an
// instruction for one, without a second opinion, and is some ten times as fast as Decode; so it is for what may be wrong
// in a few places, such as a survey of where branches go. Behind what is unknown it goes on at the next byte.
func Scan(code []byte, at arch.Addr, visit func(Step)) {
	for len(code) > 0 {
		l, cause := measure(code)
		s := Step{At: at, Len: int(l.length)}
		if cause != "" {
			s.Len, s.Unknown = 1, true
		} else {
			s.Flow, _ = l.traits()
			s.Target, s.Indirect = l.goes(at + arch.Addr(l.length))
			s.Always = l.encoding == legacy && l.space == spaceOne && l.opcode&0xfd == 0xe9 // jmp
		}
		visit(s)
		code, at = code[s.Len:], at+arch.Addr(s.Len)
	}
}

// goes finds out where a branch or a call in front of the address next goes: the target is 0 if that is not in the instruction.
func (l *layout) goes(next arch.Addr) (target arch.Addr, indirectJump bool) {
	if l.encoding != legacy {
		return 0, false
	}
	switch op := l.opcode; {
	case l.space == space0F && op&0xf0 == 0x80,
		l.space == spaceOne && (op&0xf0 == 0x70 || op&0xfc == 0xe0 || op == 0xe8 || op == 0xe9 || op == 0xeb),
		l.space == spaceOne && op == 0xc7 && l.modrm == 0xf8: // xbegin
		return next + arch.Addr(l.imm), false
	case l.space == spaceOne && op == 0xff:
		return 0, l.reg() == 4 || l.reg() == 5
	}
	return 0, false
}
