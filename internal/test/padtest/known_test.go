//go:build linux && amd64

package padtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// A statement is a line of a program in testdata that keeps what the program knows there, which the program prints in the end:
// "known LINE VALUE…", the lines of each thread together.
type statement struct {
	location string // FILE:LINE
	values   []string
}

// knows finds the calls of known(), or KNOWN() with a format, whose last arguments are the values.
var knows = regexp.MustCompile(`^\s+(?:KNOWN\("[^"]*", |known\(&mut log, line!\(\), &\[)(.*?)\]?\);$`)

// statementsOf reads which statements a source has.
func statementsOf(t *testing.T, source string) (list []statement) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if found := knows.FindStringSubmatch(line); found != nil {
			values := strings.Split(strings.ReplaceAll(found[1], ".c_str()", ""), ", ")
			list = append(list, statement{fmt.Sprintf("%s:%d", filepath.Base(source), i+1), values})
		}
	}
	if len(list) < 2 {
		t.Fatalf("%s has only %d statements", source, len(list))
	}
	return list
}

// script writes the tracepoints of statements.
func statementScript(list []statement) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "trace %s\nactions\ncollect %s\nend\n", s.location, strings.Join(s.values, ", "))
	}
	return b.String()
}

// printed is what the threads of a program knew, in order, by what it printed.
func printed(output string) (threads [][]string) {
	before := false
	for line := range strings.Lines(output) {
		rest, known := strings.CutPrefix(line, "known ")
		switch {
		case known && before:
			threads[len(threads)-1] = append(threads[len(threads)-1], strings.TrimSpace(rest))
		case known:
			threads = append(threads, []string{strings.TrimSpace(rest)})
		}
		before = known
	}
	return threads
}

// collected is the same by the frames of a file whose first tracepoints are those of statements, as show prints them.
func collected(t *testing.T, file string, list []statement) (threads [][]string) {
	t.Helper()
	numbers := "1"
	for i := range list[1:] {
		numbers += "," + strconv.Itoa(i+2)
	}
	cmd := testtool.Command(t, "env", gdbtest.Binary(t), "show", "--json", "--tracepoint", numbers, file)
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	of := map[int]int{} // which of the threads a thread id is
	for line := range bytes.Lines(output) {
		var frame struct {
			Tracepoint int
			Variables  struct{ Tid int }
			Collected  map[string]json.RawMessage
		}
		if err := json.Unmarshal(line, &frame); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		at := list[frame.Tracepoint-1]
		_, text, _ := strings.Cut(at.location, ":")
		for _, name := range at.values {
			text += " " + strings.Trim(string(frame.Collected[name]), `"`)
		}
		i, ok := of[frame.Variables.Tid]
		if !ok {
			i = len(threads)
			of[frame.Variables.Tid] = i
			threads = append(threads, nil)
		}
		threads[i] = append(threads[i], text)
	}
	return threads
}

// compareKnown compares each value that the statements' frames have with what the program knew, all of them in order, and returns
// how many frames there are.
func compareKnown(t *testing.T, file, output string, list []statement) (frames int) {
	t.Helper()
	want, got := printed(output), collected(t, file, list)
	slices.SortFunc(want, slices.Compare)
	slices.SortFunc(got, slices.Compare)
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("frames of %d threads, and %d printed what they knew", len(got), len(want))
	}
	for i := range want {
		for j := range min(len(want[i]), len(got[i])) {
			if got[i][j] != want[i][j] {
				t.Fatalf("hit %d of thread %d: the frame has %q, the program knew %q", j, i, got[i][j], want[i][j])
			}
		}
		if len(got[i]) != len(want[i]) {
			t.Fatalf("%d frames of thread %d, which knew %d times", len(got[i]), i, len(want[i]))
		}
		frames += len(got[i])
	}
	return frames
}
