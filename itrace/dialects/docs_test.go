package dialects

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace/jsonl"
	"tracewell/itrace/matcher"
)

// TestDocs holds docs/exec-traces.md to what is true: its JSON lines are those of its text, and its table lists the dialects.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/exec-traces.md")
	if err != nil {
		t.Fatal(err)
	}
	text, objects := fenced(t, string(page), "text"), fenced(t, string(page), "json")
	if diff := cmp.Diff(objects, convert(t, strings.NewReader(text), matcher.Dialect, jsonl.Dialect)); diff != "" {
		t.Errorf("the JSON lines (-page +true):\n%s", diff)
	}
	if diff := cmp.Diff(text, convert(t, strings.NewReader(objects), jsonl.Dialect, matcher.Dialect)); diff != "" {
		t.Errorf("the text (-page +true):\n%s", diff)
	}
	for _, d := range All {
		row := fmt.Sprintf("| `%s` | ", d.Name)
		suffixes := " | |\n" // none is written
		if len(d.Suffixes) > 0 {
			suffixes = " | `" + strings.Join(d.Suffixes, "`, `") + "` |\n"
		}
		if _, rest, ok := strings.Cut(string(page), row); !ok || !strings.HasSuffix(rest[:strings.IndexByte(rest, '\n')+1], suffixes) {
			t.Errorf("the table lacks %q … %q", row, suffixes)
		}
	}
}

// fenced returns the first block of a language on a page.
func fenced(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("the page has no block of %s", language)
	}
	return block
}
