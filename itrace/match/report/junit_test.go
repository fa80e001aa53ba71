package report

import (
	"encoding/xml"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
	"tracewell/itrace/match"
)

// lint runs xmllint over a document.
func lint(t *testing.T, document string, args ...string) {
	t.Helper()
	command := testtool.Command(t, "xmllint", append(args, "--noout", "-")...)
	command.Stdin = strings.NewReader(document)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func junit(t testing.TB, cases []Case) string {
	t.Helper()
	var out strings.Builder
	if err := JUnit(&out, cases); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestJUnit(t *testing.T) {
	got := junit(t, several(t))
	golden(t, "several.xml", got)
	lint(t, got)

	var suites junitSuites
	if err := xml.Unmarshal([]byte(got), &suites); err != nil {
		t.Fatal(err)
	}
	counts := junitCounts{Tests: 6, Failures: 2, Errors: 3, Time: "1.000"}
	if suites.junitCounts != counts || suites.Suite.junitCounts != counts {
		t.Errorf("counts %+v and %+v, want %+v", suites.junitCounts, suites.Suite.junitCounts, counts)
	}
	want := map[string]string{"boot": "", "sort": "register", "wait": "loop", "copy": "failed", "unnamed": "failed", "lost": "failed"}
	for _, c := range suites.Suite.Cases {
		kind := ""
		switch {
		case c.Failure != nil:
			kind = c.Failure.Type
		case c.Error != nil:
			kind = c.Error.Type
		}
		if expected, ok := want[c.Name]; !ok || kind != expected {
			t.Errorf("%s: %q, want %q", c.Name, kind, expected)
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("no cases %v", want)
	}
}

// TestJUnitOfNothing writes a suite without cases.
func TestJUnitOfNothing(t *testing.T) {
	got := junit(t, nil)
	lint(t, got)
	if !strings.Contains(got, `tests="0"`) {
		t.Error(got)
	}
}

// TestJUnitOfHostileText writes what XML must not have in it.
func TestJUnitOfHostileText(t *testing.T) {
	got := junit(t, []Case{{hostileText, hostile(), dialects}, {hostileText, &match.Report{Verdict: hostileText, Reason: hostileText}, nil}})
	lint(t, got)
	if strings.ContainsAny(got, "\x00\x1b\a\u202e") {
		t.Errorf("not escaped: %.2000q", got)
	}
}
