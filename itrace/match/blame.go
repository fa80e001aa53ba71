package match

import (
	"bytes"
	"math"
	"slices"

	"tracewell/arch"
	"tracewell/itrace"
)

// A difference follows from an earlier one if the instruction reads what the two sides hold different values of. What it reads is
// told by its disassembly; without one it may have read any register that was written differently.

// blurred reports whether an instruction reads a register of which the two sides hold different values.
func (a *aligner) blurred(side int, g *group) bool { return a.reads(side, g, now, anywhere) }

// now is for what differs still, and not what has become equal after some instruction.
const now = math.MaxInt64

// part is a part of an instruction's operands.
type part uint8

const (
	anywhere part = iota
	inAddress
	outsideAddress
)

// reads reports whether an instruction reads, in a part of its operands, a register that differs, or did up to an instruction of
// the reference behind the one that since is the index of.
func (a *aligner) reads(side int, g *group, since int64, where part) bool {
	if a.state.differing == 0 && a.state.healed <= since {
		return false
	}
	mnemonic, operands, ok := a.c.words(side, g)
	if !ok {
		return a.state.paired > 0
	}
	for i, o := range operands {
		if where != anywhere && o.address != (where == inAddress) {
			continue
		}
		r := a.register(o.word)
		if r == nil || !r.differs && r.healed <= since {
			continue
		}
		if i > 0 || !a.writes(g, r) || len(operands) < 3 && !onlyWrites(mnemonic) {
			return true
		}
	}
	return false
}

// register returns that of a name, nil if there is none.
func (a *aligner) register(name []byte) *register {
	id, known := a.c.names.known(name)
	if !known || id >= uint32(len(a.state.registers)) {
		return nil
	}
	return &a.state.registers[id]
}

// onlyWrites reports whether an instruction of two operands, of which the first is written, does not read it: it loads or moves. Of
// three operands the first is only written.
func onlyWrites(mnemonic []byte) bool { return hasPrefix(mnemonic, mnemonics.Moves) }

// mnemonics and flagRegisters are those of all processors, as a trace does not say which one it is of.
var (
	mnemonics     = arch.AllMnemonics()
	flagRegisters = arch.AllFlags()
)

func hasPrefix(mnemonic []byte, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return bytes.HasPrefix(mnemonic, []byte(prefix)) })
}

func (a *aligner) writes(g *group, r *register) bool {
	return slices.ContainsFunc(g.effects, func(e effect) bool {
		return e.kind == writesRegister && e.at < uint64(len(a.state.registers)) && r == &a.state.registers[e.at]
	})
}

// follows reports whether a wrong effect follows from what was wrong before. What was loaded, and what was stored, is held against
// the address: where that is the same on both sides, the registers that it was made of cannot be the reason.
func (a *aligner) follows(x, y *group, p *pairing, e, f *effect) bool {
	either := func(where part) bool { return a.reads(reference, x, now, where) || a.reads(other, y, now, where) }
	switch {
	case a.misled(x, y, p):
		return true
	case e.accesses() && !samePlace(e, f) && a.hasAddress(x):
		return either(inAddress)
	case e.accesses() && !samePlace(e, f):
		return either(anywhere)
	case e.kind == loads:
		return false
	case e.kind == stores:
		return either(outsideAddress)
	case loadsAlike(x, y, p) && a.hasDisassembly(x):
		return either(outsideAddress) || a.inAddress(x, e.at)
	}
	return either(anywhere)
}

// hasAddress reports whether an instruction's disassembly tells what its address is made of.
func (a *aligner) hasAddress(x *group) bool {
	_, operands, _ := a.c.words(reference, x)
	return slices.ContainsFunc(operands, func(o operand) bool { return o.address })
}

// hasDisassembly reports whether an instruction has a disassembly.
func (a *aligner) hasDisassembly(x *group) bool {
	_, _, ok := a.c.words(reference, x)
	return ok
}

// loadsAlike reports whether both sides load, and the same.
func loadsAlike(x, y *group, p *pairing) bool {
	some := false
	for side, g := range [2]*group{x, y} {
		for i := range g.effects {
			if g.effects[i].kind == loads {
				if !p.used[side][i] {
					return false
				}
				some = true
			}
		}
	}
	return some
}

// inAddress reports whether an instruction's address is made of a register that differs, so that one that it moves on does too.
func (a *aligner) inAddress(x *group, id uint64) bool {
	_, operands, _ := a.c.words(reference, x)
	return slices.ContainsFunc(operands, func(o operand) bool {
		r := a.register(o.word)
		return o.address && r != nil && r.differs && id < uint64(len(a.state.registers)) && r == &a.state.registers[id]
	})
}

// misled reports whether an instruction reads memory that holds different things on the two sides.
func (a *aligner) misled(x, y *group, p *pairing) bool {
	return slices.ContainsFunc(p.wrong, func(w [2]int) bool {
		e, f := &x.effects[w[0]], &y.effects[w[1]]
		return e.kind == loads && (a.state.memory.wrong(e) || a.state.memory.wrong(f))
	})
}

// vindicate takes back that a register holds different values if an instruction that reads it has the same effects on both sides in
// spite of that, and cannot have: the record was wrong, not the value. It is called for equal instructions.
func (a *aligner) vindicate(x *group) {
	mnemonic, operands, ok := a.c.words(reference, x)
	if !ok || len(x.effects) == 0 {
		return
	}
	accesses := slices.ContainsFunc(x.effects, func(e effect) bool { return e.accesses() })
	var suspect *register
	for i, o := range operands {
		r := a.register(o.word)
		if r == nil || !r.differs || i == 0 && a.writes(x, r) {
			continue
		}
		if suspect != nil || accesses && !o.address {
			return
		}
		suspect = r
	}
	if suspect != nil && (accesses || len(operands) == 3 && slices.Contains(mnemonics.Injective, string(mnemonic))) {
		healed := suspect.healed // it never was otherwise
		a.state.setDiffers(suspect, false, false, x.index)
		suspect.healed = healed
	}
}

// wrongFlags reports whether flags may differ: a register of them does, or an instruction among some has set them by a register of
// which the two sides hold different values.
func (a *aligner) wrongFlags(among []*group) bool {
	for _, name := range flagRegisters {
		if r := a.register([]byte(name)); r != nil && r.differs {
			return true
		}
	}
	return slices.ContainsFunc(among, func(g *group) bool {
		if g == nil {
			return false
		}
		mnemonic, _, ok := a.c.words(reference, g)
		sets := !ok || bytes.HasSuffix(mnemonic, []byte("s")) || hasPrefix(mnemonic, mnemonics.Compares)
		return sets && a.blurred(reference, g)
	})
}

// operand is a word of a disassembly that may be a register or an address.
type operand struct {
	word    []byte
	address bool // in brackets: what is accessed is made of it
}

// words gives an instruction's name and the words behind it, by its disassembly. They are valid until the next call.
func (c *comparison) words(side int, g *group) (mnemonic []byte, operands []operand, ok bool) {
	text := g.word(g.words)
	if g.bare || len(text) == 0 {
		return nil, nil, false
	}
	end := bytes.IndexAny(text, " \t")
	if end < 0 {
		return text, nil, true
	}
	operands = c.operands[:0]
	depth := 0
	for i := end; i < len(text); i++ {
		switch b := text[i]; {
		case b == '(' || b == '[':
			depth++
		case b == ')' || b == ']':
			depth--
		case isWord[b]:
			start := i
			for i+1 < len(text) && isWord[text[i+1]] {
				i++
			}
			operands = append(operands, operand{text[start : i+1], depth > 0})
		}
	}
	c.operands = operands
	return text[:end], operands, true
}

// isWord has the characters that names of registers are made of.
var isWord = func() (is [256]bool) {
	for _, c := range "$_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = true
	}
	return is
}()

// target gives the word as a number in hexadecimal if it may be an address of the program: that of an instruction near pc.
func (o operand) target(pc uint64) (addr uint64, ok bool) {
	digits := bytes.TrimPrefix(o.word, []byte("0x"))
	addr, ok = itrace.ParseHex(digits)
	return addr, ok && addr-pc+farthestBranch < 2*farthestBranch
}

// farthestBranch is how far a branch goes that names its target, in bytes.
const farthestBranch = 1 << 27
