package report

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/itrace/match"
)

func html(t testing.TB, cases []Case) string {
	t.Helper()
	var out strings.Builder
	if err := HTML(&out, cases); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHTML(t *testing.T) {
	got := html(t, several(t))
	golden(t, "several.html", got)
	for _, outside := range []string{"<script", "<link", "src=", "http:", "https:", "url(", "@import"} {
		if strings.Contains(got, outside) {
			t.Errorf("the page has %s", outside)
		}
	}
}

// TestHTMLOfHostileText writes what must not become markup.
func TestHTMLOfHostileText(t *testing.T) {
	got := html(t, []Case{{hostileText, hostile(), dialects}, {hostileText, &match.Report{Verdict: hostileText, Reason: hostileText}, nil}, {}})
	if strings.Contains(got, "<script") || strings.ContainsAny(got, "\x00\x1b\a\u202e") {
		t.Errorf("not escaped: %.2000q", got)
	}
	if len(got) > 100_000 {
		t.Errorf("%d bytes, of long lines", len(got))
	}
}

// TestHTMLIsSmall has a page for a case with as many differences as are described, and one for a large regression.
func TestHTMLIsSmall(t *testing.T) {
	var faults []string
	for i := range 25 {
		faults = append(faults, fmt.Sprintf("%s@%d", []string{"value", "store", "opcode", "drop", "interrupt"}[i%5], 200+220*i))
	}
	r := generated(t, faults...)
	one := html(t, []Case{{"one", r, dialects}})
	if described := strings.Count(one, `<table class="rows">`); described != 20 || len(one) > 100_000 {
		t.Errorf("%d bytes for %d differences", len(one), described)
	}
	var cases []Case
	for i := range 1000 {
		cases = append(cases, Case{fmt.Sprintf("pair %d", i), r, nil})
	}
	if all := html(t, cases); len(all) > 20_000_000 {
		t.Errorf("%d bytes for 1000 cases", len(all))
	}
}

func TestEmptyPage(t *testing.T) {
	if got := html(t, nil); !strings.Contains(got, "0 comparisons: none") {
		t.Error(got)
	}
}
