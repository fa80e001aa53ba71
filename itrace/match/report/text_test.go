package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tracewell/itrace/generate"
	"tracewell/itrace/match"
)

func written(t testing.TB, r *match.Report, style Style) string {
	t.Helper()
	var out strings.Builder
	if err := Text(&out, r, style); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestTextOfRecordings writes a report of each kind, and some in several widths.
func TestTextOfRecordings(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(recordings)) {
		golden(t, name+".txt", written(t, recorded(t, name), Style{Width: 160, Dialects: dialects}))
	}
	for _, width := range []int{0, 80, 120, 200} {
		golden(t, fmt.Sprintf("several-%d.txt", width), written(t, recorded(t, "several"), Style{Width: width, Dialects: dialects}))
	}
	for _, width := range []int{80, 160} {
		golden(t, fmt.Sprintf("value-colour-%d.txt", width), written(t, recorded(t, "value"), Style{Width: width, Colour: true}))
	}
}

// TestWidth holds what can be cut to the width: the lines of traces and the tables.
func TestWidth(t *testing.T) {
	for _, width := range []int{60, 80, 120, 200} {
		text, _, _ := strings.Cut(written(t, recorded(t, "several"), Style{Width: width, Dialects: dialects}), "\nSummary\n")
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); i > 0 && n > width {
				t.Errorf("width %d: %d characters: %s", width, n, line)
			}
		}
	}
}

// TestTextOfEqualTraces: two lines, and with Quiet none.
func TestTextOfEqualTraces(t *testing.T) {
	r := recorded(t, "equal")
	if text := written(t, r, Style{}); strings.Count(text, "\n") != 2 {
		t.Errorf("not two lines:\n%s", text)
	}
	if text := written(t, r, Style{Quiet: true}); text != "" {
		t.Errorf("quiet: %s", text)
	}
	r.Traces[other].Unknown, r.Traces[other].Samples = 1, []string{"rtl.log:3: what is this"}
	if text := written(t, r, Style{}); !strings.Contains(text, "rtl.log:3: what is this") {
		t.Errorf("the line that could not be read is not shown:\n%s", text)
	}
}

// TestQuiet: one line for whatever is not equal.
func TestQuiet(t *testing.T) {
	for _, name := range []string{"several", "garbage"} {
		all, quiet := written(t, recorded(t, name), Style{}), written(t, recorded(t, name), Style{Quiet: true})
		if first, _, _ := strings.Cut(all, "\n"); quiet != first+"\n" {
			t.Errorf("got %q, want the first line of\n%s", quiet, all)
		}
	}
}

// TestFoundFaults compares traces anew, and looks for the words and the line in what is written of each fault.
func TestFoundFaults(t *testing.T) {
	for fault, want := range map[generate.FaultKind]string{
		generate.FaultValue: "has another value", generate.FaultStore: "the write of", generate.FaultOpcode: "another opcode",
		generate.FaultMode: "another mode", generate.FaultSkipped: "executed on one side only", generate.FaultDrop: "the other trace lacks",
		generate.FaultInsert: "the reference lacks", generate.FaultTruncate: "the trace ends early", generate.FaultReorder: "is equal to",
	} {
		r := generated(t, string(fault)+"@3000")
		text := written(t, r, Style{Width: 160, Dialects: dialects})
		first, _, _ := strings.Cut(text, "\n")
		if !strings.Contains(first, want) {
			t.Errorf("%s: %s", fault, first)
		}
		if r.Verdict == match.Different && (!strings.Contains(text, "\n => ") || !strings.Contains(text, "\nRegisters before")) {
			t.Errorf("%s: neither lines nor registers:\n%s", fault, text)
		}
	}
}

func TestTextOfHostileText(t *testing.T) {
	for _, width := range []int{0, 1, 80, 500} {
		for _, r := range []*match.Report{hostile(), {}, {Verdict: match.Different}, {Verdict: match.Equal}, {Verdict: hostileText, Reason: hostileText}} {
			text := written(t, r, Style{Width: width, Dialects: dialects})
			if strings.ContainsAny(text, "\x00\x1b\a\r\t\u202e") || !utf8.ValidString(text) {
				t.Errorf("not escaped: %.3000q", text)
			}
			if len(text) > 200_000 {
				t.Errorf("%d bytes, of long lines", len(text))
			}
		}
	}
}

// TestHugeContexts has more lines around a difference than anybody reads; the difference is still among those that are shown.
func TestHugeContexts(t *testing.T) {
	var lines [2][]match.Position
	for i := range 10_000 {
		for side := range lines {
			lines[side] = append(lines[side], match.Position{Line: int64(i + 1), Text: fmt.Sprintf("%d clk R r%d %x", i, i%31, i*(side+1))})
		}
	}
	d := match.Difference{Class: match.ClassRegister, Reference: &lines[0][7000], Other: &lines[1][7000]}
	d.Context = &match.Context{Reference: lines[0], Other: lines[1]}
	text := written(t, &match.Report{Verdict: match.Different, Differences: []match.Difference{d}}, Style{})
	if !strings.Contains(text, "\n => 7001      - ") || strings.Count(text, "\n") > 3*contextLines {
		t.Errorf("%d lines:\n%.3000s", strings.Count(text, "\n"), text)
	}
}
