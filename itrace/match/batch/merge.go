package batch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"tracewell/internal/text"
	"tracewell/itrace/match"
)

// Read reads results as "match --json" writes them, one object after another. Errors begin with the name, and tell behind which
// byte the object stands that is cut off or is something else.
func Read(source io.Reader, name string) (results []*Result, err error) {
	decoder := json.NewDecoder(source)
	for {
		at := decoder.InputOffset()
		r := &Result{File: name}
		err := decoder.Decode(&r.Result)
		switch {
		case err == io.EOF:
			return results, nil
		case err == nil:
			err = r.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: behind byte %d: no result of match --json: %w", name, at, err)
		}
		results = append(results, r)
	}
}

// check refuses an object that is something else, and places that cannot be: Merge relies on them.
func (r *Result) check() error {
	verdicts := []match.Verdict{match.Equal, match.Different, match.Failed}
	switch p := r.Pair; {
	case r.Report == nil || !slices.Contains(verdicts, r.Verdict):
		return fmt.Errorf("it lacks a verdict, which is one of %v", verdicts)
	case p != nil && (p.Number < 1 || p.Number > p.Total || p.Total > maxPairs || p.Shards < 1 || p.Shard != (p.Number-1)%p.Shards):
		return fmt.Errorf("pair %d of %d in shard %d/%d is none that there is", p.Number, p.Total, p.Shard, p.Shards)
	}
	return nil
}

// Merge puts the results of each manifest in its order, with a failure for each pair that has none. Results without a manifest come
// first, as they are. Several results of one pair are an error, and so are results that disagree on the length of their manifest
// or the number of shards.
func Merge(all []*Result) ([]*Result, error) {
	var manifests []string
	by := make(map[string][]*Result)
	var whole []*Result
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
		slices.SortStableFunc(results, func(a, b *Result) int { return cmp.Compare(a.Pair.Number, b.Pair.Number) })
		// A missing result between two others, or in front of the first or behind the last, belongs to a shard that has not come to it.
		next := 1
		for i, r := range results {
			p := r.Pair
			if first := results[0]; p.Total != first.Pair.Total || p.Shards != first.Pair.Shards {
				return nil, fmt.Errorf("%s: %s there had %s in %s, in %s it had %s in %s", r.File, manifest, text.Plural(p.Total, "pair"),
					text.Plural(p.Shards, "shard"), first.File, text.Plural(first.Pair.Total, "pair"), text.Plural(first.Pair.Shards, "shard"))
			}
			if i > 0 && p.Number == results[i-1].Pair.Number {
				return nil, fmt.Errorf("pair %d of %s is both in %s and in %s", p.Number, manifest, results[i-1].File, r.File)
			}
			whole = append(append(whole, missing(*p, next, p.Number)...), r)
			next = p.Number + 1
		}
		last := *results[0].Pair
		whole = append(whole, missing(last, next, last.Total+1)...)
	}
	return whole, nil
}

// missing makes failures of the pairs from number first to before end, of the manifest that a pair is of.
func missing(of match.PairPlace, first, end int) (results []*Result) {
	for n := first; n < end; n++ {
		of.Number, of.Shard = n, (n-1)%of.Shards
		place := of
		p := Pair{Name: fmt.Sprintf("pair %d of %s", n, of.Manifest), Place: &place}
		why := fmt.Errorf("it has no result: shard %v has not come to it, or is not among the files", Shard{of.Shard, of.Shards})
		results = append(results, Failed(p, why))
	}
	return results
}
