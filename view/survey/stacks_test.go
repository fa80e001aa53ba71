package survey

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"tracewell/symbol"
	"tracewell/view"
)

// stackOf makes a backtrace, the innermost call first.
func stackOf(end error, functions ...string) view.Backtrace {
	b := view.Backtrace{End: end}
	for i, f := range functions {
		b.Calls = append(b.Calls, view.Call{Location: symbol.Location{Function: f, File: "a.c", Line: i + 1}})
	}
	return b
}

// TestStacks counts whole stacks and callers, those that are cut off and those beyond the bound.
func TestStacks(t *testing.T) {
	functions := func(b *view.Backtrace) string { return string(b.AppendText(nil)) }
	cut := errors.New("cut")
	whole, callers := Stacks{Text: functions}, Stacks{Text: functions, Callers: 2}
	for _, b := range []view.Backtrace{
		stackOf(nil, "f", "g", "h", "main"), stackOf(cut, "f", "g", "h"), stackOf(cut, "f", "g"), {}, stackOf(nil, "main"),
		stackOf(nil, "f", "g", "h", "main"),
	} {
		whole.Add(b)
		callers.Add(b)
	}
	for _, c := range []struct {
		stacks *Stacks
		want   string
	}{
		{&whole, "5 1 2 0: 2 f (a.c:1) ← g (a.c:2) ← h (a.c:3) ← main (a.c:4); 1 f (a.c:1) ← g (a.c:2) ← [truncated]; " +
			"1 f (a.c:1) ← g (a.c:2) ← h (a.c:3) ← [truncated]; 1 main (a.c:1); "},
		{&callers, "5 1 1 0: 3 g (??) ← h (??); 1 ; 1 g (??) ← [truncated]; "},
	} {
		got := fmt.Sprintf("%d %d %d %d: ", c.stacks.Count, c.stacks.Lacking, c.stacks.Truncated, c.stacks.Other)
		for _, s := range c.stacks.Frequent() {
			got += fmt.Sprintf("%d %s; ", s.Count, s.Text)
		}
		if got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	for i := range mostStacks + 2 {
		whole.Add(stackOf(nil, strconv.Itoa(i)))
	}
	if n := len(whole.Frequent()); n != mostStacks || whole.Other != 6 {
		t.Errorf("%d stacks are known, %d others were counted", n, whole.Other)
	}
}
