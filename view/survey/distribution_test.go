package survey

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/symbol/ctype"
)

var (
	signed   = ctype.Int(8, true)
	unsigned = ctype.Int(8, false)
)

func number64(n int64) ctype.Number { return ctype.Number{Bits: uint64(n), Type: signed} }

// histogram draws bins as "low-high:count".
func histogram(d *Distribution) string {
	var bins []string
	for _, b := range d.Histogram() {
		bins = append(bins, fmt.Sprintf("%v-%v:%d", b.Low, b.High, b.Count))
	}
	return strings.Join(bins, " ")
}

func TestHistogram(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []int64
		want   string
	}{
		{"nothing", nil, ""},
		{"one", []int64{-7}, "-7--7:1"},
		{"few", []int64{3, 1, 3, 100}, "1-1:1 3-3:2 100-100:1"},
		{"one width", upTo(0, 50), "0-4:5 5-9:5 10-14:5 15-19:5 20-24:5 25-29:5 30-34:5 35-39:5 40-44:5 45-49:5"},
		{"around zero", upTo(-15, 6), "-16--15:1 -14--13:2 -12--11:2 -10--9:2 -8--7:2 -6--5:2 -4--3:2 -2--1:2 0-1:2 2-3:2 4-5:2"},
		{"wide around zero", upTo(-23, 40), "-30--21:3 -20--11:10 -10--1:10 0-9:10 10-19:10 20-29:10 30-39:10"},
		{"median below a gap", append(upTo(0, 50), upTo(1950, 2000)...),
			"0-0:1 1-1:1 2-3:2 4-7:4 8-15:8 16-31:16 32-63:18 64-127:0 128-255:0 256-511:0 512-1023:0 1024-2047:50"},
		{"skewed", append(upTo(0, 20), 700), "0-0:1 1-1:1 2-3:2 4-7:4 8-15:8 16-31:4 32-63:0 64-127:0 128-255:0 256-511:0 512-1023:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var d Distribution
			for _, v := range test.values {
				d.Add(number64(v))
			}
			if got := histogram(&d); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func upTo(low, end int64) []int64 {
	var values []int64
	for v := low; v < end; v++ {
		values = append(values, v)
	}
	return values
}

// TestExtremes has bins that end where the type does.
func TestExtremes(t *testing.T) {
	var d Distribution
	for _, v := range append(upTo(-10, 10), math.MinInt64, math.MaxInt64) {
		d.Add(number64(v))
	}
	bins := d.Histogram()
	if len(bins) > mostEqual+2 || bins[0].Low.Bits != 1<<63 || bins[len(bins)-1].High.Bits != math.MaxInt64 {
		t.Errorf("of all signed numbers: %s", histogram(&d))
	}
	d = Distribution{}
	for i := range uint64(100) {
		d.Add(ctype.Number{Bits: math.MaxUint64 - i, Type: unsigned})
	}
	bins = d.Histogram()
	if d.Max.Bits != math.MaxUint64 || d.Min.Bits != math.MaxUint64-99 || bins[len(bins)-1].High.Bits != math.MaxUint64 {
		t.Errorf("from %v to %v: %s", d.Min, d.Max, histogram(&d))
	}
}

// TestSkewed has a maximum at the bound from which on bins are of powers of two, and a minimum below zero.
func TestSkewed(t *testing.T) {
	for _, test := range []struct {
		low, high int64
		doubling  bool
	}{
		{0, 320, true}, {0, 319, false}, {1, 320, true}, {-1, 320, false},
	} {
		var d Distribution
		for range 20 { // so that 10 is the median
			d.Add(number64(10))
		}
		for v := int64(5); v < 20; v++ {
			d.Add(number64(v))
		}
		d.Add(number64(test.low))
		d.Add(number64(test.high))
		if bins := d.Histogram(); (bins[len(bins)-1].Low.Bits == 256) != test.doubling {
			t.Errorf("from %d to %d: %s", test.low, test.high, histogram(&d))
		}
	}
}

// TestFewValues has as many different values as are known one by one, and one more.
func TestFewValues(t *testing.T) {
	var d Distribution
	for v := range int64(fewValues) {
		d.Add(number64(v))
	}
	if !d.Exact() {
		t.Errorf("%d values are not known one by one", fewValues)
	}
	if d.Add(number64(fewValues)); d.Exact() {
		t.Errorf("%d values are known one by one", fewValues+1)
	}
}

// TestRanges numbers ranges in the order of values, also around zero.
func TestRanges(t *testing.T) {
	values := []float64{-math.MaxFloat64, -2, -1, -0.5, -1e-300, 0, 1e-300, 0.5, 0.75, 1, 2, math.MaxFloat64}
	for i, v := range values[1:] {
		if low, high := rangeOf(values[i]), rangeOf(v); low >= high {
			t.Errorf("%v is in range %d, %v in %d", values[i], low, v, high)
		}
	}
}

// TestTexts counts texts up to the bound one by one, those that it knows also when there are more.
func TestTexts(t *testing.T) {
	var texts Texts
	for i := range fewValues + 3 {
		texts.Add(strconv.Itoa(i))
	}
	texts.Add("1")
	texts.Add("0")
	texts.Add("1")
	frequent := texts.Frequent()
	if texts.Count != fewValues+6 || texts.Other != 3 || len(frequent) != fewValues {
		t.Errorf("%d texts, %d others, %d known", texts.Count, texts.Other, len(frequent))
	}
	if got := fmt.Sprint(frequent[:4]); got != "[{1 3} {0 2} {10 1} {100 1}]" {
		t.Errorf("the most frequent are %s", got)
	}
}

// TestManyValues compares percentiles of more values than are known one by one with those of all.
func TestManyValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() int64{
		"even":     func() int64 { return random.Int64N(1_000_000) },
		"skewed":   func() int64 { return int64(math.Exp(random.Float64() * 30)) },
		"negative": func() int64 { return random.Int64N(2_000_000) - 1_500_000 },
		"any":      func() int64 { return int64(random.Uint64()) },
	} {
		t.Run(name, func(t *testing.T) {
			var d Distribution
			var values []int64
			sum := 0.0
			for range 100_000 {
				v := draw()
				values = append(values, v)
				sum += float64(v)
				d.Add(number64(v))
			}
			slices.Sort(values)
			if d.Exact() || len(d.narrow) > 20_000 {
				t.Errorf("exact is %v, with %d ranges", d.Exact(), len(d.narrow))
			}
			for i, got := range d.Percentiles(1, 50, 90, 99, 100) {
				rank := []int{999, 49_999, 89_999, 98_999, 99_999}[i]
				want := float64(values[rank])
				if math.Abs(got.Float()-want) > math.Abs(want)/100+1 {
					t.Errorf("percentile %d is %v, want %v", i, got, want)
				}
			}
			if d.Min != number64(values[0]) || d.Max != number64(values[len(values)-1]) || math.Abs(d.Mean()*100_000-sum) > 1e-9*math.Abs(sum) {
				t.Errorf("from %v to %v, mean %v", d.Min, d.Max, d.Mean())
			}
			total := 0
			for _, b := range d.Histogram() {
				total += b.Count
			}
			if total != d.Count {
				t.Errorf("the histogram has %d values: %s", total, histogram(&d))
			}
		})
	}
}

func TestExactPercentiles(t *testing.T) {
	var d Distribution
	if got := d.Percentiles(50); got != nil {
		t.Errorf("of nothing: %v", got)
	}
	for v := range int64(100) {
		d.Add(number64(v + 1))
	}
	if got := fmt.Sprint(d.Percentiles(1, 50, 99, 100)); got != "[1 50 99 100]" || d.Mean() != 50.5 {
		t.Errorf("percentiles of 1 to 100: %s, mean %v", got, d.Mean())
	}
}

// TestAddAllocatesNothing once the values have been seen.
func TestAddAllocatesNothing(t *testing.T) {
	var d Distribution
	for v := range int64(10_000) {
		d.Add(number64(v))
	}
	if n := testing.AllocsPerRun(1000, func() { d.Add(number64(77)) }); n != 0 {
		t.Errorf("%v allocations a value, want none", n)
	}
}
