package survey

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
)

// basic returns a view of a real file: 85 frames of the tracepoints 2 to 4, the last with while-stepping.
func basic(t testing.TB) *view.View {
	t.Helper()
	content, err := os.ReadFile("../../tfile/testdata/queue-basic.tf")
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	v, warnings := view.New(f, nil)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return v
}

// chosen lists the frames of a choice.
func chosen(t *testing.T, v *view.View, each func(do func(view.Frame) error) error) string {
	t.Helper()
	numbers := []int{}
	if err := each(func(f view.Frame) error { numbers = append(numbers, f.Number); return nil }); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(numbers)
}

func TestChoice(t *testing.T) {
	v := basic(t)
	pc := func(queries ...tfile.Query) [][]tfile.Query { return [][]tfile.Query{queries} }
	at := func(addr arch.Addr) tfile.Query { return tfile.Query{Kind: tfile.ByPC, Low: addr} }
	for _, test := range []struct {
		name   string
		choice Choice
		last   int
		want   string
	}{
		{"a range", Choice{First: 3, End: 6}, 0, "[3 4 5]"},
		{"none", Choice{First: 3, End: 3}, 0, "[]"},
		{"tracepoints", Choice{End: 12, Tracepoints: []trace.Number{2, 3}}, 0, "[0 1 2 3 9 10 11]"},
		{"the first", Choice{End: 85, Limit: 2}, 0, "[0 1]"},
		{"the last", Choice{End: 85}, 3, "[82 83 84]"},
		{"the last, reversed", Choice{End: 85, Reverse: true}, 3, "[84 83 82]"},
		{"more than there are", Choice{First: 80, End: 85}, 99, "[80 81 82 83 84]"},
		{"reversed", Choice{First: 80, End: 85, Reverse: true, Limit: 2}, 0, "[84 83]"},
		{"at a pc", Choice{End: 12, PC: pc(at(0x4011b5))}, 0, "[0 1 2 9 10]"},
		{"at one of two", Choice{End: 12, PC: pc(at(0x4011b5), at(0x4011e9))}, 0, "[0 1 2 3 9 10 11]"},
		{"in a range", Choice{End: 12, PC: pc(tfile.Query{Kind: tfile.ByRange, Low: 0x401247, High: 0x40127d})}, 0, "[4 5 6 7]"},
		{"outside of it", Choice{End: 12, PC: pc(tfile.Query{Kind: tfile.ByOutside, Low: 0x401247, High: 0x40127d})}, 0, "[0 1 2 3 8 9 10 11]"},
		{"a condition", Choice{End: 12, Where: func(f view.Frame) bool { return f.Number%5 == 0 }}, 0, "[0 5 10]"},
		{"all together", Choice{
			First: 1, End: 84, Tracepoints: []trace.Number{4}, Reverse: true, Limit: 2,
			PC:    [][]tfile.Query{{{Kind: tfile.ByRange, Low: 0x401247, High: 0x40127d}}, {{Kind: tfile.ByOutside, Low: 0x401251, High: 0x401251}}},
			Where: func(f view.Frame) bool { return f.Number < 20 },
		}, 0, "[15 14]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			each := func(do func(view.Frame) error) error { return test.choice.Each(t.Context(), v, do) }
			if test.last > 0 {
				each = func(do func(view.Frame) error) error {
					return test.choice.EachOfLast(t.Context(), test.last, v, do)
				}
			}
			got := chosen(t, v, each)
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			count, err := test.choice.Count(t.Context(), v)
			if want := chosen(t, v, func(do func(view.Frame) error) error { return test.choice.Each(t.Context(), v, do) }); err != nil ||
				fmt.Sprint(count) != fmt.Sprint(numbersIn(want)) {
				t.Errorf("%d are counted of %s, error %v", count, want, err)
			}
		})
	}
}

// numbersIn counts the numbers of a list.
func numbersIn(list string) int {
	n := 0
	for i := range list {
		if list[i] != '[' && list[i] != ']' && list[i] != ' ' && (list[i-1] == '[' || list[i-1] == ' ') {
			n++
		}
	}
	return n
}

// TestEachEnds with the context, and with an error of the one that is called.
func TestEachEnds(t *testing.T) {
	v := basic(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := Choice{End: 85}
	calls := 0
	mine := errors.New("mine")
	do := func(view.Frame) error { calls++; return mine }
	if err := c.Each(ended, v, do); !errors.Is(err, context.Canceled) || calls != 0 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	if err := c.Each(t.Context(), v, do); err != mine || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	if err := c.EachOfLast(t.Context(), 3, v, do); err != mine || calls != 2 {
		t.Errorf("error %v after %d calls", err, calls)
	}
}

func TestPrevious(t *testing.T) {
	v := basic(t)
	for number, want := range map[int]int{0: -1, 1: 0, 3: -1, 4: -1, 5: 4, 9: 2, 11: 3} {
		got, ok := Previous(v, number)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("before frame %d: %d, want %d", number, got, want)
		}
	}
}

// TestEachAllocatesNothing per frame.
func TestEachAllocatesNothing(t *testing.T) {
	v := basic(t)
	c := Choice{End: 85, Tracepoints: []trace.Number{2, 4}, PC: [][]tfile.Query{At([]arch.Addr{1, 2})}}
	cost := testing.AllocsPerRun(10, func() {
		if err := c.Each(t.Context(), v, func(view.Frame) error { return nil }); err != nil {
			t.Fatal(err)
		}
	})
	if cost > 4 {
		t.Errorf("%v allocations over 85 frames", cost)
	}
}
