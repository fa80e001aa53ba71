package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// expectations are what a run is held to. Their text has one a line; a line that begins with # is a comment:
//
//	score BOARD FILE PASSES FAILS      gdbserver's score
//	fault BOARD FILE CAUSE NAME        a check that is known to fail, and why
//	leave FILE REASON                  a file that is not run
//
// NAME is what stands behind "FAIL: FILE.exp: " in the log, or a whole line that begins with ERROR or UNRESOLVED. BOARD may
// be * for all. NAME goes to the end of the line, and * stands in it for any characters. CAUSE is a word that begins with
// whose fault it is, "client-", "test-" or "ours-", and is explained in README.md; one that ends in "-now-and-then" does not
// fail every time.
type expectations struct {
	scores map[test]score
	faults []fault
}

type score struct{ passes, fails int }

type fault struct {
	test
	cause, name string
}

// sporadic is how the cause of a check ends that fails only at times.
const sporadic = "-now-and-then"

// whose are the beginnings of causes.
var whose = []string{"client-", "test-", "ours-"}

func newExpectations() *expectations { return &expectations{scores: map[test]score{}} }

// parse adds what a text expects.
func (e *expectations) parse(text string) error {
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if err := e.parseLine(strings.TrimSpace(line)); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

func (e *expectations) parseLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	fields := strings.Fields(rest)
	switch {
	case word == "":
	case word == "score" && len(fields) == 4:
		passes, err := strconv.Atoi(fields[2])
		if err != nil {
			return fmt.Errorf("passes: %w", err)
		}
		fails, err := strconv.Atoi(fields[3])
		if err != nil {
			return fmt.Errorf("fails: %w", err)
		}
		e.scores[test{fields[0], fields[1]}] = score{passes, fails}
	case word == "fault" && len(fields) >= 4:
		if !slices.ContainsFunc(whose, func(prefix string) bool { return strings.HasPrefix(fields[2], prefix) }) {
			return fmt.Errorf("cause %q begins with none of %q", fields[2], whose)
		}
		// The names of checks are compared as they are but for their blanks.
		e.faults = append(e.faults, fault{test{fields[0], fields[1]}, fields[2], strings.Join(fields[3:], " ")})
	case word == "leave" && len(fields) >= 2:
	default:
		return fmt.Errorf("%q is not an expectation", line)
	}
	return nil
}

// is reports whether the fault is what made a check of a test fail.
func (f fault) is(t test, name string) bool {
	return f.file == t.file && (f.board == "*" || f.board == t.board) && matches(f.name, strings.Join(strings.Fields(name), " "))
}

// matches reports whether name is what the pattern says, in which * stands for any characters.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		var found bool
		_, name, found = strings.Cut(name, part)
		ok = ok && found
	}
	return ok && strings.HasSuffix(name, parts[len(parts)-1])
}

// verdict is how a run compares with what is expected.
type verdict struct {
	worse  []string       // what falls short, a line each
	better []string       // known faults that did not show
	known  map[string]int // how many checks failed for each cause
}

// judge compares outcomes with the expectations. A file falls short when it was cut off or came to grief, when a check fails
// for no known cause, and when the passes together with the known fails are fewer than gdbserver's passes.
func (e *expectations) judge(outcomes []outcome) verdict {
	v := verdict{known: map[string]int{}}
	for _, o := range outcomes {
		if o.cutOff() {
			v.worse = append(v.worse, fmt.Sprintf("%s: cut off after %s s", o.test, o.seconds))
		}
		known := 0
		for _, name := range o.fails {
			if i := slices.IndexFunc(e.faults, func(f fault) bool { return f.is(o.test, name) }); i >= 0 {
				v.known[e.faults[i].cause]++
				known++
			} else {
				v.worse = append(v.worse, fmt.Sprintf("%s: %s", o.test, name))
			}
		}
		if s := e.scores[o.test]; o.counts["PASS"]+known < s.passes {
			v.worse = append(v.worse, fmt.Sprintf("%s: %d passes and %d known fails; gdbserver has %d passes and %d fails",
				o.test, o.counts["PASS"], known, s.passes, s.fails))
		}
		v.better = append(v.better, e.unseen(o)...)
	}
	return v
}

// unseen returns the known faults that a test should have shown and did not.
func (e *expectations) unseen(o outcome) []string {
	var lines []string
	for _, f := range e.faults {
		applies := f.file == o.file && (f.board == "*" || f.board == o.board) && !strings.HasSuffix(f.cause, sporadic)
		if applies && !slices.ContainsFunc(o.fails, func(name string) bool { return f.is(o.test, name) }) {
			lines = append(lines, fmt.Sprintf("%s: %s", o.test, f.name))
		}
	}
	return lines
}

// report prints the verdict.
func (v verdict) report() string {
	var b strings.Builder
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	var causes []string
	for cause, n := range v.known {
		causes = append(causes, fmt.Sprintf("%4d  %s", n, cause))
	}
	slices.SortFunc(causes, func(a, b string) int { return strings.Compare(a[4:], b[4:]) })
	list("known fails, by the causes that README.md explains", causes)
	list("known to fail, and did not; expected.txt can do without", v.better)
	list("worse than expected", v.worse)
	if len(v.worse) == 0 {
		b.WriteString("\nas expected\n")
	}
	return b.String()
}
