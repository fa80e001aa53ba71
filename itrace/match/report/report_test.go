package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/match"
	"tracewell/itrace/matcher"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	anew   = flag.Bool("record", false, "compare the traces of testdata/recorded.jsonl anew")
)

// dialects are those of the traces in tests.
var dialects = itrace.Registry{matcher.Dialect, jsonl.Dialect}

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

// generated compares a trace that has faults, written as generate.Fault has them, with one that has not. The time that it took is
// always the same.
func generated(t testing.TB, faults ...string) *match.Report {
	t.Helper()
	const instructions = 6000
	with := generate.Options{Instructions: instructions, TimeBase: 500, Faults: make([]generate.Fault, len(faults))}
	for i, text := range faults {
		if err := with.Faults[i].UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	var traces [2]bytes.Buffer
	for i, o := range []generate.Options{{Instructions: instructions}, with} {
		if _, err := generate.Write(&traces[i], o); err != nil {
			t.Fatal(err)
		}
	}
	r := match.Compare(t.Context(), match.Input{Name: "iss.log", Reader: &traces[0]}, match.Input{Name: "rtl.log", Reader: &traces[1]},
		dialects, match.Options{})
	r.Seconds = 0.25
	return r
}

// recordings are the faults of the reports in testdata/recorded.jsonl, by their names. They are recorded so that the golden files
// hold what is written, and not what is found.
var recordings = map[string][]string{
	"equal": nil, "value": {"value@3000"}, "state": {"state@3000"}, "store": {"store@3000"}, "address": {"address@3000"},
	"opcode": {"opcode@3000"}, "mode": {"mode@3000"}, "skipped": {"skipped@3000"}, "drop": {"drop@3000"}, "dropmany": {"drop@3000:40"},
	"insert": {"insert@3000"}, "late": {"late@3000"}, "interrupt": {"interrupt@3000"}, "poll": {"poll@3000"},
	"truncate": {"truncate@3000"}, "garbage": {"garbage@3000", "store@4000"},
	"several": {"value@300", "drop@900", "mode@2000", "interrupt@2500", "store@3300", "insert@4200"},
}

// recording is a line of testdata/recorded.jsonl.
type recording struct {
	Name   string        `json:"name"`
	Report *match.Report `json:"report"`
}

// recorded returns a report of testdata/recorded.jsonl.
func recorded(t testing.TB, name string) *match.Report {
	t.Helper()
	path := filepath.Join("testdata", "recorded.jsonl")
	if *anew {
		*anew = false
		var lines bytes.Buffer
		for _, name := range slices.Sorted(maps.Keys(recordings)) {
			if err := json.NewEncoder(&lines).Encode(recording{name, generated(t, recordings[name]...)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, lines.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := json.NewDecoder(f); ; {
		var r recording
		if err := lines.Decode(&r); err != nil {
			t.Fatalf("no report %q: %v", name, err)
		}
		if r.Name == name {
			return r.Report
		}
	}
}

// several are cases of every verdict.
func several(t testing.TB) []Case {
	t.Helper()
	return []Case{
		{"boot", recorded(t, "equal"), dialects}, {"sort", recorded(t, "several"), dialects}, {"wait", recorded(t, "poll"), dialects}, {"copy", recorded(t, "garbage"), nil},
		{"", &match.Report{Verdict: match.Failed, Reason: "nothing was compared"}, dialects}, {"lost", nil, nil},
	}
}

// broken is a writer that fails.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestErrorsOfTheWriter(t *testing.T) {
	cases := several(t)
	for name, err := range map[string]error{
		"Text":  Text(broken{}, cases[1].Report, Style{}),
		"JUnit": JUnit(broken{}, cases),
		"HTML":  HTML(broken{}, cases),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s gives %v", name, err)
		}
	}
}

func Example() {
	trace := func(name, value string) match.Input {
		lines := "1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n1 clk R t0 " + value + "\n"
		return match.Input{Name: name, Reader: strings.NewReader(lines)}
	}
	r := match.Compare(context.Background(), trace("model.log", "00010000"), trace("chip.log", "00010001"),
		dialects, match.Options{})
	if err := Text(os.Stdout, r, Style{Quiet: true}); err != nil {
		fmt.Println(err)
	}
	// Output: chip.log differs from model.log: register t0 has another value, expected 10000, got 10001
}
