//go:build linux

package console_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/testtool"
)

// TestPager: long output goes through the user's pager, and the command ends as it would without one.
func TestPager(t *testing.T) {
	for name, test := range map[string]struct {
		pager  string
		args   []string
		status int
		shows  []string // one after the other
	}{
		"through it":           {"PAGER=sed s/work/WORK/", []string{"show", clitest.Basic}, console.StatusDone, []string{"\x1b[1mframe", "   81   4  WORK (step)"}},
		"one that does not":    {"PAGER=no-such-pager", []string{"show", clitest.Basic}, console.StatusDone, []string{"   81   4  work (step)"}},
		"none":                 {"PAGER=", []string{"show", clitest.Basic}, console.StatusDone, []string{"   81   4  work (step)"}},
		"not wanted":           {"PAGER=false", []string{"show", "--no-pager", clitest.Basic}, console.StatusDone, []string{"   81   4  work (step)"}},
		"one that ends early":  {"PAGER=head -1", []string{"show", "--json", clitest.Basic}, console.StatusDone, []string{`{"frame":0`}},
		"one that fails":       {"PAGER=false", []string{"show", "--json", clitest.Basic}, console.StatusDone, nil},
		"a message behind it":  {"PAGER=cat -n", []string{"show", clitest.Damaged}, console.StatusFailure, []string{"(damaged)", "tracewell: "}},
		"wrong usage after it": {"PAGER=cat -n", []string{"show", clitest.Basic, "--value", "m"}, console.StatusFailure, []string{"there is no m"}},
		"of info":              {"PAGER=sed s/Trace/TRACE/", []string{"info", clitest.Basic}, console.StatusDone, []string{"TRACE run", "TRACE state variables"}},
		"less":                 {"PAGER=" + testtool.Path(t, "less"), []string{"show", clitest.Basic, "--limit", "1"}, console.StatusDone, []string{"frame", "queue.c:23"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := clitest.OnPTY(t, []string{test.pager}, test.args...)
			if got := s.Status(t); got != test.status {
				t.Errorf("exit status %d, want %d", got, test.status)
			}
			for _, want := range test.shows {
				s.Screen.Shows(t, want)
			}
		})
	}
}

// TestPagerInterrupted: Ctrl-C is for the pager, which has what was printed by then; the command ends when the pager does.
func TestPagerInterrupted(t *testing.T) {
	printed := filepath.Join(t.TempDir(), "printed")
	// The pager reads the first line, so that there is one, and no more before it was interrupted.
	const script = "trap hit=1 INT; read -r line; echo started; until test $hit; do sleep .01; done; " +
		`printf "%s\n" "$line" >FILE; cat >>FILE; echo ended`
	pager := "PAGER=sh -c '" + strings.ReplaceAll(script, "FILE", printed) + "'"
	s := clitest.OnPTY(t, []string{pager}, "show", "--json", clitest.Basic)
	s.Screen.Shows(t, "started")
	if _, err := s.Typist.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	s.Screen.Shows(t, "ended")
	if got := s.Status(t); got != console.StatusDone || !strings.HasPrefix(clitest.Content(t, printed), `{"frame":0,`) {
		t.Errorf("exit status %d, %d bytes printed", got, len(clitest.Content(t, printed)))
	}
}
