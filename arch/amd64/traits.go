package amd64

// trait is what a range of opcodes does with control, and what keeps it from being copied.
type trait struct {
	space       opcodeSpace
	first, last uint8
	regs        uint8 // the values of ModRM's reg field that it holds for, one bit each; 0 for any
	flow        Flow
	reason      Reason
}

// traits has the opcodes that do not simply pass on to the next instruction, or that do not survive copying. An opcode
// that is not in the table does both.
var traits = []trait{
	{spaceOne, 0x70, 0x7f, 0, FlowJump, RelativeBranch},          // jcc
	{spaceOne, 0x9d, 0x9d, 0, FlowNext, SetsTrapFlag},            // popf
	{spaceOne, 0xc2, 0xc3, 0, FlowReturn, Relocatable},           // ret
	{spaceOne, 0xca, 0xcb, 0, FlowReturn, Relocatable},           // far ret
	{spaceOne, 0xcc, 0xcc, 0, FlowNext, Traps},                   // int3
	{spaceOne, 0xcd, 0xcd, 0, FlowSyscall, EntersKernel},         // int
	{spaceOne, 0xcf, 0xcf, 0, FlowJump, ReturnsFromTrap},         // iret
	{spaceOne, 0xd8, 0xdf, 0, FlowNext, RecordsAddress},          // x87
	{spaceOne, 0xe0, 0xe3, 0, FlowJump, RelativeBranch},          // loopne, loope, loop, jrcxz
	{spaceOne, 0xe8, 0xe8, 0, FlowCall, PushesAddress},           // call
	{spaceOne, 0xe9, 0xe9, 0, FlowJump, RelativeBranch},          // jmp
	{spaceOne, 0xeb, 0xeb, 0, FlowJump, RelativeBranch},          // jmp
	{spaceOne, 0xf1, 0xf1, 0, FlowNext, Traps},                   // int1
	{spaceOne, 0xf4, 0xf4, 0, FlowNext, System},                  // hlt
	{spaceOne, 0xff, 0xff, 1<<2 | 1<<3, FlowCall, PushesAddress}, // call, far call
	{spaceOne, 0xff, 0xff, 1<<4 | 1<<5, FlowJump, Relocatable},   // jmp, far jmp
	{space0F, 0x05, 0x05, 0, FlowSyscall, EntersKernel},          // syscall
	{space0F, 0x07, 0x07, 0, FlowJump, System},                   // sysret
	{space0F, 0x0b, 0x0b, 0, FlowNext, Traps},                    // ud2
	{space0F, 0x34, 0x34, 0, FlowSyscall, EntersKernel},          // sysenter
	{space0F, 0x35, 0x35, 0, FlowJump, System},                   // sysexit
	{space0F, 0x37, 0x37, 0, FlowNext, System},                   // getsec
	{space0F, 0x80, 0x8f, 0, FlowJump, RelativeBranch},           // jcc
	{space0F, 0xaa, 0xaa, 0, FlowJump, System},                   // rsm
	{space0F, 0xb9, 0xb9, 0, FlowNext, Traps},                    // ud1
	{space0F, 0xff, 0xff, 0, FlowNext, Traps},                    // ud0
}

// traits looks the instruction up.
func (l *layout) traits() (Flow, Reason) {
	if l.encoding != legacy {
		return FlowNext, Relocatable
	}
	switch {
	case l.space == spaceOne && l.opcode == 0xc7 && l.modrm == 0xf8: // xbegin
		return FlowJump, Transaction
	case l.space == spaceOne && l.opcode == 0xc6 && l.modrm == 0xf8: // xabort
		return FlowNext, Transaction
	case l.space == space0F && l.opcode == 0x01 && l.mod() == 3:
		return FlowNext, l.groupSeven()
	}
	if l.space > space0F {
		return FlowNext, Relocatable
	}
	for _, i := range traitsOf[l.space][l.opcode] {
		if t := &traits[i]; t.regs == 0 || t.regs>>l.reg()&1 != 0 {
			return t.flow, t.reason
		}
	}
	return FlowNext, Relocatable
}

// traitsOf has the indexes of an opcode's traits: a search through all of them would take as long as decoding.
var traitsOf = func() (of [space0F + 1][256][]uint8) {
	for i, t := range traits {
		for opcode := int(t.first); opcode <= int(t.last); opcode++ {
			of[t.space][opcode] = append(of[t.space][opcode], uint8(i))
		}
	}
	return of
}()

// groupSevenRelocatable are the ModRM bytes of 0f 01 without a memory operand that only touch registers. The others are
// of hypervisors, enclaves and kernels; enclu, for one, hands out the address behind it.
var groupSevenRelocatable = map[uint8]bool{
	0xca: true, // clac
	0xcb: true, // stac
	0xd0: true, // xgetbv
	0xd6: true, // xtest
	0xe8: true, // serialize
	0xee: true, // rdpkru
	0xef: true, // wrpkru
	0xf9: true, // rdtscp
}

// groupSeven sorts the instructions that share opcode 0f 01 and have no memory operand.
func (l *layout) groupSeven() Reason {
	switch {
	case l.modrm == 0xd5: // xend
		return Transaction
	case groupSevenRelocatable[l.modrm] && !l.has(prefixOperand|prefixRepne|prefixRep):
		return Relocatable
	}
	return System
}
