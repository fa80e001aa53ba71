package definition

import (
	"tracewell/arch"
	"tracewell/symbol"
	"tracewell/symbol/expr"
	"tracewell/symbol/syscalls"
	"tracewell/trace"
)

// scope is what names mean at an address, with the plan's trace state variables, which hide registers of their names.
type scope struct {
	expr.Scope
	variables map[string]trace.VariableNumber
	call      *syscalls.Scope // the Scope of a system call, nil for others
}

// Variable implements expr.Scope.
func (s scope) Variable(name string) (trace.VariableNumber, bool) {
	n, ok := s.variables[name]
	return n, ok
}

// scopeAt is the scope of an address of a process, which for a tracepoint with one of returns is that of the function entered
// there.
func (f *Finder) scopeAt(p *symbol.Program, at arch.Addr, entry bool) scope {
	found := p.Scope(at)
	if call, ok := syscalls.At(at, f.compiler.isa.Machine, f.compiler.layout, found); ok {
		return scope{call, f.compiler.variables, call}
	}
	if entry {
		found = found.Entered()
	}
	return scope{found, f.compiler.variables, nil}
}
