package match

import (
	"context"
	"iter"
	"os"
	"sync"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/progress"
	"tracewell/internal/routine"
	"tracewell/itrace/match"
)

// compareAll compares pairs, some at the same time, and yields the results in the order of the pairs. Once the context is done
// it begins no more, and the results that are left say so.
func (c *Command) compareAll(ctx context.Context, pairs []tracePair, streams console.Streams) iter.Seq[*matchResult] {
	return func(yield func(*matchResult) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		results := make([]chan *matchResult, len(pairs))
		for i := range results {
			results[i] = make(chan *matchResult, 1)
		}
		bar := startMatchBar(pairs, streams)
		defer bar.finish()
		routine.Go(func() {
			free := make(chan struct{}, c.Jobs)
			for i, pair := range pairs {
				free <- struct{}{}
				if i > 0 && ctx.Err() != nil {
					results[i] <- &matchResult{Result: match.Result{Name: pair.name, Pair: pair.place, Report: failedReport(pair, console.ErrInterrupted)}}
					<-free
					continue
				}
				routine.Go(func() {
					results[i] <- c.compare(ctx, pair, bar.part(), streams)
					<-free
				})
			}
		})
		for i := range pairs {
			r := <-results[i]
			if i == len(pairs)-1 {
				bar.finish()
			}
			if !yield(r) {
				return
			}
		}
	}
}

// matchBar shows how far comparisons have come that run at the same time.
type matchBar struct {
	mu   sync.Mutex
	bar  *progress.Bar // nil when it is not shown, and at the end
	done int64         // bytes of all traces
}

// startMatchBar shows no bar where the results of several pairs go to the terminal, which tell as much.
func startMatchBar(pairs []tracePair, streams console.Streams) *matchBar {
	if len(pairs) > 1 && console.IsTerminal(streams.Out) {
		return &matchBar{}
	}
	total := int64(0)
	for _, p := range pairs {
		for _, path := range []string{p.reference, p.other} {
			status, err := os.Stat(path)
			switch {
			case path == "-" || err == nil && !status.Mode().IsRegular():
				return &matchBar{bar: progress.Start(streams.Err, progress.Work{Name: "comparing"})}
			case err == nil:
				total += status.Size()
			}
		}
	}
	return &matchBar{bar: progress.Start(streams.Err, progress.Work{Name: "comparing", Total: total})}
}

// part returns the function that learns how many bytes have been read for one comparison.
func (b *matchBar) part() func(done int64) {
	before := int64(0)
	return func(done int64) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.done += done - before
		before = done
		b.bar.Set(b.done)
	}
}

func (b *matchBar) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bar.Done()
	b.bar = nil
}
