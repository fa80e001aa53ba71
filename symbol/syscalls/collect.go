package syscalls

import (
	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/container"
	"tracewell/trace"
)

// mostText is how many bytes of a text are collected whose end is marked: as long as a path may be.
const mostText = 4096

// longestAddress is as long as the address of a socket may be.
const longestAddress = 128

// Pointed is the action that collects what an argument points to, of a text with a length at most so many bytes, and the registers
// that it reads; false for an argument that points to nothing, or to what the call has yet to fill. Where the pointer is null, or
// the call has failed, there is nothing to collect, so that a frame without is no error.
func (s *Scope) Pointed(name string, most int) (trace.Action, []arch.Reg, bool) {
	i := s.find(name)
	if i < 0 {
		return trace.Action{}, nil, false
	}
	p := s.call.parameters[i]
	k := kinds[p.kind].points
	if k == nil || p.out && !s.returns {
		return trace.Action{}, nil, false
	}
	b := &ax.Builder{}
	end := b.NewLabel()
	at := s.push(s.machine.Calls.Arguments[i])
	unless(b, end, at)
	if s.returns {
		unless(b, end, func(b *ax.Builder) { // 0 is no error, so 1 is added
			b.Const(-1)
			s.push(s.machine.Calls.Result)(b)
			b.Emit(ax.OpLessSigned)
		})
	}
	at(b)
	switch where, register := s.length(p); {
	case k.ended != nil:
		b.Emit(ax.OpPop)
		k.ended(b, at)
	case k.text:
		b.Const(mostText)
		b.Emit(ax.OpTracenz)
	case where == unbounded || k.size > 0:
		b.Const(int64(k.size))
		b.Emit(ax.OpTrace)
	case where == inArgument, where == inWord:
		s.push(register)(b)
		if where == inWord {
			b.Emit(ax.OpExt, 32)
		}
		if k.each > 0 {
			container.Clamp(b, uint64(most))
			b.Const(int64(k.each))
			b.Emit(ax.OpMul)
		} else {
			container.Clamp(b, uint64(most))
		}
		b.Emit(ax.OpTrace)
		if k.beyond != nil {
			count := s.push(register)
			k.beyond(b, at, func(b *ax.Builder) {
				count(b)
				b.Emit(ax.OpExt, 32)
			}, most)
		}
	default:
		s.push(register)(b)
		b.Emit(ax.OpTraceQuick, 4)
		b.Emit(ax.OpRef32)
		container.Clamp(b, longestAddress)
		b.Emit(ax.OpTrace)
	}
	b.Bind(end)
	b.Emit(ax.OpEnd)
	program, err := b.Program()
	if err != nil {
		return trace.Action{}, nil, false
	}
	return trace.Action{Kind: trace.CollectExpression, Code: program.Code()}, program.Requirements().Registers, true
}

// push is code that pushes a register.
func (s *Scope) push(name string) func(*ax.Builder) {
	return func(b *ax.Builder) { b.Emit(ax.OpReg, uint64(s.layout.Number(name))) }
}

// unless jumps to a label if a value is 0.
func unless(b *ax.Builder, end ax.Label, value func(*ax.Builder)) {
	have := b.NewLabel()
	value(b)
	b.Jump(ax.OpIfGoto, have)
	b.Jump(ax.OpGoto, end)
	b.Bind(have)
}
