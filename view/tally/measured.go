package tally

import (
	"math/big"
	"math/bits"

	"tracewell/symbol/ctype"
	"tracewell/view/survey"
)

// Measured is the values of one expression in a group.
type Measured struct {
	Count    int
	Min, Max ctype.Number // if Count is not 0

	high, low uint64 // the sum, of 128 bits in two's complement: 2^64 values of 64 bits cannot overflow it
	quantiles *survey.Distribution
	histogram *Histogram
}

// add takes a value that came so many times, and returns how many cells more there are.
func (m *Measured) add(v ctype.Number, times int, g Gather) int {
	if m.Count == 0 {
		m.Min, m.Max = v, v
		if g.Quantiles {
			m.quantiles = &survey.Distribution{}
		}
		if g.Histogram != nil {
			m.histogram = NewHistogram(*g.Histogram)
		}
	}
	before := m.cells()
	m.Count += times
	if v.Less(m.Min) {
		m.Min = v
	}
	if m.Max.Less(v) {
		m.Max = v
	}
	var carry uint64
	high, low := bits.Mul64(v.Bits, uint64(times))
	if v.Signed() && int64(v.Bits) < 0 { // the bits are 2^64 more than the value
		high -= uint64(times)
	}
	m.low, carry = bits.Add64(m.low, low, 0)
	m.high += high + carry
	if m.quantiles != nil {
		m.quantiles.AddTimes(v, times)
	}
	if m.histogram != nil {
		m.histogram.Add(v, times)
	}
	return m.cells() - before
}

// cells is how many numbers there are to hold.
func (m *Measured) cells() (n int) {
	if m.quantiles != nil {
		n = m.quantiles.Size()
	}
	if m.histogram != nil {
		n += len(m.histogram.counts)
	}
	return n
}

// Sum returns the sum, which is exact.
func (m *Measured) Sum() *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(int64(m.high)), 64)
	return sum.Add(sum, new(big.Int).SetUint64(m.low))
}

// Mean returns the mean; 0 without values.
func (m *Measured) Mean() float64 {
	if m.Count == 0 {
		return 0
	}
	mean, _ := new(big.Rat).SetFrac(m.Sum(), big.NewInt(int64(m.Count))).Float64()
	return mean
}

// Quantiles returns, for each percentage in ascending order, the least value that so many percent of all do not exceed, and whether
// they are exact and not within 1 %. There are none without values, or if they are not gathered.
func (m *Measured) Quantiles(percentages ...int) (values []ctype.Number, exact bool) {
	if m.quantiles == nil {
		return nil, true
	}
	return m.quantiles.Percentiles(percentages...), m.quantiles.Exact()
}

// Buckets returns the buckets of the histogram (Histogram.Buckets), none if it is not gathered.
func (m *Measured) Buckets() []Bucket {
	if m.histogram == nil {
		return nil
	}
	return m.histogram.Buckets()
}
