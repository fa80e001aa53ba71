package view

import (
	"tracewell/arch"
	"tracewell/symbol/expr"
	"tracewell/symbol/syscalls"
	"tracewell/trace"
)

// callOf is the address that stands for the system call at which a frame was made, by the register with its number; false for
// frames of other tracepoints. The pc is that of whatever code makes system calls.
func (v *View) callOf(f Frame, t *tracepoint) (arch.Addr, bool) {
	_, returns, ok := trace.ParseCall(t.locations[0].Addr)
	if !ok || v.Layout == nil {
		return 0, false
	}
	calls := v.machine().Calls
	if calls == nil {
		return 0, false
	}
	slot := v.Layout.ByName(calls.Number)
	if slot == nil {
		return 0, false
	}
	number, ok := slot.Bytes(f.Registers())
	return trace.CallAddr(int(v.integer(number)), returns), ok
}

// SourceOf returns the location that the user gave the tracepoint of a frame, and of one at system calls the call that was made.
func (v *View) SourceOf(f Frame) string {
	t := v.tracepoints[f.Tracepoint()]
	if t == nil {
		return ""
	}
	at, ok := v.callOf(f, t)
	number, returns, _ := trace.ParseCall(at)
	if !ok || number >= len(v.machine().Calls.Names) {
		return v.Source(f.Tracepoint())
	}
	return v.machine().Calls.Names[number] + map[bool]string{true: " returns"}[returns]
}

// scopeOf is what names mean at a tracepoint, nil where nothing tells: at one with returns, when the function is entered.
func (v *View) scopeOf(t *trace.Tracepoint) expr.Scope {
	var base expr.Scope
	if v.program != nil {
		at := v.program.Scope(t.Addr)
		if v.tracepoints[t.Number].paired {
			at = at.Entered()
		}
		base = at
	}
	if call, ok := syscalls.At(t.Addr, v.machine(), v.Layout, base); ok {
		return call
	}
	return base
}

// sameCall reports whether two tracepoints are at the same system call.
func sameCall(a, b *trace.Tracepoint) bool {
	m, _, _ := trace.ParseCall(a.Addr)
	n, _, _ := trace.ParseCall(b.Addr)
	return m == n && atCall(a) && atCall(b)
}

// callName is the item for the system call that was made.
const callName = "$" + trace.CallName

// IsCall reports whether an item is the system call at which the frame was made, which SourceOf has as well.
func (i *Item) IsCall() bool { return i.Name == callName }

// atCall reports whether a tracepoint is at a system call: what its actions collect is found by the names of arguments alone.
func atCall(t *trace.Tracepoint) bool {
	_, _, ok := trace.ParseCall(t.Addr)
	return ok
}
