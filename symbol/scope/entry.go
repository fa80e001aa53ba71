package scope

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/debuginfo"
)

// Entry values (DW_OP_entry_value; DWARF 5, 2.5.1.7, and GNU's before it) ask what a register held when the function was entered.
// Optimizing compilers write them for parameters whose register has been reused. Nothing in the function knows the answer, but the
// debug information of a caller may: DW_TAG_call_site_parameter says how the value that it passed in the register can be computed
// still, from its frame and from registers that it gets back. Which call it was follows from the return address.
//
// GDB unwinds at the stop and evaluates in the caller's frame. An agent expression has to be compiled before any hit, so it
// contains all known callers, and compares the return address with each at the hit.

// mostCalls is how many calls of a function the code tells apart. Each adds some 30 bytes to an agent expression.
const mostCalls = 16

// passed gives the code that pushes what a register held when the function was entered. Where none of the known calls has led
// there, it fails.
func (m *Image) passed(f *frame, function *debuginfo.Entry, pc arch.Addr, n uint64) (emit, error) {
	if function == nil {
		return nil, errors.New("there is no function here")
	}
	calls, ok := m.callers(function)
	if !ok {
		return nil, errors.New("the function may have jumped to itself")
	}
	unwound, err := m.file.CFA(pc)
	if err != nil {
		return nil, err
	}
	back := unwound.Registers[unwound.Return] // where the return address is, from the CFA
	cfa, err := f.cfa()
	if err != nil || back.Kind != debuginfo.RuleOffset {
		return nil, errors.New("the caller is not known")
	}
	var values []passing
	for _, call := range calls {
		if value, err := call.value(call.frame(m, f, unwound), n); err == nil {
			values = append(values, passing{call.after + call.image.bias, value})
		}
	}
	// Calls that do not tell are left out: where one of them has led here, choose finds no return address that it knows.
	if len(values) == 0 || len(values) > mostCalls {
		return nil, errors.New("its callers do not tell")
	}
	return choose(saved(cfa, back.Offset), values), nil
}

// passing is what a call passed that returns to an address.
type passing struct {
	after arch.Addr
	value emit
}

// choose pushes the value of the call that returns to an address: a chain of comparisons. Where no known call has led there it
// reads address 0, so that the expression fails and nothing wrong is collected.
func choose(back emit, values []passing) emit {
	return func(b *ax.Builder) error {
		err := back(b)
		done := b.NewLabel()
		labels := make([]ax.Label, len(values))
		for i, v := range values {
			labels[i] = b.NewLabel()
			b.Emit(ax.OpDup)
			b.Const(int64(v.after))
			b.Emit(ax.OpEqual)
			b.Jump(ax.OpIfGoto, labels[i])
		}
		b.Emit(ax.OpPop)
		b.Const(0)
		b.Emit(ax.OpRef64)
		for i, v := range values {
			b.Jump(ax.OpGoto, done)
			b.Bind(labels[i])
			b.Emit(ax.OpPop)
			err = errors.Join(err, v.value(b))
		}
		b.Bind(done)
		return err
	}
}

// saved reads the word that lies offset bytes from the CFA, where the callee has saved a register.
func saved(cfa emit, offset int64) emit {
	return func(b *ax.Builder) error {
		err := cfa.plus(offset)(b)
		b.Emit(ax.OpRef64)
		return err
	}
}

// frame is the frame of the caller at the call. Its registers have to be found from the callee: the stack pointer is the callee's
// CFA, those that the callee has saved are in its frame, and those that the ABI has callees preserve still hold their values if
// the unwind table says nothing else. All others are lost. The pc is one less than the return address, as that may be behind the
// caller.
func (c call) frame(m *Image, callee *frame, unwound debuginfo.Frame) *frame {
	f := c.image.frame(c.entry.Unit, c.caller, c.after-1)
	f.entry, f.passed = false, nil // an entry value of the caller would need its caller in turn
	f.push = func(n uint64) (emit, error) {
		reg, _, err := m.register(n)
		if err != nil {
			return nil, err
		}
		rule, changed := unwound.Registers[n]
		switch {
		case reg == m.options.ISA.SP:
			return callee.cfa()
		case changed && rule.Kind == debuginfo.RuleOffset:
			cfa, err := callee.cfa()
			return saved(cfa, rule.Offset), err
		case slices.Contains(m.options.ISA.Machine.CalleeSaved, m.registerName(n)) && (!changed || rule.Kind == debuginfo.RuleSame):
			return held(reg), nil
		}
		return nil, errors.New("the caller's register is not kept")
	}
	return f
}

// registerLocation is the location of what is in a register, by which a DW_TAG_call_site_parameter names the register.
func registerLocation(n uint64) []byte {
	if n > opReg31-opReg0 {
		return binary.AppendUvarint([]byte{opRegx}, n)
	}
	return []byte{byte(opReg0 + n)}
}

// value is what the call passed in a register.
func (c call) value(f *frame, n uint64) (emit, error) {
	where := registerLocation(n)
	for param := range c.image.file.Children(c.entry) {
		if param.Tag != tagCallSiteParam && param.Tag != tagGNUCallSiteParam {
			continue
		}
		if at, ok := param.Expr(dwarf.AttrLocation); !ok || !bytes.Equal(at, where) {
			continue
		}
		for _, attr := range []dwarf.Attr{attrCallValue, attrGNUCallValue} {
			if value, ok := param.Expr(attr); ok && len(value) > 0 {
				return f.emission(value)
			}
		}
	}
	return nil, errors.New("the call does not tell")
}
