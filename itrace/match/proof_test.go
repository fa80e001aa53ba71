package match

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/itrace/generate"
)

var (
	pairsLength = flag.Int64("pairs", 50_000, "how many instructions the traces have in which pairs of faults are planted")
	pairsAt     = flag.String("pairs-of", "", "plant only pairs with this kind first")
)

// TestPairsOfFaults plants two faults, of all kinds, at several distances.
func TestPairsOfFaults(t *testing.T) {
	n := *pairsLength
	ref, _ := generated(t, generate.Options{Instructions: n})
	kinds, _ := generate.FaultKinds()
	kinds = slices.DeleteFunc(kinds, func(k generate.FaultKind) bool { return k == generate.FaultGarbage || k == generate.FaultReorder })
	for _, first := range kinds {
		if *pairsAt != "" && string(first) != *pairsAt {
			continue
		}
		for _, second := range kinds {
			for _, distance := range []int64{1, 5, 50, 5000} {
				faults := []generate.Fault{{Kind: first, At: n / 2}, {Kind: second, At: n/2 + distance}}
				oth, planted := generated(t, generate.Options{Instructions: n, Faults: faults})
				r := compare(t, ref, oth, Options{})
				var want, got []Class
				for _, p := range planted {
					want = append(want, answers[p.Fault.Kind])
				}
				for _, d := range r.Differences {
					got = append(got, d.Class)
				}
				if !slices.Equal(want, got) {
					t.Errorf("%s, %s %d apart: %v, want %v\n%+v\n%s", first, second, distance, got, want, planted, show(r))
				}
			}
		}
	}
}

func lines(text string) int { return strings.Count(text, "\n") }

var _ = fmt.Sprint
