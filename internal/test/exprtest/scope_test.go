package exprtest

import (
	"testing"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/scope"
	"tracewell/trace"
)

// scopeOf is what names mean where a program stands. It has the trace state variables $count and $total.
func scopeOf(t testing.TB, program string, pc arch.Addr) *scope.Scope {
	t.Helper()
	file, err := debuginfo.Open(program, debuginfo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	variable := func(name string) (trace.VariableNumber, bool) {
		number, ok := map[string]trace.VariableNumber{"count": 2, "total": 3}[name]
		return number, ok
	}
	return scope.At(file, pc, 0, scope.Options{Variable: variable})
}
