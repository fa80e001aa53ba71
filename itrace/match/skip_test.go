package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/jsonl"
)

// compareBothWays compares with the skip of what is the same and without, and returns the report of the first and how many groups
// of the reference were skipped. The reports have to be the same.
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
	t.Parallel()
	const n = 20_000
	kinds, _ := generate.FaultKinds()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range fewer(40) {
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

// twoLines is a trace in a dialect whose instructions take two lines each, and whose decoder has a state.
func twoLines(instructions int, edit func(i int, lines string) string) string {
	var out strings.Builder
	for i := range instructions {
		pc, op := 0x80000000+4*(i%1000), 0x13+i%7<<20
		lines := fmt.Sprintf("core   0: 0x%08x (0x%08x) addi    t0, t0, %d\ncore   0: 3 0x%08x (0x%08x) x5  0x%08x\n", pc, op, i%7, pc, op, i)
		out.WriteString(edit(i, lines))
	}
	return out.String()
}

// TestSkipOfUnits compares traces whose records take several lines, where the same text may mean something else.
func TestSkipOfUnits(t *testing.T) {
	const n = 60_000
	same := func(_ int, lines string) string { return lines }
	ref := twoLines(n, same)
	for name, edit := range map[string]func(i int, lines string) string{
		"nothing": same,
		"a value": func(i int, lines string) string {
			if i == n/2 {
				return strings.TrimSuffix(lines, "\n") + "f\n"
			}
			return lines
		},
		"the second line of an instruction is missing": func(i int, lines string) string {
			if i == n/2 {
				first, _, _ := strings.Cut(lines, "\n")
				return first + "\n"
			}
			return lines
		},
		"the first line of an instruction is missing": func(i int, lines string) string {
			if i == n/2 {
				_, second, _ := strings.Cut(lines, "\n")
				return second
			}
			return lines
		},
	} {
		r, skipped := compareBothWays(t, name, ref, twoLines(n, edit), Options{})
		if skipped < n*8/10 {
			t.Errorf("%s: %d of %d instructions were skipped", name, skipped, n)
		}
		if equal := name == "nothing" || strings.HasPrefix(name, "the first"); equal != (r.Verdict == Equal) {
			t.Errorf("%s: %s", name, show(r))
		}
	}
	// Behind this difference the decoders are in different states for good: one has seen what the other has not.
	changed := strings.Replace(ref, "core   0: 0x", "core   0: >>>>  x\ncore   0: 0x", 1)
	compareBothWays(t, "a remark", ref, changed, Options{})
}

// TestSkippedGap: that both traces lack instructions within what is the same and passed over is known behind it.
func TestSkippedGap(t *testing.T) {
	const n, gap = 40_000, 20_000
	var ref, oth strings.Builder
	for i := 1; i <= n; i++ {
		tells := ""
		if i == gap {
			tells = `,"tells":"` + strings.Join(itrace.Gaps.Names(), " ") + `"`
		}
		line := fmt.Sprintf(`{"kind":"instruction","cpu":0,"address":"0x%x","opcode":"0x13"%s}`+"\n", 4*i, tells)
		ref.WriteString(line)
		if i == n {
			line = strings.Replace(line, "0x13", "0x14", 1)
		}
		oth.WriteString(line)
	}
	c := newComparison(Options{}.withDefaults())
	r := c.compare(t.Context(), [2]Input{{Name: "ref", Reader: strings.NewReader(ref.String()), Ready: true},
		{Name: "other", Reader: strings.NewReader(oth.String()), Ready: true}}, itrace.Registry{jsonl.Dialect})
	if want := fmt.Sprintf("ref is incomplete: it does not tell all instructions behind line %d", gap); r.Verdict != Failed || r.Reason != want {
		t.Errorf("%s, %q, want %q", r.Verdict, r.Reason, want)
	}
	if skipped := c.skipper.skipped; skipped < n*9/10 {
		t.Errorf("%d of %d instructions were skipped", skipped, n)
	}
}
