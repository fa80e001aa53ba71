package match

import (
	"context"
	"fmt"
	"iter"
	"os"
	"sync"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace/dialects"
	"tracewell/itrace/match"
	"tracewell/itrace/match/batch"
)

// compareAll compares pairs, as many at the same time as --jobs says, behind a progress bar, and yields the results in order. The
// bar is gone when the last one is printed.
func (c *Command) compareAll(ctx context.Context, pairs []batch.Pair, streams console.Streams) iter.Seq[*batch.Result] {
	return func(yield func(*batch.Result) bool) {
		bar := startMatchBar(pairs, streams)
		defer bar.finish()
		left := len(pairs)
		for r := range batch.Compare(ctx, pairs, int(c.Jobs), func(ctx context.Context, pair batch.Pair) *batch.Result {
			return c.compare(ctx, pair, bar.part(), streams)
		}) {
			// The bar is on the same terminal as the last result. Results in front of it come only where there is no bar, or to a file.
			if left--; left == 0 {
				bar.finish()
			}
			if !yield(r) {
				return
			}
		}
	}
}

// compare compares one pair. progress is called with the bytes that have been read of both files, before they are unpacked. A
// trace that was written to meanwhile, and a pair of one file twice, are compared, with a warning.
func (c *Command) compare(ctx context.Context, pair batch.Pair, progress func(done int64), streams console.Streams) *batch.Result {
	// A file that cannot be opened is a failure of this pair and not of the command: the others are compared.
	var traces [2]*input.Stream
	for i, path := range []string{pair.Reference, pair.Other} {
		t, err := input.OpenStream(path, streams)
		if err != nil {
			return batch.Failed(pair, err)
		}
		defer t.Close()
		traces[i] = t
	}
	if err := input.CheckPair(traces[0], traces[1]); err != nil {
		return batch.Failed(pair, err)
	}
	// The bar shows bytes as they are in the files: to how many a compressed trace unpacks is not known before its end.
	options := c.settings()
	options.Progress = func(int64, int64) { progress(traces[0].Raw.Done.Load() + traces[1].Raw.Done.Load()) }
	reference, other := traces[0].Input(), traces[1].Input()
	if n := len(c.Dialect); n > 0 { // one is that of both
		reference.Dialect, other.Dialect = c.Dialect[0].Dialect, c.Dialect[n-1].Dialect
	}
	result := &batch.Result{Result: match.Result{Name: pair.Name, Pair: pair.Place}}
	result.Report = match.Compare(ctx, reference, other, dialects.All, options)
	// A comparison that a signal has cut off says how far it came. One that found its result in the same moment keeps that.
	if ctx.Err() != nil && result.Verdict == match.Failed {
		result.Reason = fmt.Sprintf("interrupted behind %s", text.Plural(result.Compared.Instructions, "instruction"))
	}
	for _, t := range traces {
		if changed := t.Changed(); changed != "" {
			result.Notes = append(result.Notes, text.Visible(t.Name)+": warning: "+changed)
		}
	}
	// Comparing a file with itself tells nothing, and is mostly a slip in a manifest. It is still done: the answer is what was asked
	// for.
	if os.SameFile(traces[0].Status, traces[1].Status) {
		result.Notes = append(result.Notes, text.Visible(pair.Name)+": warning: both are the same file")
	}
	return result
}

// matchBar shows how far comparisons have come that run at the same time.
type matchBar struct {
	mu   sync.Mutex
	bar  *progress.Bar // nil when it is not shown, and at the end
	done int64         // bytes read of all traces, as they are in the files
}

// startMatchBar shows no bar where the results of several pairs go to the terminal, which tell as much. The total is not known if
// one of the traces is a pipe; then the bar only moves.
func startMatchBar(pairs []batch.Pair, streams console.Streams) *matchBar {
	if len(pairs) > 1 && console.IsTerminal(streams.Out) {
		return &matchBar{}
	}
	// Files that cannot be looked at are left out of the total; their pairs fail without reading anything.
	total := int64(0)
	for _, p := range pairs {
		for _, path := range []string{p.Reference, p.Other} {
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

// part returns the function that is called with how many bytes one comparison has read so far.
func (b *matchBar) part() func(done int64) {
	// Each comparison tells its own sum, so only the difference to its last one is added.
	before := int64(0)
	return func(done int64) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.done += done - before
		before = done
		b.bar.Set(b.done)
	}
}

// finish removes the bar. Comparisons that still run find none to move.
func (b *matchBar) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bar.Done()
	b.bar = nil
}
