package definition

import (
	"tracewell/arch"
	"tracewell/symbol"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// scope is what names mean at an address, with the plan's trace state variables, which hide registers of their names.
type scope struct {
	expr.Scope
	variables map[string]trace.VariableNumber
}

// Variable implements expr.Scope.
func (s scope) Variable(name string) (trace.VariableNumber, bool) {
	n, ok := s.variables[name]
	return n, ok
}

// scopeAt is the scope of an address of a process.
func scopeAt(p *symbol.Program, at arch.Addr, variables map[string]trace.VariableNumber) expr.Scope {
	return scope{p.Scope(at), variables}
}
