package fast

import (
	"tracewell/arch"
	"tracewell/arch/amd64"
)

// Pad is the code of a site, and all that has to be known of it to take a thread out of it.
type Pad struct {
	Addr arch.Addr // where it runs, and the jump leads to
	Code []byte
	// Displaced is the offset of the displaced instructions, Back that of the jump behind them.
	Displaced, Back int
	// Slots is what the reader has to know of the site.
	Slots *Slots

	site, next arch.Addr
	rows       []row
	faults     []faultRange
}

// Memory reads and writes the program's memory.
type Memory interface {
	// ReadMemory reads as many bytes of p as are readable from addr on, in one piece, and returns their count.
	ReadMemory(addr arch.Addr, p []byte) int
}

// Outcome is what has become of a thread that was found in a pad.
type Outcome struct {
	Exit Exit
	// Void is set if the thread had reserved a slot, at Position, in which it will write nothing: Reader.Void must learn of it
	// before the thread goes on.
	Void     bool
	Position uint64
}

// Exit is the way a thread leaves a pad.
type Exit uint8

const (
	// Elsewhere says that the thread is not in the pad's own code, so that nothing was changed.
	Elsewhere Exit = iota
	// Again says that the thread is at the site, as if it had not begun with the hit.
	Again
	// Past says that the thread is at the first displaced instruction, its hit behind it. The pc is that of the copy.
	Past
	// Among says that the thread is between displaced instructions; nothing was changed. Displaced and the pc tell where.
	Among
	// Done says that the thread is behind the site, at Next.
	Done
	// Trapped says that the thread is at the site, as with Again, but that its hit has to be handled there as that of a trap:
	// the pad has found a tracepoint with Stop, or something that it cannot collect.
	Trapped
	// Busy says that the thread holds the lock, and has done what cannot be undone: it has to be stepped on with its signals
	// blocked, and Leave be called again after each step. Nothing was changed.
	Busy
)

// Leave takes a stopped thread out of the pad: it sets registers, pc and stack pointer to what they are in the program.
// A system call that was interrupted must not be restarted: orig_rax is set so that the kernel does not.
func (p *Pad) Leave(regs *amd64.UserRegs, memory Memory) Outcome { return Outcome{} }

// Fault handles a SIGSEGV or SIGBUS that an access of the pad has raised: it writes what there is of the memory into the slot and
// sets registers so that the thread goes on behind the access. It is false if the pad makes no access there that may fail: then
// the signal is the program's own, or came by, and Leave applies.
func (p *Pad) Fault(regs *amd64.UserRegs, memory Memory, r *Reader) bool { return false }

// row is the state of the pad from an offset on.
type row struct{ from int32 }

// faultRange is code that may fault.
type faultRange struct{ from, to int32 }
