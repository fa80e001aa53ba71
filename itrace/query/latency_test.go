package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/query"
)

// TestExecutedAndLatency counts executions and measures between them, against a walk through all instructions.
func TestExecutedAndLatency(t *testing.T) {
	for _, cpus := range []int32{1, 2} {
		trace, s := generated(t, generate.Options{Instructions: 9_000, CPUs: cpus, TimeBase: 1000})
		random := rand.New(rand.NewPCG(5, uint64(cpus)))
		for range 30 {
			some := func() uint64 {
				for {
					if r := &s.records[random.IntN(len(s.records))]; r.Kind == itrace.Instruction {
						return r.Addr
					}
				}
			}
			from, to := some(), some()
			if random.IntN(4) == 0 {
				to = from
			}
			q := s.someAsked(random)
			if cpus == 1 {
				q.cpu = -1
			}
			pick := restrict(t, trace, q)
			var got, want []string
			place, err := trace.Code(fmt.Sprintf("0x%x", from))
			if err != nil {
				t.Fatal(err)
			}
			if err := trace.Executed(t.Context(), place, pick, func(step query.Step) error {
				got = append(got, fmt.Sprint(step.Number))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			for i := range s.records {
				if r := &s.records[i]; s.inside(r, q) && r.Addr == from {
					want = append(want, fmt.Sprint(r.number))
				}
			}
			compare(t, "executions", q, got, q.picked(want))
			counts, err := trace.Count(t.Context(), place)
			if err != nil || len(counts) != 1 || counts[0] != int64(len(want)) {
				t.Fatalf("%v executions, want %d; %v", counts, len(want), err)
			}
			s.compareLatency(t, trace, q, from, to)
		}
	}
}

// inside reports whether a record is an instruction that is asked about.
func (s *story) inside(r *told, q asked) bool {
	return r.Kind == itrace.Instruction && r.number >= q.from && r.number < q.to && (q.cpu < 0 || r.CPU == q.cpu)
}

// compareLatency measures each execution of a place by itself.
func (s *story) compareLatency(t *testing.T, trace *query.Trace, q asked, from, to uint64) {
	t.Helper()
	a, errA := trace.Code(fmt.Sprintf("0x%x", from))
	b, errB := trace.Code(fmt.Sprintf("0x%x", to))
	l, err := trace.Latency(t.Context(), a, b)
	if errA != nil || errB != nil || err != nil {
		t.Fatal(errA, errB, err)
	}
	var lengths, times []uint64
	open := int64(0)
	for i := range s.records {
		start := &s.records[i]
		if !s.inside(start, q) || start.Addr != from {
			continue
		}
		length, found := uint64(0), false
		for k := i + 1; k < len(s.records) && !found; k++ {
			if r := &s.records[k]; s.inside(r, q) && r.CPU == start.CPU {
				if length++; r.Addr == to {
					lengths, times, found = append(lengths, length), append(times, r.Time-start.Time), true
				}
			}
		}
		if !found {
			open++
		}
	}
	if l.Pairs != int64(len(lengths)) || l.Open != open || l.Left != 0 {
		t.Fatalf("from 0x%x to 0x%x, %+v: %d pairs, %d open, want %d and %d", from, to, q, l.Pairs, l.Open, len(lengths), open)
	}
	for _, m := range []struct {
		got  *query.Measured
		want []uint64
	}{{&l.Lengths, lengths}, {&l.Times, times}} {
		slices.Sort(m.want)
		n := len(m.want)
		if n == 0 {
			continue
		}
		rank := func(p int) uint64 { return m.want[(n*p+99)/100-1] }
		quantiles, exact := m.got.Quantiles(50, 90, 99)
		if m.got.Min.Bits != m.want[0] || m.got.Max.Bits != m.want[n-1] || m.got.Count != n ||
			exact && (quantiles[0].Bits != rank(50) || quantiles[1].Bits != rank(90) || quantiles[2].Bits != rank(99)) {
			t.Fatalf("from 0x%x to 0x%x, %+v: min %v max %v quantiles %v, want %d %d %d %d %d", from, to, q, m.got.Min, m.got.Max, quantiles,
				m.want[0], m.want[n-1], rank(50), rank(90), rank(99))
		}
		longest, err := trace.Step(m.got.Longest.Start)
		if err != nil || longest.Item.Addr != from {
			t.Errorf("the longest begins at %+v, %v", longest, err)
		}
	}
}
