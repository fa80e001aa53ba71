package replay

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/demo"
	"tracewell/internal/test/gdbtest"
)

// replayPage is about replay.
const replayPage = "../../../../../docs/replay.md"

// TestReplayDocsTraceFile does what docs/replay.md shows of a trace file, and expects what it shows.
func TestReplayDocsTraceFile(t *testing.T) {
	page, err := os.ReadFile(replayPage)
	if err != nil {
		t.Fatal(err)
	}
	gdbtest.Binary(t)
	t.Chdir(t.TempDir())
	commands := block(t, string(page), "```sh\ntracewell demo ")
	if got := clitest.Run(t, append([]string{"demo"}, strings.Fields(commands)...)...); got.Status != console.StatusDone {
		t.Fatalf("demo %s: %+v", commands, got)
	}
	if err := os.WriteFile(demo.SourceName, []byte(demo.Source()), 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Unix(0, 0) // or GDB warns that the source is younger than the program
	if err := os.Chtimes(demo.SourceName, long, long); err != nil {
		t.Fatal(err)
	}
	const first = "target remote | tracewell replay run.tf "
	playSession(t, "run", first+block(t, string(page), "```text\n(gdb) "+first), func(t testing.TB, script string) *gdbtest.Output {
		return gdbtest.Run(t, "", script)
	})
}

// TestReplayDocs does what docs/replay.md shows of an execution trace, and expects what it shows.
func TestReplayDocs(t *testing.T) {
	page, err := os.ReadFile(replayPage)
	if err != nil {
		t.Fatal(err)
	}
	gdbtest.Binary(t)
	t.Chdir(t.TempDir())
	commands := block(t, string(page), "```sh\ntracewell gen-trace ")
	if got := clitest.Run(t, append([]string{"gen-trace"}, strings.Fields(commands)...)...); got.Status != console.StatusDone {
		t.Fatalf("gen-trace %s: %+v", commands, got)
	}
	const first = "target remote | tracewell replay run.log "
	playSession(t, "prog", first+block(t, string(page), "```text\n(gdb) "+first), gdbtest.RunMultiarch)
}

// playSession types what a page shows into a GDB that was started in this folder with the program, and expects the answers.
func playSession(t *testing.T, program, shown string, play func(t testing.TB, script string) *gdbtest.Output) {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	session := strings.Split(shown, "\n(gdb) ")
	var script strings.Builder
	script.WriteString("cd " + folder + "\nfile " + program + "\n")
	var want []string
	for _, step := range session {
		command, answer, _ := strings.Cut(step, "\n")
		script.WriteString("-- " + command + " --\n" + strings.Replace(command, "| tracewell", "| "+gdbtest.Binary(t), 1) + "\n")
		want = append(want, answer)
	}
	out := play(t, script.String())
	for i, step := range session {
		command, _, _ := strings.Cut(step, "\n")
		got := out.Section(t, command)
		if strings.Count(strings.Join(session, "\n"), command) > 1 { // sections of the same name are joined
			if !strings.Contains(got, strings.TrimSpace(want[i])) {
				t.Errorf("%s: want\n%s\ngot\n%s", command, want[i], got)
			}
			continue
		}
		if strings.TrimSpace(want[i]) != strings.ReplaceAll(got, folder+string(filepath.Separator), "") {
			t.Errorf("%s: want\n%s\ngot\n%s", command, want[i], got)
		}
	}
}

// block returns what stands behind the beginning of a fenced block up to its end.
func block(t *testing.T, page, beginning string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, beginning)
	text, _, closed := strings.Cut(rest, "\n```")
	if !ok || !closed {
		t.Fatalf("the page has no block that begins with %q", beginning)
	}
	return text
}

// TestReplayDocsCommands holds the page's list of monitor commands to the target's own.
func TestReplayDocsCommands(t *testing.T) {
	page, err := os.ReadFile(replayPage)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if got := clitest.Run(t, "gen-trace", "-n", "10", "-o", "run.log"); got.Status != console.StatusDone {
		t.Fatalf("%+v", got)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("`monitor ([a-z]+)").FindAllStringSubmatch(string(page), -1) {
		documented[m[1]] = true
	}
	c := Command{File: "run.log"}
	r, err := c.open(console.Streams{In: os.Stdin, Out: os.Stdout, Err: nowhere(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	config, err := r.Config()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range config.Target.MonitorCommands().Commands() {
		if !documented[command.Name] {
			t.Errorf("monitor %s is not on the page", command.Name)
		}
	}
}

// nowhere is a file that keeps nothing.
func nowhere(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
