package match

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/text"
	"tracewell/itrace/match"
)

// merge sums up results of match --json.
func (c *Command) merge(streams console.Streams) error {
	if err := c.checkOutputs(nil); err != nil {
		return err
	}
	var all []*mergedResult
	for _, path := range c.Files {
		results, err := readResults(path, streams)
		if err != nil {
			return err
		}
		all = append(all, results...)
	}
	if len(all) == 0 {
		return errors.New("the files hold no results: nothing was compared")
	}
	all, err := complete(all)
	if err != nil {
		return err
	}
	results := newMatchResults(c, streams)
	for _, r := range all {
		if err := results.add(&r.matchResult); err != nil {
			return err
		}
	}
	return results.conclude()
}

// mergedResult is a result that was read from a file.
type mergedResult struct {
	matchResult
	file string
}

// readResults reads what match --json has printed, "-" being standard input.
func readResults(path string, streams console.Streams) (results []*mergedResult, err error) {
	source, err := input.OpenPacked(path, streams)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if source.Damage != nil {
		return nil, fmt.Errorf("%s: %w", source.Name, source.Damage)
	}
	decoder := json.NewDecoder(io.NewSectionReader(source, 0, source.Size()))
	for {
		at := decoder.InputOffset()
		r := &mergedResult{file: source.Name}
		err := decoder.Decode(&r.Result)
		switch {
		case err == io.EOF:
			return results, nil
		case err == nil:
			err = r.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: behind byte %d: no result of match --json: %w", source.Name, at, err)
		}
		results = append(results, r)
	}
}

// check refuses an object that is something else.
func (r *mergedResult) check() error {
	verdicts := []match.Verdict{match.Equal, match.Different, match.Failed}
	switch p := r.Pair; {
	case r.Report == nil || !slices.Contains(verdicts, r.Verdict):
		return fmt.Errorf("it lacks a verdict, which is one of %v", verdicts)
	case p != nil && (p.Number < 1 || p.Number > p.Total || p.Total > maxPairs || p.Shards < 1 || p.Shard != (p.Number-1)%p.Shards):
		return fmt.Errorf("pair %d of %d in shard %d/%d is none that there is", p.Number, p.Total, p.Shard, p.Shards)
	}
	return nil
}

// complete puts the results of each manifest in its order, and for each pair without one a result that says so.
func complete(all []*mergedResult) ([]*mergedResult, error) {
	var manifests []string
	by := make(map[string][]*mergedResult)
	var whole []*mergedResult
	for _, r := range all {
		if r.Pair == nil {
			whole = append(whole, r)
			continue
		}
		if by[r.Pair.Manifest] == nil {
			manifests = append(manifests, r.Pair.Manifest)
		}
		by[r.Pair.Manifest] = append(by[r.Pair.Manifest], r)
	}
	for _, manifest := range manifests {
		results := by[manifest]
		slices.SortStableFunc(results, func(a, b *mergedResult) int { return cmp.Compare(a.Pair.Number, b.Pair.Number) })
		next := 1
		for i, r := range results {
			p := r.Pair
			if first := results[0]; p.Total != first.Pair.Total || p.Shards != first.Pair.Shards {
				return nil, fmt.Errorf("%s: %s there had %s in %s, in %s it had %s in %s", r.file, manifest, text.Plural(p.Total, "pair"),
					text.Plural(p.Shards, "shard"), first.file, text.Plural(first.Pair.Total, "pair"), text.Plural(first.Pair.Shards, "shard"))
			}
			if i > 0 && p.Number == results[i-1].Pair.Number {
				return nil, fmt.Errorf("pair %d of %s is both in %s and in %s", p.Number, manifest, results[i-1].file, r.file)
			}
			whole = append(append(whole, missing(*p, next, p.Number)...), r)
			next = p.Number + 1
		}
		last := *results[0].Pair
		whole = append(whole, missing(last, next, last.Total+1)...)
	}
	return whole, nil
}

// missing makes results for the pairs from first to before end that have none. It is told of a pair of the same manifest.
func missing(of match.PairPlace, first, end int) (results []*mergedResult) {
	for n := first; n < end; n++ {
		of.Number, of.Shard = n, (n-1)%of.Shards
		place := of
		name := fmt.Sprintf("pair %d of %s", n, of.Manifest)
		part := shard{of.Shard, of.Shards}
		report := failedReport(tracePair{}, fmt.Errorf("it has no result: shard %v has not come to it, or is not among the files", part))
		results = append(results, &mergedResult{matchResult: matchResult{Result: match.Result{Name: name, Pair: &place, Report: report}}})
	}
	return results
}
