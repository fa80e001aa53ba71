package fast

import (
	"slices"
	"sort"

	"tracewell/arch/amd64"
	asm "tracewell/internal/asm/amd64"
)

// state is how things stand before an instruction of a pad is executed: what it takes to give a thread its registers back, and
// to tell what has become of its hit.
type state struct {
	depth    int32   // bytes by which the stack pointer is below the program's
	saved    []saved // registers of the program that are on the stack; the others are live
	flags    flagsPlace
	flagsAt  int32 // depth of the word that flagsOnStack means
	phase    phase
	position positionPlace
	waitAt   int32 // depth of the word that positionOnStack means
	lock     lockState
}

// saved is a register of the program on the stack.
type saved struct {
	reg asm.Reg
	at  int32 // depth: the word lies that many bytes below the program's stack pointer
}

// flagsPlace is where the program's arithmetic flags are.
type flagsPlace uint8

const (
	flagsLive    flagsPlace = iota
	flagsOnStack            // as in rax: ah as lahf has set it, al 1 if the overflow flag was set
	flagsInAX
	flagsAdded // ah as before, al 127 more
)

// phase is what has become of the hit.
type phase uint8

const (
	pending  phase = iota // nothing is recorded yet
	recorded              // the slot is committed, or there is nothing to record
	trapping              // the hit has to be handled as a trap
)

// positionPlace is where the position of a slot is that was reserved and not committed.
type positionPlace uint8

const (
	noPosition positionPlace = iota
	positionInRAX
	positionIfZero   // in rax if the zero flag is set
	positionInCommit // in the register of the commit word, with the key
	positionIfSlot   // the same if the register of the slot is not 0
	positionOnStack
)

// lockState is whether the thread holds the lock.
type lockState uint8

const (
	unlocked lockState = iota
	lockedIfZero
	locked
)

// row is the state from an offset of the code on.
type row struct {
	from int32
	state
}

// at returns the state before the instruction at an offset.
func (p *Pad) at(offset int) state {
	i := sort.Search(len(p.rows), func(i int) bool { return int(p.rows[i].from) > offset })
	return p.rows[i-1].state
}

// save adds a register on top of the stack. States share their lists, so none is ever changed.
func (s *state) save(r asm.Reg) { s.saved = append(slices.Clip(s.saved), saved{r, s.depth}) }

// place finds a register of the program on the stack.
func (s *state) place(r asm.Reg) (at int32, ok bool) {
	for _, v := range s.saved {
		if v.reg == r {
			return v.at, true
		}
	}
	return 0, false
}

// userIndex is the index in amd64.UserRegs of a general register.
var userIndex = [16]uint8{
	asm.RAX: amd64.RAX, asm.RCX: amd64.RCX, asm.RDX: amd64.RDX, asm.RBX: amd64.RBX, asm.RSP: amd64.RSP, asm.RBP: amd64.RBP,
	asm.RSI: amd64.RSI, asm.RDI: amd64.RDI, asm.R8: amd64.R8, asm.R9: amd64.R9, asm.R10: amd64.R10, asm.R11: amd64.R11,
	asm.R12: amd64.R12, asm.R13: amd64.R13, asm.R14: amd64.R14, asm.R15: amd64.R15,
}

// remote is GDB's order of the general registers, by the numbers that expressions and actions have for them.
var remote = [16]asm.Reg{
	asm.RAX, asm.RBX, asm.RCX, asm.RDX, asm.RSI, asm.RDI, asm.RBP, asm.RSP, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13,
	asm.R14, asm.R15,
}

// Registers by their numbers in expressions and actions that are not general.
const (
	remotePC    = 16
	remoteFlags = 17
	remoteCS    = 18
	remoteGS    = 23
)

// remoteSegments are the segment registers from remoteCS on.
var remoteSegments = [6]asm.Seg{asm.CS, asm.SS, asm.DS, asm.ES, asm.FS, asm.GS}
