// Package exprtest stops programs in GDB, and runs bytecode over what they have in registers and memory: the bytecode that GDB
// makes of an expression, and ours. Only tests import this package.
package exprtest

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

// Process is a program that stands, little-endian, as an ax.Env. What it is told to trace is noted.
type Process struct {
	Registers map[arch.Reg]uint64
	Variables map[uint16]int64
	Traced    []Span
	Counted   []uint16 // variables that were traced

	segments []segment
	only     []Span // all memory that is left, if frame
	frame    bool
}

// segment is memory that a Process has.
type segment struct {
	addr  arch.Addr
	bytes []byte
}

// Span is a piece of memory.
type Span struct {
	Addr arch.Addr
	Size uint64
}

var errHole = errors.New("no such memory")

// Store puts bytes given in hexadecimal where no memory is yet.
func (p *Process) Store(addr arch.Addr, text string) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	p.segments = append(p.segments, segment{addr, b})
}

// Memory reads n bytes, all of them.
func (p *Process) Memory(addr arch.Addr, n int) ([]byte, error) {
	if p.frame && !p.covered(addr, n) {
		return nil, errHole
	}
	for _, s := range p.segments {
		if at := uint64(addr - s.addr); addr >= s.addr && at+uint64(n) <= uint64(len(s.bytes)) {
			return s.bytes[at:][:n], nil
		}
	}
	return nil, errHole
}

func (p *Process) covered(addr arch.Addr, n int) bool {
	for i := range n {
		at := addr + arch.Addr(i)
		if !slices.ContainsFunc(p.only, func(s Span) bool { return s.Addr <= at && uint64(at-s.Addr) < s.Size }) {
			return false
		}
	}
	return true
}

// Ref reads an integer.
func (p *Process) Ref(addr arch.Addr, size int) (uint64, error) {
	b, err := p.Memory(addr, size)
	return arch.Uint(b, binary.LittleEndian), err
}

// Register reads a register.
func (p *Process) Register(r arch.Reg) (uint64, error) {
	bits, ok := p.Registers[r]
	if !ok {
		return 0, errors.New("no such register")
	}
	return bits, nil
}

// Variable reads a trace state variable.
func (p *Process) Variable(n uint16) int64 { return p.Variables[n] }

// SetVariable changes a trace state variable.
func (p *Process) SetVariable(n uint16, v int64) { p.Variables[n] = v }

// TraceVariable notes that a trace state variable is collected.
func (p *Process) TraceVariable(n uint16) { p.Counted = append(p.Counted, n) }

// TraceMemory notes what is collected.
func (p *Process) TraceMemory(addr arch.Addr, size uint64) {
	p.Traced = append(p.Traced, Span{addr, size})
}

// TraceString notes what is collected of a string.
func (p *Process) TraceString(addr arch.Addr, limit uint64) {
	size := uint64(0)
	for size < limit {
		size++
		if b, err := p.Ref(addr+arch.Addr(size-1), 1); err != nil || b == 0 {
			break
		}
	}
	p.TraceMemory(addr, size)
}

// Printf prints nothing.
func (p *Process) Printf(uint64, uint64, string, []int64) error { return nil }

// Context is a Process as the plans of package expr want it.
type Context struct{ *Process }

// Register reads a register of eight bytes.
func (w Context) Register(r arch.Reg) ([]byte, error) {
	bits, err := w.Process.Register(r)
	return binary.LittleEndian.AppendUint64(nil, bits), err
}

// Variable reads a trace state variable.
func (w Context) Variable(n trace.VariableNumber) (int64, error) { return w.Variables[uint16(n)], nil }

// Run evaluates bytecode for its value.
func (p *Process) Run(t testing.TB, code []byte) (int64, error) {
	t.Helper()
	program, err := ax.Decode(code)
	if err != nil {
		t.Fatal(err)
	}
	var m ax.Machine
	return m.Value(program, p)
}

// Collect runs actions, and returns what is left where only that is known which they have collected.
func (p *Process) Collect(t testing.TB, actions []trace.Action) *Process {
	t.Helper()
	frame := &Process{Registers: map[arch.Reg]uint64{}, Variables: p.Variables, segments: p.segments, frame: true}
	p.Traced, p.Counted = nil, nil
	for _, a := range actions {
		switch a.Kind {
		case trace.CollectRegisters:
			for _, r := range a.Registers() {
				frame.Registers[r] = p.Registers[r]
			}
		case trace.CollectMemory:
			p.TraceMemory(arch.Addr(a.Offset), a.Length)
		case trace.CollectExpression:
			program, err := ax.Decode(a.Code)
			if err != nil {
				t.Fatal(err)
			}
			var m ax.Machine
			if err := m.Run(program, p); err != nil {
				t.Errorf("%v: %v", program, err)
			}
		}
	}
	frame.only = p.Traced
	return frame
}

// Summary is what Collect has noted: some registers, memory by its sizes, and variables.
func (p *Process) Summary(registers []arch.Reg) string {
	var parts []string
	switch n := len(registers); {
	case n > 2:
		parts = append(parts, fmt.Sprintf("registers %d-%d", registers[0], registers[n-1]))
	case n > 0:
		parts = append(parts, "registers "+strings.Trim(strings.ReplaceAll(fmt.Sprint(registers), " ", ","), "[]"))
	}
	var sizes []string
	for _, s := range p.Traced {
		sizes = append(sizes, fmt.Sprint(s.Size))
	}
	if len(sizes) > 0 {
		parts = append(parts, strings.Join(sizes, " "))
	}
	for _, n := range slices.Compact(p.Counted) {
		parts = append(parts, fmt.Sprintf("variable %d", n))
	}
	return strings.Join(parts, "; ")
}
