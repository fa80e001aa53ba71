//go:build linux && amd64

package record

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testprog"
	"tracewell/record/plan"
	"tracewell/view/wire"
)

// saidStacks are the calls at each arrival at leaf, the outermost first, as the program callers says, and whether the stack is
// longer than what is collected.
func saidStacks(t *testing.T, output string) (stacks []string, long map[string]bool) {
	t.Helper()
	long = map[string]bool{}
	for _, r := range testprog.OfKind(testprog.Records(output), "leaf") {
		stacks = append(stacks, r.Fields["stack"])
		long[r.Fields["stack"]] = r.Int(t, "bytes") > plan.DefaultBacktrace
	}
	if len(stacks) < 10 || !slices.Contains(slices.Collect(maps.Values(long)), true) {
		t.Fatalf("the program has said %q", output)
	}
	return stacks, long
}

// truncated stands at the outer end of a folded stack that was not collected whole.
const truncated = "[truncated];"

// inProgram is a folded stack without the calls that lead to main.
func inProgram(t *testing.T, folded string) string {
	t.Helper()
	if strings.HasPrefix(folded, truncated) {
		return folded
	}
	_, calls, found := strings.Cut(folded, ";main;")
	if !found {
		t.Errorf("%q does not begin in main", folded)
	}
	return "main;" + calls
}

// collected is what can be known of a stack: all of one that is short, and of one that is long what the trace has.
func collected(t *testing.T, stack string, long bool, seen []string) string {
	t.Helper()
	if !long {
		return stack
	}
	for _, s := range seen {
		if rest, found := strings.CutPrefix(s, truncated); found && strings.HasSuffix(stack, ";"+rest) {
			return s
		}
	}
	t.Errorf("of %s nothing is in %q", stack, seen)
	return ""
}

// folded reads lines of --folded.
func folded(t *testing.T, printed string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for line := range strings.Lines(printed) {
		at := strings.LastIndexByte(line, ' ')
		n, err := strconv.Atoi(strings.TrimSpace(line[at+1:]))
		if err != nil || at < 0 {
			continue // of the program
		}
		counts[inProgram(t, line[:at])] = n
	}
	return counts
}

// TestStacksCounted: the stacks that record and show count are those that the program says that it had.
func TestStacksCounted(t *testing.T) {
	p := testprog.Build(t, "callers", testprog.Variant{})
	got, path := clitest.RecordInto(t, "-q", "--at", "leaf", "--folded", "--", p.Path)
	stacks, long := saidStacks(t, got.Stdout)
	counts := folded(t, got.Stdout)
	seen := slices.Collect(maps.Keys(counts))
	want, callers := map[string]int{}, map[string]int{}
	for _, s := range stacks {
		want[collected(t, s, long[s], seen)]++
		calls := strings.Split(s, ";")
		callers[calls[len(calls)-2]]++
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("at the end of record (-said +counted)\n%s", diff)
	}
	link := filepath.Join(t.TempDir(), "link") // by another name the program is the same, with the same libraries
	if err := os.Symlink(p.Path, link); err != nil {
		t.Fatal(err)
	}
	for _, exec := range []string{p.Path, link} {
		if diff := cmp.Diff(want, folded(t, clitest.Run(t, "show", path, "--exec", exec, "--folded").Stdout)); diff != "" {
			t.Errorf("show --exec %s (-said +counted)\n%s", exec, diff)
		}
	}

	byCaller, last := map[string]int{}, len(stacks)
	for line := range strings.Lines(clitest.Run(t, "show", path, "--by", "caller", "--json").Stdout) {
		var s wire.Stack
		if err := json.Unmarshal([]byte(line), &s); err != nil || len(s.Calls) != 1 || s.Calls[0].Line != 0 || s.Count > last {
			t.Fatalf("%s after %d: %v", line, last, err)
		}
		byCaller[s.Calls[0].Function], last = s.Count, s.Count
	}
	if diff := cmp.Diff(callers, byCaller); diff != "" {
		t.Errorf("--by caller (-said +counted)\n%s", diff)
	}

	cut := 0
	for s, n := range want {
		if strings.HasPrefix(s, truncated) {
			cut += n
		}
	}
	shown := clitest.Run(t, "show", path, "--stacks", "--top", "1").Stdout
	for _, phrase := range []string{
		fmt.Sprintf("%d frames, ", len(stacks)), fmt.Sprintf("%d stacks cut off", cut),
		"leaf (callers.c:", "), inlined\n", "stacks more, of ",
	} {
		if !strings.Contains(shown, phrase) {
			t.Errorf("%q is not in\n%s", phrase, shown)
		}
	}
}

// TestBacktraceForms: each form of a frame has the calls that the program had at it.
func TestBacktraceForms(t *testing.T) {
	p := testprog.Build(t, "callers", testprog.Variant{})
	got, path := clitest.RecordInto(t, "-q", "--at", "leaf", "--backtrace", "--format", "line {backtrace}", "--", p.Path)
	stacks, long := saidStacks(t, got.Stdout)
	frames := clitest.Objects(t, clitest.Run(t, "show", path, "--json").Stdout)
	cells, err := csv.NewReader(strings.NewReader(clitest.Run(t, "convert", path, "--to", "csv", "-").Stdout)).ReadAll()
	if err != nil || len(cells) != len(stacks)+1 || len(frames) != len(stacks) {
		t.Fatalf("%d rows, %d objects, error %v", len(cells), len(frames), err)
	}
	var lines []string
	for line := range strings.Lines(got.Stdout) {
		if line, found := strings.CutPrefix(line, "line "); found {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	backtrace := slices.Index(cells[0], "backtrace")
	for i, stack := range stacks {
		var calls []string
		for _, c := range slices.Backward(frames[i].Calls) {
			calls = append(calls, c.Function)
			if (c.PC == "") != c.Inlined || c.Inlined != (c.Function == "inlined") || c.Module == "" {
				t.Errorf("frame %d has the call %+v", i, c)
			}
		}
		text := strings.Join(calls, ";")
		if frames[i].Truncated != "" {
			text = truncated + text
		}
		text = inProgram(t, text)
		if want := collected(t, stack, long[stack], []string{text}); text != want || long[stack] != (frames[i].Truncated != "") {
			t.Errorf("frame %d has %s, it was %s", i, text, want)
		}
		if lines[i] != cells[i+1][backtrace] {
			t.Errorf("frame %d: a line has %s, CSV %s", i, lines[i], cells[i+1][backtrace])
		}
		cell := cells[i+1][backtrace]
		lines := strings.Count(cell, "callers.c:")
		if strings.HasSuffix(cell, " ← [truncated]") != long[stack] || lines != strings.Count(strings.TrimPrefix(text, truncated), ";")+1 {
			t.Errorf("frame %d of %s: %s", i, text, cell)
		}
	}
	none := clitest.Run(t, "show", path, "--stacks", "--where", "1 == 2").Stdout
	if !strings.HasPrefix(none, "0 frames, 0 different stacks\n") {
		t.Errorf("no frames: %s", none)
	}
}
