package query

import (
	"context"

	"tracewell/itrace/index"
)

// Moment is an instruction with what it did.
type Moment struct {
	Step
	Effects []index.Item // in the order of the trace
}

// Around has visit see the instruction at a position, so many in front of it and so many behind it: those of the processor that
// is asked about, within the range. At the end of the trace the one at the position is the last.
func (t *Trace) Around(ctx context.Context, position, before, behind int64, visit func(Moment) error) (err error) {
	position = min(max(position, 0), t.Instructions-1)
	start := position
	if before > 0 {
		if err = t.EachBack(ctx, t.From, min(position, t.To), t.turns(), func(f index.Found) bool {
			start = f.Instruction
			before--
			return before > 0
		}); err != nil {
			return err
		}
	}
	searched := t.Each(ctx, max(start, t.From), t.To, t.turns(), func(f index.Found) bool {
		if f.Instruction > position {
			behind--
		}
		if behind < 0 {
			return false
		}
		var m Moment
		if m, err = t.moment(f.Instruction); err == nil {
			err = visit(m)
		}
		return err == nil
	})
	if err == nil {
		err = searched
	}
	return err
}

// turns is an instruction of any processor that is asked about.
func (t *Trace) turns() (wants []index.Want) {
	for _, cpu := range t.processors() {
		wants = append(wants, index.Want{What: index.Turn, CPU: cpu})
	}
	return wants
}

// moment returns an instruction and its effects.
func (t *Trace) moment(n int64) (Moment, error) {
	step, err := t.Step(n)
	if err != nil {
		return Moment{}, err
	}
	items, err := t.Effects(n)
	if err != nil {
		return Moment{}, err
	}
	return Moment{step, items[1:]}, nil
}
