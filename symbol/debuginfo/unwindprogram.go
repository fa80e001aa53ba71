package debuginfo

import (
	"fmt"

	"tracewell/arch"
)

// frameMachine runs the instructions of a description.
type frameMachine struct {
	Frame
	common  *commonFrame
	pc, at  arch.Addr // wanted; of the row being made
	initial map[uint64]Rule
	stack   []Frame
	done    bool
}

func (r *frameRange) frame(pc arch.Addr) (Frame, error) {
	m := frameMachine{common: r.common, pc: pc, at: r.Begin}
	m.Frame = Frame{Range: r.Range, Registers: map[uint64]Rule{}, Return: r.common.returnRegister, Signal: r.common.signal}
	c := r.common.code
	m.run(&c)
	m.initial = cloneRules(m.Registers)
	if !c.bad {
		c = r.code
		m.run(&c)
	}
	if c.bad {
		return Frame{}, fmt.Errorf("the frame description of %v is damaged", r.Begin)
	}
	return m.Frame, nil
}

func cloneRules(rules map[uint64]Rule) map[uint64]Rule {
	clone := make(map[uint64]Rule, len(rules))
	for register, rule := range rules {
		clone[register] = rule
	}
	return clone
}

// The instructions; the first three have an operand in their lower six bits.
const (
	frameAdvance = 0x40
	frameOffset  = 0x80
	frameRestore = 0xc0

	frameNop            = 0x00
	frameSetLoc         = 0x01
	frameAdvance1       = 0x02
	frameAdvance2       = 0x03
	frameAdvance4       = 0x04
	frameOffsetExt      = 0x05
	frameRestoreExt     = 0x06
	frameUndefined      = 0x07
	frameSame           = 0x08
	frameRegister       = 0x09
	frameRemember       = 0x0a
	frameRestoreState   = 0x0b
	frameDefCFA         = 0x0c
	frameDefCFARegister = 0x0d
	frameDefCFAOffset   = 0x0e
	frameDefCFAExpr     = 0x0f
	frameExpr           = 0x10
	frameOffsetSigned   = 0x11
	frameDefCFASigned   = 0x12
	frameDefOffSigned   = 0x13
	frameValOffset      = 0x14
	frameValOffSigned   = 0x15
	frameValExpr        = 0x16
	frameGNUArgsSize    = 0x2e
	frameGNUNegOffset   = 0x2f
)

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

func (m *frameMachine) step(c *cursor, op uint8) {
	align := m.common.dataAlign
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
		m.remember(c)
	case frameRestoreState:
		m.recall(c)
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
		m.CFA = CFA{Expr: c.take(c.uleb())}
	case frameGNUArgsSize:
		c.skipLeb()
	default:
		m.rule(c, op)
	}
}

// rule is the instructions that say how one register is found.
func (m *frameMachine) rule(c *cursor, op uint8) {
	align := m.common.dataAlign
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
		rule = Rule{Kind: RuleExpr, Expr: c.take(c.uleb())}
	case frameValOffset:
		rule = Rule{Kind: RuleValueOffset, Offset: int64(c.uleb()) * align}
	case frameValOffSigned:
		rule = Rule{Kind: RuleValueOffset, Offset: c.sleb() * align}
	case frameValExpr:
		rule = Rule{Kind: RuleValueExpr, Expr: c.take(c.uleb())}
	default:
		c.fail()
		return
	}
	m.Registers[register] = rule
}

func (m *frameMachine) offset(register uint64, factor int64) {
	m.Registers[register] = Rule{Kind: RuleOffset, Offset: factor * m.common.dataAlign}
}

func (m *frameMachine) restore(register uint64) {
	if rule, ok := m.initial[register]; ok {
		m.Registers[register] = rule
		return
	}
	delete(m.Registers, register)
}

func (m *frameMachine) advance(steps uint64) { m.moveTo(m.at + arch.Addr(steps*m.common.codeAlign)) }

// moveTo begins a new row; the one before is the last when it has the wanted pc.
func (m *frameMachine) moveTo(at arch.Addr) {
	m.done = m.pc < at
	m.at = at
}

func (m *frameMachine) remember(c *cursor) {
	const deepest = 64
	if len(m.stack) == deepest {
		c.fail()
		return
	}
	saved := m.Frame
	saved.Registers = cloneRules(m.Registers)
	m.stack = append(m.stack, saved)
}

func (m *frameMachine) recall(c *cursor) {
	if len(m.stack) == 0 {
		c.fail()
		return
	}
	m.Frame = m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
}
