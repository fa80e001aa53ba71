package match

import (
	"bytes"
	"fmt"
	"slices"

	"tracewell/internal/text"
	"tracewell/itrace/internal/riscv"
)

// nameStretch says what the stretch at hand seems to be.
func (a *aligner) nameStretch(s stretch) (Class, string) {
	missing, extra := s.groups[reference], s.groups[other]
	if missing > 0 && extra > 0 {
		return ClassPC, fmt.Sprintf("the traces go different ways, for %d and %d instructions", missing, extra)
	}
	side, n, class, lacks := reference, missing, ClassMissing, "the other trace lacks"
	if extra > 0 {
		side, n, class, lacks = other, extra, ClassExtra, "the reference lacks"
	}
	first := a.queue[side].at(0)
	switch {
	case first.bare && a.queue[side].passed == 0:
		return class, lacks + " effects ahead of the first instruction"
	case first.bare:
		return class, lacks + " effects"
	case a.queue[side].passed == 0:
		return class, fmt.Sprintf("%s %s ahead of its first", lacks, instructions(n))
	case a.loops(side, n):
		return ClassLoop, fmt.Sprintf("%s %s of a loop at 0x%x", lacks, instructions(n), first.pc)
	case a.handles(side, n):
		return ClassHandler, fmt.Sprintf("%s a handler at 0x%x of %s", lacks, first.pc, instructions(n))
	}
	return class, lacks + " " + instructions(n)
}

func instructions(n int) string { return text.Plural(n, "instruction") }

// loops reports whether a stretch is rounds of a loop: it comes back to where it began, where the other side is, or its addresses
// repeat, in their order, what came just before it. One instruction that comes once more is a loop only if it has been one
// before.
func (a *aligner) loops(side, n int) bool {
	q := &a.queue[side]
	start := q.at(0).pc
	if n > 1 && n < q.len() && q.at(n).pc == start {
		return true
	}
	before := q.before()
	round := 0 // instructions since the program was where the stretch begins
	for k := len(before) - 1; k >= 0 && before[k] != nil && round == 0; k-- {
		if before[k].pc == start {
			round = len(before) - k
		}
	}
	if round == 0 || n%round != 0 || !repeatsAddresses(q, n, round) {
		return false
	}
	return n > 1 || len(before) > 1 && before[len(before)-2] != nil && before[len(before)-2].pc == start
}

// repeatsAddresses reports whether each of the next instructions is at the address of the one that came so many before it.
func repeatsAddresses(q *queue, n, round int) bool {
	for i := range n {
		if g := q.groups[q.start+i-round]; g == nil || g.pc != q.at(i).pc {
			return false
		}
	}
	return true
}

// nearby is how far apart instructions are, in bytes, that follow one another without a jump.
const nearby = 16

// handles reports whether a stretch is the handler of an interrupt or exception: it begins far from where the program was and where
// it goes on, comes by neither on its way, and ends, as far as its disassembly tells, with a jump back; or it ends with an
// instruction that does nothing else than return from handlers, whatever it came by. A branch to elsewhere cannot be the reason,
// since then the stretch would be a consequence of what decided the branch.
func (a *aligner) handles(side, n int) bool {
	q := &a.queue[side]
	before := q.before()
	if n < 2 || n >= q.len() || len(before) == 0 || before[len(before)-1] == nil {
		return false
	}
	last, next, first := before[len(before)-1].pc, q.at(n).pc, q.at(0).pc
	far := first-last > nearby && first-next > nearby
	if far && a.is(side, q.at(n-1), riscv.Returns, mnemonics.Returns) {
		return true
	}
	through := slices.ContainsFunc(q.groups[q.start:q.start+n], func(g *group) bool { return g.pc == next || g.pc == last })
	return far && !through && (a.jumps(side, q.at(n-1)) || a.jumps(side, q.at(n-2)))
}

// jumps reports whether an instruction, by its disassembly, jumps. One without a disassembly may.
func (a *aligner) jumps(side int, g *group) bool {
	mnemonic, operands, ok := a.c.words(side, g)
	if !ok {
		return true
	}
	writesPC := slices.ContainsFunc(operands, func(o operand) bool { return bytes.EqualFold(o.word, []byte("pc")) })
	return writesPC || slices.ContainsFunc(mnemonics.Jumps, func(name string) bool { return bytes.EqualFold(mnemonic, []byte(name)) })
}
