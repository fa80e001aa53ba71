package match

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
)

// TestConsequences: a list of consequences has those that are counted, each with a root cause that is not behind it, and asking for it
// changes nothing else.
func TestConsequences(t *testing.T) {
	some := false
	kinds, _ := generate.FaultKinds()
	for _, kind := range kinds {
		var reference, other bytes.Buffer
		if _, err := generate.Write(&reference, generate.Options{Instructions: 4000}); err != nil {
			t.Fatal(err)
		}
		faults := []generate.Fault{{Kind: generate.FaultState, At: 500}, {Kind: kind, At: 1500}}
		if _, err := generate.Write(&other, generate.Options{Instructions: 4000, Faults: faults}); err != nil {
			t.Fatal(err)
		}
		compare := func(most int) *Report {
			return Compare(t.Context(), Input{Name: "a", Dialect: matcher.Dialect, Reader: bytes.NewReader(reference.Bytes())},
				Input{Name: "b", Dialect: matcher.Dialect, Reader: bytes.NewReader(other.Bytes())}, nil,
				Options{Window: 4, Described: 100, Consequences: most, AllowUnknown: 1})
		}
		all, without, one := compare(1<<20), compare(0), compare(1)
		if int64(len(all.ConsequenceList)) != all.Consequences || len(one.ConsequenceList) != int(min(1, one.Consequences)) {
			t.Errorf("%s: %d and %d of %d consequences are listed", kind, len(all.ConsequenceList), len(one.ConsequenceList), all.Consequences)
		}
		some = some || all.Consequences > 1
		for _, c := range all.ConsequenceList {
			if c.Class == "" || c.Reference == nil && c.Other == nil || c.Context != nil {
				t.Errorf("%s: %+v", kind, c)
			}
			if at := all.Differences[c.Root].Reference; at != nil && c.Reference != nil && c.Reference.Instruction < at.Instruction {
				t.Errorf("%s: %+v follows from %+v", kind, c.Reference, at)
			}
		}
		for _, r := range []*Report{all, without, one} {
			r.ConsequenceList, r.Seconds = nil, 0
		}
		if diff := cmp.Diff(without, all) + cmp.Diff(without, one); diff != "" {
			t.Errorf("%s: -without a list +with one\n%s", kind, diff)
		}
	}
	if !some {
		t.Error("no fault had consequences")
	}
}
