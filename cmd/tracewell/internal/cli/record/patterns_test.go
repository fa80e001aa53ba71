package record

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// TestRecordPatterns: a pattern is one tracepoint on all functions that match, of which each has its own variables. An address in the
// file is the function there, wherever that is loaded.
func TestRecordPatterns(t *testing.T) {
	p := testprog.Build(t, "kinds", testprog.Variant{})
	late := fmt.Sprintf("kinds:%#x", testprog.Symbols(t, p.Path)["late"].Value)
	for _, test := range []struct {
		at   string
		want map[string]int // frames by function
	}{
		{"/^(take|late)$/", map[string]int{"take": 20, "late": 1}},
		{"kinds.c:?a*e", map[string]int{"take": 20, "late": 1}},
		{late, map[string]int{"late": 1}},
	} {
		got, path := clitest.RecordInto(t, "-q", "--at", test.at, "--collect", "$rip", "--", p.Path)
		if got.Status != 0 || got.Stderr != "" {
			t.Errorf("%s: status %d: %s", test.at, got.Status, got.Stderr)
			continue
		}
		found := map[string]int{}
		for _, frame := range clitest.Objects(t, clitest.Run(t, "show", path, "--json").Stdout) {
			function, _, _ := strings.Cut(frame.Symbol, "+")
			found[function]++
		}
		if fmt.Sprint(found) != fmt.Sprint(test.want) {
			t.Errorf("%s: frames of %v, want %v", test.at, found, test.want)
		}
	}
}

// TestRecordPatternWarnings: what some of the functions lack is one warning, and each with -v.
func TestRecordPatternWarnings(t *testing.T) {
	p := testprog.Build(t, "kinds", testprog.Variant{})
	dry := func(options ...string) string {
		args := append([]string{"record", "--dry-run", "--at", "kinds.c:*", "--collect", "n"}, options...)
		return clitest.Run(t, append(args, "--", p.Path)...).Stderr
	}
	// hex, main and the beginning of run have no n.
	brief, all := dry(), dry("-v")
	if strings.Count(brief, "tracewell: warning: ") != 1 || !strings.HasSuffix(brief, "\n2 more warnings about this tracepoint: -v prints all\n") {
		t.Errorf("the warnings are\n%s", brief)
	}
	if strings.Count(all, "tracewell: warning: ") != 3 || !strings.Contains(all, " in hex at ") || !strings.Contains(all, " in main at ") {
		t.Errorf("with -v the warnings are\n%s", all)
	}
}

// TestRecordNowhere: a location that nothing has ends the command before the program runs, unless something later may have it.
func TestRecordNowhere(t *testing.T) {
	p := testprog.Build(t, "kinds", testprog.Variant{})
	for _, options := range [][]string{nil, {"--pending"}, {"--follow"}} {
		got, path := clitest.RecordInto(t, append(append([]string{"-q", "--at", "takes"}, options...), "--", p.Path)...)
		_, err := os.Stat(path)
		ran := strings.Contains(got.Stdout, "take n=")
		waits, status := len(options) > 0, 2
		if waits {
			status = 0
		}
		if got.Status != status || waits != ran || waits != (err == nil) {
			t.Errorf("%v: status %d, the program ran: %v, file: %v", options, got.Status, ran, err)
		}
		if !strings.Contains(got.Stderr, "no function takes; did you mean take?") {
			t.Errorf("%v: %s", options, got.Stderr)
		}
	}
}

// TestRecordNoRandomize: the program lies at the same address in each run.
func TestRecordNoRandomize(t *testing.T) {
	p := testprog.Build(t, "kinds", testprog.Variant{})
	places := map[string]bool{}
	for range 3 {
		_, path := clitest.RecordInto(t, "-q", "--no-randomize", "--at", "late", "--", p.Path)
		for _, frame := range clitest.Objects(t, clitest.Run(t, "show", path, "--json").Stdout) {
			places[frame.PC] = true
		}
	}
	if len(places) != 1 {
		t.Errorf("late was at %v", places)
	}
}

// TestRecordStripped: of a position-independent program without any symbols an address in its file is what there is, as objdump
// prints it, and stands for the same function wherever the program is loaded.
func TestRecordStripped(t *testing.T) {
	p := testprog.Build(t, "kinds", testprog.Variant{})
	take := testprog.Symbols(t, p.Path)["take"].Value
	stripped := filepath.Join(t.TempDir(), "bare")
	if out, err := testtool.Command(t, "strip", "-s", "-o", stripped, p.Path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, path := clitest.RecordInto(t, "-q", "--at", fmt.Sprintf("bare:%#x", take), "--collect", "$rdi", "--", stripped)
	if got.Status != 0 || got.Stderr != "" {
		t.Fatalf("status %d: %s", got.Status, got.Stderr)
	}
	frames := clitest.Objects(t, clitest.Run(t, "show", path, "--exec", stripped, "--json").Stdout)
	// Its child, which is not followed, calls the function with numbers from 80 on.
	taken := regexp.MustCompile(`(?m)^(?:take|miss) n=[0-7]?\d\b`).FindAllString(got.Stdout, -1)
	if len(frames) != len(taken) || len(frames) == 0 {
		t.Errorf("%d frames; the program says\n%s", len(frames), got.Stdout)
	}
	for _, frame := range frames {
		pc, err := strconv.ParseUint(frame.PC, 0, 64)
		if err != nil || pc&0xfff != take&0xfff || pc == take || frame.Line != "" {
			t.Errorf("a frame is at %s, line %q; the function is at %#x of the file", frame.PC, frame.Line, take)
		}
	}
	name, _ := clitest.RecordInto(t, "-q", "--at", "take", "--", stripped)
	if name.Status != 2 || !strings.Contains(name.Stderr, "no function take") {
		t.Errorf("by name: status %d, %s", name.Status, name.Stderr)
	}
}
