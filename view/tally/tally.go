// Package tally counts readings by key, and gathers figures of their values as they come: sums, extremes, quantiles and histograms,
// in memory that does not grow with the number of readings or keys.
//
// Counts, sums, extremes and histograms are exact. Quantiles are exact as long as a group has few different values, and within 1 %
// otherwise (survey.Distribution). When there are too many groups the less frequent half is dropped, as in lossy counting (Manku
// and Motwani, 2002): the dropped readings are counted, and a group that begins afterwards says how many earlier ones it may
// lack. So a key that is frequent in the whole is never missed.
package tally

import (
	"cmp"
	"slices"

	"tracewell/symbol/ctype"
)

// Gather says what is gathered of a value besides count, sum and extremes.
type Gather struct {
	Quantiles bool
	Histogram *Scale // nil for none
}

// Reading is the value of an expression at a hit, unless OK is false.
type Reading struct {
	ctype.Number
	OK bool
}

// Table has a group for each key. The Label of a group is what its caller wants to know of the key later.
type Table[Label any] struct {
	Hits    int // all, with those of dropped groups
	Dropped int // hits of groups that were dropped for want of room

	gather []Gather
	groups map[string]*Group[Label]
	cells  int // groups, and numbers that they hold
	short  int // the Short of a group that begins now
	marked int // Hits at the last Mark
}

// Group is the hits with one key.
type Group[Label any] struct {
	Label  Label
	Count  int
	Values []Measured // in the order of what the table gathers
	// Short is how many earlier hits with this key may have been dropped: Count is too low by that at most.
	Short int

	key    string
	marked int // Count at the last Mark
}

const (
	// mostCells bounds the memory of a table to some 20 MB.
	mostCells = 1 << 17
	// fewGroups are never dropped, however many numbers they hold.
	fewGroups = 8
)

// New returns a table without groups that gathers these values.
func New[Label any](gather ...Gather) *Table[Label] {
	return &Table[Label]{gather: gather, groups: make(map[string]*Group[Label])}
}

// Add takes so many hits with one key and the same readings of all values. The label is asked for if the key is new; the key may be
// reused afterwards.
func (t *Table[Label]) Add(key []byte, times int, readings []Reading, label func() Label) {
	if t.cells >= mostCells && len(t.groups) > fewGroups {
		t.drop()
	}
	g := t.groups[string(key)]
	if g == nil {
		g = &Group[Label]{Label: label(), Short: t.short, Values: make([]Measured, len(t.gather)), key: string(key)}
		t.groups[g.key] = g
		t.cells++
	}
	t.Hits += times
	g.Count += times
	for i, r := range readings {
		if r.OK {
			t.cells += g.Values[i].add(r.Number, times, t.gather[i])
		}
	}
}

// drop makes room: the groups go that are no more frequent than the median.
func (t *Table[Label]) drop() {
	counts := make([]int, 0, len(t.groups))
	for _, g := range t.groups {
		counts = append(counts, g.Count)
	}
	slices.Sort(counts)
	median := counts[len(counts)/2]
	for key, g := range t.groups {
		if g.Count > median {
			continue
		}
		delete(t.groups, key)
		t.Dropped += g.Count
		t.cells--
		for i := range g.Values {
			t.cells -= g.Values[i].cells()
		}
	}
	// A key may have been dropped each time, and had at most so many hits then.
	t.short += median
}

// Len is how many groups there are.
func (t *Table[Label]) Len() int { return len(t.groups) }

// Recent is how many hits came since the last Mark.
func (t *Table[Label]) Recent() int { return t.Hits - t.marked }

// Recent is how many hits of the group came since the last Mark of its table.
func (g *Group[Label]) Recent() int { return g.Count - g.marked }

// Mark begins the time that Recent is about.
func (t *Table[Label]) Mark() {
	t.marked = t.Hits
	for _, g := range t.groups {
		g.marked = g.Count
	}
}

// Top returns the most frequent groups, all if there are no more than most. Those that are alike are in the order of their keys.
func (t *Table[Label]) Top(most int) []*Group[Label] {
	return t.top(most, func(a, b *Group[Label]) int { return cmp.Compare(b.Count, a.Count) })
}

// TopBySum returns the groups with the greatest sums of a value, as Top does.
func (t *Table[Label]) TopBySum(value, most int) []*Group[Label] {
	return t.top(most, func(a, b *Group[Label]) int { return b.Values[value].Sum().Cmp(a.Values[value].Sum()) })
}

func (t *Table[Label]) top(most int, order func(a, b *Group[Label]) int) []*Group[Label] {
	all := make([]*Group[Label], 0, len(t.groups))
	for _, g := range t.groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *Group[Label]) int { return cmp.Or(order(a, b), cmp.Compare(a.key, b.key)) })
	return all[:min(most, len(all))]
}
