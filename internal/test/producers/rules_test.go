package producers

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	isa "tracewell/arch/riscv"
	"tracewell/itrace/match"
	"tracewell/itrace/match/profile"
)

// A line of Spike's log of commits: core, privilege, pc and opcode, a register with what was written to it, and an access.
var commit = regexp.MustCompile(`^(core +\d+: \d) 0x([0-9a-f]+) \(0x([0-9a-f]+)\)((?: +[a-z]+\d*(?:_\w+)? +0x[0-9a-f]+)*)((?: mem 0x[0-9a-f]+(?: 0x[0-9a-f]+)?)*)\n$`)

// hex replaces numbers behind a text, in lines of a log.
func hex(behind string, with func(digits string) string) func(string) string {
	number := regexp.MustCompile(`(` + behind + `)0x([0-9a-f]+)`)
	return func(line string) string {
		return number.ReplaceAllStringFunc(line, func(found string) string {
			part := number.FindStringSubmatch(found)
			return part[1] + "0x" + with(part[2])
		})
	}
}

// edited has each line of a trace edited.
func edited(trace string, edit func(line string) string) string {
	var out strings.Builder
	for line := range strings.Lines(trace) {
		out.WriteString(edit(line))
	}
	return out.String()
}

func number(digits string) uint64 {
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// busOf tells the accesses of a trace as a bus of words has them, with what is in memory around stores.
func busOf(trace string) string {
	memory := make(map[uint64]byte)
	access := regexp.MustCompile(`mem 0x([0-9a-f]+) 0x([0-9a-f]+)`)
	return edited(trace, func(line string) string {
		part := access.FindStringSubmatch(line)
		if part == nil {
			return line
		}
		addr, size := number(part[1]), uint64(len(part[2])/2)
		for n := range size {
			memory[addr+n] = byte(number(part[2]) >> (8 * n))
		}
		bus := ""
		for word := addr &^ 3; word < addr+size; word += 4 {
			value := uint32(0)
			for n := range uint64(4) {
				value |= uint32(memory[word+n]) << (8 * n)
			}
			bus += fmt.Sprintf(" mem 0x%08x 0x%08x", word, value)
		}
		return access.ReplaceAllString(line, bus[1:])
	})
}

// TestWrittenInOtherWays: what another producer would write of the same execution is equal under a rule, which counts how often it
// was needed; a wrong value in what the rule is about is told all the same.
func TestWrittenInOtherWays(t *testing.T) {
	rv64, plain := string(recorded(t, "rv64.spike-commits")), string(recorded(t, "plain.spike-commits"))
	extended := func(digits string) string { return fmt.Sprintf("%016x", uint64(int64(int32(number(digits))))) }
	for _, test := range []struct {
		rule         match.Rule
		trace, other string
		fired        int64
		wrong        [2]string // in the other, and what it stands for
		class        match.Class
	}{
		{match.RuleBoxing, rv64, edited(rv64, hex(` f\d+ +`, func(d string) string { return strings.TrimPrefix(d, "ffffffff") })),
			14, [2]string{"f12 0x3fc00000", "f12 0x3fc00001"}, match.ClassRegister},
		// It fails to box.
		{match.RuleBoxing, rv64, rv64, 28, [2]string{"f12 0xffffffff3fc00000", "f12 0x000000003fc00000"}, match.ClassRegister},
		{match.RuleCompressed, rv64, edited(rv64, hex(`\(`, func(d string) string {
			if whole, ok := isa.Expand(uint16(number(d)), true); ok && len(d) == 4 {
				return fmt.Sprintf("%08x", whole)
			}
			return d
		})), 73, [2]string{"(0x00008067)", "(0x00010067)"}, match.ClassOpcode},
		{match.RuleWidth, plain, edited(plain, hex(`: \d |mem | x\d+ +`, extended)), 9305, [2]string{"x14 0x0000000000000007", "x14 0x0000000000000008"}, match.ClassRegister},
		{match.RuleLanes, plain, busOf(plain), 293, [2]string{"mem 0x80001080 0x00000300", "mem 0x80001080 0x00000400"}, match.ClassMemory},
	} {
		rules := match.Options{Rules: []match.Rule{test.rule}}
		if r := matched(t, []byte(test.trace), []byte(test.other), match.Options{}); r.Verdict != match.Different && test.trace != test.other {
			t.Errorf("%s: without the rule: %s", test.rule, r.Verdict)
		}
		r := matched(t, []byte(test.trace), []byte(test.other), rules)
		if n := fired(r)["--rule "+string(test.rule)]; r.Verdict != match.Equal || r.Consequences > 0 || n != test.fired {
			t.Errorf("%s: %s %s %v, fired %d times", test.rule, r.Verdict, r.Reason, r.Counts, n)
		}
		if !strings.Contains(test.other, test.wrong[0]) {
			t.Fatalf("%s: there is no %s", test.rule, test.wrong[0])
		}
		r = matched(t, []byte(test.trace), []byte(strings.Replace(test.other, test.wrong[0], test.wrong[1], 1)), rules)
		if diff := cmp.Diff(map[match.Class]int64{test.class: 1}, r.Counts, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s instead of %s (-want +got):\n%s", test.rule, test.wrong[1], test.wrong[0], diff)
		}
	}
}

// at returns the lines of a trace, and where those are that contain a text.
func at(trace, text string) (lines []string, places []int) {
	lines = strings.SplitAfter(trace, "\n")
	for i, line := range lines {
		if strings.Contains(line, text) {
			places = append(places, i)
		}
	}
	return lines, places
}

// with puts text in front of a line of a trace.
func with(lines []string, at int, text string) string {
	return strings.Join(lines[:at], "") + text + strings.Join(lines[at:], "")
}

// handler is a run of an interrupt's handler in front of a line: it saves two registers, says that it ran and restores them.
func handler(entry uint64, lines []string, at int) string {
	saved := map[string]string{"x5": "0x00000000", "x6": "0x00000000"}
	for _, line := range lines[:at] {
		if part := commit.FindStringSubmatch(line); part != nil {
			if f := strings.Fields(part[4]); len(f) == 2 && saved[f[0]] != "" {
				saved[f[0]] = f[1]
			}
		}
	}
	var out strings.Builder
	for i, line := range []string{
		"(0x34029073) c832_mscratch " + saved["x5"], "(0x800042b7) x5  0x80004000", "(0x0062a423) mem 0x80004008 " + saved["x6"],
		"(0x0002a303) x6  0x00000007 mem 0x80004000", "(0x0062a223) mem 0x80004004 0x00000007",
		"(0x0082a303) x6  " + saved["x6"] + " mem 0x80004008", "(0x340022f3) x5  " + saved["x5"], "(0x30200073)",
	} {
		fmt.Fprintf(&out, "core   0: 3 0x%08x %s\n", entry+uint64(4*i), line)
	}
	return out.String()
}

// TestInterrupts has a handler run at another place than in the reference, or only there.
func TestInterrupts(t *testing.T) {
	const entry = 0x80003000
	plain := string(recorded(t, "plain.spike-commits"))
	lines, calls := at(plain, "0x800001c8 (0x00200293)")
	reference := with(lines, calls[3], handler(entry, lines, calls[3]))
	twice := with(strings.SplitAfter(reference, "\n"), calls[9]+8, handler(entry, lines, calls[9]))
	// It comes by the instruction that the program goes on at: only its last one tells that it is a handler.
	calls7 := strings.Replace(handler(entry, lines, calls[7]), "core   0: 3 0x80003018", lines[calls[7]]+"core   0: 3 0x80003018", 1)
	// The way into the handler is told with the instruction before.
	told := func(at int) string {
		marked := slices.Clone(lines)
		before := strings.TrimSuffix(marked[at-1], "\n")
		registers, memory, accesses := strings.Cut(before, " mem ")
		if marked[at-1] = registers + " c834_mcause 0x80000007 c833_mepc 0x800001c8"; accesses {
			marked[at-1] += " mem " + memory
		}
		marked[at-1] += "\n"
		return with(marked, at, handler(entry, lines, at))
	}
	moved, extra := []match.Rule{match.RuleInterrupts}, []match.Rule{match.RuleInterrupts, match.RuleExtraInterrupt}
	one := map[match.Class]int64{match.ClassHandler: 1}
	for name, test := range map[string]struct {
		reference, other string
		rules            []match.Rule
		counts           map[match.Class]int64
		fired            map[string]int64
	}{
		"no rule":         {reference, with(lines, calls[7], handler(entry, lines, calls[7])), nil, map[match.Class]int64{match.ClassHandler: 2}, nil},
		"moved":           {reference, with(lines, calls[7], handler(entry, lines, calls[7])), moved, nil, map[string]int64{"--rule interrupts": 1}},
		"earlier":         {reference, with(lines, calls[1], handler(entry, lines, calls[1])), moved, nil, map[string]int64{"--rule interrupts": 1}},
		"calls":           {reference, with(lines, calls[7], calls7), moved, nil, map[string]int64{"--rule interrupts": 1}},
		"told before":     {told(calls[3]), told(calls[7]), moved, nil, map[string]int64{"--rule interrupts": 1}},
		"another":         {reference, with(lines, calls[7], handler(entry+0x100, lines, calls[7])), moved, map[match.Class]int64{match.ClassHandler: 2}, nil},
		"missing":         {reference, plain, moved, one, nil},
		"one is extra":    {reference, twice, moved, one, nil},
		"one may be":      {reference, twice, extra, nil, map[string]int64{"--rule extra-interrupt": 1}},
		"one and not two": {twice, plain, extra, one, map[string]int64{"--rule extra-interrupt": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := matched(t, []byte(test.reference), []byte(test.other), match.Options{Rules: test.rules})
			if diff := cmp.Diff(test.counts, r.Counts, cmpopts.EquateEmpty()) + cmp.Diff(test.fired, fired(r), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", r.Verdict, diff)
			}
			if len(r.Differences) > 0 && !strings.Contains(r.Differences[0].Note, "a handler at 0x800030") && !strings.Contains(r.Differences[0].Note, "a handler at 0x800031") {
				t.Errorf("it is called %q", r.Differences[0].Note)
			}
		})
	}
}

// TestFaultsAmongInterrupts has a handler run twice in each of two traces, anywhere: that makes no difference under a profile for hardware,
// and a fault is told and nothing else.
func TestFaultsAmongInterrupts(t *testing.T) {
	const entry = 0x80003000
	text := recorded(t, "plain.spike-commits")
	lines := strings.SplitAfter(string(text), "\n")
	p, err := profile.ByName("riscv-rtl")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 8))
	interrupted := func() (trace string) {
		first, second := 100+random.IntN(3000), 3200+random.IntN(3000)
		return strings.Join(lines[:first], "") + handler(entry, lines, first) +
			with(lines[first:], second-first, handler(entry, lines, second))
	}
	for i := range *places * 4 {
		reference, other := interrupted(), interrupted()
		r := matched(t, []byte(reference), []byte(other), p.Apply(match.Options{}))
		if n := fired(r)["--rule interrupts"]; r.Verdict != match.Equal || r.Consequences > 0 || n == 0 {
			t.Errorf("%d: %s %v, %d consequences, fired %d times", i, r.Verdict, r.Counts, r.Consequences, n)
		}
		head, all := pieces(t, []byte(other))
		for kind, plant := range []fault{wrongValue, wrongStore, dropped, wrongBranch} {
			at := 40 + random.IntN(len(all)-80)
			faulty := plant(head, all, at)
			if faulty == nil || all[at].pc >= entry || all[at+1].pc >= entry || all[at-1].pc >= entry {
				continue
			}
			r := matched(t, []byte(reference), faulty, p.Apply(match.Options{}))
			if len(r.Differences) != 1 {
				t.Errorf("%d: fault %d at instruction %d, 0x%x: %s %v, rules %v", i, kind, at, all[at].pc, r.Verdict, r.Counts, fired(r))
				for _, d := range r.Differences {
					t.Logf("  %s %s: %+v %+v", d.Class, d.Note, d.Reference, d.Other)
				}
			}
		}
	}
}

// rounds are those of a loop that asks a device until it is ready.
func rounds(n int) string {
	var out strings.Builder
	for i := range n {
		ready := min(max(i+2-n, 0), 1)
		fmt.Fprintf(&out, "core   0: 3 0x80002000 (0x0002a303) x6  0x0000000%d mem 0x10000000\ncore   0: 3 0x80002004 (0xfe030ee3)\n", 0x8+ready)
	}
	return out.String() + "core   0: 3 0x80002008 (0x00000313) x6  0x00000000\n"
}

// TestWaiting compares loops that go round another number of times, and waiting instructions.
func TestWaiting(t *testing.T) {
	plain := string(recorded(t, "plain.spike-commits"))
	lines, calls := at(plain, "0x800001c8 (0x00200293)")
	asks := func(n int) string { return with(lines, calls[3], rounds(n)) }
	waits := func(n int) string {
		return with(lines, calls[3], strings.Repeat("core   0: 3 0x80002000 (0x10500073)\n", n))
	}
	spins := strings.Repeat("core   0: 3 0x80000164 (0x0000006f)\n", 50)
	// A round of the loop that computes: it is missing, or its lines come twice.
	_, loop := at(plain, "0x80000194 (0x00064283)")
	missing := strings.Join(lines[:loop[20]], "") + strings.Join(lines[loop[21]:], "")
	again := with(lines, loop[21], strings.Join(lines[loop[20]:loop[21]], ""))
	waiting := []match.Rule{match.RuleWaiting}
	for most, want := range map[int]match.Verdict{0: match.Equal, 5: match.Different, 6: match.Equal} {
		r := matched(t, []byte(asks(3)), []byte(asks(9)), match.Options{Rules: waiting, Rounds: most})
		if r.Verdict != want {
			t.Errorf("6 rounds of %d: %s %v", most, r.Verdict, r.Counts)
		}
	}
	for name, test := range map[string]struct {
		reference, other string
		class            match.Class // without the rule
		excused          bool
	}{
		// Without the data that was loaded it might be a wrong value.
		"asks more often": {asks(3), asks(9), match.ClassRegister, true}, "asks less often": {asks(9), asks(1), match.ClassLoop, true},
		"waits more often": {waits(1), waits(4), match.ClassLoop, true}, "waits not": {waits(1), waits(0), match.ClassMissing, true},
		"spins at the end": {plain, plain + spins, match.ClassTail, true}, "goes on at the end": {plain, plain + rounds(2), match.ClassTail, false},
		"a round is missing": {plain, missing, match.ClassLoop, false}, "a round comes twice": {plain, again, match.ClassLoop, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := matched(t, []byte(test.reference), []byte(test.other), match.Options{})
			if diff := cmp.Diff(map[match.Class]int64{test.class: 1}, r.Counts); diff != "" {
				t.Errorf("without the rule (-want +got):\n%s", diff)
			}
			r = matched(t, []byte(test.reference), []byte(test.other), match.Options{Rules: waiting})
			if n := fired(r)["--rule waiting"]; test.excused != (r.Verdict == match.Equal) || test.excused != (n == 1) || len(r.Counts) > 1 {
				t.Errorf("%s %v, fired %d times", r.Verdict, r.Counts, n)
			}
		})
	}
}

// TestConditionalStores has one fail in one of two traces, with and without another attempt.
func TestConditionalStores(t *testing.T) {
	lock := func(failures int, again bool, value string) string {
		var out strings.Builder
		line := func(pc uint64, text string) { fmt.Fprintf(&out, "core   0: 3 0x%016x %s\n", pc, text) }
		line(0x80000000, "(0x00000513) x10 0x0000000000000000")
		for i := range failures + 1 {
			line(0x80000004, "(0x1002a72f) x14 0x0000000000000007 mem 0x0000000080001000")
			line(0x80000008, "(0x00170713) x14 0x0000000000000008")
			if i < failures {
				line(0x8000000c, "(0x18e2a7af) x15 0x0000000000000001")
			} else {
				line(0x8000000c, "(0x18e2a7af) x15 0x0000000000000000 mem 0x0000000080001000 "+value)
			}
			if !again {
				break
			}
			line(0x80000010, "(0xfe079ae3)")
		}
		for i := range uint64(20) {
			line(0x80000014+4*i, fmt.Sprintf("(0x00%d50513) x10 0x%016x", i%8, i))
		}
		return out.String()
	}
	const stored, other = "0x00000008", "0x00000009"
	for name, test := range map[string]struct {
		trace  string
		counts map[match.Class]int64
	}{
		"one more":    {lock(1, true, stored), nil},
		"three more":  {lock(3, true, stored), nil},
		"gives up":    {lock(1, false, stored), nil},
		"wrong value": {lock(1, true, other), map[match.Class]int64{match.ClassMemory: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			reference := lock(0, !strings.Contains(name, "gives"), stored)
			if r := matched(t, []byte(reference), []byte(test.trace), match.Options{}); r.Verdict != match.Different {
				t.Errorf("without the rule: %s", r.Verdict)
			}
			r := matched(t, []byte(reference), []byte(test.trace), match.Options{Rules: []match.Rule{match.RuleReserved}})
			if diff := cmp.Diff(test.counts, r.Counts, cmpopts.EquateEmpty()); diff != "" || fired(r)["--rule lrsc"] == 0 {
				t.Errorf("%v (-want +got):\n%s", fired(r), diff)
			}
		})
	}
}
