package tracetext

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
)

// TestDocs holds the examples of docs/trace-text.md to what is true: the first one is as Write writes it, and all are texts
// of whole files.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/trace-text.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```\n")
	for i := 1; i < len(blocks); i += 2 {
		data := bytesOf(t, blocks[i])
		if f, err := tfile.OpenBytes(data); err != nil || f.NumFrames() == 0 || len(f.Findings()) > 0 {
			t.Errorf("example %d: %d frames, %v, %v", i/2, f.NumFrames(), err, f.Findings())
		}
		text := textOf(t, data)
		if i == 1 {
			if diff := cmp.Diff(text, blocks[i]); diff != "" {
				t.Errorf("(-as written +as documented):\n%s", diff)
			}
		}
		if !bytes.Equal(bytesOf(t, text), data) {
			t.Errorf("example %d: other bytes come back", i/2)
		}
	}
	if len(blocks) != 5 {
		t.Errorf("%d parts of the page, want 5", len(blocks))
	}
}
