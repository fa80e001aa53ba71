package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/gem5"
	"tracewell/itrace/generate"
	"tracewell/itrace/ibex"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/tarmac"
)

// compareBothWays compares with the skip of what is the same and without, and returns the report of the first and how many groups
// of the reference were skipped. The reports have to be the same.
func compareBothWays(t *testing.T, what, ref, oth string, o Options) (r *Report, skipped int64) {
	t.Helper()
	known := append(itrace.Registry{tarmac.Dialect, ibex.Dialect, gem5.Dialect}, dialects...)
	inputs := func() [2]Input {
		return [2]Input{{Name: "ref", Reader: strings.NewReader(ref), Ready: true}, {Name: "other", Reader: iotest.HalfReader(strings.NewReader(oth))}}
	}
	with, without := newComparison(o.withDefaults()), newComparison(o.withDefaults())
	without.skipper.off = true
	r, slow := with.compare(t.Context(), inputs(), known), without.compare(t.Context(), inputs(), known)
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
		if round%2 == 0 {
			o.TimeBase = random.Uint64N(20_000)
		}
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

// timed are lines of an instruction at a time, in dialects whose lines begin with times, in some of Tarmac's forms. Every 50th
// instruction stores.
var timed = map[string]func(i, time int) string{
	"matcher": func(i, time int) string {
		return fmt.Sprintf("%d clk 0 IT (%d) %08x %08x A svc : add\n%d clk R t0 %08x\n", time, i, pcOf(i), i%7, time, i)
	},
	"tarmac": func(i, time int) string {
		return fmt.Sprintf("%d clk IT (%d) %08x %08x A svc : add\n%d clk R r0 %08x\n", time, i, pcOf(i), i%7, time, i)
	},
	"tarmac's effects without a time": func(i, time int) string {
		return fmt.Sprintf("%8d ns ES (%08x:%08x) A svc: add\n            R r0 %08x\n", time, pcOf(i), i%7, i) +
			[]string{"", "            ST 00000300  ........ ........ 00000800 ........\n               00000310  ........ ........ ........ 00000900\n"}[(i%50)/49]
	},
	"tarmac's stores with a time": func(i, time int) string {
		head := fmt.Sprintf("%d ns ", time) // the second line of a store stands right below times of four digits only
		lines := fmt.Sprintf("%sES (%08x:%08x) A svc: add\n", head, pcOf(i), i%7)
		if i%5000 == 4000 {
			lines += head + "ST 00000300  ........ ........ 00000800 ........\n           00000310  ........ ........ ........ 00000900\n"
		}
		return lines
	},
	"ibex": func(i, time int) string {
		return fmt.Sprintf("%12d\t%10d\t%08x\t00%06x\tadd\tx1,x2,x3\t x1=0x%08x\n", time, time/7, pcOf(i), i%7, i)
	},
	"gem5": func(i, time int) string {
		return fmt.Sprintf("%d: system.cpu: T0 : 0x%x    : addi a0, a0, 1 : IntAlu :  D=0x%016x  FetchSeq=%d\n", time, pcOf(i), i, i)
	},
}

func pcOf(i int) int { return 0x80000000 + 4*(i%1000) }

// TestSkipOfTimes compares traces that differ in all times, which get wider at different lines, with and without another difference.
func TestSkipOfTimes(t *testing.T) {
	const n, fault = 12_000, 6_000
	random := rand.New(rand.NewPCG(3, 4))
	for name, lines := range timed {
		ordinary := func(_ int, lines string) string { return lines }
		trace := func(time, most int, edit func(i int, lines string) string) string {
			var out strings.Builder
			for i := range n {
				time += 1 + random.IntN(most)
				out.WriteString(edit(i, lines(i, time)))
			}
			return out.String()
		}
		ref := trace(0, 1, ordinary)
		for what, edit := range map[string]func(i int, lines string) string{
			"nothing": ordinary,
			"a line that cannot be read": func(i int, lines string) string {
				if i == fault {
					return lines + "?\n"
				}
				return lines
			},
			"an instruction": func(i int, lines string) string {
				if i == fault {
					return ""
				}
				return lines
			},
			"a time": func(i int, lines string) string {
				if i == fault {
					return lines[strings.IndexAny(lines, " \t"):]
				}
				return lines
			},
			"blank lines and no end": func(i int, lines string) string {
				switch i {
				case fault:
					return "\n\n" + lines
				case n - 1:
					return strings.TrimSpace(lines)
				}
				return lines
			},
			"a digit": func(i int, lines string) string {
				if i == fault {
					return strings.Replace(lines, "8000", "8001", 1)
				}
				return lines
			},
		} {
			if underRace && what != "a digit" { // one goroutine reads and compares: there is little to race
				continue
			}
			oth := trace(77, 1+random.IntN(2)*300, edit)
			r, skipped := compareBothWays(t, name+": "+what, ref, oth, Options{AllowUnknown: n})
			if skipped < n/5 {
				t.Errorf("%s: %s: %d of %d instructions were skipped", name, what, skipped, n)
			}
			same := what == "nothing" || what == "blank lines and no end"
			if same && !strings.Contains(name, "stores") && r.Verdict != Equal {
				t.Errorf("%s: %s: %s", name, what, show(r))
			}
		}
		if _, skipped := compareBothWays(t, name, ref, trace(77, 1, ordinary), Options{Fields: []Field{FieldTime}}); skipped > 0 {
			t.Errorf("%s: %d instructions were skipped though times are compared", name, skipped)
		}
		odd := func(i int, lines string) string {
			if i%1999 == 7 {
				return "?\n\n" + lines
			}
			return lines
		}
		compareBothWays(t, name+": lines that cannot be read on both sides", trace(0, 1, odd), trace(77, 100, odd), Options{AllowUnknown: n})
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
