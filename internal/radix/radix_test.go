package radix

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type entry struct {
	key   uint64
	order int
}

// TestSort compares with a stable sort by comparison: keys of few and of many bits, with and without digits that all have in common.
func TestSort(t *testing.T) {
	for _, n := range []int{0, 1, 2, few - 1, few, 10 * few} {
		for _, mask := range []uint64{0, 0xff, 0xffffff, 0xff00000000ff, 1<<64 - 1} {
			list := make([]entry, n)
			for i := range list {
				list[i] = entry{0x1000000000000000 | rand.Uint64()&mask, i}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
			Sort(list, func(e *entry) uint64 { return e.key })
			if !slices.Equal(list, want) {
				t.Errorf("%d entries whose keys differ in %#x are not in order", n, mask)
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	list, work := make([]entry, 200_000), make([]entry, 200_000)
	for i := range list {
		list[i] = entry{0x555555000000 + rand.Uint64N(16<<20), i}
	}
	for b.Loop() {
		copy(work, list)
		Sort(work, func(e *entry) uint64 { return e.key })
	}
}
