package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/console"
)

// TestJSONReference: docs/json.md has a document for every command with the option --json.
func TestJSONReference(t *testing.T) {
	reference, err := os.ReadFile("../../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := kong.New(&commands{}, append(parserOptions(console.Streams{}), kong.Writers(io.Discard, io.Discard))...)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, leaf := range p.Model.Leaves(false) {
		for _, flag := range leaf.Flags {
			if flag.Name != "json" {
				continue
			}
			found++
			documented := false
			for span := range strings.SplitSeq(string(reference), "`") {
				documented = documented || strings.HasPrefix(span, "tracewell "+leaf.Path()+" ") && strings.Contains(span, "--json")
			}
			if !documented {
				t.Errorf("docs/json.md has no document of %s --json", leaf.Path())
			}
		}
	}
	if found < 10 {
		t.Errorf("%d commands have the option", found)
	}
}
