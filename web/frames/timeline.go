package frames

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"tracewell/trace"
	"tracewell/view/wire"
	"tracewell/web/arguments"
)

// Limits of what is drawn.
const (
	mostBins  = 4000
	mostLanes = 40 // of a timeline; the others share one
)

// axis is a range of positions that is cut into bins.
type axis struct {
	from, to int64 // to is excluded
	bins     int
}

// axis reads the range of positions that is drawn, all of them without one, and the number of bins. It is apart from the range
// of the filter, so that a timeline can show what lies around that.
func (s *snapshot) axis(args url.Values) (axis, error) {
	a := axis{from: s.index.first, to: s.index.last + 1}
	var err error
	if a.bins, err = arguments.Int(args, "bins", 1000); err != nil {
		return a, err
	}
	if a.bins < 1 || a.bins > mostBins {
		return a, fmt.Errorf("%d bins: from 1 to %d can be drawn", a.bins, mostBins)
	}
	if args.Has("left") {
		left, err1 := strconv.ParseInt(args.Get("left"), 10, 64)
		right, err2 := strconv.ParseInt(args.Get("right"), 10, 64)
		if err := cmp.Or(err1, err2); err != nil {
			return a, err
		}
		if left >= right {
			return a, fmt.Errorf("nothing lies from %d to %d", left, right)
		}
		a.from, a.to = left, right
	}
	return a, nil
}

// bin is the bin of a position; false if it is outside. Positions are differences of 64-bit times, so they are divided as floats.
func (a *axis) bin(at int64) (int, bool) {
	if at < a.from || at >= a.to {
		return 0, false
	}
	return min(int(float64(at-a.from)/float64(a.to-a.from)*float64(a.bins)), a.bins-1), true
}

// timeline answers "timeline": how many of the frames that a filter chooses there were in each bin, by thread or tracepoint.
func (s *snapshot) timeline(ctx context.Context, args url.Values) (any, error) {
	a, err := s.axis(args)
	if err != nil {
		return nil, err
	}
	numbers, err := s.chosen(ctx, args)
	if err != nil {
		return nil, err
	}
	key := func(i int32) int { return int(s.view.Content.Tracepoint(int(i))) }
	name := func(key int) string { return s.view.Source(trace.Number(key)) }
	if args.Get("by") == "thread" {
		key, name = func(i int32) int { return int(s.index.threadOf[i]) }, s.threadName
	}
	lanes := make(map[int]*wire.PageLane)
	total := 0
	for _, i := range numbers {
		at, ok := s.index.position(int(i))
		if !ok {
			continue
		}
		bin, ok := a.bin(at)
		if !ok {
			continue
		}
		k := key(i)
		lane := lanes[k]
		if lane == nil {
			lane = &wire.PageLane{Key: k, Name: name(k), Counts: make([]int, a.bins)}
			lanes[k] = lane
		}
		lane.Counts[bin]++
		lane.Total++
		total++
	}
	return wire.PageTimeline{From: a.from, To: a.to, Bins: a.bins, Lanes: arrange(lanes), Total: total}, nil
}

// threadName is the name of a thread with its number in the system.
func (s *snapshot) threadName(n int) string {
	id := s.index.threads[n].id
	text := strconv.FormatInt(id, 10)
	if name, ok := s.view.LastName(id); ok {
		text = name + " " + text
	} else if id == 0 {
		text = "all threads"
	}
	return text
}

// arrange returns the lanes by their keys. Of too many those with the fewest frames share the last.
func arrange(lanes map[int]*wire.PageLane) []wire.PageLane {
	all := []wire.PageLane{}
	for _, lane := range lanes {
		all = append(all, *lane)
	}
	if len(all) > mostLanes {
		slices.SortFunc(all, func(a, b wire.PageLane) int { return cmp.Or(b.Total-a.Total, a.Key-b.Key) })
		rest := wire.PageLane{Key: -1, Name: fmt.Sprintf("%d others", len(all)-mostLanes+1), Counts: make([]int, len(all[0].Counts))}
		for _, lane := range all[mostLanes-1:] {
			rest.Total += lane.Total
			for i, n := range lane.Counts {
				rest.Counts[i] += n
			}
		}
		all = append(all[:mostLanes-1], rest)
	}
	slices.SortFunc(all, func(a, b wire.PageLane) int { return cmp.Compare(uint(a.Key), uint(b.Key)) }) // -1 is the last
	return all
}
