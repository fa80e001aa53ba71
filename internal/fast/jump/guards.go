package jump

import "tracewell/arch"

// Signal is the number of the signal that Linux sends to a thread that executes a guard.
type Signal uint8

// The signals of guards.
const (
	Illegal Signal = 4  // SIGILL
	Trap    Signal = 5  // SIGTRAP
	Segv    Signal = 11 // SIGSEGV
)

// Guard is an instruction boundary under a jump, on which the jump has a byte that no thread can execute. A thread comes there by a
// way that the sweep did not find, or because it stood there when the jump was written; it goes on in the copy of the
// instruction.
type Guard struct {
	PC     arch.Addr // of the instruction that was there
	Opcode byte
	Signal Signal
}

// Reported is the pc of a thread that has the guard's signal.
func (g Guard) Reported() arch.Addr {
	if g.Signal == Trap {
		return g.PC + 1 // int3 completes, unlike an instruction that faults
	}
	return g.PC
}

// trapping gives the signal of each opcode that cannot be executed by a program, whatever follows it.
//
// Most are the instructions of 32-bit mode that 64-bit mode has not got (Intel's manual, volume 2, appendix A: superscript i64),
// except for those to which extensions have given, or have announced, another meaning: 62, c4, c5 and d5. Of the privileged ones
// only hlt is here: Linux executes cli and sti as no-ops for a thread that has called iopl, and ports may be open to it.
var trapping = func() (signals [256]Signal) {
	for _, opcode := range []byte{
		0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, // push and pop of segment registers
		0x27, 0x2f, 0x37, 0x3f, 0xd4, // decimal arithmetic
		0x60, 0x61, // pusha, popa
		0x82,       // a second 80
		0x9a, 0xea, // far call, far jmp
		0xce, // into
		0xd6, // udb: invalid in all modes
	} {
		signals[opcode] = Illegal
	}
	signals[0xcc] = Trap // int3
	signals[0xf4] = Segv // hlt
	return signals
}()

// guardBytes is the set of the trapping opcodes.
var guardBytes = func() (s byteSet) {
	for opcode, signal := range trapping {
		if signal != 0 {
			s.add(byte(opcode))
		}
	}
	return s
}()
