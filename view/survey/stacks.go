package survey

import (
	"cmp"
	"slices"

	"tracewell/view"
)

// Stacks counts how often the stacks of frames came, each of the first that are different one by one.
//
// Memory is bounded: stacks that are different in each of a million frames can be counted, too.
type Stacks struct {
	// Callers, if not 0, is how many of the innermost callers count as a stack, by their functions only. The call that the frame
	// itself is in is not one of them.
	Callers int
	// Text is what two stacks are told apart by.
	Text func(*view.Backtrace) string

	Count     int // of frames with a stack
	Truncated int // of these, those whose stack ends before the last call that counts
	Lacking   int // of frames without a stack
	Other     int // of frames with a stack that came when there were too many different ones
	each      map[string]*StackCount
}

// StackCount is a stack, as it was when it came first, and how often it came.
type StackCount struct {
	view.Backtrace
	Text  string
	Count int
}

// mostStacks is how many different stacks are counted one by one.
const mostStacks = 1 << 14

// Add takes the backtrace of a frame, which has no calls if the frame has no stack.
func (s *Stacks) Add(b view.Backtrace) {
	if len(b.Calls) == 0 {
		s.Lacking++
		return
	}
	s.Count++
	if s.Callers > 0 {
		b = innermost(b, s.Callers)
	}
	if b.End != nil {
		s.Truncated++
	}
	text := s.Text(&b)
	known := s.each[text]
	switch {
	case known != nil:
		known.Count++
	case len(s.each) == mostStacks:
		s.Other++
	default:
		if s.each == nil {
			s.each = make(map[string]*StackCount)
		}
		s.each[text] = &StackCount{b, text, 1}
	}
}

// innermost returns a number of callers without their lines. Those that are there are not cut off.
func innermost(b view.Backtrace, callers int) view.Backtrace {
	b.Calls = slices.Clone(b.Calls[1:])
	if len(b.Calls) >= callers {
		b.Calls, b.End = b.Calls[:callers], nil
	}
	for i := range b.Calls {
		b.Calls[i].File, b.Calls[i].Line = "", 0
	}
	return b
}

// Frequent returns the stacks by how often they came, and those that came as often by their text.
func (s *Stacks) Frequent() []StackCount {
	var all []StackCount
	for _, count := range s.each {
		all = append(all, *count)
	}
	slices.SortFunc(all, func(a, b StackCount) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Text, b.Text)) })
	return all
}
