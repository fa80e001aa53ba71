package scope

import (
	"errors"

	"tracewell/ax"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/expr"
)

// Length gives the code that pushes the number of elements of an array whose length is only known when the program runs: C99's
// variable length, by DW_AT_count or by DW_AT_upper_bound, the index of the last element.
func (s *Scope) Length(bound *ctype.Bound) (func(b *ax.Builder) error, error) {
	value, err := s.bound(bound)
	switch {
	case err != nil:
		return nil, err
	case bound.Length:
		return value, nil
	}
	return value.plus(1 - bound.Lower), nil
}

// bound is the value of the attribute: of an expression, as GCC 12 writes it for DW_AT_upper_bound, or of an artificial variable
// that the attribute refers to, as Clang 14 does for DW_AT_count. The variable may lie anywhere, also in a register.
func (s *Scope) bound(bound *ctype.Bound) (emit, error) {
	if bound.Expr != nil {
		return s.frame.emission(bound.Expr)
	}
	e, err := s.image.file.Entry(debuginfo.Offset(bound.Variable))
	if err != nil {
		return nil, err
	}
	t := s.image.types.of(e)
	return number(s.locate(e, t), t)
}

// number gives the code that pushes the integer at a place. Values of several pieces do not occur as lengths.
func number(p expr.Place, t *ctype.Type) (emit, error) {
	c := cell{size: t.Size, signed: t.Signed}
	switch at := p.(type) {
	case expr.Memory:
		load, ok := loads[t.Size]
		if !ok {
			break
		}
		return func(b *ax.Builder) error {
			err := at.Emit(b)
			b.Emit(load)
			c.narrow(b)
			return err
		}, nil
	case expr.Register:
		return func(b *ax.Builder) error {
			b.Emit(ax.OpReg, uint64(at.Num))
			c.narrow(b)
			return nil
		}, nil
	case expr.Value:
		return at.Emit, nil
	case expr.Absent:
		return nil, errors.New(at.Reason)
	}
	return nil, errors.New("the length of the array is no integer in one place")
}
