package debuginfo

import (
	"fmt"
	"maps"

	"tracewell/arch"
)

// frameMachine executes call frame instructions (DWARF 5, 6.4.2) up to the row that has the wanted pc.
type frameMachine struct {
	Frame
	cie     *cie
	pc, at  arch.Addr       // wanted; of the row being made
	initial map[uint64]Rule // what the CIE's instructions leave, to which DW_CFA_restore returns
	stack   []Frame         // of DW_CFA_remember_state
	done    bool            // the row of the pc is complete
}

// frame executes the instructions of the CIE, then those of the FDE until they pass the pc.
func (r *fde) frame(pc arch.Addr) (Frame, error) {
	m := frameMachine{cie: r.cie, pc: pc, at: r.Begin}
	m.Frame = Frame{Range: r.Range, Registers: map[uint64]Rule{}, Return: r.cie.returnRegister, Signal: r.cie.signal}
	c := r.cie.code
	m.run(&c)
	m.initial = maps.Clone(m.Registers)
	if !c.bad {
		c = r.code
		m.run(&c)
	}
	if c.bad {
		return Frame{}, fmt.Errorf("the frame description of %v is damaged", r.Begin)
	}
	return m.Frame, nil
}

// The instructions (DW_CFA_*, DWARF 5, 7.24); the first three have an operand in their lower six bits. "Factored" numbers are in
// units of the CIE's data alignment, -8 on x86-64. The
// lazy PLT of x86-64 has the only def_cfa_expression that most programs contain.
const (
	frameAdvance = 0x40 // DW_CFA_advance_loc: the next row begins so many code units further
	frameOffset  = 0x80 // offset(register): factored ULEB, in memory from the CFA
	frameRestore = 0xc0 // restore(register): the CIE's rule

	frameNop            = 0x00 // padding up to the alignment of the entry
	frameSetLoc         = 0x01 // address
	frameAdvance1       = 0x02 // 1 byte
	frameAdvance2       = 0x03 // 2 bytes
	frameAdvance4       = 0x04 // 4 bytes
	frameOffsetExt      = 0x05 // register, factored ULEB
	frameRestoreExt     = 0x06 // register
	frameUndefined      = 0x07 // register: its value is lost; of the return address, the outermost frame
	frameSame           = 0x08 // register
	frameRegister       = 0x09 // register, the register that holds its value
	frameRemember       = 0x0a
	frameRestoreState   = 0x0b
	frameDefCFA         = 0x0c // register, offset
	frameDefCFARegister = 0x0d // register; the offset stays
	frameDefCFAOffset   = 0x0e // offset; the register stays
	frameDefCFAExpr     = 0x0f // block: the expression computes the CFA
	frameExpr           = 0x10 // register, block: the address of its value
	frameOffsetSigned   = 0x11 // register, factored SLEB (DWARF 3)
	frameDefCFASigned   = 0x12 // register, factored SLEB
	frameDefOffSigned   = 0x13 // factored SLEB
	frameValOffset      = 0x14 // register, factored ULEB: its value is CFA + offset
	frameValOffSigned   = 0x15 // register, factored SLEB
	frameValExpr        = 0x16 // register, block: its value
	frameNegateRA       = 0x2d // AArch64: the return address is signed from here on, or no longer
	frameGNUArgsSize    = 0x2e // bytes of arguments on the stack, for exception handlers only
	frameGNUNegOffset   = 0x2f // register, ULEB: an offset below the CFA, in old files of GCC
)

// run executes instructions. What it cannot decode makes the cursor bad.
func (m *frameMachine) run(c *cursor) {
	for c.more() && !m.done {
		op := c.u8()
		low := uint64(op & 0x3f)
		switch op & 0xc0 {
		case frameAdvance:
			m.advance(low)
		case frameOffset:
			m.offset(low, int64(c.uleb()))
		case frameRestore:
			m.restore(low)
		default:
			m.step(c, op)
		}
	}
}

// step executes an instruction whose operation is all of its byte.
func (m *frameMachine) step(c *cursor, op uint8) {
	align := m.cie.dataAlign
	switch op {
	case frameNop:
	case frameSetLoc:
		m.moveTo(c.addr())
	case frameAdvance1:
		m.advance(uint64(c.u8()))
	case frameAdvance2:
		m.advance(uint64(c.u16()))
	case frameAdvance4:
		m.advance(uint64(c.u32()))
	case frameRestoreExt:
		m.restore(c.uleb())
	case frameRemember:
		m.rememberState(c)
	case frameRestoreState:
		m.restoreState(c)
	case frameDefCFA:
		m.CFA = CFA{Register: c.uleb(), Offset: int64(c.uleb())}
	case frameDefCFASigned:
		m.CFA = CFA{Register: c.uleb(), Offset: c.sleb() * align}
	case frameDefCFARegister:
		m.CFA.Register, m.CFA.Expr = c.uleb(), nil
	case frameDefCFAOffset:
		m.CFA.Offset = int64(c.uleb())
	case frameDefOffSigned:
		m.CFA.Offset = c.sleb() * align
	case frameDefCFAExpr:
		m.CFA = CFA{Expr: c.bytes(c.uleb())}
	case frameNegateRA:
		m.Signed = !m.Signed
	case frameGNUArgsSize:
		c.skipLeb()
	default:
		m.rule(c, op)
	}
}

// rule is the instructions that say how one register is found.
func (m *frameMachine) rule(c *cursor, op uint8) {
	align := m.cie.dataAlign
	register := c.uleb()
	var rule Rule
	switch op {
	case frameOffsetExt:
		rule = Rule{Kind: RuleOffset, Offset: int64(c.uleb()) * align}
	case frameOffsetSigned:
		rule = Rule{Kind: RuleOffset, Offset: c.sleb() * align}
	case frameGNUNegOffset:
		rule = Rule{Kind: RuleOffset, Offset: -int64(c.uleb()) * align}
	case frameUndefined:
		rule = Rule{Kind: RuleUndefined}
	case frameSame:
		rule = Rule{Kind: RuleSame}
	case frameRegister:
		rule = Rule{Kind: RuleRegister, Register: c.uleb()}
	case frameExpr:
		rule = Rule{Kind: RuleExpr, Expr: c.bytes(c.uleb())}
	case frameValOffset:
		rule = Rule{Kind: RuleValueOffset, Offset: int64(c.uleb()) * align}
	case frameValOffSigned:
		rule = Rule{Kind: RuleValueOffset, Offset: c.sleb() * align}
	case frameValExpr:
		rule = Rule{Kind: RuleValueExpr, Expr: c.bytes(c.uleb())}
	default:
		c.fail()
		return
	}
	m.Registers[register] = rule
}

func (m *frameMachine) offset(register uint64, factor int64) {
	m.Registers[register] = Rule{Kind: RuleOffset, Offset: factor * m.cie.dataAlign}
}

// restore returns a register to the CIE's rule; one without a rule has kept its value.
func (m *frameMachine) restore(register uint64) {
	if rule, ok := m.initial[register]; ok {
		m.Registers[register] = rule
		return
	}
	delete(m.Registers, register)
}

func (m *frameMachine) advance(steps uint64) { m.moveTo(m.at + arch.Addr(steps*m.cie.codeAlign)) }

// moveTo begins a new row; the one before is the last when it has the wanted pc.
func (m *frameMachine) moveTo(at arch.Addr) {
	m.done = m.pc < at
	m.at = at
}

// rememberState saves the rules of all registers, and the CFA, which GCC and GDB take to belong to them; the standard leaves it
// open. Functions with several epilogues use it, one level deep; the limit is for damaged files.
func (m *frameMachine) rememberState(c *cursor) {
	const deepest = 64
	if len(m.stack) == deepest {
		c.fail()
		return
	}
	saved := m.Frame
	saved.Registers = maps.Clone(m.Registers)
	m.stack = append(m.stack, saved)
}

func (m *frameMachine) restoreState(c *cursor) {
	if len(m.stack) == 0 {
		c.fail()
		return
	}
	m.Frame = m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
}
