package fast

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/ax"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// siteAddr is where tests have their tracepoints.
const siteAddr = 0x10000100

// oracle makes frames as the engine does, of registers and memory as they were before a hit. It knows nothing of pads.
type oracle struct {
	site      arch.Addr
	regs      amd64.UserRegs
	memory    Memory
	variables map[uint16]int64
	registers []byte // the R block
	machine   ax.Machine
	out       tfile.Builder
	printed   []string
}

// outcome is what a tracepoint should make of a hit.
type outcome struct {
	key      trace.Key
	frame    []byte
	failures []string
	printed  []string
}

// hit makes what the tracepoints of a site should.
func (o *oracle) hit(tracepoints []Tracepoint) (made []outcome) {
	for i := range tracepoints {
		t := &tracepoints[i]
		result := outcome{key: t.Key()}
		if t.Condition != nil {
			o.out.Order = binary.LittleEndian
			o.out.Begin(nil, t.Number)
			v, err := o.machine.Value(t.Condition, o)
			if err != nil {
				result.failures = []string{err.Error()}
				made = append(made, result)
				continue
			}
			if v == 0 {
				continue
			}
		}
		o.out.Order = binary.LittleEndian
		o.out.Begin(nil, t.Number)
		hasRegisters := false
		o.printed = nil
		for j := range t.Actions {
			op := &t.Actions[j]
			switch op.Kind {
			case trace.CollectRegisters:
				if !hasRegisters {
					copy(o.out.Registers(len(o.registers)), o.registers)
					hasRegisters = true
				}
			case trace.CollectMemory:
				addr, _ := op.Memory(o.Register)
				o.TraceMemory(addr, op.Length)
			case trace.CollectExpression:
				if err := o.machine.Run(op.Program, o); err != nil {
					result.failures = append(result.failures, err.Error())
				}
			}
		}
		result.frame, result.printed = o.out.Finish(), o.printed
		made = append(made, result)
	}
	return made
}

func (o *oracle) Register(r arch.Reg) (uint64, error) {
	if i, ok := amd64.RemoteIndex(r); ok {
		if i == amd64.RIP {
			return uint64(o.site), nil
		}
		return o.regs[i], nil
	}
	return 0, errors.New("no such register")
}

func (o *oracle) Ref(addr arch.Addr, size int) (uint64, error) {
	var b [8]byte
	if n := o.memory.ReadMemory(addr, b[:size]); n < size {
		return 0, fmt.Errorf("%d of them readable", n)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

func (o *oracle) Variable(n uint16) int64       { return o.variables[n] }
func (o *oracle) SetVariable(n uint16, v int64) { o.variables[n] = v }
func (o *oracle) TraceVariable(n uint16) {
	o.out.Variable(trace.VariableNumber(n), o.variables[n])
}

func (o *oracle) TraceMemory(addr arch.Addr, size uint64) {
	b := make([]byte, size)
	o.out.AppendMemory(addr, b[:o.memory.ReadMemory(addr, b)])
}

func (o *oracle) TraceString(addr arch.Addr, limit uint64) {
	b := make([]byte, limit)
	b = b[:o.memory.ReadMemory(addr, b)]
	for i, c := range b {
		if c == 0 {
			b = b[:i+1]
			break
		}
	}
	o.out.AppendMemory(addr, b)
}

func (o *oracle) Printf(_, _ uint64, format string, args []int64) error {
	text, err := ax.FormatPrintf(format, args, func(addr arch.Addr, _ bool, limit int) (string, error) {
		b := make([]byte, limit)
		n := o.memory.ReadMemory(addr, b)
		if end := bytes.IndexByte(b[:n], 0); end >= 0 {
			return string(b[:end]), nil
		}
		if n < limit {
			return "", errors.New("not there")
		}
		return string(b), nil
	})
	o.printed = append(o.printed, text)
	return err
}

// tracepoint compiles one for tests. Conditions and actions are text: an action is "R", "M base offset length" or an agent
// expression.
func tracepoint(t testing.TB, number int, condition string, actions ...string) Tracepoint {
	t.Helper()
	code := func(text string) []byte {
		if !strings.HasSuffix(text, "end") {
			text += "\nend"
		}
		b, err := ax.Assemble(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return b
	}
	tp := trace.Tracepoint{Number: trace.Number(number), Addr: siteAddr, Enabled: true}
	if condition != "" {
		tp.Condition = code(condition)
	}
	for _, a := range actions {
		action := trace.Action{Kind: trace.CollectExpression}
		switch {
		case a == "R":
			action.Kind, action.Mask = trace.CollectRegisters, []byte{0xff}
		case a[:2] == "M ":
			action.Kind = trace.CollectMemory
			var offset int64
			if _, err := fmt.Sscanf(a, "M %d %d %d", &action.Base, &offset, &action.Length); err != nil {
				t.Fatalf("%s: %v", a, err)
			}
			action.Offset = uint64(offset)
		default:
			action.Code = code(a)
		}
		tp.Actions = append(tp.Actions, action)
	}
	c, err := compiled.Compile(&tp)
	if err != nil {
		t.Fatal(err)
	}
	return Tracepoint{Tracepoint: c, Index: number}
}
