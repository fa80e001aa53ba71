package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// varying is what differs from run to run, with what stands for it in the page.
var varying = []struct{ pattern, means string }{
	{`0x401[0-9a-f]{3}\b`, "code"}, // where the linker puts it
	{`0x[0-9a-f]{5,}`, "0x7ffe1000"},
	{`\bcode\b`, "0x401142"},
	{`<push\+\d+`, "<push+12"},
	{`\d\d:\d\d:\d\d\.\d{6}`, "12:00:00.000000"},
	{`(12:00:00\.000000(?: +\d)?) +\d+\b`, "$1  4711"}, // $tid, the last column of variables
	{`(\$trace_timestamp(?:  \$count)?) +\$tid`, "$1  $$tid"},
	{`\$tid = \d+`, "$$tid = 4711"},
	{`\$trace_timestamp = \d+`, "$$trace_timestamp = 1784030400000000"},
	{`\d+\.\d s: (\d+ hits), [0-9.]+ per s`, "0.1 s: $1, 100 per s"},
	{`( \d+ +[0-9.]+) +[0-9.]+  (█)`, "$1   50.0  $2"}, // hits, %, per s
	{`process \d+`, "process 4711"},
	{`(file|in|into|at) /\S+/`, "$1 /home/me/"},
	{`Recording /\S+/`, "Recording /home/me/"},
	{`\$took = [0-9.]+(ns|µs|ms|s)`, "$$took = 312ns"},
	{`"pid":\d+`, `"pid":4711`},
	{`"seconds":[0-9.]+`, `"seconds":0.01`},
}

// TestRecordPage runs the examples of the pages that are about record, which have what they print below them.
func TestRecordPage(t *testing.T) {
	for _, page := range []string{"record.md", "recipes.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			testPage(t, "../../../../../docs/"+page)
		})
	}
}

// testPage runs the examples of a page. They trace the programs that stand in it, with their files' names in the first line.
func testPage(t *testing.T, page string) {
	folder := t.TempDir()
	bin := filepath.Join(folder, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"tracewell": gdbtest.Binary(t), "go": testtool.Path(t, "go")} {
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	text := clitest.Content(t, page)
	programs := regexp.MustCompile("(?s)```(?:c|go|rust)\n((?:/\\*|//) (\\w+\\.(?:c|go|rs))(?: \\*/)?\n.*?)```\n").FindAllStringSubmatch(text, -1)
	if len(programs) == 0 {
		t.Fatal("the page has no program")
	}
	for _, program := range programs {
		if err := os.WriteFile(filepath.Join(folder, program[2]), []byte(program[1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	examples := regexp.MustCompile("(?s)```console\n(.*?)```\n")
	if len(examples.FindAllString(text, -1)) < 5 {
		t.Fatal("the page has no examples")
	}
	got := examples.ReplaceAllStringFunc(text, func(block string) string {
		return "```console\n" + example(t, folder, examples.FindStringSubmatch(block)[1]) + "```\n"
	})
	if *clitest.Update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(clitest.Content(t, page), got); diff != "" {
		t.Errorf("%s says something else (-page +run):\n%s", page, diff)
	}
}

// command is one in an example, with the lines that continue it.
var command = regexp.MustCompile(`(?m)^\$ .*\n(?:> .*\n)*`)

// example runs the commands of a block one after the other, and gives each with what it prints.
func example(t *testing.T, folder, block string) string {
	t.Helper()
	const mark = "\x01"
	commands := command.FindAllString(block, -1)
	var script strings.Builder
	for _, c := range commands {
		script.WriteString("printf '" + mark + "'\n" + strings.ReplaceAll(c[len("$ "):], "\n> ", "\n"))
	}
	// A command that fails in an example does so on purpose; its status must not change that of the next.
	shell := exec.Command(testtool.Path(t, "bash"), "-c", strings.ReplaceAll(script.String(), "printf '"+mark+"'\n", "status=$?; printf '"+mark+"'; (exit $status)\n"))
	shell.Dir = folder
	shell.Env = append(os.Environ(), "PATH="+filepath.Join(folder, "bin")+":"+testtool.Folder+":/bin", "DEBUGINFOD_URLS=")
	output, err := shell.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	printed := string(output)
	for _, v := range varying {
		printed = regexp.MustCompile(v.pattern).ReplaceAllString(printed, v.means)
	}
	pieces := strings.Split(printed, mark)[1:]
	var b strings.Builder
	for i, c := range commands {
		b.WriteString(c + pieces[i])
	}
	return b.String()
}
