package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/matcher"
	"tracewell/itrace/spike"
	"tracewell/itrace/tarmac"
)

// onProcessors has so many at work.
func onProcessors(t *testing.T, n int) {
	usual := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(usual) })
}

// TestProcessors: an index is the same whatever number of processors builds it, of a trace that has everything, in several dialects.
func TestProcessors(t *testing.T) {
	_, records := generated(t, generate.Options{Instructions: 20_000, CPUs: 3})
	for _, d := range []*itrace.Dialect{matcher.Dialect, jsonl.Dialect, spike.Dialect, tarmac.Dialect} {
		text := append([]byte(d.Header), textOf(d, records)...)
		text = append(text, "nothing that is known\n"...)
		var indexes [][]byte
		for _, n := range []int{1, 2, 5} {
			onProcessors(t, n)
			_, index := indexed(t, text, d)
			indexes = append(indexes, index)
		}
		if !bytes.Equal(indexes[0], indexes[1]) || !bytes.Equal(indexes[0], indexes[2]) {
			t.Errorf("%s: the indexes differ", d.Name)
		}
	}
}

// textOf is records in a dialect.
func textOf(d *itrace.Dialect, records []itrace.Record) (text []byte) {
	for from, i := 0, 1; i <= len(records); i++ {
		if i == len(records) || !d.Groups || records[i].Kind == itrace.Instruction {
			text = d.Append(text, records[from:i])
			from = i
		}
	}
	return text
}

// TestBuildEnds: errors of reading and of writing end a build on several processors, and nothing is read afterwards.
func TestBuildEnds(t *testing.T) {
	onProcessors(t, 2)
	text, _ := generated(t, generate.Options{Instructions: 20_000})
	broken := errors.New("broken")
	in := io.MultiReader(bytes.NewReader(text), iotest.ErrReader(broken))
	if _, err := Build(in, matcher.Dialect, Identity{}, io.Discard); err != broken {
		t.Errorf("reading: %v", err)
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if _, err := Build(bytes.NewReader(text), matcher.Dialect, Identity{}, w); err != broken {
		t.Errorf("writing: %v", err)
	}
}

// TestScans: a search through all of a trace finds the same in the same order with and without others to help, wherever it ends,
// and also if whoever is told looks at more of the trace.
func TestScans(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 60_000})
	trace, index := indexed(t, text, matcher.Dialect)
	if n := len(trace.dir.leaves); n < 4*scanAlone {
		t.Fatalf("there are %d blocks", n)
	}
	at, err := trace.Instruction(50)
	if err != nil {
		t.Fatal(err)
	}
	wants := []Want{{What: Execution, Addr: at.Addr, Size: 1}}
	const end = 59_000
	var all []int64
	for leaf := range trace.dir.leaves {
		if _, err = trace.visit(leaf, 10, end, wants, func(f Found) bool {
			all = append(all, f.Instruction)
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, most := range []int{1, len(all) / 3, len(all) / 2, len(all) - 1, len(all)} {
		for _, looks := range []int{-1, len(all) / 3} {
			for _, n := range []int{1, 3} {
				onProcessors(t, n)
				trace, err := Open(bytes.NewReader(index), int64(len(index)), bytes.NewReader(text), matcher.Dialect)
				if err != nil {
					t.Fatal(err)
				}
				var got []int64
				err = trace.Each(context.Background(), 10, end, wants, func(f Found) bool {
					if got = append(got, f.Instruction); len(got) == looks {
						if it, err := trace.Instruction(f.Instruction); err != nil || it.Addr != f.Item.Addr {
							t.Errorf("instruction %d: %v, %v", f.Instruction, it, err)
						}
					}
					return len(got) < most
				})
				if err != nil || !slices.Equal(got, all[:most]) {
					t.Errorf("the first %d, %d processors: %d, %v", most, n, len(got), err)
				}
			}
		}
	}

	// A trace that is not as it was is found out on the way, and an interrupt ends the search.
	changed := bytes.Clone(text)
	changed[len(changed)*2/3] ^= 1
	trace, err = Open(bytes.NewReader(index), int64(len(index)), bytes.NewReader(changed), matcher.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	count := func(Found) bool { found++; return true }
	if err := trace.Each(context.Background(), 10, end, wants, count); err != ErrForeign || found < len(all)/2 {
		t.Errorf("a trace that has changed: %v behind %d", err, found)
	}
	ctx, stop := context.WithCancel(context.Background())
	interrupted := 0
	err = trace.Each(ctx, 10, end, wants, func(Found) bool {
		if interrupted++; interrupted == len(all)/2 {
			stop()
		}
		return true
	})
	if !errors.Is(err, context.Canceled) || interrupted > len(all)*2/3 {
		t.Errorf("an interrupt: %v behind %d", err, interrupted)
	}
}
