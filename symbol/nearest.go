package symbol

import (
	"cmp"
	"slices"
	"strings"
	"time"
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
	d := distance(n.wanted, strings.ToLower(name), limit)
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

// distance is how many letters have to be put in, left out, exchanged or swapped with their neighbours to turn one name into
// another; more than limit stands for anything beyond.
// This is the restricted Damerau-Levenshtein distance in three rows. A row whose least number is above the limit ends it: numbers
// never fall again.
func distance(a, b string, limit int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
