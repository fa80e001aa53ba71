package survey

import (
	"cmp"
	"slices"
)

// Texts counts how often texts came, each of the first that are different one by one.
// Memory is bounded so that a value that is different in each of a million frames can be counted, too.
type Texts struct {
	Count int // of all
	Other int // of these, those that came when there were too many different ones
	each  map[string]int
}

// TextCount is a text and how often it came.
type TextCount struct {
	Text  string
	Count int
}

// Add takes a text.
func (t *Texts) Add(text string) {
	t.Count++
	if _, known := t.each[text]; !known && len(t.each) >= fewValues {
		t.Other++
		return
	}
	if t.each == nil {
		t.each = make(map[string]int)
	}
	t.each[text]++
}

// Frequent returns the texts by how often they came, and alike ones in their order.
func (t *Texts) Frequent() []TextCount {
	var all []TextCount
	for text, count := range t.each {
		all = append(all, TextCount{text, count})
	}
	slices.SortFunc(all, func(a, b TextCount) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Text, b.Text)) })
	return all
}
