package index

import (
	"bytes"
	"context"
	"runtime"
	"sync/atomic"

	"tracewell/internal/routine"
)

// scanAlone is how many blocks a search scans one by one before it has all processors scan: most find what they look for sooner.
const scanAlone = 4

// scan looks in a block, between two positions, for what is wanted, without making all its items: a search through many blocks
// takes half the time so. It stops when visit returns false.
func (r *reading) scan(t *Trace, leaf int, from, to int64, wants []Want, visit func(Found) bool) (more bool, err error) {
	first := t.dir.leaves[leaf].first
	more = true
	err = r.items(t, leaf, func(it *Item) bool {
		number := first + int64(it.Step)
		if more = number < to; !more || number < from {
			return more
		}
		for w := range wants {
			if t.Meets(it, &wants[w]) {
				own := *it
				own.Digits, own.Words = bytes.Clone(it.Digits), bytes.Clone(it.Words)
				more = visit(Found{number, w, &own})
				break
			}
		}
		return more
	})
	return more, err
}

// scanned is what a scan of a block has found, or is about to.
type scanned struct {
	leaf    int
	reading *reading
	found   []Found
	more    bool // the second position was not reached
	err     error
	done    chan struct{}
}

// scans searches blocks from one on by several goroutines, and has visit see what they find in the order of the trace. It returns
// the block at which the search goes on, negative if it is over. It returns before it is over when a block that was searched is
// kept as a whole: whoever visits looks at something else there.
func (t *Trace) scans(ctx context.Context, at int, from, to int64, wants []Want, visit func(Found) bool) (next int, err error) {
	var left atomic.Bool // what is not visited any more need not be found
	var work routine.Group
	var ahead []*scanned
	defer func() {
		left.Store(true)
		work.Wait()
		for _, s := range ahead {
			t.idle = append(t.idle, s.reading)
		}
	}()
	begin := func(leaf int) error {
		r, err := t.reading(leaf)
		if err != nil {
			return err
		}
		s := &scanned{leaf: leaf, reading: r, done: make(chan struct{})}
		ahead = append(ahead, s)
		work.Go(func() {
			defer close(s.done)
			s.more, s.err = r.scan(t, leaf, from, to, wants, func(f Found) bool {
				s.found = append(s.found, f)
				return !left.Load()
			})
		})
		return nil
	}
	whole := false
	for {
		for at >= 0 && !whole && len(ahead) <= runtime.GOMAXPROCS(0) {
			leaf := -1
			if at < len(t.dir.leaves) {
				if leaf, err = t.nextLeaf(at, false, wants); err != nil {
					return -1, err
				}
			}
			if leaf < 0 || t.dir.leaves[leaf].first > to {
				at = -1
				break
			}
			if err := begin(leaf); err != nil {
				return -1, err
			}
			at = leaf + 1
		}
		if len(ahead) == 0 {
			return at, nil
		}
		s := ahead[0]
		<-s.done
		for _, f := range s.found {
			if !visit(f) {
				return -1, nil
			}
		}
		if s.err != nil || !s.more {
			return -1, s.err
		}
		if t.Progress != nil {
			t.Progress(t.leafEnd(s.leaf))
		}
		_, kept := t.blocks.get(s.leaf)
		whole = whole || kept
		ahead, t.idle = ahead[1:], append(t.idle, s.reading)
		// A set promises keys, not their order or what else a Want asks: a search may read many blocks, so it can be interrupted.
		if err := ctx.Err(); err != nil {
			return -1, err
		}
	}
}
