package scope

import (
	"errors"

	"tracewell/ax"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/expr"
)

// Length gives the code that pushes the number of elements of an array whose length is only known when the program runs.
func (s *Scope) Length(bound *ctype.Bound) (func(b *ax.Builder) error, error) {
	value, err := s.bound(bound)
	if err != nil || bound.Length {
		return value, err
	}
	return func(b *ax.Builder) error {
		if err := value(b); err != nil {
			return err
		}
		addOffset(b, 1-bound.Lower)
		return nil
	}, nil
}

func (s *Scope) bound(bound *ctype.Bound) (emit, error) {
	if bound.Expr != nil {
		return s.frame.emission(bound.Expr)
	}
	e, err := s.image.file.Entry(debuginfo.Offset(bound.Variable))
	if err != nil {
		return nil, err
	}
	t := s.image.types.of(e)
	return number(s.place(e, t), t)
}

// number gives the code that pushes the integer at a place.
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
