package amd64

// operation is what Emulate does with its source value.
type operation uint8

const (
	opNone     operation = iota // not emulated
	opNop                       // nothing
	opMove                      // put it into dst
	opCombine                   // combine dst with it, by the arithmetic
	opPush                      // push it
	opPop                       // pop dst
	opLeave                     // drop the frame that rbp is the end of, and pop rbp
	opJump                      // jump to it
	opCall                      // push next and jump to it
	opReturn                    // pop the pc, and drop as many more bytes
	opBranch                    // jump to it if the condition holds
	opLoop                      // count rcx down; jump to it unless that gave 0, and if the condition holds
	opJumpZero                  // jump to it if rcx is 0
)

// source says where an operation takes its value from.
type source uint8

const (
	fromImmediate source = iota
	fromRegister         // src
	fromAddress          // the address of the memory operand, as lea does
	fromMemory           // eight bytes at that address
	fromFlags            // the flags as pushf stores them
)

// noRegister stands for an absent base or index.
const noRegister = 0xff

// effect is an instruction as Emulate wants it: registers as indexes into UserRegs, targets absolute.
type effect struct {
	op          operation
	source      source
	dst, src    uint8
	base, index uint8 // of the memory operand
	scale       uint8 // its index is shifted by this
	condition   uint8 // low four bits of a jcc opcode; always for no condition
	arithmetic  arithmetic

	imm  uint64
	disp uint64
	next uint64 // the address behind the instruction
	mask uint64 // of the operand size: 32 or 64 bits
}

// always is the condition of a loop that only counts.
const always = 0x10

// form is a range of opcodes that is emulated. Of the legacy prefixes only those in prefixes may be there; all others would
// change the meaning, or should not be there at all.
type form struct {
	space       opcodeSpace
	first, last uint8
	prefixes    prefixSet
	build       func(e *effect, l *layout) bool // false: not this one
}

// nopPrefixes change nothing about a nop, which touches no memory.
const nopPrefixes = prefixOperand | prefixAddress | prefixNull | prefixSegment

// forms is everything that is emulated. The eight kinds of arithmetic share one build function each per way of naming
// operands.
var forms = []form{
	{spaceOne, 0x00, 0x3f, prefixNull, buildArithmetic},
	{spaceOne, 0x50, 0x57, prefixNull, buildPush},
	{spaceOne, 0x58, 0x5f, prefixNull, buildPop},
	{spaceOne, 0x68, 0x68, prefixNull, buildPushImmediate},
	{spaceOne, 0x6a, 0x6a, prefixNull, buildPushImmediate},
	{spaceOne, 0x70, 0x7f, prefixNull | prefixRepne | prefixAddress, buildBranch},
	{spaceOne, 0x81, 0x81, prefixNull, buildArithmeticImmediate},
	{spaceOne, 0x83, 0x83, prefixNull, buildArithmeticImmediate},
	{spaceOne, 0x85, 0x85, prefixNull, buildTest},
	{spaceOne, 0x89, 0x89, prefixNull, buildMove},
	{spaceOne, 0x8b, 0x8b, prefixNull, buildMove},
	{spaceOne, 0x8d, 0x8d, prefixNull, buildLea},
	{spaceOne, 0x90, 0x90, nopPrefixes, buildNop},
	{spaceOne, 0x9c, 0x9c, prefixNull, buildPushFlags},
	{spaceOne, 0xa9, 0xa9, prefixNull, buildTestImmediate},
	{spaceOne, 0xb8, 0xbf, prefixNull, buildMoveImmediate},
	{spaceOne, 0xc2, 0xc3, prefixNull | prefixRepne | prefixRep, buildReturn},
	{spaceOne, 0xc7, 0xc7, prefixNull, buildMoveImmediate},
	{spaceOne, 0xc9, 0xc9, prefixNull, buildLeave},
	{spaceOne, 0xe0, 0xe2, prefixNull, buildLoop},
	{spaceOne, 0xe3, 0xe3, prefixNull, buildJumpZero},
	{spaceOne, 0xe8, 0xe8, prefixNull | prefixRepne | prefixAddress, buildCall},
	{spaceOne, 0xe9, 0xe9, prefixNull | prefixRepne | prefixAddress, buildJump},
	{spaceOne, 0xeb, 0xeb, prefixNull | prefixRepne | prefixAddress, buildJump},
	{spaceOne, 0xf7, 0xf7, prefixNull, buildTestImmediate},
	{spaceOne, 0xff, 0xff, prefixNull | prefixRepne, buildGroupFive},
	{space0F, 0x1e, 0x1e, prefixRep, buildEndBranch},
	{space0F, 0x1f, 0x1f, nopPrefixes, buildNop},
	{space0F, 0x80, 0x8f, prefixNull | prefixRepne | prefixAddress, buildBranch},
}

// effect finds the form of the instruction that ends at next, and builds its effect; op is opNone if there is none.
func (l *layout) effect(next uint64) effect {
	prefixes := l.prefixes
	if l.wide() {
		prefixes &^= prefixOperand // REX.W overrides it
	}
	if l.encoding != legacy {
		return effect{}
	}
	for i := range forms {
		f := &forms[i]
		if f.space != l.space || l.opcode < f.first || f.last < l.opcode || prefixes&^f.prefixes != 0 {
			continue
		}
		e := effect{next: next, mask: 1<<32 - 1}
		if l.wide() {
			e.mask = 1<<64 - 1
		}
		if f.build(&e, l) {
			return e
		}
	}
	return effect{}
}

// regOperand is the register that the reg field names.
func (l *layout) regOperand() uint8 { return hardware[l.reg()|l.rex>>2&1<<3] }

// rmOperand is the register that the rm field names if it names one.
func (l *layout) rmOperand() uint8 { return hardware[l.rm()|l.rex&rexB<<3] }

// opcodeOperand is the register that the opcode itself names.
func (l *layout) opcodeOperand() uint8 { return hardware[l.opcode&7|l.rex&rexB<<3] }

// memoryOperand fills in the address of the memory operand.
func (e *effect) memoryOperand(l *layout) {
	e.base, e.index, e.disp = noRegister, noRegister, uint64(int64(l.disp))
	switch {
	case l.ripRelative():
		e.disp += e.next
	case l.rm() != 4:
		e.base = l.rmOperand()
	default:
		if l.sib&7 != 5 || l.mod() != 0 {
			e.base = hardware[l.sib&7|l.rex&rexB<<3]
		}
		if index := l.sib>>3&7 | l.rex&rexX<<2; index != 4 { // rsp cannot be an index
			e.index, e.scale = hardware[index], l.sib>>6
		}
	}
}

func buildNop(e *effect, l *layout) bool {
	e.op = opNop
	return l.space != spaceOne || l.rex&rexB == 0 // else xchg %r8,%rax
}

func buildEndBranch(e *effect, l *layout) bool {
	e.op = opNop
	return l.modrm == 0xfa || l.modrm == 0xfb
}

func buildPush(e *effect, l *layout) bool {
	e.op, e.source, e.src = opPush, fromRegister, l.opcodeOperand()
	return true
}

func buildPushImmediate(e *effect, l *layout) bool {
	e.op, e.imm = opPush, l.imm
	return true
}

// buildPushFlags keeps pushf from being stepped, which would store the trap flag of the step.
func buildPushFlags(e *effect, _ *layout) bool {
	e.op, e.source = opPush, fromFlags
	return true
}

func buildPop(e *effect, l *layout) bool {
	e.op, e.dst = opPop, l.opcodeOperand()
	return true
}

func buildLeave(e *effect, _ *layout) bool {
	e.op = opLeave
	return true
}

// registers fills in both operands of an instruction between two registers; bit 1 of the opcode is its direction.
func (e *effect) registers(l *layout) bool {
	e.source, e.dst, e.src = fromRegister, l.rmOperand(), l.regOperand()
	if l.opcode&2 != 0 {
		e.dst, e.src = e.src, e.dst
	}
	return !l.isMem()
}

func buildMove(e *effect, l *layout) bool {
	e.op = opMove
	return e.registers(l)
}

func buildMoveImmediate(e *effect, l *layout) bool {
	e.op, e.imm = opMove, l.imm
	if !l.hasModRM {
		e.dst = l.opcodeOperand()
		return true
	}
	e.dst = l.rmOperand()
	return !l.isMem() && l.reg() == 0
}

func buildLea(e *effect, l *layout) bool {
	e.op, e.source, e.dst = opMove, fromAddress, l.regOperand()
	e.memoryOperand(l)
	return l.isMem()
}

// buildArithmetic is for the first quarter of the opcode table: bits 3 to 5 are the kind, bits 0 to 2 name the operands.
func buildArithmetic(e *effect, l *layout) bool {
	e.op, e.arithmetic = opCombine, arithmetic(l.opcode>>3)
	switch l.opcode & 7 {
	case 1, 3:
		return e.registers(l)
	case 5:
		e.dst, e.imm = RAX, l.imm
		return true
	}
	return false
}

func buildArithmeticImmediate(e *effect, l *layout) bool {
	e.op, e.arithmetic, e.dst, e.imm = opCombine, arithmetic(l.reg()), l.rmOperand(), l.imm
	return !l.isMem()
}

func buildTest(e *effect, l *layout) bool {
	e.op, e.arithmetic = opCombine, arithmeticTest
	return e.registers(l)
}

func buildTestImmediate(e *effect, l *layout) bool {
	e.op, e.arithmetic, e.dst, e.imm = opCombine, arithmeticTest, RAX, l.imm
	if !l.hasModRM {
		return true
	}
	e.dst = l.rmOperand()
	return !l.isMem() && l.reg() == 0
}

func buildJump(e *effect, l *layout) bool {
	e.op, e.imm = opJump, e.next+l.imm
	return true
}

func buildCall(e *effect, l *layout) bool {
	e.op, e.imm = opCall, e.next+l.imm
	return true
}

func buildBranch(e *effect, l *layout) bool {
	e.op, e.imm, e.condition = opBranch, e.next+l.imm, l.opcode&0xf
	return true
}

// loopConditions are the conditions that loopne, loope and loop add to the count: those of jne and je, and none.
var loopConditions = [...]uint8{0x5, 0x4, always}

func buildLoop(e *effect, l *layout) bool {
	e.op, e.imm, e.condition = opLoop, e.next+l.imm, loopConditions[l.opcode&3]
	return true
}

func buildJumpZero(e *effect, l *layout) bool {
	e.op, e.imm = opJumpZero, e.next+l.imm
	return true
}

func buildReturn(e *effect, l *layout) bool {
	e.op, e.imm = opReturn, uint64(uint16(l.imm))
	return true
}

// groupFive gives what the reg field selects behind opcode ff; far calls and jumps are not emulated.
var groupFive = [8]struct {
	op         operation
	arithmetic arithmetic
	memory     bool // also with a memory operand
}{
	0: {opCombine, arithmeticInc, false},
	1: {opCombine, arithmeticDec, false},
	2: {opCall, 0, true},
	4: {opJump, 0, true},
	6: {opPush, 0, true},
}

func buildGroupFive(e *effect, l *layout) bool {
	g := groupFive[l.reg()]
	e.op, e.arithmetic = g.op, g.arithmetic
	switch {
	case l.isMem():
		e.source = fromMemory
		e.memoryOperand(l)
		return g.memory
	case e.op == opCombine:
		e.dst, e.imm = l.rmOperand(), 1
	default:
		e.source, e.src = fromRegister, l.rmOperand()
	}
	return g.op != opNone
}
