package riscv

import (
	"encoding/binary"
	"slices"
)

// Sequence is an exclusive sequence: lr, the store conditional sc that belongs to it, and the branch behind that, which tries
// again.
//
// A trap between the two has the store fail each time, so the program would never get out of it. A sequence is recognised by what
// the manual guarantees progress for: no more than 16 instructions in all, without calls.
type Sequence struct {
	From, To uint64 // its first address, and the one behind it
	code     []byte
	offsets  []int // of its instructions
	store    int   // the offset of sc
	wide     bool
}

// SequenceMost is how many bytes a sequence has at the most.
const SequenceMost = 18 * Longest

// isReserve and isConditional report whether an instruction is lr or sc.
func isReserve(w uint32) bool     { return isAMO(w) && funct7(w)>>2 == 2 && rs2(w) == 0 }
func isConditional(w uint32) bool { return isAMO(w) && funct7(w)>>2 == 3 }

func isAMO(w uint32) bool { return w&0x7f == opAMO && (funct3(w) == 2 || funct3(w) == 3) }

// sequence finds the end of the sequence that code begins with, at an address. It is false if there is none that can be copied.
func sequence(code []byte, at uint64, wide bool) (*Sequence, bool) {
	s := &Sequence{From: at, wide: wide}
	end := func(i int) (*Sequence, bool) {
		s.code, s.To = slices.Clone(code[:i]), at+uint64(i)
		return s, true
	}
	for i := 0; len(s.offsets) < SequenceMost/Longest; {
		w := word(code[i:], wide)
		target, branches := branchTarget(w, at+uint64(i))
		switch again := w&0x7f == opBranch && at <= target && target <= at+uint64(i); {
		case s.store > 0 && !again:
			return end(i)
		case w == 0, !branches && (usesPC(w) || w == ecall || w == ebreak || i > 0 && isReserve(w)):
			return nil, false
		}
		s.offsets = append(s.offsets, i)
		i += Length(code[i:])
		switch {
		case s.store > 0: // the branch that tries again
			return end(i)
		case isConditional(w):
			s.store = i - Longest
		}
	}
	return nil, false
}

// branchTarget is where a branch, or a jump that keeps no return address, goes to. It is false for all other instructions.
func branchTarget(w uint32, at uint64) (uint64, bool) {
	switch {
	case w&0x7f == opBranch && usesPC(w):
		return at + immB(w), true
	case w&0x7f == opJAL && rd(w) == 0:
		return at + immJ(w), true
	}
	return 0, false
}

// ExclusiveAround finds the sequence that an address lies inside of, behind its lr and not behind its end; nil if there is none.
// code is what lies in memory from an address on, which should begin SequenceMost in front of at and end as far behind it.
func ExclusiveAround(code []byte, from, at uint64, wide bool) *Sequence {
	for start := from; start < at; start += 2 {
		here := code[start-from:]
		if len(here) < 4 {
			return nil
		}
		if here[0]&3 != 3 || !isReserve(word(here, wide)) {
			continue
		}
		if s, ok := sequence(here, start, wide); ok && s.Inside(at) {
			return s
		}
	}
	return nil
}

// Inside reports whether a breakpoint at an address would keep the store from succeeding: it is that of an instruction behind lr,
// up to sc.
func (s *Sequence) Inside(at uint64) bool {
	for _, offset := range s.offsets[1:] {
		if s.From+uint64(offset) == at {
			return offset <= s.store
		}
	}
	return false
}

// Store is the address of sc.
func (s *Sequence) Store() uint64 { return s.From + uint64(s.store) }

// Offsets are those of the instructions from the first one on. The caller must not change them.
func (s *Sequence) Offsets() []int { return s.offsets }

// copy makes the copy of Instruction.Copy. Branches within the sequence stay as they are; each that leaves it has an exit of its
// own behind the copy.
func (s *Sequence) copy(to, at uint64, stop bool) (code []byte, exits []Exit) {
	code = leave(slices.Clone(s.code), to, s.To, stop)
	exits = []Exit{{len(s.code), s.To}}
	for _, i := range s.offsets {
		target, branches := branchTarget(word(s.code[i:], s.wide), at+uint64(i))
		if !branches || s.From <= target && target <= s.To {
			continue
		}
		exits = append(exits, Exit{len(code), target})
		retarget(code[i:], uint32(len(code)-i))
		code = leave(code, to, target, stop)
	}
	return code, exits
}

// retarget gives the branch or jump that code begins with another distance, which is small and not negative.
func retarget(code []byte, distance uint32) {
	d := func(from, n, to int) uint32 { return distance >> from & (1<<n - 1) << to }
	if code[0]&3 == 3 {
		w := binary.LittleEndian.Uint32(code)
		if w&0x7f == opBranch {
			w = w&0x01fff07f | d(12, 1, 31) | d(5, 6, 25) | d(1, 4, 8) | d(11, 1, 7)
		} else {
			w = w&0xfff | d(20, 1, 31) | d(1, 10, 21) | d(11, 1, 20) | d(12, 8, 12)
		}
		binary.LittleEndian.PutUint32(code, w)
		return
	}
	c := uint32(binary.LittleEndian.Uint16(code))
	if c>>13 == 5 { // c.j
		c = c&0xe003 | d(11, 1, 12) | d(4, 1, 11) | d(8, 2, 9) | d(10, 1, 8) | d(6, 1, 7) | d(7, 1, 6) | d(1, 3, 3) | d(5, 1, 2)
	} else { // c.beqz, c.bnez
		c = c&0xe383 | d(8, 1, 12) | d(3, 2, 10) | d(6, 2, 5) | d(1, 2, 3) | d(5, 1, 2)
	}
	binary.LittleEndian.PutUint16(code, uint16(c))
}
