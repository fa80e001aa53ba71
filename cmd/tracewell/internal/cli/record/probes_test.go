package record

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestProbeArguments: the arguments of a static tracepoint are what the program prints, at every optimization, also in conditions; GDB
// says the same of the frames, and reads the file.
func TestProbeArguments(t *testing.T) {
	for _, optimised := range []bool{false, true} {
		p := testprog.Build(t, "probes", testprog.Variant{Optimised: optimised, NoPIE: true})
		library := testprog.Build(t, "probedlib", testprog.Variant{Library: true, Optimised: optimised})
		var names, fields []string
		for i := range 7 {
			names = append(names, fmt.Sprintf("$_probe_arg%d", i))
			fields = append(fields, fmt.Sprintf("arg%d={$_probe_arg%[1]d}", i))
		}
		fields[5] = "arg5=0x{/x $_probe_arg5}"
		got, path := clitest.RecordInto(t, "-q", "--at", "-probe demo:kinds", "--if", "$_probe_arg0 < -1 && $_probe_argc == 7",
			"--collect", strings.Join(names, ", "), "--format", "kinds "+strings.Join(fields, " "), "--", p.Path, library.Path, "3")
		if got.Status != 0 || got.Stderr != "" {
			t.Fatalf("status %d: %s", got.Status, got.Stderr)
		}
		count := make(map[string]int)
		for line := range strings.Lines(strings.ReplaceAll(got.Stdout, "0x0x", "0x")) {
			if strings.HasPrefix(line, "kinds ") {
				count[line]++
			}
		}
		if len(count) != 3 {
			t.Errorf("lines of the program and of frames are\n%s", got.Stdout)
		}
		for line, n := range count {
			if first := strings.HasPrefix(line, "kinds arg0=-1 "); first != (n == 1) {
				t.Errorf("%d times: %s", n, line)
			}
		}
		// The first frame is that of the second round.
		out := gdbtest.Run(t, p.Path, "target tfile "+path+"\ntfind 0\n-- arguments --\nprintf \"kinds arg0=%d arg1=%u arg2=%d arg3=%u arg4=%u "+
			"arg5=0x%lx arg6=%d\\n\", "+strings.Join(names, ", "))
		if line := strings.TrimSpace(out.Section(t, "arguments")) + "\n"; count[line] != 2 || !strings.HasPrefix(line, "kinds arg0=-2 ") {
			t.Errorf("GDB says %s, the lines are %v", line, count)
		}
	}
}

// TestCallsIntoLibraries: calls are found by the stubs that they go through, and returns are those of the functions. The program says
// how often it calls.
func TestCallsIntoLibraries(t *testing.T) {
	p := testprog.Build(t, "probes", testprog.Variant{})
	library := testprog.Build(t, "probedlib", testprog.Variant{Library: true})
	got, _ := clitest.RecordInto(t, "-q", "--at", "plt:printf", "--collect", "/s (char *)$rdi", "--return",
		"--format", "frame of {function} {values}", "--", p.Path, library.Path, "4")
	if got.Status != 0 || got.Stderr != "" {
		t.Fatalf("status %d: %s", got.Status, got.Stderr)
	}
	// Four lines in each round, of which the library prints one, and one at the end.
	const own, foreign = 3*4 + 1, 4
	entries := strings.Count(got.Stdout, "frame of printf@plt (char *)$rdi = \"")
	paired := len(regexp.MustCompile(`(?m)^frame of \S*printf .*\$took = `).FindAllString(got.Stdout, -1))
	returns := len(regexp.MustCompile(`(?m)^frame of \S*printf `).FindAllString(got.Stdout, -1))
	if entries != own || paired != own || returns != own+foreign {
		t.Errorf("%d entries, %d returns, of which %d are paired:\n%s", entries, returns, paired, got.Stdout)
	}
	without, _ := clitest.RecordInto(t, "-q", "--at", "plt:prinft", "--", p.Path, library.Path, "4")
	if without.Status == 0 || !strings.Contains(without.Stderr, "no call of prinft; did you mean plt:printf, ") {
		t.Errorf("status %d: %s", without.Status, without.Stderr)
	}
}
