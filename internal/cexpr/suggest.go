package cexpr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tracewell/symbol/ctype"
)

const (
	// near is how many changes make one name of another that is still taken to be meant: this, and one more for each
	// letters of it.
	near    = 1
	letters = 5
	// shown is how many names a message lists.
	shown = 12
)

// Suggest says which of the names could be meant by one that there is not, or all that there are.
func Suggest(name string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	type candidate struct {
		name     string
		distance int
	}
	var close []candidate
	lower := strings.ToLower(strings.TrimPrefix(name, "$"))
	for _, n := range names {
		sameKind := strings.HasPrefix(n, "$") == strings.HasPrefix(name, "$")
		d := distance(lower, strings.ToLower(strings.TrimPrefix(n, "$")))
		if d == 0 || sameKind && d <= near+len(lower)/letters && d < len(lower) {
			close = append(close, candidate{n, d})
		}
	}
	if len(close) == 0 {
		return "there are " + list(names)
	}
	slices.SortStableFunc(close, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	best := []string{}
	for _, c := range close[:min(len(close), 3)] {
		best = append(best, c.name)
	}
	return "did you mean " + alternatives(best) + "?"
}

// alternatives are names as a question has them: "a, b or c".
func alternatives(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// SuggestMember is Suggest of the members of a record.
func SuggestMember(name string, record *ctype.Type) string {
	var names []string
	for _, f := range record.Fields() {
		names = append(names, f.Name)
	}
	return Suggest(name, names)
}

func list(names []string) string {
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// distance is how many letters have to be put in, left out, replaced or swapped with the next to make b of a.
func distance(a, b string) int {
	before, previous := []int(nil), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replace := previous[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, previous[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}
