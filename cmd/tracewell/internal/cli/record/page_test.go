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
	{`(12:00:00\.000000(?: +\d)?) +\d{4,7}\b`, "$1  4711"}, // $tid, the last column of variables
	{`(\$trace_timestamp(?:  \$count)?) +\$tid`, "$1  $$tid"},
	{`\$tid = \d+`, "$$tid = 4711"},
	{`\$trace_timestamp = \d+`, "$$trace_timestamp = 1784030400000000"},
	{`process \d+`, "process 4711"},
	{`(file|in|into|at) /\S+/`, "$1 /home/me/"},
	{`Recording /\S+/`, "Recording /home/me/"},
	{`"pid":\d+`, `"pid":4711`},
	{`"seconds":[0-9.]+`, `"seconds":0.01`},
}

// TestRecordPage runs the examples of docs/record.md, which has what they print below them.
func TestRecordPage(t *testing.T) {
	const page = "../../../../../docs/record.md"
	folder := t.TempDir()
	bin := filepath.Join(folder, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(gdbtest.Binary(t), filepath.Join(bin, "tracewell")); err != nil {
		t.Fatal(err)
	}
	text := clitest.Content(t, page)
	_, source, _ := strings.Cut(text, "```c\n")
	source, _, _ = strings.Cut(source, "```\n")
	if err := os.WriteFile(filepath.Join(folder, "queue.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
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

// example runs the commands of a block one after the other, and gives each with what it prints.
func example(t *testing.T, folder, block string) string {
	t.Helper()
	const mark = "\x01"
	var script strings.Builder
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			script.WriteString("printf '" + mark + "'\n" + command)
		}
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
	for line := range strings.Lines(block) {
		if strings.HasPrefix(line, "$ ") {
			b.WriteString(line + pieces[0])
			pieces = pieces[1:]
		}
	}
	return b.String()
}
