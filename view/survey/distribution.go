package survey

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"

	"tracewell/symbol/ctype"
)

// Distribution gathers the values of one expression in a bounded space. As long as there are few different ones it knows
// each; then it knows into which of many narrow ranges they fall, each less than 1 % wide. Count, mean and extremes are exact
// in either case.
type Distribution struct {
	Count    int
	Min, Max ctype.Number // if Count is not 0
	sum      float64

	each   map[uint64]int // how often each value came, by its bits; nil once there were too many
	narrow map[int64]int  // by rangeOf
}

// fewValues is how many different values a Distribution knows one by one.
const fewValues = 1 << 12

// Add takes a value once.
func (d *Distribution) Add(v ctype.Number) { d.AddTimes(v, 1) }

// AddTimes takes a value that came so many times. All must be of one type.
func (d *Distribution) AddTimes(v ctype.Number, times int) {
	if d.Count == 0 {
		d.Min, d.Max, d.each = v, v, make(map[uint64]int)
	}
	if v.Less(d.Min) {
		d.Min = v
	}
	if d.Max.Less(v) {
		d.Max = v
	}
	d.Count += times
	d.sum += v.Float() * float64(times)
	if d.each == nil {
		d.narrow[rangeOf(v.Float())] += times
		return
	}
	d.each[v.Bits] += times
	if len(d.each) > fewValues {
		d.forget()
	}
}

// forget goes over from values to ranges.
func (d *Distribution) forget() {
	d.narrow = make(map[int64]int)
	for value, count := range d.each {
		d.narrow[rangeOf(d.value(value).Float())] += count
	}
	d.each = nil
}

func (d *Distribution) value(bits uint64) ctype.Number {
	v := d.Min
	v.Bits = bits
	return v
}

// droppedBits are the low bits of a floating-point number that do not count: what is left of the 52 bits of its fraction makes
// 128 ranges of each power of two.
const droppedBits = 52 - 7

// rangeOf numbers the range that a value falls into, in the order of values. There are some 16,000 for integers of 64 bits.
func rangeOf(f float64) int64 {
	if f < 0 {
		return -int64(math.Float64bits(-f) >> droppedBits)
	}
	return int64(math.Float64bits(f) >> droppedBits)
}

// bottomOf is the value of a range that is nearest to 0.
func bottomOf(r int64) float64 {
	if r < 0 {
		return -math.Float64frombits(uint64(-r) << droppedBits)
	}
	return math.Float64frombits(uint64(r) << droppedBits)
}

// Size is how many different values or ranges it keeps count of.
func (d *Distribution) Size() int { return len(d.each) + len(d.narrow) }

// Exact reports whether percentiles and bins are exact, and not within 1 %.
func (d *Distribution) Exact() bool { return d.narrow == nil }

// Mean returns the mean; 0 without values.
func (d *Distribution) Mean() float64 { return d.sum / float64(max(d.Count, 1)) }

// point is a value and how often it came.
type point struct {
	value ctype.Number
	count int
}

// points returns the values in their order. Of ranges it has one value each.
func (d *Distribution) points() []point {
	var points []point
	for value, count := range d.each {
		points = append(points, point{d.value(value), count})
	}
	for _, r := range slices.Sorted(maps.Keys(d.narrow)) {
		points = append(points, point{d.integer(bottomOf(r)), d.narrow[r]})
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(order(a.value), order(b.value)) })
	return points
}

// integer returns f without its fraction as a value, or an extreme if it is beyond that.
func (d *Distribution) integer(f float64) ctype.Number {
	switch {
	case f <= d.Min.Float():
		return d.Min
	case f >= d.Max.Float():
		return d.Max
	case d.Min.Signed():
		return d.value(uint64(int64(f)))
	}
	return d.value(uint64(f))
}

// Percentiles returns for each percentage the least value than which at least so many percent of all are not greater; nothing
// without values. The percentages ascend.
func (d *Distribution) Percentiles(percentages ...int) []ctype.Number {
	var found []ctype.Number
	below := 0
	for _, p := range d.points() {
		below += p.count
		for len(found) < len(percentages) && below*100 >= percentages[len(found)]*d.Count {
			found = append(found, p.value)
		}
	}
	return found
}

// Bin is how many values lie between two, both included.
type Bin struct {
	Low, High ctype.Number
	Count     int
}

// The sizes of a histogram.
const (
	mostSingle = 12 // different values, for a bin each
	mostEqual  = 10 // steps between the extremes, for bins of one width
	skewed     = 32 // times the median, for a maximum that bins of one width would leave all others in the first
)

// Histogram sorts the values into a few bins, all that are between the extremes: one for each value, or of one width with
// round bounds, or each as wide as all before it if a few values are much greater than most.
func (d *Distribution) Histogram() []Bin {
	if d.Count == 0 {
		return nil
	}
	points := d.points()
	if d.Exact() && len(points) <= mostSingle {
		var bins []Bin
		for _, p := range points {
			bins = append(bins, Bin{p.value, p.value, p.count})
		}
		return bins
	}
	// Bins of one width would put nearly all values into the first one if the maximum is far away, as latencies have
	// it.
	median := d.Percentiles(50)[0].Float()
	if d.Min.Float() >= 0 && d.Max.Float() >= skewed*max(median, 1) {
		return d.fill(points, doubling)
	}
	step := roundStep(order(d.Max) - order(d.Min))
	return d.fill(points, func(v ctype.Number) (low, high uint64) { return stepAround(v, step) })
}

// fill sorts points into bins, whose bounds are in the terms of order.
func (d *Distribution) fill(points []point, bounds func(ctype.Number) (low, high uint64)) []Bin {
	var bins []Bin
	for _, p := range points {
		for len(bins) == 0 || bins[len(bins)-1].High.Less(p.value) {
			next := d.Min
			if n := len(bins); n > 0 {
				next = d.value(bins[n-1].High.Bits + 1)
			}
			low, high := bounds(next)
			bins = append(bins, Bin{d.inOrder(low), d.inOrder(high), 0})
		}
		bins[len(bins)-1].Count += p.count
	}
	return bins
}

// order maps values to numbers that are unsigned and in the same order.
func order(v ctype.Number) uint64 { return v.Bits ^ zero(v) }

// zero is the order of the value 0.
func zero(v ctype.Number) uint64 {
	if v.Signed() {
		return 1 << 63
	}
	return 0
}

// inOrder is the inverse of order.
func (d *Distribution) inOrder(o uint64) ctype.Number { return d.value(o ^ zero(d.Min)) }

// doubling are the bins 0, 1, 2 to 3, 4 to 7 and so on.
func doubling(v ctype.Number) (low, high uint64) {
	n := bits.Len64(v.Bits)
	if n == 0 {
		return zero(v), zero(v)
	}
	low = 1 << (n - 1)
	return zero(v) + low, zero(v) + low + (low - 1)
}

// roundStep is the least of 1, 2, 5, 10, 20, 50 and so on that makes at most mostEqual steps of a spread.
func roundStep(spread uint64) uint64 {
	for power := uint64(1); power <= math.MaxUint64/100; power *= 10 {
		for _, step := range []uint64{power, 2 * power, 5 * power} {
			if spread/step <= mostEqual {
				return step
			}
		}
	}
	return spread/mostEqual + 1
}

// stepAround is the bin of a value when steps begin at 0.
func stepAround(v ctype.Number, step uint64) (low, high uint64) {
	o, middle := order(v), zero(v)
	// In the order of unsigned numbers, where the zero of a signed type lies in the middle: steps are counted from
	// there in both directions, so that bounds are round.
	beyond := (o - middle) % step
	if o < middle {
		beyond = (step - (middle-o)%step) % step
	}
	low = o - min(beyond, o)
	high = o + min(step-1-beyond, math.MaxUint64-o)
	return low, high
}
