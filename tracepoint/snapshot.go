package tracepoint

import "tracewell/arch"

// Snapshot is a thread stopped at a moment that a frame is to be made of. It is valid until the call that received it
// returns. All of it is called on the target's own goroutine.
type Snapshot interface {
	// Thread identifies the thread among all live threads of the target.
	Thread() int64
	// PC is the address of the instruction about to run, never that of a slot nor the one behind a breakpoint.
	PC() arch.Addr
	// Register returns a register of up to eight bytes, zero-extended. Wider and unknown ones are an error.
	Register(r arch.Reg) (uint64, error)
	// Registers fills block with the registers that the g packet begins with, all of them if it is as long.
	Registers(block []byte) error
	// ReadMemory reads as many bytes of p as are readable from addr on and returns their count, in one piece: a hole
	// ends it. Breakpoints that the target inserted do not show in what it reads.
	ReadMemory(addr arch.Addr, p []byte) int
	// ReadBatch does several reads at the least cost the target has, setting each N as ReadMemory would return it.
	ReadBatch(reads []Read)
}

// Read is one range of a batch.
type Read struct {
	Addr arch.Addr
	Dst  []byte
	N    int // bytes read
}

// Verdict tells a target how to go on after a hit or a step. Bits combine.
type Verdict uint8

// What a verdict can ask for besides letting the thread go on.
const (
	// Continue asks for nothing more.
	Continue Verdict = 0
	// Step asks the target to let the thread execute one instruction and then to call Engine.Stepped.
	Step Verdict = 1 << 0
	// Halt says that the run is over: the target removes every installed site before it lets any thread go on, without
	// being asked again.
	Halt Verdict = 1 << 1
)

// Installer is the part of a target that the engine drives. A target serialises the calls with its own run loop; they
// may be made whether threads run or not.
type Installer interface {
	// Install makes threads that reach site.Addr call site.Hit.
	Install(site *Site) error
	// Uninstall undoes Install. A site that the target removed by itself (Halt, the process gone) is no error.
	Uninstall(site *Site) error
}
