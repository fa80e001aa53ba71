package query_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/view/wire"
)

// recorded is a file of the traces that real producers wrote.
func recorded(t *testing.T, name string) string {
	return clitest.Absolute(t, filepath.Join("../../../../../internal/test/producers/testdata", name))
}

// succeed runs a command line that ends with status 0.
func succeed(t *testing.T, args ...string) clitest.Outcome {
	t.Helper()
	got := clitest.Run(t, args...)
	if got.Status != console.StatusDone {
		t.Errorf("%q: %+v", args, got)
	}
	return got
}

// generated writes a generated trace with interrupts, and its program, into the current folder.
func generated(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	succeed(t, "gen-trace", "-n", "20k", "--fault", "interrupt@5000", "--fault", "interrupt@9000", "-o", "run.log", "--elf", "fw.elf")
}

// TestWhole is what questions about whole traces print.
func TestWhole(t *testing.T) {
	plain, rv64 := recorded(t, "plain.ibex.log.zst"), recorded(t, "rv64.spike.log.zst")
	programs := map[string]string{plain: recorded(t, "plain.elf"), rv64: recorded(t, "rv64.elf")}
	for name, args := range map[string][]string{
		"functions":         {"functions", plain},
		"functions-by-self": {"functions", plain, "--by", "self", "-n", "2"},
		"calltree":          {"calltree", plain},
		"calltree-cut":      {"calltree", plain, "--min", "5", "--depth", "2"},
		"folded":            {"calltree", rv64, "--folded"},
		"folded-time":       {"calltree", plain, "--folded", "--time"},
		"profile":           {"profile", plain, "-n", "3"},
		"profile-functions": {"profile", plain, "--by", "function"},
		"mix":               {"mix", rv64, "-n", "8"},
		"blocks":            {"blocks", plain, "-n", "4"},
		"coverage":          {"coverage", plain, "--by", "function"},
		"events":            {"events", rv64},
		"events-by-cause":   {"events", rv64, "--by-cause"},
	} {
		args = append(append([]string{"query"}, args...), "--exec", programs[args[1]])
		clitest.Golden(t, name, succeed(t, args...).Stdout)
	}
}

// TestWholeGenerated: a program with lines, interrupts of which the trace tells nothing, and parts of the trace.
func TestWholeGenerated(t *testing.T) {
	generated(t)
	ask := func(args ...string) string {
		t.Helper()
		return succeed(t, append([]string{"query"}, args...)...).Stdout
	}
	for args, want := range map[string]string{
		"events run.log --exec fw.elf":                                  "5000    0  other         0x800080e0  mix       handler             8    8\n",
		"events run.log --exec fw.elf --from 5001":                      "9008    0  other         0x80008024  start     handler             8    8\n",
		"events run.log --by-cause":                                     "    2  other         0x800081f0    8   8.0    8        8       8.0        8        5000\n",
		"coverage run.log --exec fw.elf":                                "23/23 100.0%  3/3 100.0%",
		"coverage run.log --exec fw.elf --missing --to 5000":            "fw.elf.c:36-37\n",
		"profile run.log --exec fw.elf --by line -n 1":                  "start     fw.elf.c:13\n",
		"calltree run.log --exec fw.elf --folded --from 5000 --to 5004": "[handler] handler 4\n",
		"functions run.log --by calls -n 1":                             "0x800080bc\n",
		"calltree run.log --exec fw.elf --from 5006 --to 5010":          "  mix\n",
	} {
		if got := ask(strings.Fields(args)...); !strings.Contains(got, want) {
			t.Errorf("query %s:\n%s\ndoes not have %q", args, got, want)
		}
	}
	// Unpacked, from a pipe, and of the only processor the answer is the same.
	want := ask("functions", "run.log", "--exec", "fw.elf")
	if got := ask("functions", "run.log", "--exec", "fw.elf", "--cpu", "0"); got != want {
		t.Errorf("of processor 0:\n%s", got)
	}
	if got := clitest.RunWith(t, clitest.Piped(t, "run.log"), "query", "functions", "-", "--exec", "fw.elf"); got.Stdout != want {
		t.Errorf("of a pipe: %+v", got)
	}
	ask("coverage", "run.log", "--exec", "fw.elf", "--lcov", "run.info")
	if info := clitest.Content(t, "run.info"); !strings.HasPrefix(info, "TN:\nSF:") || !strings.Contains(info, "\nFNDA:2,handler\n") {
		t.Errorf("run.info:\n%s", info)
	}
}

// TestWholeObjects: objects have the members that are documented, and no others.
func TestWholeObjects(t *testing.T) {
	generated(t)
	for args, document := range map[string]any{
		"functions": &wire.FunctionCost{}, "calltree": &wire.PathCost{}, "profile": &wire.HotSpot{}, "mix": &wire.MixShare{},
		"blocks": &wire.BasicBlock{}, "coverage": &wire.FileCoverage{}, "coverage --by function": &wire.FunctionCoverage{},
		"coverage --missing --to 100": &wire.UncoveredLines{}, "events": &wire.Interruption{}, "events --by-cause": &wire.InterruptionSummary{},
	} {
		line := strings.Fields("query " + args + " run.log --exec fw.elf --json")
		got := succeed(t, line...).Stdout
		if got == "" {
			t.Errorf("%s printed nothing", args)
		}
		for object := range strings.Lines(got) {
			d := json.NewDecoder(strings.NewReader(object))
			d.DisallowUnknownFields()
			if err := d.Decode(document); err != nil {
				t.Errorf("%s: %s: %v", args, object, err)
			}
		}
	}
}

// TestWholeFiles: calls are written for other tools, whole or not at all.
func TestWholeFiles(t *testing.T) {
	generated(t)
	for _, name := range []string{"run.folded", "run.pprof", "run.pb.gz", "run.callgrind", "run.pftrace", "run.perfetto-trace.zst"} {
		succeed(t, "query", "calltree", "run.log", "--exec", "fw.elf", "-o", name)
		if status, err := os.Stat(name); err != nil || status.Size() < 40 {
			t.Errorf("%s: %v, %v", name, status, err)
		}
	}
	folded := succeed(t, "query", "calltree", "run.log", "--exec", "fw.elf", "--folded").Stdout
	if got := clitest.Content(t, "run.folded"); got != folded {
		t.Errorf("run.folded: %s, not %s", got, folded)
	}
	if got := clitest.Run(t, "query", "calltree", "run.log", "-o", "run.log"); got.Status != console.StatusFailure {
		t.Errorf("written over what is read: %+v", got)
	}
}

// TestWholeErrors: what cannot be answered is told in a line, with what to do.
func TestWholeErrors(t *testing.T) {
	tenet, plain, spike := recorded(t, "x86.tenet.log.zst"), recorded(t, "plain.ibex.log.zst"), recorded(t, "plain.spike.log.zst")
	elf := recorded(t, "plain.elf")
	generated(t)
	clitest.Put(t, "few.jsonl", []byte(`{"kind":"instruction","address":"0x10","opcode":"0x13"}`+"\n"))
	for _, test := range []struct{ args, want string }{
		{"functions " + tenet, "calls cannot be told; --exec"},
		{"functions few.jsonl", "the instruction set cannot be told"},
		{"blocks " + tenet, "calls cannot be told; --exec"},
		{"coverage run.log", "requires the program: --exec"},
		{"coverage " + plain + " --exec " + elf, "--by function requires none"},
		{"profile run.log --by line", "lines require the program: --exec"},
		{"calltree run.log -o run.xyz", "the suffix tells the format"},
		{"calltree " + spike + " --folded --time", "has no times"},
		{"functions run.log --arch s390x", "cannot be told yet"},
		{"functions run.log --arch z80000", "unknown architecture"},
		{"functions fw.elf", "is not an execution trace"},
		{"functions - --to 5", "require a file"},
	} {
		got := clitest.Run(t, append([]string{"query"}, strings.Fields(test.args)...)...)
		if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, test.want) || got.Stdout != "" {
			t.Errorf("query %s: %+v, not %q", test.args, got, test.want)
		}
	}
	// Of what does not need to know where instructions lead a trace of addresses tells enough.
	if got := succeed(t, "query", "profile", tenet, "-n", "1").Stdout; !strings.Contains(got, "0x") {
		t.Error(fmt.Sprint(got))
	}
}

// TestBias: a program that was loaded above its addresses answers as if it had not been, but for the addresses.
func TestBias(t *testing.T) {
	generated(t)
	const bias = 0x12340000
	// Addresses of instructions, and of memory, are those of eight digits behind a bracket or a size.
	address := regexp.MustCompile(`(\) | M[RW]\d )([0-9a-f]{8}) `)
	moved := address.ReplaceAllStringFunc(clitest.Content(t, "run.log"), func(text string) string {
		parts := address.FindStringSubmatch(text)
		at, err := strconv.ParseUint(parts[2], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s%08x ", parts[1], at+bias)
	})
	if err := os.WriteFile("moved.log", []byte(moved), 0o644); err != nil {
		t.Fatal(err)
	}
	back := regexp.MustCompile(`0x[0-9a-f]{8}\b`)
	// Calls of this program are to absolute addresses: their targets are not moved.
	for _, question := range []string{
		"profile %s -n 0", "profile %s --by line", "coverage %s --missing", "executed %s mix", "latency %s mix start", "mix %s --from mix --to 9000",
	} {
		ask := func(trace string, more ...string) string {
			args := slices.Concat(strings.Fields("query "+fmt.Sprintf(question, trace)), []string{"--exec", "fw.elf"}, more)
			return strings.Join(strings.Fields(succeed(t, args...).Stdout), " ")
		}
		got := back.ReplaceAllStringFunc(ask("moved.log", "--bias", fmt.Sprintf("%#x", bias)), func(text string) string {
			at, _ := strconv.ParseUint(text, 0, 64)
			return fmt.Sprintf("%#x", at-bias)
		})
		if want := ask("run.log"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", question, got, want)
		}
	}
	if o := clitest.Run(t, "query", "profile", "moved.log", "--exec", "fw.elf"); !strings.Contains(o.Stderr, "--bias says") {
		t.Errorf("without --bias: %q", o.Stderr)
	}
}
