package view

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/text"
	"tracewell/trace"
)

// ActionText says what an action collects.
func (v *View) ActionText(a trace.Action) string {
	switch a.Kind {
	case trace.CollectRegisters:
		return v.registersText(a)
	case trace.CollectMemory:
		return text.Plural(a.Length, "byte") + " at " + v.baseText(a)
	case trace.CollectExpression:
		return "expression " + Disassembly(a.Code)
	case trace.CollectStatic:
		return "data of the static marker"
	}
	return a.String()
}

// listedRegisters is how many registers are listed by name.
// More than that would be GDB's $regs, where the names are all that the target has.
const listedRegisters = 8

func (v *View) registersText(a trace.Action) string {
	numbers := a.Registers()
	if len(numbers) > listedRegisters {
		return text.Plural(len(numbers), "register")
	}
	if len(numbers) == 0 {
		return "no register"
	}
	var names []string
	for _, n := range numbers {
		names = append(names, v.registerText(n))
	}
	return strings.Join(names, ", ")
}

func (v *View) registerText(n arch.Reg) string {
	if v.Layout != nil {
		if slot := v.Layout.ByNumber(n); slot != nil {
			return text.Visible(slot.Reg.Name)
		}
	}
	return fmt.Sprintf("register %d", n)
}

// baseText is the place of an M action: an address, or a register and an offset, which counts as signed.
// GDB 13.1 writes the offset as 64 bits in hexadecimal, where -20 is ffffffffffffffec.
func (v *View) baseText(a trace.Action) string {
	if a.Base == trace.Absolute {
		return fmt.Sprintf("0x%x", a.Offset)
	}
	name := v.registerText(a.Base)
	if a.Offset == 0 {
		return name
	}
	return fmt.Sprintf("%s%+d", name, int64(a.Offset))
}

// Disassembly gives an agent expression on one line, and bytecode that is none in hexadecimal with the reason.
func Disassembly(code []byte) string {
	if code == nil {
		return ""
	}
	program, err := ax.Decode(code)
	if err != nil {
		return fmt.Sprintf("%s (%v)", hex.EncodeToString(code), err)
	}
	// Jumps have absolute offsets in bytecode, and only what they lead to has its offset shown.
	labels := jumpTargets(program)
	var b strings.Builder
	for in := range program.Instructions() {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		if labels[in.Offset] {
			fmt.Fprintf(&b, "%d: ", in.Offset)
		}
		b.WriteString(in.String())
	}
	return b.String()
}

// jumpTargets are the offsets that a program jumps to.
func jumpTargets(program *ax.Program) map[int]bool {
	targets := make(map[int]bool)
	for in := range program.Instructions() {
		if in.Op == ax.OpGoto || in.Op == ax.OpIfGoto {
			targets[int(in.Operand)] = true
		}
	}
	return targets
}

// ByNumber returns the tracepoints in the order of their numbers and addresses; files have them the other way round for
// GDB's sake.
// GDB 13.1 numbers tracepoints of a file anew, from the last to the first.
func ByNumber(tracepoints []trace.Tracepoint) []trace.Tracepoint {
	return slices.SortedStableFunc(slices.Values(tracepoints), func(a, b trace.Tracepoint) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Addr, b.Addr))
	})
}

// reasons says why a run is not on.
// The keys are the words of qTStatus (GDB manual, "Tracepoint Packets").
var reasons = map[trace.StopReason]string{
	trace.ReasonUnknown:      "stopped for an unknown reason",
	trace.ReasonNotRun:       "no run yet",
	trace.ReasonStop:         "stopped by tstop",
	trace.ReasonFull:         "stopped because the trace buffer was full",
	trace.ReasonDisconnected: "stopped because GDB left",
	trace.ReasonPassCount:    "stopped by the pass count of tracepoint %d",
	trace.ReasonError:        "stopped by an error at tracepoint %d",
}

// StateText says how a run stands and what ended it.
func StateText(s *trace.Status) string {
	if s.Running {
		return "running"
	}
	words := reasons[s.Reason]
	switch s.Reason {
	// A stopped run whose status names no reason.
	case "":
		words = "not running"
	case trace.ReasonPassCount, trace.ReasonError:
		words = fmt.Sprintf(words, s.Tracepoint)
	}
	if s.Description != "" {
		words += ": " + text.Visible(s.Description)
	}
	return words
}

// FramesByTracepoint counts the frames of each tracepoint, defined or not.
func (v *View) FramesByTracepoint() map[trace.Number]int {
	counts := make(map[trace.Number]int)
	for i := range v.Content.NumFrames() {
		counts[v.Content.Tracepoint(i)]++
	}
	return counts
}
