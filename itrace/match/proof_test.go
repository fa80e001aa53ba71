package match

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"tracewell/itrace/generate"
)

var (
	million  = flag.Bool("million", false, "compare traces of a million instructions as well")
	provenAt = flag.Int64("at", 1000, "the instruction at which the first of a pair of faults is planted")
)

// provenKinds are the kinds of fault that make a difference that can be told.
func provenKinds() []generate.FaultKind {
	kinds, _ := generate.FaultKinds()
	return slices.DeleteFunc(kinds, func(k generate.FaultKind) bool { return answers[k] == "" })
}

// behindFaults is how many instructions follow the second of a pair of faults: more than are looked at for what explains it.
const behindFaults = 2000

// TestPairsOfFaults plants two faults, of all kinds, at several distances: both are reported, and nothing else. What the package's
// documentation says cannot be told apart is counted.
func TestPairsOfFaults(t *testing.T) {
	t.Parallel()
	pairs, merged := 0, 0
	distances := []int64{50, 1, 5, 5000}
	distances = distances[:fewer(len(distances))]
	for _, distance := range distances {
		n := *provenAt + distance + behindFaults
		ref, _ := generated(t, generate.Options{Instructions: n})
		for _, first := range provenKinds() {
			for _, second := range provenKinds() {
				faults := []generate.Fault{{Kind: first, At: *provenAt}, {Kind: second, At: *provenAt + distance}}
				oth, planted := generated(t, generate.Options{Instructions: n, Faults: faults})
				r := compare(t, ref, oth, Options{})
				pairs++
				switch asPlanted, why := judge(planted, r); {
				case asPlanted:
				case why == "":
					t.Errorf("%s, %s %d apart: %+v\n%s", first, second, distance, planted, show(r))
				default:
					t.Logf("%s, %s %d apart: %s", first, second, distance, why)
					merged++
				}
			}
		}
	}
	if merged > pairs/8 {
		t.Errorf("%d of %d pairs are reported as one", merged, pairs)
	}
}

// near is how many instructions apart two faults are of which one can be taken for a part of the other.
const near = 12

// judge reports whether a report tells of faults as they were planted. If not it says why it need not, or nothing if it must.
func judge(planted []generate.Planted, r *Report) (asPlanted bool, why string) {
	want := []Class{}
	for _, p := range planted {
		want = append(want, answers[p.Fault.Kind])
	}
	got := classes(r)
	if slices.Equal(got, want) {
		return true, ""
	}
	if len(planted) == 1 && planted[0].Fault.Kind == generate.FaultState && got[0] == ClassRegister && !slices.ContainsFunc(got[1:], isNotLoop) {
		return false, "the program has gone on without the device, which is then busy at other times"
	}
	if len(planted) != 2 {
		return false, ""
	}
	a, b := planted[0], planted[1]
	apart := b.Instruction - a.Instruction
	has := func(kind generate.FaultKind) bool { return a.Fault.Kind == kind || b.Fault.Kind == kind }
	one := len(got) == 1 && (got[0] == want[0] || got[0] == want[1])
	state := generate.FaultState
	switch {
	case apart == 0:
		return false, "both at one instruction"
	case apart <= near && has(state) && len(got) > 0 && len(got) <= 3:
		return false, "one has led another way"
	case apart <= near && one, a.Fault.Kind == state && one:
		return false, "the second reads what the first has made wrong, or both are one stretch"
	case apart == 1 && slices.Equal(got, []Class{ClassPC}):
		return false, "one stretch"
	}
	return false, ""
}

var sweepPlaces = flag.Int("places", 4, "at how many places the sweep plants each fault")

func isNotLoop(c Class) bool { return c != ClassLoop }

// TestMillion is the proof at full length: each fault alone at the start, in the middle and at the end of a trace, and in pairs,
// and the variations that make no difference.
func TestMillion(t *testing.T) {
	if !*million {
		t.Skip("takes minutes: go test -run Million -million")
	}
	const n = 1_000_000
	ref, _ := generated(t, generate.Options{Instructions: n})
	try := func(faults ...generate.Fault) {
		oth, planted := generated(t, generate.Options{Instructions: n, TimeBase: 77, Faults: faults})
		r := compare(t, ref, oth, Options{})
		switch asPlanted, why := judge(planted, r); {
		case asPlanted:
		case why == "":
			t.Errorf("%+v\n%s", planted, show(r))
		default:
			t.Logf("%v: %s", faults, why)
		}
	}
	kinds := provenKinds()
	for i, kind := range kinds {
		for _, at := range []int64{3, n / 2, n - 5000} {
			try(generate.Fault{Kind: kind, At: at})
		}
		for _, distance := range []int64{1, 50, 5000, n / 3} {
			try(generate.Fault{Kind: kind, At: n / 2}, generate.Fault{Kind: kinds[(i+1)%len(kinds)], At: n/2 + distance})
		}
	}
	for _, o := range variations {
		o.Instructions = n
		oth, _ := generated(t, o)
		if r := compare(t, ref, oth, Options{Window: 5, Aliases: AliasSets["mips"]}); r.Verdict != Equal || r.Compared.Instructions != n {
			t.Errorf("%+v: %s", o, show(r))
		}
	}
}

// TestSweep plants each fault at places all over a trace: it is reported, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	const n = 15_000
	ref, _ := generated(t, generate.Options{Instructions: n})
	random := rand.New(rand.NewPCG(uint64(*provenAt), 1))
	for _, kind := range provenKinds() {
		for range fewer(*sweepPlaces) {
			fault := generate.Fault{Kind: kind, At: 10 + random.Int64N(n-5000)}
			oth, planted := generated(t, generate.Options{Instructions: n, Faults: []generate.Fault{fault}})
			r := compare(t, ref, oth, Options{})
			if asPlanted, why := judge(planted, r); !asPlanted && why == "" {
				t.Errorf("%+v\n%s", planted, show(r))
			}
		}
	}
}
