package view_test

import (
	"os"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
)

// TestExecutions: what operands are is found out by their content, packed or not, from a file or a pipe.
func TestExecutions(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(args ...string) clitest.Outcome {
		t.Helper()
		got := clitest.Run(t, args...)
		if got.Status == console.StatusFailure {
			t.Fatalf("%q: %s", args, got.Stderr)
		}
		return got
	}
	run("gen-trace", "-n", "5k", "-o", "run.log", "--elf", "fw.elf")
	run("gen-trace", "-n", "5k", "--fault", "state@3000", "-o", "bad.log.zst")
	results := run("match", "run.log", "bad.log.zst", "--json").Stdout
	for name, content := range map[string]string{"one.json": results, "two.json": results + results, "cut.json": results[:len(results)/2]} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string][]string{
		"run.log":                               {`"kind":"execution"`, `"title":"run.log"`, `"total":5000`},
		"run.log --exec fw.elf":                 {`"kind":"execution"`, `"function":"mix"`, "seed ^= seed \\u003c\\u003c 13;"},
		"bad.log.zst":                           {`"kind":"execution"`, `"title":"bad.log.zst"`},
		"run.log bad.log.zst --exec fw.elf":     {`"kind":"comparison"`, `"class":"register"`, `"symbol":"start`, "unsigned mix("},
		"run.log bad.log.zst --profile flow":    {`"kind":"comparison"`, "profile"},
		"one.json":                              {`"kind":"comparison"`, `"title":"run.log bad.log.zst"`},
		"two.json":                              {`"kind":"comparison"`, `"title":"two.json"`, "2 comparisons: 2 different"},
		"run.log --dialect matcher --arch mips": {`"kind":"execution"`, "MIPS"},
		"run.log run.log":                       {`"verdict":"equal"`},
	} {
		run(append([]string{"view", "--html", "page.html"}, strings.Fields(args)...)...)
		page := clitest.Content(t, "page.html")
		for _, part := range want {
			if !strings.Contains(page, part) {
				t.Errorf("view %s: a page of %d bytes without %s", args, len(page), part)
			}
		}
	}
	piped := clitest.RunWith(t, clitest.Piped(t, "one.json"), "view", "-", "--html", "page.html")
	if piped.Status != console.StatusDone || !strings.Contains(clitest.Content(t, "page.html"), `"kind":"comparison"`) {
		t.Errorf("results of a pipe: %+v", piped)
	}
	for args, want := range map[string]string{
		"cut.json": "cut.json: ", "fw.elf": "not a trace file", "run.log nosuch.log": "nosuch.log: no such file",
		"run.log --exec run.log": "run.log", "run.log --profile nosuch": "nosuch", "run.log --source nosuch": "--source: ",
	} {
		got := clitest.Run(t, append([]string{"view", "--html", "none.html"}, strings.Fields(args)...)...)
		if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, want) {
			t.Errorf("view %s: %+v, want %q", args, got, want)
		}
	}
	if _, err := os.Stat("none.html"); err == nil {
		t.Error("a page was written though nothing could be opened")
	}
}
