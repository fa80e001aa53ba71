package query_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
)

// TestPages runs the examples of pages in docs, and compares what they print with the lines below them, if there are any.
func TestPages(t *testing.T) {
	for name, least := range map[string]int{"trace-queries.md": 11, "trace-profile.md": 11} {
		page := clitest.Content(t, clitest.Absolute(t, "../../../../../docs/"+name))
		t.Run(name, func(t *testing.T) { runPage(t, page, least) })
	}
}

// runPage runs the examples of a page, of which there are so many at least.
func runPage(t *testing.T, page string, least int) {
	t.Chdir(t.TempDir())
	const indent, prompt = "    ", "    $ tracewell "
	_, rest, _ := strings.Cut(page, prompt)
	examples := 0
	for part := range strings.SplitSeq(rest, prompt) {
		command, below, _ := strings.Cut(part, "\n")
		var want strings.Builder
		for line := range strings.Lines(below) {
			shown, isShown := strings.CutPrefix(line, indent)
			if !isShown {
				break
			}
			want.WriteString(shown)
		}
		got := clitest.Run(t, strings.Fields(command)...)
		status := console.StatusDone
		if strings.HasPrefix(command, "query parting ") { // the examples do
			status = console.StatusFinding
		}
		if got.Status != status || want.Len() > 0 && got.Stdout != want.String() {
			t.Errorf("%s: status %d, %s\n%s, not\n%s", command, got.Status, got.Stderr, got.Stdout, want.String())
		}
		examples++
	}
	if examples < least {
		t.Errorf("%d examples", examples)
	}
}

// traced makes a trace, its program and a compressed copy in a folder, where the test goes.
func traced(t *testing.T, args ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	got := clitest.Run(t, append([]string{"gen-trace", "-n", "4k", "-o", "run.log", "--elf", "fw.elf"}, args...)...)
	if got.Status != console.StatusDone {
		t.Fatal(got.Stderr)
	}
	content, err := os.ReadFile("run.log")
	if err != nil {
		t.Fatal(err)
	}
	packed := clitest.Pack(t, "run.log.zst", content)
	if err := os.Rename(packed, filepath.Join(".", "packed.zst")); err != nil {
		t.Fatal(err)
	}
}

// questions are one of each kind.
var questions = []string{
	"writers run.log a0 --limit 3", "writers run.log 0x800,4", "readers run.log numbers --exec fw.elf --last 2", "values run.log t0 --limit 4",
	"values run.log sum --exec fw.elf --all", "registers run.log 2000", "registers run.log end sp", "memory run.log 0x1000,40 2000",
	"executed run.log mix --exec fw.elf --last 2", "executed run.log mix --exec fw.elf --count", "latency run.log mix mix --exec fw.elf",
	"at run.log @300 -C 2", "at run.log :40", "writers run.log sp --from mix --to 3000 --exec fw.elf",
}

// TestJSON: every question has JSON, an object a line, and as many answers as its table has rows.
func TestJSON(t *testing.T) {
	traced(t)
	for _, q := range questions {
		text := clitest.Run(t, append([]string{"query"}, strings.Fields(q)...)...)
		got := clitest.Run(t, append([]string{"query"}, strings.Fields(q+" --json")...)...)
		if text.Status != console.StatusDone || got.Status != console.StatusDone || text.Stdout == "" {
			t.Fatalf("%s: %+v, %+v", q, text, got)
		}
		objects := 0
		for line := range strings.Lines(got.Stdout) {
			objects++
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: %s", q, line)
			}
		}
		rows := 0
		for line := range strings.Lines(text.Stdout) {
			if !strings.HasPrefix(line, "    ") || strings.Count(line, "  ") > 2 && !strings.Contains(line, " = ") {
				rows++
			}
		}
		if strings.HasPrefix(text.Stdout, "instruction") && objects != rows-1 {
			t.Errorf("%s: %d objects, and the table is\n%s", q, objects, text.Stdout)
		}
	}
}

// TestInputs asks the same of a file, a compressed one, and a pipe.
func TestInputs(t *testing.T) {
	traced(t)
	content, err := os.ReadFile("run.log")
	if err != nil {
		t.Fatal(err)
	}
	want := clitest.Run(t, "query", "writers", "run.log", "t0", "--last", "2").Stdout
	for name, got := range map[string]clitest.Outcome{
		"compressed": clitest.Run(t, "query", "writers", "packed.zst", "t0", "--last", "2"),
		"pipe":       clitest.RunWith(t, clitest.Feed(t, content), "query", "writers", "-", "t0", "--last", "2"),
		"memory":     clitest.Run(t, "query", "writers", "run.log", "t0", "--last", "2", "--index", "memory", "--dialect", "matcher"),
		"name":       clitest.Run(t, "query", "writers", "run.log", "$r8", "--last", "2", "--arch", "mips", "--endian", "big"),
	} {
		if got.Stdout != want || want == "" || got.Status != console.StatusDone {
			t.Errorf("%s: %+v, want\n%s", name, got, want)
		}
	}
}

// TestRefused says what is wrong with a question, in a line, and prints nothing else.
func TestRefused(t *testing.T) {
	basic := clitest.Absolute(t, clitest.Basic)
	traced(t)
	for q, want := range map[string]string{
		"writers run.log nobody":                   `"nobody" is neither a register of the trace nor an address`,
		"writers run.log nobody --exec fw.elf":     `"nobody" is neither a register of the trace nor a symbol`,
		"writers run.log 0x9..0x1":                 "it ends before it begins",
		"writers run.log t0 --cpu 3":               "--cpu: the trace has no processor 3",
		"writers run.log t0 --from 9000":           "--from: there is no instruction 9000",
		"writers run.log t0 --from 900 --to 800":   "--to is instruction 800, in front of --from",
		"writers run.log t0 --limit 2 --last 2":    "can't be used together",
		"writers none.log t0":                      "no such file",
		"writers fw.elf t0":                        "is not an execution trace; show prints trace files",
		"writers " + basic + " t0":                 "is not an execution trace",
		"readers run.log t0":                       "the trace tells no reads of registers",
		"executed run.log nowhere --exec fw.elf":   "nowhere",
		"executed run.log mix":                     "for symbols and lines name the program by --exec",
		"at run.log :99999999":                     "there is no line 99999999",
		"registers run.log 5 xyzzy":                `"xyzzy" is no register of the trace`,
		"memory run.log 0..5 7":                    "neither a register of the trace nor an address",
		"memory run.log 0x0,0x10000000 7":          "are too many",
		"at run.log 5 --arch x":                    "is no architecture",
		"latency run.log 0x80008000 --exec fw.elf": "<end> is missing",
		"writers run.log t0 --exec /etc/passwd":    "ELF",
	} {
		got := clitest.Run(t, append([]string{"query"}, strings.Fields(q)...)...)
		if got.Status != console.StatusFailure || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: status %d, %s%s, want %s", q, got.Status, got.Stdout, got.Stderr, want)
		}
	}
}

// TestNothing: no answer is none, and said.
func TestNothing(t *testing.T) {
	traced(t)
	for q, want := range map[string]string{
		"writers run.log 0x9000":                                 "nothing writes 0x9000\n",
		"executed run.log 0x80008000 --from 10 --to 20":          "0x80008000 is not executed from instruction 10 to 20\n",
		"values run.log 0x9000":                                  "the trace tells no value of 0x9000\n",
		"readers run.log 0x1000,4 --from 5 --to 5 --exec fw.elf": "nothing reads 0x1000,4 from instruction 5 to 5\n",
	} {
		for _, form := range []string{"", " --json"} {
			got := clitest.Run(t, append([]string{"query"}, strings.Fields(q+form)...)...)
			if got.Status != console.StatusDone || got.Stdout != "" || !strings.HasSuffix(got.Stderr, want) {
				t.Errorf("%s: %+v", q+form, got)
			}
		}
	}
}

// TestSeekable: a question about a compressed trace that gen-trace or convert has written needs no room for what is in it, and has
// the answer that the trace has uncompressed. Its index is kept beside it, and damage is told.
func TestSeekable(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", "missing")
	generate := []string{"gen-trace", "-n", "210k", "-o"}
	succeed(t, append(generate, "run.log")...)
	succeed(t, append(generate, "run.log.zst")...)
	succeed(t, "convert", "run.log", "copy.log.zst", "--to", "matcher.zst")
	for _, question := range [][]string{{"at", "", "200000"}, {"executed", "", "0x800080bc", "--count"}, {"functions", ""}} {
		answers := make(map[string]int)
		for _, trace := range []string{"run.log", "run.log.zst", "copy.log.zst", "run.log.zst"} {
			question[1] = trace
			answers[strings.ReplaceAll(succeed(t, append([]string{"query"}, question...)...).Stdout, trace, "")]++
		}
		if len(answers) != 1 {
			t.Errorf("%s: %v", question[0], answers)
		}
	}
	if _, err := os.Stat("run.log.zst.twx"); err != nil {
		t.Error(err)
	}

	content, err := os.ReadFile("copy.log.zst")
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 0x5a
	if err := os.WriteFile("copy.log.zst", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := clitest.Run(t, "query", "functions", "copy.log.zst"); !strings.Contains(got.Stdout, "calls") ||
		!strings.Contains(got.Stderr, "copy.log.zst: Zstandard data is damaged behind ") {
		t.Errorf("damage: %+v", got)
	}
	os.Remove("copy.log.zst.twx")
	for position, want := range map[string]string{"10": "0x800080c0", "200000": "there is no instruction 200000"} {
		got := clitest.Run(t, "query", "at", "copy.log.zst", position)
		if !strings.Contains(got.Stdout+got.Stderr, want) || !strings.Contains(got.Stderr, "Zstandard data is damaged behind ") {
			t.Errorf("damage, instruction %s: %+v", position, got)
		}
	}
}
