package scope

import (
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
)

// Unwinding compiles an expression of an unwinding table (DWARF 5, 6.4.2) to code that leaves its value on the stack. The code
// reads registers by DWARF's numbers, not by those of a target: the registers are those of any frame, not of the innermost. The
// file was loaded bias bytes above the address that it was linked for. What the expression finds on its stack is the CFA if the
// expression is for a register, and nothing if it is for the CFA itself. An expression that refers to a unit or a function is an
// error, because unwinding tables belong to neither.
func Unwinding(code []byte, isa *arch.ISA, bias arch.Addr, stack ...int64) (*ax.Program, error) {
	none := func() (emit, error) { return nil, errDamaged }
	// Each of these would be called by an operator that has no meaning here.
	f := &frame{
		order: isa.Order, addrSize: isa.AddrSize, bias: bias, base: none, cfa: none, tls: none,
		name:     isa.Machine.DWARFName,
		register: func(n uint64) (arch.Reg, int, error) { return arch.Reg(n), isa.AddrSize, nil },
		push: func(n uint64) (emit, error) {
			if isa.Machine.DWARFName(n) == "" {
				return nil, fmt.Errorf("it uses a register that %s does not have: number %d", isa.Machine.Title, n)
			}
			return held(arch.Reg(n)), nil
		},
		address: func(uint64) (arch.Addr, bool) { return 0, false },
		cell:    func(uint64) (cell, error) { return cell{}, errDamaged },
	}
	value, err := f.emission(code, stack...)
	if err != nil {
		return nil, err
	}
	var b ax.Builder
	if err := value(&b); err != nil {
		return nil, err
	}
	b.Emit(ax.OpEnd)
	return b.Program()
}
