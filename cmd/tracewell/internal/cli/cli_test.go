package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// outcome is what a command line did.
type outcome struct {
	stdout, stderr string
	status         int
}

// run runs a command line with files for its streams and nothing to read.
func run(t testing.TB, args ...string) outcome {
	t.Helper()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return runWith(t, in, args...)
}

// runWith runs a command line that reads in.
func runWith(t testing.TB, in *os.File, args ...string) outcome {
	t.Helper()
	dir := t.TempDir()
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		files[i] = file
	}
	status := Run(args, Streams{In: in, Out: files[0], Err: files[1]})
	return outcome{content(t, files[0].Name()), content(t, files[1].Name()), status}
}

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// trace files that GDB 13.1 wrote, and the programs that they are of.
const (
	basic   = "../../../../tfile/testdata/queue-basic.tf"
	pie     = "../../../../tfile/testdata/queue-pie.tf"
	damaged = "../../../../tfile/testdata/queue-fast.tf"

	basicProgram = "../../../../tfile/testdata/queue"
	pieProgram   = "../../../../tfile/testdata/queue_pie"
)

// TestGolden compares what commands print with testdata/NAME.golden.
func TestGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"show-basic":            {"show", basic},
		"show-basic-symbols":    {"show", basic, "--exec", basicProgram, "--frames", ":20"},
		"show-basic-registers":  {"show", basic, "--frames", "80:", "-r", "rip,eflags", "-r", "fs_base"},
		"show-basic-frame":      {"show", basic, "--frame", "0", "--exec", basicProgram},
		"show-basic-step":       {"show", basic, "--frame", "7", "--exec", basicProgram, "-r", "rip,rax"},
		"show-basic-json":       {"show", basic, "--json", "--frames", "2:5", "--exec", basicProgram},
		"show-pie":              {"show", pie, "--exec", pieProgram, "--frames", "0:12"},
		"show-pie-unplaced":     {"show", damaged, "--exec", pieProgram},
		"show-damaged":          {"show", damaged},
		"show-damaged-frame":    {"show", damaged, "--frame", "0", "-r", "rip"},
		"show-damaged-json":     {"show", damaged, "--json", "-r", "rip"},
		"show-basic-where":      {"show", basic, "--where", "n > 5 && $rip == 0x401247", "--exec", basicProgram},
		"show-basic-pc":         {"show", basic, "--pc", "queue.c:23", "--last", "3", "--reverse", "--exec", basicProgram},
		"show-basic-range":      {"show", basic, "--range", "work", "--outside", "0x401247,work+20", "--limit", "3", "--exec", basicProgram},
		"show-basic-hex":        {"show", basic, "-t", "2", "-t", "3", "--frames", "2:5", "--hex"},
		"show-basic-full":       {"show", basic, "--full", "-r", "rip", "--where", "n == 7", "--limit", "2", "--exec", basicProgram},
		"show-basic-diff":       {"show", basic, "--diff", "--frames", "3:11", "--exec", basicProgram},
		"show-basic-diff-json":  {"show", basic, "--diff", "--json", "-t", "2", "--limit", "2", "-r", "rdx"},
		"show-basic-count":      {"show", basic, "--count", "-t", "4", "--where", "n > 5"},
		"show-basic-stats":      {"show", basic, "--stats", "--exec", basicProgram},
		"show-basic-value":      {"show", basic, "--value", "n", "--value", "$hits"},
		"show-basic-value-json": {"show", basic, "--value", "$rsi", "--json"},
		"show-basic-value-enum": {"show", basic, "-t", "2", "--value", "j->kind", "--exec", basicProgram},
		"show-pie-lines":        {"show", pie, "--exec", pieProgram, "--pc", "queue.c:23", "--limit", "2"},
		"info-basic":            {"info", basic},
		"info-basic-symbols":    {"info", basic, "--exec", basicProgram},
		"info-basic-json":       {"info", basic, "--json"},
		"info-pie":              {"info", pie, "--exec", pieProgram},
		"info-damaged":          {"info", damaged},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, args...)
			golden(t, name, fmt.Sprintf("%s-- standard error --\n%s-- exit status %d --\n", got.stdout, got.stderr, got.status))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(content(t, path), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMisuse: a wrong command line says what is wrong, and ends with status 2.
func TestMisuse(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string // in the message
	}{
		{[]string{"show", basic, "--frame", "abc"}, `--frame: "abc" is no number (see tracewell show --help)`},
		{[]string{"show", basic, "-t", "-1"}, "no tracepoint -1"},
		{[]string{"show", basic, "-t"}, "--tracepoint needs a value: --tracepoint N (see tracewell show --help)"},
		{[]string{"show", basic, "--stats=3"}, `--stats takes no value, and "3" is one (see tracewell show --help)`},
		{[]string{"gen-trace", "--seed", "-1"}, `--seed: "-1" is no number of 0 or more (see tracewell gen-trace --help)`},
		{[]string{"tdesc"}, `one of "check", "layout", "print", "diff" is missing (see tracewell tdesc --help)`},
		{[]string{"show"}, `<file> is missing (see tracewell show --help)`},
		{[]string{"show", basic, "more"}, "unexpected argument more (see tracewell show --help)"},
		{[]string{"shwo"}, `did you mean "show"?`},
		{[]string{"show", basic, "--fram", "1"}, "unknown flag --fram"},
		{[]string{"show", basic, "--frame", "x"}, "--frame: "},
		{[]string{"show", basic, "--frame", "85"}, "there is no frame 85: the file has frames 0 to 84"},
		{[]string{"show", basic, "--frame=-1"}, "there is no frame -1"},
		{[]string{"show", basic, "--frames", "85:"}, "there is no frame 85: the file has frames 0 to 84"},
		{[]string{"show", basic, "--frames", "5:4"}, `"5:4" is no range of frames: it ends before it begins`},
		{[]string{"show", basic, "--frames", "5"}, `"5" is no range of frames: want A:B, A: or :B`},
		{[]string{"show", basic, "--frame", "1", "--frames", "1:2"}, "--frame and --frames can't be used together"},
		{[]string{"show", basic, "--count", "--diff"}, "--diff and --count can't be used together"},
		{[]string{"show", basic, "--value", "n", "--diff"}, "--value prints figures, and can't be used together with"},
		{[]string{"show", basic, "--limit", "1", "--last", "1"}, "--limit and --last can't be used together"},
		{[]string{"show", basic, "--limit=-1"}, "--limit: -1 is no number of frames, from 1 on"},
		{[]string{"show", basic, "--last", "0"}, "--last: 0 is no number of frames, from 1 on"},
		{[]string{"show", basic, "-t", "7"}, "queue-basic.tf: there is no tracepoint 7: the file defines 2, 3 and 4"},
		{[]string{"show", basic, "--pc", "push"}, `--pc "push": there are no symbols to look it up in (--exec names the program that has them)`},
		{[]string{"show", basic, "--pc", "pish", "--exec", basicProgram}, `--pc "pish": the program has no symbol "pish", or more than one`},
		{[]string{"show", basic, "--range", "0x20,0x10"}, `--range "0x20,0x10": the range ends at 0x10, before it begins at 0x20`},
		{[]string{"show", basic, "--outside", "0x20"}, `--outside "0x20": want LOW,HIGH or a function`},
		{[]string{"show", basic, "--where", "n >"}, "--where: found the end, expected a value\n  n >\n     ^"},
		{[]string{"show", basic, "--where", "m > 3"}, "--where: there is no m\n  m > 3\n  ^"},
		{[]string{"show", basic, "--where", "$ripp"}, "--where: there is no $ripp\n  $ripp\n  ^"},
		{[]string{"show", basic, "--value", "n +"}, "--value: found the end, expected a value\n  n +\n     ^"},
		{[]string{"show", basic, "-r", "ripp"}, `no register "ripp" in the file's target description`},
		{[]string{"show", basic, "--exec", "nowhere"}, "open nowhere: no such file"},
		{[]string{"show", basic, "--exec", basic}, basic + ": reading an ELF file: "},
		{[]string{"show", "nowhere.tf"}, "open nowhere.tf: no such file"},
		{[]string{"show", "testdata"}, "testdata: "},
		{[]string{"show", basicProgram}, `not a trace file: offset 0: found "\x7fELF`},
		{[]string{"info"}, `<file> is missing (see tracewell info --help)`},
		{[]string{"info", "/dev/null"}, `/dev/null: not a trace file: offset 0: found "", expected "\x7fTRACE0\n"`},
		{[]string{"demo", "more"}, "unexpected argument more (see tracewell demo --help)"},
		{[]string{"demo", "-o", "no/such/folder.tf"}, "write no/such/folder.tf: "},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			got := run(t, test.args...)
			if got.status != statusFailure || got.stdout != "" && test.args[0] != "demo" {
				t.Errorf("exit status %d, printed %q", got.status, got.stdout)
			}
			if !strings.HasPrefix(got.stderr, "tracewell: ") || !strings.Contains(got.stderr, test.want) {
				t.Errorf("the message is %q, want %q in it", got.stderr, test.want)
			}
		})
	}
}

// TestHelp: help is no error, and has the examples first.
func TestHelp(t *testing.T) {
	for _, command := range []string{"serve", "replay", "show", "info", "demo"} {
		got := run(t, command, "--help")
		if got.status != statusDone || !strings.HasPrefix(got.stdout, "Examples:\n") || !strings.Contains(got.stdout, "Usage: ") {
			t.Errorf("%s: exit status %d, printed %q", command, got.status, got.stdout)
		}
	}
}
