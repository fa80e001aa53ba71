package query

import (
	"context"

	"tracewell/itrace/index"
)

// Executed has visit see each execution of a place in code within the range.
func (t *Trace) Executed(ctx context.Context, c Code, p Pick, visit func(Step) error) error {
	return t.each(ctx, c.wants(), p, func(f index.Found) error {
		step, err := t.Step(f.Instruction)
		if err != nil {
			return err
		}
		return visit(step)
	})
}

// Count counts the executions of a place in code within the range, for each of its addresses.
func (t *Trace) Count(ctx context.Context, c Code) ([]int64, error) {
	counts := make([]int64, len(c.Addrs))
	err := t.each(ctx, c.wants(), Pick{}, func(f index.Found) error {
		counts[f.Want]++
		return nil
	})
	return counts, err
}
