package target

import "tracewell/arch"

// SingleRegisters is a target for which a register costs something: not all that it has are in the block that ReadRegisters
// fills, and those behind that block are read and written one by one.
type SingleRegisters interface {
	// BlockSize is how many bytes of a register block ReadRegisters and WriteRegisters know.
	BlockSize() int
	// ReadRegister and WriteRegister read and store one register, in the target's byte order. The thread must be stopped.
	ReadRegister(id ThreadID, n arch.Reg) ([]byte, error)
	WriteRegister(id ThreadID, n arch.Reg, value []byte) error
}

// Passage is a target behind a stub of its own, which knows packets that a Target has no name for: commands for its monitor, flash
// memory, objects. Sessions hand them on as they are, while the program stands still.
type Passage interface {
	// Announced are the features of the stub that clients are to hear of, such as qXfer:memory-map:read+.
	Announced() []string
	// Takes reports whether a packet is one for the stub. None is that would change what runs or where it stops.
	Takes(packet []byte) bool
	// Pass hands a packet on for a thread and returns the reply as it came. Text that the stub sends in front of it goes to
	// console.
	Pass(id ThreadID, packet []byte, console func(text []byte)) (reply string, err error)
	// SetConsole says where text goes that comes while the program runs; nil for nowhere. It is called on a goroutine of the target's.
	// With a console there is a client, who answers requests of the program; without one they fail, and are no events.
	SetConsole(console func(text []byte))
	// Answer answers a request of the program by a packet such as "F0" or "F-1,2", with which it goes on. Until then it stands still,
	// and its memory may be read and written.
	Answer(packet []byte) error
	// Advice tells users what a hit costs here and how tracepoints are set, in lines, as a trace run begins; "" for nothing.
	Advice() string
	// Spent tells them what hits have cost so far, in lines; "" without hits.
	Spent() string
}
