package report

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/itrace/match"
)

// fewRegisters is how many registers are shown whether they matter or not, and manyRegisters is how many are at all.
const (
	fewRegisters  = 8
	manyRegisters = 40
)

// registers picks the registers to be shown with a difference, in their order: all if they are few, else those that differ and
// the operands of the instruction. The second result is how many are left out.
func registers(d *match.Difference) ([]match.Value, int) {
	if d.Context == nil {
		return nil, 0
	}
	all := d.Context.Registers
	picked := all
	if len(all) > fewRegisters {
		operands := operands(d)
		picked = nil
		for _, v := range all {
			if v.Differs || slices.Contains(operands, strings.ToLower(v.Register)) {
				picked = append(picked, v)
			}
		}
	}
	picked = picked[:min(len(picked), manyRegisters)]
	return picked, len(all) - len(picked)
}

// operands are the words of the instructions at a difference that may be registers, in lower case.
func operands(d *match.Difference) []string {
	words := []string{strings.ToLower(d.What)}
	for side, lines := range [2][]match.Position{d.Context.Reference, d.Context.Other} {
		at := places(d)[side]
		if at == nil {
			continue
		}
		for _, line := range lines {
			if line.Instruction == at.Instruction && line.Line <= at.Line {
				words = append(words, strings.FieldsFunc(strings.ToLower(clip(line.Text)), noLetter)...)
			}
		}
	}
	return words
}

// noLetter reports whether a character cannot be part of the name of a register.
func noLetter(r rune) bool {
	return !strings.ContainsRune("$_.0123456789abcdefghijklmnopqrstuvwxyz", r)
}

// registersTitle tells how many registers differ.
func registersTitle(d *match.Difference) string {
	n := 0
	for _, v := range d.Context.Registers {
		if v.Differs {
			n++
		}
	}
	if n == 0 {
		return "Registers before this instruction: none differs"
	}
	return fmt.Sprintf("Registers before this instruction: %d of %d differ", n, len(d.Context.Registers))
}
