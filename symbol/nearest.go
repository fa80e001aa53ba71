package symbol

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tracewell/internal/cexpr"
)

// nearest gathers the names that are least unlike one that was not found.
type nearest struct {
	wanted string
	until  time.Time
	best   []near
	seen   map[string]bool
}

type near struct {
	name     string
	distance int
}

// mostNear is how many names are suggested; patience is how long they are looked for.
const (
	mostNear = 3
	patience = 300 * time.Millisecond
)

// newNearest begins a search, whose time runs from now on.
func newNearest(wanted string) *nearest {
	return &nearest{wanted: strings.ToLower(wanted), until: time.Now().Add(patience), seen: map[string]bool{}}
}

// patient reports whether there is time to look at more names.
func (n *nearest) patient() bool { return time.Now().Before(n.until) }

// offer considers a name. What is suggested for it is the name itself.
func (n *nearest) offer(name string) { n.offerAs(name, name) }

// offerAs considers a name under which a longer one may be known as well.
func (n *nearest) offerAs(name, whole string) {
	// A third of the letters may be wrong. With three suggestions found, another has to be nearer than the last of them.
	limit := max(1, len(n.wanted)/3)
	if len(n.best) == mostNear {
		limit = min(limit, n.best[mostNear-1].distance-1)
	}
	// The difference in length is a lower bound of the distance, and costs nothing to compute.
	if diff := len(name) - len(n.wanted); diff > limit || -diff > limit || n.seen[whole] {
		return
	}
	d := cexpr.Distance(n.wanted, strings.ToLower(name), limit)
	if d > limit {
		return
	}
	n.seen[whole] = true
	at, _ := slices.BinarySearchFunc(n.best, d, func(a near, d int) int { return cmp.Compare(a.distance, d+1) })
	n.best = slices.Insert(n.best, at, near{whole, d})
	n.best = n.best[:min(len(n.best), mostNear)]
}

// names returns the suggestions, the nearest first.
func (n *nearest) names() []string {
	var names []string
	for _, b := range n.best {
		names = append(names, b.name)
	}
	return names
}
