package tally

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"

	"tracewell/symbol/ctype"
)

// Scale says how values are sorted into buckets. The zero Scale has a bucket for each power of two, and for 0: 1, 2 to 3, 4 to 7
// and so on, and the same for negative numbers. Otherwise the buckets are Step wide, from Low up to High, which is excluded, and
// one each for what is below and above.
type Scale struct{ Low, High, Step int64 }

// mostBuckets is how many a linear scale has.
const mostBuckets = 1000

// NewScale reads the bounds of a linear scale.
func NewScale(low, high, step string) (s Scale, err error) {
	for _, number := range []struct {
		text string
		to   *int64
	}{{low, &s.Low}, {high, &s.High}, {step, &s.Step}} {
		if *number.to, err = strconv.ParseInt(number.text, 0, 64); err != nil {
			return s, fmt.Errorf("%q is no integer of 64 bits", number.text)
		}
	}
	switch {
	case s.Step <= 0 || s.Low >= s.High:
		return s, fmt.Errorf("%d to %d in steps of %d makes no buckets: want LOW < HIGH and STEP > 0", s.Low, s.High, s.Step)
	case (s.width()-1)/uint64(s.Step) >= mostBuckets: // before above makes an int of it
		return s, fmt.Errorf("%d to %d in steps of %d makes more than %d buckets", s.Low, s.High, s.Step, mostBuckets)
	}
	return s, nil
}

// width is how many integers lie between the bounds. As an unsigned number it does not overflow.
func (s Scale) width() uint64 { return uint64(s.High) - uint64(s.Low) }

// below is the number of the bucket in front of a linear scale, whose own begin with 0.
const below = -1

// above is the number of the bucket behind a linear scale.
func (s Scale) above() int { return int((s.width()-1)/uint64(s.Step)) + 1 }

// number numbers the bucket of a value, in the order of values.
func (s Scale) number(v ctype.Number) int {
	switch {
	case s.Step == 0 && v.Signed() && int64(v.Bits) < 0:
		return -bits.Len64(-v.Bits)
	case s.Step == 0:
		return bits.Len64(v.Bits)
	// What has no sign and is beyond 2^63 is above any bound.
	case !v.Signed() && int64(v.Bits) < 0, int64(v.Bits) >= s.High:
		return s.above()
	case int64(v.Bits) < s.Low:
		return below
	}
	return int((v.Bits - uint64(s.Low)) / uint64(s.Step))
}

// Bucket is how many values lie between two, both included. Of those below and above a linear scale only one bound is known.
type Bucket struct {
	Low, High     ctype.Number
	Count         int
	NoLow, NoHigh bool
}

// bucket returns the bounds of a bucket for values of a type.
func (s Scale) bucket(number int, of *ctype.Type) Bucket {
	integer := ctype.Int(8, true) // of a linear scale, whose bounds are given
	at := func(n int64) ctype.Number { return ctype.Number{Bits: uint64(n), Type: integer} }
	switch {
	case s.Step != 0 && number == below:
		return Bucket{NoLow: true, High: at(s.Low - 1)}
	case s.Step != 0 && number == s.above():
		return Bucket{Low: at(s.High), NoHigh: true}
	case s.Step != 0:
		low := s.Low + int64(number)*s.Step
		last := min(uint64(s.Step), uint64(s.High)-uint64(low)) - 1
		return Bucket{Low: at(low), High: at(low + int64(last))}
	case number == 0:
		return Bucket{Low: ctype.Number{Type: of}, High: ctype.Number{Type: of}}
	}
	magnitude := number
	if number < 0 {
		magnitude = -number
	}
	near := uint64(1) << (magnitude - 1)
	far := near + (near - 1)
	if number > 0 {
		return Bucket{Low: ctype.Number{Bits: near, Type: of}, High: ctype.Number{Bits: far, Type: of}}
	}
	if magnitude == 64 {
		far = near // there is one value alone with 64 bits before the sign
	}
	return Bucket{Low: ctype.Number{Bits: -far, Type: of}, High: ctype.Number{Bits: -near, Type: of}}
}

// Histogram counts values by buckets.
type Histogram struct {
	scale  Scale
	of     *ctype.Type
	counts map[int]int // by Scale.number
}

// NewHistogram returns a histogram of no values.
func NewHistogram(s Scale) *Histogram { return &Histogram{scale: s, counts: make(map[int]int)} }

// Add takes a value that came so many times. All are of one type.
func (h *Histogram) Add(v ctype.Number, times int) {
	h.of = v.Type
	h.counts[h.scale.number(v)] += times
}

// Buckets returns the buckets from the least value to the greatest, with the empty ones between them.
func (h *Histogram) Buckets() []Bucket {
	if len(h.counts) == 0 {
		return nil
	}
	numbers := slices.Sorted(maps.Keys(h.counts))
	var buckets []Bucket
	for n := numbers[0]; n <= numbers[len(numbers)-1]; n++ {
		b := h.scale.bucket(n, h.of)
		b.Count = h.counts[n]
		buckets = append(buckets, b)
	}
	return buckets
}
