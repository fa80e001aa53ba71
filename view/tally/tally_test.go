package tally_test

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/symbol/ctype"
	"tracewell/view/tally"
)

var (
	signed   = ctype.Int(8, true)
	unsigned = ctype.Int(8, false)
)

func signedNumber(n int64) ctype.Number { return ctype.Number{Bits: uint64(n), Type: signed} }

func unsignedNumber(n uint64) ctype.Number { return ctype.Number{Bits: n, Type: unsigned} }

// draw draws buckets as "low-high:count", without the empty ones.
func draw(buckets []tally.Bucket) string {
	var all []string
	for _, b := range buckets {
		low, high := "", ""
		if !b.NoLow {
			low = b.Low.String()
		}
		if !b.NoHigh {
			high = b.High.String()
		}
		if b.Count > 0 {
			all = append(all, fmt.Sprintf("%s..%s:%d", low, high, b.Count))
		}
	}
	return strings.Join(all, " ")
}

// TestEdges has the values on both sides of bucket bounds, and the extremes of both types.
func TestEdges(t *testing.T) {
	linear := func(low, high, step string) tally.Scale {
		s, err := tally.NewScale(low, high, step)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	least, greatest := fmt.Sprint(math.MinInt64), fmt.Sprint(math.MaxInt64)
	for _, c := range []struct {
		scale  tally.Scale
		values []ctype.Number
		want   string
	}{
		{tally.Scale{}, nil, ""},
		{tally.Scale{}, []ctype.Number{signedNumber(0), signedNumber(1), signedNumber(2), signedNumber(3), signedNumber(4)}, "0..0:1 1..1:1 2..3:2 4..7:1"},
		{tally.Scale{}, []ctype.Number{signedNumber(-1), signedNumber(-2), signedNumber(-3), signedNumber(-4)}, "-7..-4:1 -3..-2:2 -1..-1:1"},
		{tally.Scale{}, []ctype.Number{signedNumber(math.MinInt64), signedNumber(math.MinInt64 + 1), signedNumber(math.MaxInt64)},
			least + ".." + least + ":1 -9223372036854775807..-4611686018427387904:1 4611686018427387904.." + greatest + ":1"},
		{tally.Scale{}, []ctype.Number{unsignedNumber(1<<63 - 1), unsignedNumber(1 << 63), unsignedNumber(math.MaxUint64)},
			"4611686018427387904.." + greatest + ":1 9223372036854775808..18446744073709551615:2"},
		{linear("-5", "10", "5"), []ctype.Number{signedNumber(-6), signedNumber(-5), signedNumber(-1), signedNumber(0), signedNumber(9), signedNumber(10)},
			"..-6:1 -5..-1:2 0..4:1 5..9:1 10..:1"},
		{linear("0", "10", "4"), []ctype.Number{unsignedNumber(8), unsignedNumber(9), unsignedNumber(10), unsignedNumber(1 << 63)}, "8..9:2 10..:2"},
		{linear(least, greatest, "0x7fffffffffffffff"), []ctype.Number{signedNumber(math.MinInt64), signedNumber(-1), signedNumber(0), signedNumber(math.MaxInt64)},
			least + "..-2:1 -1..9223372036854775805:2 " + greatest + "..:1"},
	} {
		h := tally.NewHistogram(c.scale)
		for _, v := range c.values {
			h.Add(v, 1)
		}
		if got := draw(h.Buckets()); got != c.want {
			t.Errorf("%v, %v:\n got %s\nwant %s", c.scale, c.values, got, c.want)
		}
	}
}

// TestBadScales are refused before a run begins.
func TestBadScales(t *testing.T) {
	for _, bad := range [][3]string{
		{"a", "2", "1"}, {"0", "9223372036854775808", "1"}, {"0", "10", "0"}, {"0", "10", "-1"}, {"10", "10", "1"}, {"0", "1001", "1"},
		{"-9223372036854775808", "9223372036854775807", "1"},
	} {
		if s, err := tally.NewScale(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%q is %v", bad, s)
		}
	}
	if _, err := tally.NewScale("0", "1000", "1"); err != nil {
		t.Error(err)
	}
}

// naive is what a key comes to by the most simple means.
type naive struct{ values []int64 }

func (n *naive) sum() *big.Int {
	sum := new(big.Int)
	for _, v := range n.values {
		sum.Add(sum, big.NewInt(v))
	}
	return sum
}

// TestAgainstNaive holds the figures of random values, small and large, of several keys to those of lists of all values.
func TestAgainstNaive(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		scale, err := tally.NewScale("-100", "900", "7")
		if err != nil {
			t.Fatal(err)
		}
		table := tally.New[string](tally.Gather{Quantiles: true}, tally.Gather{Histogram: &scale}, tally.Gather{Histogram: &tally.Scale{}})
		all, hits := map[string]*naive{}, 0
		shift := random.IntN(64)
		for range 5000 {
			key := fmt.Sprint("key ", random.IntN(5))
			v := int64(random.Uint64()) >> shift
			r := tally.Reading{Number: signedNumber(v), OK: true}
			times := 1 + random.IntN(3)
			hits += times
			table.Add([]byte(key), times, []tally.Reading{r, r, r}, func() string { return key })
			if all[key] == nil {
				all[key] = &naive{}
			}
			all[key].values = append(all[key].values, slices.Repeat([]int64{v}, times)...)
		}
		groups := table.TopBySum(0, 100)
		if len(groups) != len(all) || table.Hits != hits || table.Dropped != 0 {
			t.Fatalf("seed %d: %d groups, %d hits", seed, len(groups), table.Hits)
		}
		for i, g := range groups {
			want := all[g.Label]
			slices.Sort(want.values)
			m := &g.Values[0]
			n := len(want.values)
			if g.Count != n || m.Sum().Cmp(want.sum()) != 0 || int64(m.Min.Bits) != want.values[0] || int64(m.Max.Bits) != want.values[n-1] {
				t.Errorf("seed %d, %s: %d hits from %v to %v, sum %v; want %d, %v", seed, g.Label, g.Count, m.Min, m.Max, m.Sum(), n, want.sum())
			}
			if i > 0 && m.Sum().Cmp(groups[i-1].Values[0].Sum()) > 0 {
				t.Errorf("seed %d: %s is not in order", seed, g.Label)
			}
			got, exact := m.Quantiles(50, 90, 99)
			for i, p := range []int{50, 90, 99} {
				v := float64(want.values[(n*p+99)/100-1])
				if off := math.Abs(float64(int64(got[i].Bits)) - v); off > math.Abs(v)/100+1 || exact && off > 0 {
					t.Errorf("seed %d, %s: %d%% is %v, want %v; exact: %v", seed, g.Label, p, got[i], v, exact)
				}
			}
			for _, m := range g.Values[1:] {
				checkBuckets(t, m.Buckets(), want.values)
			}
		}
	}
}

// checkBuckets counts the values within each bucket, and wants each in one.
func checkBuckets(t *testing.T, buckets []tally.Bucket, values []int64) {
	t.Helper()
	total := 0
	for _, b := range buckets {
		within := 0
		for _, v := range values {
			if (b.NoLow || v >= int64(b.Low.Bits)) && (b.NoHigh || v <= int64(b.High.Bits)) {
				within++
			}
		}
		if within != b.Count {
			t.Errorf("%s: there are %d", draw([]tally.Bucket{b}), within)
		}
		total += within
	}
	if total != len(values) {
		t.Errorf("%d of %d values are in a bucket", total, len(values))
	}
}

// TestManyKeys has a million keys that come once each, and some that come often, now and then or from the middle on. The frequent ones
// are known, no count is too high, and what a count lacks is within what it says.
func TestManyKeys(t *testing.T) {
	const keys = 1_000_000
	table := tally.New[string]()
	add := func(key string) { table.Add([]byte(key), 1, nil, func() string { return key }) }
	frequent := map[string]int{}
	for i := range keys {
		add(fmt.Sprint(i))
		if i%100 == 0 {
			add("now and then")
			frequent["now and then"]++
		}
		if i > keys/2 && i%50 == 0 {
			add("late")
			frequent["late"]++
		}
	}
	counted := 0
	for _, g := range table.Top(math.MaxInt) {
		counted += g.Count
		if want, ok := frequent[g.Label]; ok && (g.Count > want || g.Count+g.Short < want) {
			t.Errorf("%s: %d, and at most %d more; want %d", g.Label, g.Count, g.Short, want)
		}
	}
	if want := keys + frequent["late"] + frequent["now and then"]; table.Hits != want || counted+table.Dropped != want {
		t.Errorf("%d hits, %d in groups and %d dropped; want %d", table.Hits, counted, table.Dropped, want)
	}
	first := table.Top(2)
	if names := []string{first[0].Label, first[1].Label}; !slices.Equal(slices.Sorted(maps.Keys(frequent)), slices.Sorted(slices.Values(names))) {
		t.Errorf("the most frequent are %q", names)
	}
	if table.Dropped == 0 || table.Len() > 1<<17 {
		t.Errorf("%d keys are known, and %d hits dropped", table.Len(), table.Dropped)
	}
}

// TestRecent: each interval begins with 0, for the table and its groups.
func TestRecent(t *testing.T) {
	table := tally.New[int]()
	for round := range 3 {
		for range round + 1 {
			table.Add([]byte("key"), 1, nil, func() int { return round })
		}
		g := table.Top(1)[0]
		if table.Recent() != round+1 || g.Recent() != round+1 || g.Label != 0 {
			t.Errorf("round %d: %d hits, %d of the key, whose label is of round %d", round, table.Recent(), g.Recent(), g.Label)
		}
		table.Mark()
	}
}

// TestLacking: a hit without a value counts as a hit, and not among the values.
func TestLacking(t *testing.T) {
	table := tally.New[int](tally.Gather{Quantiles: true, Histogram: &tally.Scale{}})
	for i := range 4 {
		table.Add(nil, 1, []tally.Reading{{Number: signedNumber(7), OK: i == 3}}, func() int { return 0 })
		if m := &table.Top(1)[0].Values[0]; i < 3 && (m.Count != 0 || m.Mean() != 0 || m.Buckets() != nil) {
			t.Errorf("no value: %d, mean %v, %v", m.Count, m.Mean(), m.Buckets())
		}
	}
	if g := table.Top(1)[0]; g.Count != 4 || g.Values[0].Count != 1 || g.Values[0].Mean() != 7 {
		t.Errorf("%d hits, %d values, mean %v", g.Count, g.Values[0].Count, g.Values[0].Mean())
	}
}
