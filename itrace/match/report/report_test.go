package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/match"
	"tracewell/itrace/matcher"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// compared generates a trace with faults and compares it with one without. The time that it took is made the same always.
func compared(t testing.TB, o match.Options, variation generate.Options, faults ...generate.Fault) *match.Report {
	t.Helper()
	var traces [2]bytes.Buffer
	variation.Instructions, variation.Faults = instructions, faults
	for i, g := range []generate.Options{{Instructions: instructions}, variation} {
		if _, err := generate.Write(&traces[i], g); err != nil {
			t.Fatal(err)
		}
	}
	r := match.Compare(t.Context(), match.Input{Name: "iss.log", Reader: &traces[0]}, match.Input{Name: "rtl.log", Reader: &traces[1]},
		itrace.Registry{matcher.Dialect}, o)
	r.Seconds = 0.25
	return r
}

// instructions is how long the generated traces are.
const instructions = 6000

func written(t testing.TB, r *match.Report, style Style) string {
	t.Helper()
	var out strings.Builder
	if err := Text(&out, r, style); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestTextOfFaults writes the reports of traces with one fault each.
func TestTextOfFaults(t *testing.T) {
	kinds, _ := generate.FaultKinds()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			r := compared(t, match.Options{}, generate.Options{TimeBase: 500}, generate.Fault{Kind: kind, At: 3000})
			golden(t, fmt.Sprintf("fault-%s.txt", kind), written(t, r, Style{Width: 160}))
		})
	}
}
