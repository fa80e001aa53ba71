package dap

import (
	"errors"
	"fmt"
	"strconv"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/target"
	"tracewell/target/replay"
	"tracewell/trace"
)

// executionMoment is a processor at a position.
type executionMoment struct {
	x  *executionTrace
	on *replay.ExecutionTarget
	id target.ThreadID
}

var errUntold = errors.New("the trace has not told it before this position")

func (m *executionMoment) block() (registers []byte, known []bool) {
	size := m.x.execution.Layout.Size
	registers, known = make([]byte, size), make([]bool, size)
	if m.on.ReadRegisters(m.id, registers) != nil || m.on.AvailableRegisters(m.id, known) != nil {
		return nil, nil
	}
	return registers, known
}

// Register implements expr.Context.
func (m *executionMoment) Register(r arch.Reg) ([]byte, error) {
	block, known := m.block()
	slot := m.x.execution.Layout.ByNumber(r)
	if slot == nil || !isKnown(slot, block, known) {
		return nil, errUntold
	}
	b, _ := slot.Bytes(block)
	return b, nil
}

// ReadMemory implements moment.
func (m *executionMoment) ReadMemory(addr arch.Addr, p []byte) int {
	n, _ := m.on.ReadMemory(m.id, addr, p)
	return n
}

// Memory implements expr.Context.
func (m *executionMoment) Memory(addr arch.Addr, n int) ([]byte, error) {
	b := make([]byte, n)
	if m.ReadMemory(addr, b) != n {
		return nil, errUntold
	}
	return b, nil
}

// Variable implements expr.Context.
func (*executionMoment) Variable(trace.VariableNumber) (int64, error) { return 0, errUntold }

func (m *executionMoment) pc() (arch.Addr, bool) {
	slot := m.x.execution.Layout.ByNumber(m.x.here.ISA().PC)
	block, known := m.block()
	if slot == nil || !isKnown(slot, block, known) {
		return 0, false
	}
	b, _ := slot.Bytes(block)
	return arch.Addr(arch.Uint(b, m.x.named.order)), true
}

// groups implements moment: what the last instruction has done is what a step changes.
func (m *executionMoment) groups() []group {
	nodes := []node{{name: "instruction", value: strconv.FormatInt(m.on.Instruction(), 10)}}
	if m.on.Instruction() < m.x.trace.Instructions {
		if it, err := m.x.trace.Instruction(m.on.Instruction()); err == nil {
			if line, err := m.x.trace.Line(it.Offset); err == nil {
				nodes = append(nodes, node{name: fmt.Sprintf("line %d", it.Line), value: shorten(line)})
			}
		}
	}
	if effects, err := m.x.trace.Effects(m.on.Instruction() - 1); m.on.Instruction() > 0 && err == nil {
		for i := range effects {
			if it := &effects[i]; it.Kind == itrace.Register || it.Kind == itrace.Memory {
				nodes = append(nodes, m.x.effect(it))
			}
		}
	}
	return []group{{"Position", fixed(nodes)}}
}

// effect is what an instruction did to a register or to memory.
func (x *executionTrace) effect(it *index.Item) node {
	did := "read"
	if it.Kind == itrace.Register || it.Write {
		did = "wrote"
	}
	what := arch.Addr(it.Addr).String()
	if it.Kind == itrace.Register {
		what = "$" + x.execution.Names[it.Name]
	}
	return node{name: did + " " + text.Visible(what), value: text.Visible(string(it.Digits))}
}

func (*executionMoment) named(string) (node, bool) { return node{}, false }
