//go:build linux && amd64

package clitest

import (
	"encoding/hex"
	"testing"

	"tracewell/internal/test/testprog"
)

// RecordForeign records the texts of the program foreign, and returns the file with what the program says that they are.
func RecordForeign(t *testing.T, more ...string) (got Outcome, path string, texts []string) {
	t.Helper()
	p := testprog.Build(t, "foreign", testprog.Variant{})
	args := append([]string{"-q", "--at", "take", "--collect", "/s l->text", "--collect", "l->number, -l->number"}, more...)
	got, path = RecordInto(t, append(args, "--", p.Path)...)
	for _, r := range testprog.OfKind(testprog.Records(got.Stdout), "take") {
		b, err := hex.DecodeString(r.Fields["text"])
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if got.Status != 0 || len(texts) < 10 {
		t.Fatalf("status %d, %d texts: %s", got.Status, len(texts), got.Stderr)
	}
	return got, path, texts
}
