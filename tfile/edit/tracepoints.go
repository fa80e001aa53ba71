package edit

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/tfile"
	"tracewell/trace"
)

// group is the definitions of one number: one for each location of a tracepoint, in the order of the file. A number that
// only frames have is a group without any.
type group struct {
	number      trace.Number
	definitions []trace.Tracepoint
}

// groups returns the groups of a content in the order in which they are defined, those without definitions behind them in
// that of their numbers.
func groups(c tfile.Content) []*group {
	var all []*group
	byNumber := make(map[trace.Number]*group)
	add := func(n trace.Number) *group {
		g := byNumber[n]
		if g == nil {
			g = &group{number: n}
			byNumber[n], all = g, append(all, g)
		}
		return g
	}
	for _, t := range c.Header().Tracepoints {
		g := add(t.Number)
		g.definitions = append(g.definitions, t)
	}
	for _, n := range numbers(c) {
		add(n)
	}
	return all
}

// same reports whether two groups are of one tracepoint. They are if they have a location in common and are alike in all
// that they have in common: a tracepoint may gain locations as libraries are loaded. Nothing can be said of two that are not
// defined, so those of one number are taken for the same.
func (g *group) same(other *group) bool {
	if len(g.definitions) == 0 && len(other.definitions) == 0 {
		return g.number == other.number
	}
	common := false
	for i := range g.definitions {
		if t := other.at(&g.definitions[i]); t != nil {
			if !alike(&g.definitions[i], t) {
				return false
			}
			common = true
		}
	}
	return common
}

// at returns the definition at the address of t, nil if there is none.
func (g *group) at(t *trace.Tracepoint) *trace.Tracepoint {
	for i := range g.definitions {
		if g.definitions[i].Addr == t.Addr {
			return &g.definitions[i]
		}
	}
	return nil
}

// alike reports whether two definitions define the same. Their numbers are not part of it, nor is what changes in a run:
// whether they are enabled, and the counts.
func alike(a, b *trace.Tracepoint) bool {
	x, y := *a, *b
	y.Number, y.Enabled = x.Number, x.Enabled
	return slices.Equal(x.Packets(), y.Packets())
}

// join adds what another group of the same tracepoint says.
func (g *group) join(other *group) {
	for _, t := range other.definitions {
		known := g.at(&t)
		if known == nil {
			t.Number = g.number
			g.definitions = append(g.definitions, t)
			continue
		}
		known.Enabled = known.Enabled || t.Enabled
		known.Hits += t.Hits
		known.Usage += t.Usage
	}
}

// addTracepoints takes over the tracepoints of a part, whose variables have changed numbers, and returns the numbers of
// tracepoints that change.
func (m *merger) addTracepoints(p Part, variables map[int32]int32) (map[trace.Number]trace.Number, error) {
	own := groups(p.Content)
	for _, g := range own {
		for i, t := range g.definitions {
			var err error
			if g.definitions[i], err = rewritten(t, variables); err != nil {
				return nil, err
			}
		}
	}
	partners := m.partners(own)
	taken := make(map[trace.Number]bool)
	for _, g := range m.groups {
		taken[g.number] = true
	}
	changed := make(map[trace.Number]trace.Number)
	for _, g := range own {
		title, old := g.title(), g.number
		if partner := partners[g]; partner != nil {
			g.number = partner.number
			partner.join(g)
		} else if err := m.place(g, taken[old]); err != nil {
			return nil, err
		}
		if g.number != old {
			changed[old] = g.number
			m.changes = append(m.changes, Change{p.Name, title, int(old), int(g.number)})
		}
	}
	return changed, nil
}

// place adds a tracepoint that no earlier part has, with another number if its own is taken.
func (m *merger) place(g *group, taken bool) error {
	if taken {
		if m.lastTracepoint == trace.MaxNumber {
			return errors.New("no number is left for another tracepoint")
		}
		m.lastTracepoint++
		g.number = m.lastTracepoint
		for i := range g.definitions {
			g.definitions[i].Number = g.number
		}
	}
	m.groups = append(m.groups, g)
	return nil
}

// partners finds for the groups of a part those of earlier parts that are of the same tracepoint: one of the same number if
// there is such a one. No two get the same.
func (m *merger) partners(own []*group) map[*group]*group {
	partners := make(map[*group]*group)
	free := slices.Clone(m.groups)
	for _, anyNumber := range []bool{false, true} {
		for _, g := range own {
			if partners[g] != nil {
				continue
			}
			i := slices.IndexFunc(free, func(f *group) bool { return (anyNumber || f.number == g.number) && f.same(g) })
			if i >= 0 {
				partners[g] = free[i]
				free = slices.Delete(free, i, i+1)
			}
		}
	}
	return partners
}

// title names the tracepoint by its number and location.
func (g *group) title() string {
	if len(g.definitions) == 0 {
		return fmt.Sprintf("undefined tracepoint %d", g.number)
	}
	place := g.definitions[0].Source.At
	if place == "" {
		place = "*" + g.definitions[0].Addr.String()
	}
	return fmt.Sprintf("tracepoint %d (%s)", g.number, place)
}

// descending reports whether the tracepoints of a file are in the order that GDB writes, from the highest number down.
func descending(tracepoints []trace.Tracepoint) bool {
	return slices.IsSortedFunc(tracepoints, func(a, b trace.Tracepoint) int { return int(b.Number) - int(a.Number) })
}
