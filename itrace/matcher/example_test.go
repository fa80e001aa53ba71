package matcher_test

import (
	"cmp"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/matcher"
)

// The ten addresses that a program executes most often.
func Example() {
	trace, err := os.Open("testdata/loop.log")
	if err != nil {
		log.Fatal(err)
	}
	executed := make(map[uint64]int)
	for r, err := range itrace.NewReader(trace, matcher.Dialect).All() {
		if err != nil {
			log.Fatal(err)
		}
		if r.Kind == itrace.Instruction && !r.Skipped {
			executed[r.Addr]++
		}
	}
	most := slices.SortedFunc(maps.Keys(executed), func(a, b uint64) int {
		return cmp.Or(executed[b]-executed[a], cmp.Compare(a, b))
	})
	for _, addr := range most[:10] {
		fmt.Printf("%#x: %d times\n", addr, executed[addr])
	}
	// Output:
	// 0x80008048: 74 times
	// 0x8000804c: 74 times
	// 0x80008050: 71 times
	// 0x80008054: 71 times
	// 0x80008058: 70 times
	// 0x8000805c: 70 times
	// 0x80008060: 58 times
	// 0x80008064: 58 times
	// 0x80008068: 58 times
	// 0x8000801c: 24 times
}
