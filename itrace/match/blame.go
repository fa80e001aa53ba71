package match

import "bytes"

// recentGroups is how many instructions before a parting of the ways are looked at for what has decided it: a branch, its delay slot,
// and the comparison before it.
const recentGroups = 4

// blurred reports whether an instruction reads a register of which the two sides hold different values, as far as its disassembly
// tells. Without one every register may have been read.
func (a *aligner) blurred(g *group) bool {
	if !a.anyDiffers() {
		return false
	}
	words := a.c.operands(g)
	if words == nil {
		return true
	}
	for i, word := range words {
		id, known := a.c.names.known(word)
		if !known || id >= uint32(len(a.state.registers)) || !a.state.registers[id].differs {
			continue
		}
		if i > 0 || !writes(g, id) {
			return true // the first operand is what an instruction writes, as a rule
		}
	}
	return false
}

func writes(g *group, register uint32) bool {
	for i := range g.effects {
		if e := &g.effects[i]; e.kind == writesRegister && e.at == uint64(register) {
			return true
		}
	}
	return false
}

func (a *aligner) anyDiffers() bool {
	for i := range a.state.registers {
		if a.state.registers[i].differs {
			return true
		}
	}
	return false
}

// led reports whether the flow of control can have parted because of something that was wrong before: the instructions that were
// paired last read a register of which the two sides hold different values.
func (a *aligner) led() bool {
	before := a.queue[reference].before()
	for _, g := range before[max(0, len(before)-recentGroups):] {
		if g != nil && a.blurred(g) {
			return true
		}
	}
	return false
}

// operands gives the words of an instruction's disassembly behind its name that may be registers; nil without a disassembly.
func (c *comparison) operands(g *group) [][]byte {
	r, ok := c.parsed(g)
	if !ok || len(r.Disasm) == 0 {
		return nil
	}
	_, rest, _ := bytes.Cut(r.Disasm, []byte{' '})
	words := bytes.FieldsFunc(rest, func(r rune) bool {
		return r != '$' && r != '_' && r != '.' && !(r >= '0' && r <= '9') && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z')
	})
	if words == nil {
		words = [][]byte{}
	}
	return words
}
