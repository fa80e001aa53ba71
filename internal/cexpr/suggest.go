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
		limit := near + len(lower)/letters
		d := Distance(lower, strings.ToLower(strings.TrimPrefix(n, "$")), limit)
		if d == 0 || sameKind && d <= limit && d < len(lower) {
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

// list is the first of the names, and how many more there are.
func list(names []string) string {
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// Distance is how many letters have to be inserted, deleted, replaced or swapped with the next to make b of a; limit + 1 stands for
// anything beyond limit.
//
// This is the restricted Damerau-Levenshtein distance in three rows of its table. A row whose least number is above the limit ends it,
// as numbers never fall again from row to row: most names of a program are given up after a few letters.
func Distance(a, b string, limit int) int {
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
	return min(last[len(b)], limit+1)
}
