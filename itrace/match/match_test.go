package match

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
	"tracewell/itrace/spike"
)

var dialects = itrace.Registry{matcher.Dialect, spike.Dialect}

func generated(t testing.TB, o generate.Options) (string, []generate.Planted) {
	t.Helper()
	var out strings.Builder
	planted, err := generate.Write(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), planted
}

func compare(t testing.TB, ref, oth string, o Options) *Report {
	t.Helper()
	// Short ones are read where they are compared: reading ahead, which tests of pipes are about, takes more than comparing them.
	input := func(name, text string) Input {
		return Input{Name: name, Reader: strings.NewReader(text), Ready: len(text) < feedBlock}
	}
	return Compare(t.Context(), input("ref", ref), input("other", oth), dialects, o)
}

func show(r *Report) string {
	c := *r
	var text strings.Builder
	for i, d := range r.Differences {
		d.Context = nil
		b, _ := json.Marshal(d)
		fmt.Fprintf(&text, "  %s\n", b)
		if i > 8 {
			break
		}
	}
	return fmt.Sprintf("%s %s %v, consequences %d, compared %v\n%s", c.Verdict, c.Reason, c.Counts, c.Consequences, c.Compared, text.String())
}

// answers is the class of the one difference that each kind of fault has to come to; none for what makes no difference.
var answers = map[generate.FaultKind]Class{
	generate.FaultValue: ClassRegister, generate.FaultState: ClassRegister, generate.FaultStore: ClassMemory,
	generate.FaultAddress: ClassMemory, generate.FaultOpcode: ClassOpcode, generate.FaultMode: ClassMode,
	generate.FaultSkipped: ClassSkipped, generate.FaultDrop: ClassMissing, generate.FaultInsert: ClassExtra,
	generate.FaultLate: ClassReordered, generate.FaultReorder: "", generate.FaultInterrupt: ClassHandler,
	generate.FaultPoll: ClassLoop, generate.FaultTruncate: ClassTail,
}

// TestPlanted compares traces with one fault each, at the start, in the middle and near the end.
func TestPlanted(t *testing.T) {
	t.Parallel()
	const n = 20_000
	ref, _ := generated(t, generate.Options{Instructions: n})
	for kind, class := range answers {
		for _, at := range []int64{3, n / 2, n - 4000} {
			oth, planted := generated(t, generate.Options{Instructions: n, Faults: []generate.Fault{{Kind: kind, At: at}}})
			r := compare(t, ref, oth, Options{})
			switch {
			case class == "" && r.Verdict == Equal:
			case r.Verdict != Different || len(r.Differences) != 1 || r.Differences[0].Class != class ||
				r.Differences[0].Other != nil && r.Differences[0].Other.Line < planted[0].Line-1:
				t.Errorf("%s planted %+v: %s", kind, planted, show(r))
			}
		}
	}
}

// variations are ways to write the same trace.
var variations = []generate.Options{
	{Upper: true}, {Digits: 16}, {TimeBase: 100}, {TimeScale: "ns"}, {IDBase: 1}, {Security: "ns"}, {CRLF: true},
	{Shuffle: true}, {Late: 4}, {PlainNames: true}, {Split: true}, {Late: 4, Seed: 3}, {Shuffle: true, Split: true, Late: 2},
	{Upper: true, Digits: 16, TimeBase: 9, IDBase: 1, Security: "s", CRLF: true, Shuffle: true, Split: true, Late: 4, PlainNames: true},
}

func TestVariations(t *testing.T) {
	t.Parallel()
	const n = 20_000
	ref, _ := generated(t, generate.Options{Instructions: n})
	for _, o := range variations {
		o.Instructions = n
		oth, _ := generated(t, o)
		r := compare(t, ref, oth, Options{Window: 5, Aliases: AliasSets["mips"]})
		if r.Verdict != Equal || r.Compared.Instructions != n {
			t.Errorf("%+v: %s", o, show(r))
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	ref, _ := generated(b, generate.Options{Instructions: 300_000})
	oth, _ := generated(b, generate.Options{Instructions: 300_000, TimeBase: 77})
	b.SetBytes(int64(len(ref) + len(oth)))
	b.ReportAllocs()
	for b.Loop() {
		r := Compare(context.Background(), Input{Name: "ref", Reader: strings.NewReader(ref)}, Input{Name: "other", Reader: strings.NewReader(oth)}, dialects, Options{})
		if r.Verdict != Equal {
			b.Fatal(show(r))
		}
	}
}

// fewer is how many of n cases there are: under the race detector a tenth.
func fewer(n int) int {
	if underRace {
		return max(1, n/10)
	}
	return n
}
