package batch

import (
	"context"
	"errors"
	"iter"

	"tracewell/internal/routine"
	"tracewell/itrace/match"
)

// Result is the outcome of one pair, and what a report does not hold.
type Result struct {
	match.Result
	Notes []string // warnings about the two traces
	File  string   // from which Read read the result
}

// Failed is the result of a pair that could not be compared.
func Failed(p Pair, why error) *Result {
	r := &match.Report{Verdict: match.Failed, Reason: why.Error()}
	r.Differences, r.Counts = []match.Difference{}, map[match.Class]int64{} // in JSON [] and {}, which programs rely on
	r.Traces[0].File, r.Traces[1].File = p.Reference, p.Other
	return &Result{Result: match.Result{Name: p.Name, Pair: p.Place, Report: r}}
}

// errInterrupted is why the pairs that were left have not been compared.
var errInterrupted = errors.New("interrupted")

// Compare compares pairs, at most jobs of them at the same time, by calling compare for each in a goroutine of its own, and
// yields the results in the order of the pairs. The first pair is compared in any case; when the context ends, which it also does
// when the caller takes no more results, no further comparison begins, and what is left has failed.
func Compare(ctx context.Context, pairs []Pair, jobs int, compare func(context.Context, Pair) *Result) iter.Seq[*Result] {
	return func(yield func(*Result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		// A channel with room for its one result, for each pair: a comparison never waits for a slower one in front of it.
		results := make([]chan *Result, len(pairs))
		for i := range results {
			results[i] = make(chan *Result, 1)
		}
		routine.Go(func() {
			free := make(chan struct{}, jobs)
			for i, pair := range pairs {
				free <- struct{}{}
				if i > 0 && ctx.Err() != nil {
					results[i] <- Failed(pair, errInterrupted)
					<-free
					continue
				}
				routine.Go(func() {
					results[i] <- compare(ctx, pair)
					<-free
				})
			}
		})
		for _, result := range results {
			if !yield(<-result) {
				return
			}
		}
	}
}
