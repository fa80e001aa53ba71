package live

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// These have GDB print, from what a frame collected, the line that the program of threads.c prints at the same place.
const (
	retellWork = `printf "work worker=%d round=%ld values=%d,%d,%d,%d sum=%ld result=%ld\n", ` +
		`worker->id, round, values[0], values[1], values[2], values[3], sum, result`
	retellAccount = `printf "account worker=%d round=%ld result=%ld calls=%ld sum=%ld last=%d,%d,%d,%d\n", ` +
		`worker, round, result, totals.calls, totals.sum, totals.last[0], totals.last[1], totals.last[2], totals.last[3]`
)

// TestFramesRetellProgram traces both threads at the two lines that print, without a condition: each line that the program
// printed has its frame, and the other way round.
func TestFramesRetellProgram(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "threads", testprog.Variant{})
	s := debug(t, program, []string{"40"}, toMain+`
		trace {mark: work-line}
		actions
		collect $locals, $args, *worker, *values@4
		end
		trace {mark: account-line}
		actions
		collect $regs, $args, totals
		end
		tstart
		break exit
		continue
		tstop
		-- frames --
		`+walk("if $tracepoint == 2\n"+retellWork+"\nelse\n"+retellAccount+"\nend")+`
		-- rest --
		tfind none
		delete
		continue
	`)
	collected := s.output.Section(t, "frames")
	printed := s.finished(t, "work")
	for _, worker := range []string{"worker=1", "worker=2"} {
		sameLines(t, "work of "+worker, having(printed, worker), having(lines(collected, "work"), worker))
	}
	sameLines(t, "account", s.finished(t, "account"), lines(collected, "account"))
}

// scenario is the session of an afternoon, everything at once. Tracepoint 2 is at a function that both threads run, 3 at a line,
// with a condition and steps, and 4 has the pass count: the run stops at the fifteenth of twenty calls of account, which are
// made with the lock held.
const scenario = toMain + `
	tvariable $seen = 0
	tvariable $untouched = -5
	trace work
	actions
	collect $regs, $locals, $args, *worker, *values@4, settings
	teval $seen = $seen + 1
	collect $seen
	end
	trace {mark: account-line}
	condition 3 worker == 1 && round % 2 == 0
	actions
	collect $regs, $args, totals
	while-stepping 3
	collect $regs, $args, totals
	end
	end
	trace account
	actions
	collect $regs, $args
	end
	passcount 15 4
	tstart
	break exit
	continue
	tstop
	` + scenarioFrames + `
	-- status --
	tstatus
	-- variables --
	tfind none
	info tvariables
	-- tracepoints --
	info tracepoints
	-- places --
	set $from = (unsigned long) &account
	set $to = (unsigned long) &run - 1
	info line {mark: account-line}
	set $line = (unsigned long) $_
	printf "places from=%lu to=%lu line=%lu\n", $from, $to, $line
	x/4i $line
`

// scenarioFrames prints every frame, in the test's own words and in GDB's. They are told apart by function and line, since a
// GDB that opens the file numbers the tracepoints anew.
const scenarioFrames = `
	-- frames --
	tfind start
	while $trace_frame != -1
	printf "frame n=%d tp=%d pc=%lu line=%d\n", $trace_frame, $tracepoint, $pc, $trace_line
	if $_streq($trace_func, "work")
	printf "entry worker=%d round=%ld values=%d,%d,%d,%d\n", worker->id, round, values[0], values[1], values[2], values[3]
	printf "seen %d\n", $seen
	printf "settings %d %d\n", settings.scale, settings.offset
	else
	if $trace_line == {number: account-line}
	` + retellAccount + `
	else
	printf "call worker=%d round=%ld result=%ld\n", worker, round, result
	end
	end
	tfind
	end
	-- dumps --
	tfind start
	while $trace_frame != -1
	tdump
	tfind
	end
`

// searches are tfind commands, repeated until they find no more, and what is right about the frames that they find.
var searches = []struct {
	command string
	finds   func(f frame, p places) bool
}{
	{"tracepoint 3", func(f frame, _ places) bool { return f.tracepoint == 3 }},
	{"tracepoint 4", func(f frame, _ places) bool { return f.tracepoint == 4 }},
	{"pc $line", func(f frame, p places) bool { return f.pc == p.line }},
	{"line {mark: account-line}", func(f frame, p places) bool { return p.line <= f.pc && f.pc < p.behind }},
	{"range $from, $to", func(f frame, p places) bool { return p.from <= f.pc && f.pc <= p.to }},
	{"outside $from, $to", func(f frame, p places) bool { return f.pc < p.from || p.to < f.pc }},
}

// searchScript runs each search, and then the forms that start from the selected frame.
func searchScript() string {
	var script strings.Builder
	for _, s := range searches {
		fmt.Fprintf(&script, "-- tfind %s --\ntfind none\ntfind %[1]s\n", s.command)
		fmt.Fprintf(&script, "while $trace_frame != -1\nprintf \"found %%d\\n\", $trace_frame\ntfind %s\nend\n", s.command)
	}
	script.WriteString("-- relative --\n")
	for _, command := range []string{"0", "", "", "-", "5", "pc", "5", "tracepoint", "5", "line"} {
		fmt.Fprintf(&script, "tfind %s\nprintf \"found %%d\\n\", $trace_frame\n", command)
	}
	return script.String()
}

// places are the addresses that the searches are about.
type places struct{ from, to, line, behind int64 }

// frame is one of the trace frames, by its place in the list.
type frame struct{ tracepoint, pc, line int64 }

func TestScenario(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "threads", testprog.Variant{NoPIE: true})
	s := debug(t, program, []string{"10"}, scenario+searchScript()+`
		-- rest --
		tsave {FILE}
		tfind none
		delete
		continue
	`)
	var all []frame
	for i, r := range testprog.OfKind(testprog.Records(s.output.Section(t, "frames")), "frame") {
		if r.Int(t, "n") != int64(i) {
			t.Fatalf("frame %v at place %d", r, i)
		}
		all = append(all, frame{r.Int(t, "tp"), r.Int(t, "pc"), r.Int(t, "line")})
	}
	t.Run("values", func(t *testing.T) { scenarioValues(t, s) })
	t.Run("steps", func(t *testing.T) { scenarioSteps(t, s, all) })
	t.Run("counts", func(t *testing.T) { scenarioCounts(t, s, all) })
	t.Run("searches", func(t *testing.T) { scenarioFinds(t, s, all) })
	t.Run("saved", func(t *testing.T) { scenarioSaved(t, s) })
}

// scenarioValues holds what the frames collected against what the program printed.
func scenarioValues(t *testing.T, s *session) {
	text := s.output.Section(t, "frames")
	accounts := s.finished(t, "account")[:15]
	var calls, repeated []string
	for _, line := range accounts {
		call, _, _ := strings.Cut(line, " calls=")
		calls = append(calls, strings.Replace(call, "account", "call", 1))
		round := testprog.Records(line)[0].Int(t, "round")
		if strings.Contains(line, "worker=1") && round%2 == 0 && line != accounts[14] {
			repeated = append(repeated, line, line, line, line) // the hit and its three steps
		}
	}
	sameLines(t, "tracepoint 4", calls, lines(text, "call"))
	sameLines(t, "tracepoint 3", repeated, lines(text, "account"))

	entries := lines(text, "entry")
	for _, worker := range []string{"worker=1", "worker=2"} {
		var want []string
		for _, line := range having(s.finished(t, "work"), worker) {
			entry, _, _ := strings.Cut(line, " sum=")
			want = append(want, strings.Replace(entry, "work", "entry", 1))
		}
		got := having(entries, worker)
		// A thread has made its call of work before that of account, and perhaps one more before the run stopped.
		if accounted := len(having(accounts, worker)); len(got) < accounted || len(got) > accounted+1 || len(got) > len(want) {
			t.Fatalf("%d frames of %s, which account saw %d times", len(got), worker, accounted)
		}
		sameLines(t, "tracepoint 2, "+worker, want[:len(got)], got)
	}
	var seen []string
	for i := range entries {
		seen = append(seen, fmt.Sprint("seen ", i+1))
	}
	sameLines(t, "$seen", seen, lines(text, "seen"))
	sameLines(t, "settings", slices.Repeat([]string{"settings 7 -3"}, len(entries)), lines(text, "settings"))
}

var disassembled = regexp.MustCompile(`(?m)^\s*(?:=> )?(0x[0-9a-f]+) <account\+`)

// scenarioSteps looks where the steps went: to the three instructions behind the tracepoint.
func scenarioSteps(t *testing.T, s *session, all []frame) {
	var path, want, got []string
	for _, match := range disassembled.FindAllStringSubmatch(s.output.Section(t, "places"), -1) {
		path = append(path, match[1])
	}
	for _, f := range all {
		if f.tracepoint == 3 {
			got = append(got, "0x"+strconv.FormatInt(f.pc, 16))
		}
	}
	for range len(got) / 4 {
		want = append(want, path...)
	}
	sameLines(t, "program counters of tracepoint 3", want, got)
}

// scenarioCounts looks at what GDB says of the run as a whole.
func scenarioCounts(t *testing.T, s *session, all []frame) {
	hits := map[int64]int{}
	for _, f := range all {
		hits[f.tracepoint]++
	}
	contains(t, s.output, "status", "Trace stopped by tracepoint 4", fmt.Sprintf("Collected %d trace frames.", len(all)))
	contains(t, s.output, "tracepoints",
		fmt.Sprintf("tracepoint already hit %d times", hits[2]), fmt.Sprintf("tracepoint already hit %d time", hits[3]/4),
		"tracepoint already hit 15 times", "pass count 15", "trace only if worker == 1 && round % 2 == 0")
	seen := number(t, s.output, "variables", `\$seen +0 +(-?\d+)`)
	if int(seen) != hits[2] {
		t.Errorf("$seen is %d after %d hits", seen, hits[2])
	}
	if untouched := number(t, s.output, "variables", `\$untouched +-5 +(-?\d+)`); untouched != -5 {
		t.Errorf("$untouched is %d", untouched)
	}
}

// scenarioFinds compares what tfind found with what it should have found among all frames.
func scenarioFinds(t *testing.T, s *session, all []frame) {
	at := testprog.OfKind(testprog.Records(s.output.Section(t, "places")), "places")[0]
	p := places{from: at.Int(t, "from"), to: at.Int(t, "to"), line: at.Int(t, "line")}
	p.behind = number(t, s.output, "places", `ends at (0x[0-9a-f]+)`)
	found := func(i int) string { return fmt.Sprint("found ", i) }
	for _, search := range searches {
		var want []string
		for i, f := range all {
			if search.finds(f, p) {
				want = append(want, found(i))
			}
		}
		section := s.output.Section(t, "tfind "+s.expand(t, search.command))
		sameLines(t, "tfind "+search.command, want, lines(section, "found"))
	}
	next := func(same func(a, b frame) bool) string {
		i := slices.IndexFunc(all[6:], func(f frame) bool { return same(f, all[5]) })
		if i >= 0 {
			i += 6
		}
		return found(i)
	}
	want := []string{found(0), found(1), found(2), found(1),
		found(5), next(func(a, b frame) bool { return a.pc == b.pc }),
		found(5), next(func(a, b frame) bool { return a.tracepoint == b.tracepoint }),
		found(5), next(func(a, b frame) bool { return a.line != b.line })}
	sameLines(t, "tfind from a frame", want, lines(s.output.Section(t, "relative"), "found"))
}

var tracepointNumber = regexp.MustCompile(`(tracepoint |tp=)\d+`)

// scenarioSaved opens the file in another GDB. All frames have to read as they did when they were live.
func scenarioSaved(t *testing.T, s *session) {
	output := s.reopen(t, scenarioFrames+"-- status --\ntstatus\n")
	for _, section := range []string{"frames", "dumps"} {
		live := tracepointNumber.ReplaceAllString(s.output.Section(t, section), "${1}N")
		saved := tracepointNumber.ReplaceAllString(output.Section(t, section), "${1}N")
		sameLines(t, section, strings.Split(live, "\n"), strings.Split(saved, "\n"))
	}
	contains(t, output, "status", "Using a trace file.", "Trace stopped by tracepoint",
		fmt.Sprintf("Collected %d trace frames.", len(lines(s.output.Section(t, "frames"), "frame"))))
}
