package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

const expectedText = `
# a comment
score here gdb.trace/a 3 0
score here gdb.trace/b 2 0
fault * gdb.trace/a client-blind no. *: see
fault there gdb.trace/a ours-elsewhere not this one
fault here gdb.trace/b test-now-and-then racing
leave gdb.trace/c takes a day
`

// write makes a run of the tests whose summaries it is given, all on the board here.
func write(t *testing.T, status string, summaries map[string]string) string {
	t.Helper()
	run := t.TempDir()
	var outcomes strings.Builder
	for file, summary := range summaries {
		outcomes.WriteString("here " + file + " " + status + " 7\n")
		dir := filepath.Join(run, "here", "gdb", "testsuite", "results", file)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "gdb.sum"), []byte(summary), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(run, "outcomes"), []byte(outcomes.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestJudge(t *testing.T) {
	const pass = "PASS: gdb.trace/a.exp: one\nPASS: gdb.trace/a.exp: two\n"
	for _, test := range []struct {
		name, status  string
		summary       string
		worse, better []string
	}{
		{name: "known fail", summary: pass + "FAIL: gdb.trace/a.exp: no. 12: see\nKFAIL: gdb.trace/a.exp: x (PRMS: y)\n"},
		{name: "all passes", summary: pass + "PASS: gdb.trace/a.exp: three\n", better: []string{"here gdb.trace/a: no. *: see"}},
		{
			name: "unknown fail", summary: pass + pass + "FAIL: gdb.trace/a.exp: not this one\n",
			worse:  []string{"here gdb.trace/a: not this one"},
			better: []string{"here gdb.trace/a: no. *: see"},
		},
		{
			name: "broken", summary: pass + "FAIL: gdb.trace/a.exp: no. 1: see\nERROR: tcl error sourcing a.exp.\n",
			worse: []string{"here gdb.trace/a: ERROR: tcl error sourcing a.exp."},
		},
		{
			name: "too few", status: "1", summary: "FAIL: gdb.trace/a.exp: no. 1: see\n",
			worse: []string{"here gdb.trace/a: 0 passes and 1 known fails; gdbserver has 3 passes and 0 fails"},
		},
		{
			name: "cut off", status: "124", summary: pass + "FAIL: gdb.trace/a.exp: no. 1: see\n",
			worse: []string{"here gdb.trace/a: cut off after 7 s"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := newExpectations()
			if err := want.parse(expectedText); err != nil {
				t.Fatal(err)
			}
			if test.status == "" {
				test.status = "0"
			}
			outcomes, err := readOutcomes(write(t, test.status, map[string]string{"gdb.trace/a": test.summary}))
			if err != nil {
				t.Fatal(err)
			}
			v := want.judge(outcomes)
			if diff := gocmp.Diff(test.worse, v.worse); diff != "" {
				t.Errorf("worse (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(test.better, v.better); diff != "" {
				t.Errorf("better (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	outcomes, err := readOutcomes(write(t, "0", map[string]string{
		"gdb.trace/b": "FAIL: gdb.trace/b.exp: racing\nUNTESTED: gdb.trace/b.exp: no compiler\n",
		"gdb.trace/a": "PASS: gdb.trace/a.exp: one\nXFAIL: gdb.trace/a.exp: two\n\n# of expected passes 1\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `
board  file         pass  fail  kfail  xfail  untested  unsupported  seconds
here   gdb.trace/a  1     0     0      1      0         0            7
here   gdb.trace/b  0     1     0      0      1         0            7
here   all          1     1     0      1      1         0            
`
	if diff := gocmp.Diff(want[1:], table(outcomes)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestParseExpectations(t *testing.T) {
	for _, line := range []string{
		"score here gdb.trace/a 3", "score here gdb.trace/a three 0", "fault * gdb.trace/a nobody fails", "fault * gdb.trace/a",
		"leave gdb.trace/a", "whatever",
	} {
		if err := newExpectations().parse("# first\n" + line); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("parsing %q: error %v", line, err)
		}
	}
}

// TestExplained holds the causes in expected.txt and chain.txt to those that README.md has a row for.
func TestExplained(t *testing.T) {
	want := newExpectations()
	for _, file := range []string{"expected.txt", "chain.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := want.parse(string(text)); err != nil {
			t.Fatal(err)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var used, explained []string
	for _, f := range want.faults {
		used = append(used, f.cause)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `((?:client|test|ours)-[^`]*)` \\|").FindAllStringSubmatch(string(readme), -1) {
		explained = append(explained, row[1])
	}
	slices.Sort(used)
	slices.Sort(explained)
	if diff := gocmp.Diff(slices.Compact(used), explained); diff != "" {
		t.Errorf("causes (-expected +in README.md):\n%s", diff)
	}
}
