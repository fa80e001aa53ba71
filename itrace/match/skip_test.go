package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace/generate"
)

// compareBothWays compares with the skip of what is the same and without, and returns the report of the first and how many groups of
// the reference were skipped. The reports have to be the same.
func compareBothWays(t *testing.T, what, ref, oth string, o Options) (r *Report, skipped int64) {
	t.Helper()
	inputs := func() [2]Input {
		return [2]Input{{Name: "ref", Reader: strings.NewReader(ref), Ready: true}, {Name: "other", Reader: iotest.HalfReader(strings.NewReader(oth))}}
	}
	with, without := newComparison(o.withDefaults()), newComparison(o.withDefaults())
	without.skipper.off = true
	r, slow := with.compare(t.Context(), inputs(), dialects), without.compare(t.Context(), inputs(), dialects)
	r.Seconds, slow.Seconds = 0, 0
	if diff := cmp.Diff(slow, r); diff != "" {
		t.Errorf("%s: report without the skip and with it (-without +with):\n%s", what, diff)
	}
	return r, with.skipper.skipped
}

// TestSkipChangesNothing compares traces with faults of all kinds here and there, lines that cannot be read on both sides and wide
// values, under several options.
func TestSkipChangesNothing(t *testing.T) {
	const n = 20_000
	kinds, _ := generate.FaultKinds()
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 40
	if underRace {
		rounds = 5
	}
	for round := range rounds {
		o := generate.Options{Instructions: n, CPUs: int32(1 + round%4/3)}
		ref, _ := generated(t, o)
		for range random.IntN(3) {
			o.Faults = append(o.Faults, generate.Fault{Kind: kinds[random.IntN(len(kinds))], At: random.Int64N(n)})
		}
		oth, _ := generated(t, o)
		if round%3 == 0 {
			ref, oth = odd(ref), odd(oth)
		}
		options := []Options{{}, {Window: 8}, {FirstOnly: true}, {Boot: 1000}, {Fields: []Field{FieldTime, FieldID}, AllowUnknown: 1e6}}
		compareBothWays(t, fmt.Sprintf("%v %+v", o.Faults, options[round%5]), ref, oth, options[round%5])
	}
}

// odd makes some lines unreadable, blank, or of wide and partly unknown values.
func odd(trace string) string {
	var out strings.Builder
	i := 0
	for line := range strings.Lines(trace) {
		i++
		switch {
		case i%997 == 0:
			out.WriteString("out of order\n\n")
		case i%1009 == 0:
			line = "1 clk R v0 0123456789abcdef0123456789abcdef\n" + line
		case i%1013 == 0:
			line = "1 clk R v1 xx\r\n" + line
		}
		out.WriteString(line)
	}
	return out.String()
}

// TestSkipSkips compares a trace with itself, and with one that lacks an instruction, and sees how much is skipped.
func TestSkipSkips(t *testing.T) {
	const n = 100_000
	ref, _ := generated(t, generate.Options{Instructions: n})
	lines, _ := generated(t, generate.Options{Instructions: n, CRLF: true})
	if _, skipped := compareBothWays(t, "CR LF", lines, lines, Options{}); skipped < n*9/10 {
		t.Errorf("lines that end with CR LF: %d of %d instructions were skipped", skipped, n)
	}
	for _, faults := range [][]generate.Fault{nil, {{Kind: generate.FaultDrop, At: n / 2}}, {{Kind: generate.FaultValue, At: n / 2}}} {
		oth, _ := generated(t, generate.Options{Instructions: n, Faults: faults})
		if _, skipped := compareBothWays(t, fmt.Sprint(faults), ref, oth, Options{}); skipped < n*9/10 {
			t.Errorf("%v: %d of %d instructions were skipped", faults, skipped, n)
		}
	}
}
