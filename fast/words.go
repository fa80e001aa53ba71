package fast

import "math/bits"

// mulHigh is the upper half of a product.
func mulHigh(x, y uint64) uint64 {
	high, _ := bits.Mul64(x, y)
	return high
}
