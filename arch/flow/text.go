package flow

import "strings"

// OfText says what an instruction does by its disassembly, of any instruction set: which one it is and how long are not known.
func OfText(disasm string) Flow {
	fields := strings.FieldsFunc(strings.ToLower(disasm), func(r rune) bool { return strings.ContainsRune(" \t,()[]{}#", r) })
	if len(fields) == 0 {
		return Flow{}
	}
	word, operands := strings.TrimPrefix(fields[0], "c."), fields[1:]
	has := func(i int, names string) bool {
		return i < len(operands) && strings.Contains(" "+names+" ", " "+operands[i]+" ")
	}
	last := ""
	if len(operands) > 0 {
		last = operands[len(operands)-1]
	}
	const zero, links = "zero x0", "ra x1 t0 x5 $ra lr x30"
	switch word {
	case "ret", "retq", "retl", "retw", "retaa", "retab", "blr.", "ret_near":
		return Flow{Kind: Return}
	case "mret", "sret", "uret", "dret", "mnret", "eret", "iret", "iretq", "iretd", "rfe", "rfi", "rfid", "sysret", "sysretq":
		return Flow{Kind: TrapReturn}
	case "ecall", "ebreak", "svc", "syscall", "int", "int3", "sysenter", "brk", "bkpt", "hvc", "smc":
		return Flow{Kind: Trap}
	case "jr", "bx", "j", "jmp", "jmpq", "jmpl", "b", "br":
		if has(0, links) {
			return Flow{Kind: Return}
		}
		return Flow{Kind: Jump}
	case "jal", "jalr":
		switch {
		case has(0, zero) && (has(1, links) || has(2, links)):
			return Flow{Kind: Return}
		case has(0, zero):
			return Flow{Kind: Jump}
		}
		return Flow{Kind: Call}
	case "call", "callq", "calll", "call_near", "bl", "blx", "blr", "blraa", "blrab":
		return Flow{Kind: Call}
	case "pop", "ldmia", "ldmfd", "ldm":
		if last == "pc" {
			return Flow{Kind: Return}
		}
	case "mov":
		if has(0, "pc") && has(1, "lr r14") {
			return Flow{Kind: Return}
		}
	}
	if branches(word) {
		return Flow{Kind: Jump, Conditional: true}
	}
	return Flow{}
}

// branches reports whether a mnemonic is that of a conditional branch.
func branches(word string) bool {
	switch {
	case strings.HasPrefix(word, "b."), strings.HasPrefix(word, "loop"), strings.HasPrefix(word, "cbz"),
		strings.HasPrefix(word, "cbnz"), strings.HasPrefix(word, "tbz"), strings.HasPrefix(word, "tbnz"):
		return true
	case len(word) <= 5 && word[0] == 'j':
		return true
	}
	const others = " beq bne blt bge bgt ble bltu bgeu bgtu bleu beqz bnez bltz bgez blez bgtz bcs bcc bmi bpl bvs bvc bhi bls "
	return strings.Contains(others, " "+word+" ")
}
