package fast

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/arch/amd64"
)

// Memory is the program's memory.
type Memory interface {
	// ReadMemory reads as many bytes of p as are readable from addr on, in one piece, and returns their count.
	ReadMemory(addr arch.Addr, p []byte) int
	// WriteMemory writes p, and returns the number of bytes written.
	WriteMemory(addr arch.Addr, p []byte) int
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
	// Elsewhere says that the thread is not in the pad, so that nothing was changed.
	Elsewhere Exit = iota
	// Again says that the thread is at the site, as if it had not begun with the hit.
	Again
	// Past says that the thread is at the first displaced instruction, its hit behind it. The pc is that of the copy.
	Past
	// Among says that the thread is behind the first displaced instruction and before the last one's end; nothing was changed.
	Among
	// Done says that the thread is behind the site, at Next.
	Done
	// Trapped says that the thread is at the site, as with Again, but that its hit has to be handled there as that of a trap:
	// the pad has found that a condition of a Site with Trap holds, or something that it cannot collect.
	Trapped
	// Busy says that the thread holds the lock, and may have set variables: it has to be stepped on with its signals blocked,
	// and Leave be called again after each step. Nothing was changed. If the ring is full it needs room meanwhile.
	Busy
	// Lost says that the thread's stack cannot be read. Nothing was changed.
	Lost
)

// Bits of the flags register.
const (
	flagZero       = 1 << 6
	flagOverflow   = 1 << 11
	flagsOfLahf    = 0xd5 // sign, zero, adjust, parity, carry
	flagDirection  = 1 << 10
	flagTrap       = 1 << 8
	flagResume     = 1 << 16 // set by faults and by string instructions that are interrupted; no state of the program
	overflowFromAL = 11      // al is 1 where the flag is set
)

// Leave takes a stopped thread out of the pad: it sets registers, pc and stack pointer to what they are in the program.
// A thread that was waiting for room is in a system call, which must not be restarted: orig_rax becomes -1.
func (p *Pad) Leave(regs *amd64.UserRegs, memory Memory) Outcome {
	offset := int(arch.Addr(regs[amd64.RIP]) - p.Addr)
	switch {
	case offset < 0 || offset >= len(p.Code):
		return Outcome{Exit: Elsewhere}
	case offset == p.Displaced:
		return Outcome{Exit: Past}
	case offset == p.Back:
		regs[amd64.RIP] = uint64(p.next)
		return Outcome{Exit: Done}
	case offset > p.Displaced && offset < p.Back+p.backLength:
		return Outcome{Exit: Among}
	}
	// What was done under the lock may have been seen by others, so it cannot be undone.
	s := p.at(offset)
	if s.lock == locked || s.lock == lockedIfZero && uint32(regs[amd64.RAX]) == 0 {
		return Outcome{Exit: Busy}
	}
	var out Outcome
	out.Exit = Again
	switch s.phase {
	case pending:
		var ok bool
		if out.Position, out.Void, ok = p.reservation(&s, regs, memory); !ok {
			return Outcome{Exit: Lost}
		}
	case trapping:
		out.Exit = Trapped
		out.Position, out.Void, _ = p.reservation(&s, regs, memory)
	case recorded:
		out.Exit = Past
	}
	if !s.restore(regs, memory) {
		return Outcome{Exit: Lost}
	}
	regs[amd64.RIP] = uint64(p.site)
	if out.Exit == Past {
		regs[amd64.RIP] = uint64(p.Addr) + uint64(p.Displaced)
	}
	regs[amd64.OrigRAX] = ^uint64(0)
	regs[amd64.EFlags] &^= flagResume
	return out
}

// reservation finds the position that the thread has reserved, if any.
func (p *Pad) reservation(s *state, regs *amd64.UserRegs, memory Memory) (position uint64, reserved, ok bool) {
	switch s.position {
	case positionInRAX:
		return regs[amd64.RAX], true, true
	case positionIfZero:
		return regs[amd64.RAX], regs[amd64.EFlags]&flagZero != 0, true
	case positionInCommit:
		return regs[userIndex[regCommit]] ^ p.key, true, true
	case positionIfSlot:
		return regs[userIndex[regCommit]] ^ p.key, regs[userIndex[regSlot]] != 0, true
	case positionOnStack:
		position, ok = stackWord(regs, s.depth-s.waitAt, memory)
		return position, true, ok
	}
	return 0, false, true
}

// stackWord reads the word at an offset from the stack pointer.
func stackWord(regs *amd64.UserRegs, offset int32, memory Memory) (uint64, bool) {
	var b [8]byte
	n := memory.ReadMemory(arch.Addr(regs[amd64.RSP]+uint64(offset)), b[:])
	return binary.LittleEndian.Uint64(b[:]), n == len(b)
}

// restore gives a thread the registers that it has in the program. It changes none unless it can read the whole stack.
func (s *state) restore(regs *amd64.UserRegs, memory Memory) bool {
	restored := *regs
	if !s.restoreFlags(&restored, regs, memory) {
		return false
	}
	for _, v := range s.saved {
		word, ok := stackWord(regs, s.depth-v.at, memory)
		if !ok {
			return false
		}
		restored[userIndex[v.reg]] = word
	}
	restored[amd64.RSP] = regs[amd64.RSP] + uint64(s.depth)
	*regs = restored
	return true
}

// restoreFlags sets the arithmetic flags. The others are the program's throughout.
func (s *state) restoreFlags(restored, regs *amd64.UserRegs, memory Memory) bool {
	word, ok := regs[amd64.RAX], true
	switch s.flags {
	case flagsLive:
		return true
	case flagsOnStack:
		word, ok = stackWord(regs, s.depth-s.flagsAt, memory)
	case flagsAdded:
		word = word&^0xff | word>>7&1
	}
	flags := word>>8&flagsOfLahf | word&1<<overflowFromAL
	restored[amd64.EFlags] = regs[amd64.EFlags]&^(flagsOfLahf|flagOverflow) | flags
	return ok
}
