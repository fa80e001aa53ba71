//go:build linux

package match

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/packed"
	"tracewell/internal/test/testtool"
	"tracewell/itrace/match"
)

// traceFolder makes a folder with traces: ref and same are equal, dut has one fault, several has three.
func traceFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"ref":     nil,
		"same":    {"--upper", "--time-base", "7"},
		"dut":     {"--fault", "state@1000"},
		"several": {"--fault", "value@400", "--fault", "mode@900", "--fault", "drop@1500"},
		"bad":     {"--fault", "garbage@3", "--fault", "garbage@100"},
		"ref.gz":  {"-o", filepath.Join(dir, "ref.gz")},
		"dut.zst": {"-o", filepath.Join(dir, "dut.zst"), "--fault", "state@1000"},
	} {
		got := clitest.Run(t, append([]string{"gen-trace", "-n", "2k"}, args...)...)
		if got.Status != console.StatusDone {
			t.Fatalf("%s: %+v", name, got)
		}
		if !slices.Contains(args, "-o") {
			clitest.Put(t, filepath.Join(dir, name), []byte(got.Stdout))
		}
	}
	whole := clitest.Content(t, filepath.Join(dir, "ref.gz"))
	clitest.Put(t, filepath.Join(dir, "cut.gz"), []byte(whole[:len(whole)/2]))
	clitest.Put(t, filepath.Join(dir, "empty"), []byte(""))
	clitest.Put(t, filepath.Join(dir, "blank"), []byte("\n\n"))
	clitest.Put(t, filepath.Join(dir, "binary"), []byte("\x7fELF\x02\x01\x01\x00\x00"))
	return dir
}

// TestMatchStatus: what comes out of each kind of input and of each misuse, in words and as the exit status.
func TestMatchStatus(t *testing.T) {
	t.Chdir(traceFolder(t))
	for _, test := range []struct {
		args   string
		status int
		says   string // on either stream
	}{
		{"ref same", 0, ""},
		{"ref dut", 1, ""},
		{"ref.gz ref", 0, ""},
		{"ref.gz dut.zst", 1, ""},
		{"ref same dut same", 1, ""},
		{"ref dut empty same", 2, "empty"},
		{"ref ref", 0, "both are the same file"},

		{"ref nothing", 2, "nothing: no such file or directory"},
		{"nothing ref", 2, "nothing: no such file or directory"},
		{"ref .", 2, ".: it is a directory"},
		{"ref empty", 2, "empty: the trace is empty"},
		{"empty ref", 2, "empty: the trace is empty"},
		{"ref blank", 2, "blank: the trace holds nothing but blank lines"},
		{"ref binary", 2, "binary: the trace is no text: there is a zero byte at offset 7"},
		{"ref cut.gz", 2, "gzip data is cut off"},
		{"ref /proc/self/mem", 2, "input/output error"},
		{"ref /dev/null", 2, "/dev/null: the trace is empty"},
		{"- ref", 2, "standard input: the trace is empty"},
		{"- -", 2, "cannot be both"},
		{"- ref same", 2, "can be read once only"},
		{"ref bad", 2, "2 lines that could not be read"},
		{"ref bad --max-bad 1", 2, "2 lines that could not be read"},
		{"ref bad --max-bad 2", 0, ""},
		{"ref same -bs 5000", 2, "nothing was compared"},
		{"ref same -sa 1234", 2, "no instruction at the start address 0x1234"},

		{"", 2, "a reference and at least one trace"},
		{"ref", 2, "a reference and at least one trace"},
		{"-w ref same", 2, `-w takes a number of records, 1 or more, as in -w 5; "ref" is none; without a number it comes behind the files`},
		{"ref same -w", 0, ""},
		{"ref same -w -fds", 0, ""},
		{"-w -fds ref same", 0, ""},
		{"-w -- ref same", 0, ""},
		{"ref same --window-size", 0, ""},
		{"ref same -w=", 2, `"" is none`},
		{"ref same -w=-1", 2, `"-1" is none`},
		{"ref same -w -1", 2, "unknown flag -"},
		{"ref same -w 0", 2, `"0" is none`},
		{"ref same -bs=-3", 2, `"-3" is no number`},
		{"ref same -j 0", 2, `"0" is no number of 1 or more`},
		{"ref same --context 0", 2, `"0" is no number of 1 or more`},
		{"ref same -sa here", 2, `"here" is no address in hexadecimal`},
		{"ref same --compare colour", 2, `"colour" is none of the fields, which are time, id, disasm, privilege, security`},
		{"ref same --alias r8", 2, `"r8" is no alias: want NAME=SAME, such as r8=t0, or the name of a set: arm, mips, riscv`},
		{"ref same --ignore csr:1", 2, `"csr" is neither reg, mem, read, write nor pc`},
		{"ref same --dialect cobol", 2, `no dialect "cobol"`},
		{"ref same --dialect matcher --dialect matcher --dialect json", 2, "--dialect is given twice at most"},
		{"ref same --dialect matcher --dialect json", 2, "expected an object of JSON"},
		{"ref same --junit same", 2, "same is read, too"},
		{"ref same --junit no/where.xml", 2, "no/where.xml: no such file"},
		{"ref same --json -q", 2, "can't be used together"},
		{"ref same --shard 0/2", 2, "--shard needs --pairs"},
		{"ref same --pairs ref", 2, `"ref" is one too many`},
		{"--merge", 2, "needs files that match --json has written"},
		{"--merge ref", 2, "ref: behind byte 0: no result of match --json"},
		{"--merge empty", 2, "nothing was compared"},
		{"--merge ref --pairs ref", 2, "--merge takes results that there are"},
	} {
		got := clitest.Run(t, append([]string{"match"}, strings.Fields(test.args)...)...)
		if got.Status != test.status || !strings.Contains(got.Stdout+got.Stderr, test.says) {
			t.Errorf("match %s: want exit status %d and %q: %+v", test.args, test.status, test.says, got)
		}
		if strings.Contains(test.args, "-q") {
			continue
		}
		if got := clitest.Run(t, append([]string{"match", "--quiet"}, strings.Fields(test.args)...)...); got.Status != test.status {
			t.Errorf("match --quiet %s: %+v", test.args, got)
		} else if got.Status == console.StatusDone && got.Stdout != "" {
			t.Errorf("match --quiet %s prints %q", test.args, got.Stdout)
		}
	}
}

// matched returns the objects that match --json prints.
func matched(t *testing.T, args ...string) (results []match.Result) {
	t.Helper()
	got := clitest.Run(t, append([]string{"match", "--json"}, args...)...)
	decoder := json.NewDecoder(strings.NewReader(got.Stdout))
	for decoder.More() {
		var r match.Result
		if err := decoder.Decode(&r); err != nil {
			t.Fatalf("%v: %v: %+v", args, err, got)
		}
		results = append(results, r)
	}
	return results
}

// TestMatchOptions: each way to write an option comes to the same rule.
func TestMatchOptions(t *testing.T) {
	t.Chdir(traceFolder(t))
	for rule, spellings := range map[string][]string{
		"--window-size 5":         {"-w 5", "-w5", "-w=5", "--window-size 5", "--window-size=5", "--win 5"},
		"--boot-size 10":          {"-bs 10", "-bs=10", "--boot-size 10", "--b=10"},
		"--start-addr 0x80000000": {"-sa 80000000", "-sa=0x80000000", "--start-addr 0X80000000", "--start 80000000"},
		"--skip-equal":            {"-se", "--skip-equal", "--skip-e"},
		"--skip-rest":             {"-sr", "--skip-rest"},
		"--compare id":            {"--compare id", "--compare=id"},
		"--ignore reg:t*":         {"--ignore reg:t*"},
		"--ignore reg:a,b":        {"--ignore reg:a,b"},
	} {
		for _, spelling := range spellings {
			for _, args := range [][]string{append(strings.Fields(spelling), "ref", "dut"), append([]string{"ref", "dut"}, strings.Fields(spelling)...)} {
				results := matched(t, args...)
				if len(results) != 1 || !slices.ContainsFunc(results[0].Rules, func(r match.RuleUse) bool { return r.Rule == rule }) {
					t.Errorf("%v: want the rule %q in %+v", args, rule, results)
				}
			}
		}
	}
}

// TestMatchWords: what is no option of Trace Matcher stays as it is.
func TestMatchWords(t *testing.T) {
	for before, after := range map[string]string{
		"match -se -q -- -se":    "match --skip-equal -q -- -se",
		"match --s a":            "match --s a", // may be one of three
		"match --skip-rest=no a": "match --skip-rest=no a",
		"match -- -w":            "match -- -w",
		"match - -j4":            "match - -j4",
		"serve -se":              "serve -se",
		"match":                  "match",
		"match a b -w":           "match a b --window-size=1",
		"match -w -fds a b":      "match --window-size=1 --first-dif-stop a b",
		"match -w -- a b":        "match --window-size=1 -- a b",
		"match -w - b":           "match --window-size - b",
	} {
		if got := strings.Join(Words(strings.Fields(before)), " "); got != after {
			t.Errorf("%s becomes %s", before, got)
		}
	}
}

// TestMatchMeaning has options reach the comparison.
func TestMatchMeaning(t *testing.T) {
	t.Chdir(traceFolder(t))
	clitest.Put(t, "plain", []byte(clitest.Run(t, "gen-trace", "-n", "2k", "--plain-names").Stdout))
	for args, want := range map[string]int{
		"ref plain":                                 1,
		"ref plain --alias mips":                    0,
		"ref same --compare time":                   1,
		"ref same --compare id,disasm":              0,
		"ref dut --ignore reg --ignore mem":         0,
		"several ref --max-differences 1":           1,
		"ref several --dialect matcher --context 3": 1,
	} {
		if got := clitest.Run(t, append([]string{"match"}, strings.Fields(args)...)...); got.Status != want {
			t.Errorf("match %s: want exit status %d: %+v", args, want, got)
		}
	}
	if r := matched(t, "ref", "several", "--max-differences", "1"); len(r[0].Differences) != 1 || len(r[0].Counts) != 3 {
		t.Errorf("%+v", r)
	}
	for _, spelling := range []string{"-fds", "--first-dif-stop", "--first"} {
		if r := matched(t, "ref", "several", spelling); len(r[0].Counts) != 1 || r[0].Differences[0].Class != match.ClassRegister {
			t.Errorf("%s: %+v", spelling, r)
		}
	}
}

// TestMatchJSON holds the object to what programs may rely on.
func TestMatchJSON(t *testing.T) {
	t.Chdir(traceFolder(t))
	var object struct {
		Name, Verdict string
		Compared      struct{ Instructions, Registers, Memory int }
		Differences   []struct {
			Class, Expected, Got string
			CPU                  *int
			Reference, Other     struct {
				File, Text   string
				Line, Offset int
			}
		}
		Counts       map[string]int
		Consequences *int
		Rules        map[string]int
	}
	got := clitest.Run(t, "match", "ref", "dut", "--json")
	if err := json.Unmarshal([]byte(got.Stdout), &object); err != nil || strings.Count(got.Stdout, "\n") != 1 {
		t.Fatalf("%v: %s", err, got.Stdout)
	}
	d := object.Differences[0]
	if object.Name != "ref dut" || object.Verdict != "different" || object.Compared.Instructions != 2000 || object.Counts["register"] != 1 ||
		object.Consequences == nil || len(object.Rules) == 0 {
		t.Errorf("%s", got.Stdout)
	}
	text := clitest.Content(t, "dut")
	if d.Class != "register" || d.CPU == nil || d.Expected == d.Got || d.Other.File != "dut" || d.Other.Line < 1000 ||
		!strings.HasPrefix(text[d.Other.Offset:], d.Other.Text) || strings.Count(text[:d.Other.Offset], "\n") != d.Other.Line-1 {
		t.Errorf("%+v", d)
	}
}

// TestMatchFiles writes the other forms of a report, compressed if asked, and nothing in place of what is read.
func TestMatchFiles(t *testing.T) {
	t.Chdir(traceFolder(t))
	got := clitest.Run(t, "match", "ref", "dut", "same", "--junit", "out.xml", "--html", "out.html.gz", "-q")
	if got.Status != console.StatusFinding {
		t.Fatalf("%+v", got)
	}
	if xml := clitest.Content(t, "out.xml"); strings.Count(xml, "<testcase") != 2 || !strings.Contains(xml, "ref dut") {
		t.Error(xml)
	}
	f, err := os.Open("out.html.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page, err := packed.Open(f, nil)
	if err != nil || page.Method == nil || !strings.Contains(string(page.Bytes()), "</html>") {
		t.Errorf("%v", err)
	}
}

// TestMatchDebug tells what was read.
func TestMatchDebug(t *testing.T) {
	t.Chdir(traceFolder(t))
	for _, option := range []string{"-d", "--debug", "--deb"} {
		got := clitest.Run(t, "match", "ref", "same", option)
		if got.Status != console.StatusDone || strings.Count(got.Stderr, `dialect "matcher"`) != 2 || !strings.Contains(got.Stderr, "2000 instructions") {
			t.Errorf("%+v", got)
		}
	}
}

// TestMatchHelp runs the examples that help shows.
func TestMatchHelp(t *testing.T) {
	bash := testtool.Path(t, "bash") // for <( )
	clitest.AsTracewell(t)
	t.Chdir(traceFolder(t))
	for name, from := range map[string]string{
		"iss.log": "ref", "rtl.log": "same", "iss.log.gz": "ref.gz", "rtl.log.zst": "dut.zst", "prog.elf": "ref", "ref.log": "ref", "dut.log": "dut",
	} {
		clitest.Put(t, name, []byte(clitest.Content(t, from)))
	}
	clitest.Put(t, "nightly.txt", []byte(strings.Repeat("iss.log rtl.log\niss.log dut.log\n", 6)))
	// Of ten shards the examples make one.
	others := "for i in 0 1 3 4 5 6 7 8 9; do tracewell match --pairs nightly.txt --shard $i/10 --json > shard-$i.json; done"
	if out, err := exec.Command(bash, "-c", others).CombinedOutput(); err != nil && len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	const commands = "iss() { cat $1; }; rtl() { cat $1; }; jq() { cat; }; set -o pipefail; "
	for _, command := range []string{(&Command{}).Examples(), examplesOfGenerate(t)} {
		for line := range strings.Lines(command) {
			example, ok := strings.CutPrefix(line, "  tracewell ")
			if !ok {
				continue
			}
			c := exec.Command(bash, "-c", commands+"tracewell "+example)
			if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() > console.StatusFinding || strings.Contains(string(out), "--help") {
				t.Errorf("%s%v: %s", example, c.ProcessState, out)
			}
		}
	}
}

// examplesOfGenerate are the examples of gen-trace, as its help has them.
func examplesOfGenerate(t *testing.T) string {
	t.Helper()
	examples, _, ok := strings.Cut(clitest.Run(t, "gen-trace", "--help").Stdout, "\nUsage: ")
	if !ok {
		t.Fatal("gen-trace has no help")
	}
	return examples
}

// TestMatchAsTraceMatcher compares small traces that the manual of Trace Matcher has or speaks of.
func TestMatchAsTraceMatcher(t *testing.T) {
	t.Chdir(t.TempDir())
	const lui, r8 = "1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n", "1 clk R r8 00000000\n"
	for name, text := range map[string]string{
		"log1": lui + r8, "log2": r8 + lui, "indented": "\t" + lui + "  " + r8,
		"twice": lui + "1 clk R r8 1\n" + r8, "exchanged": lui + r8 + "1 clk R r8 1\n",
		"two":      lui + "1 clk R r8 1\n1 clk R r9 2\n",
		"swapped":  lui + "1 clk R r9 2\n1 clk R r8 1\n",
		"rmw":      lui + "1 clk MR4 00000010 00000001\n1 clk MW4 00000010 00000002\n",
		"wmr":      lui + "1 clk MW4 00000010 00000002\n1 clk MR4 00000010 00000001\n",
		"late":     lui + "2 clk 0 IT (2) 00000008 00000000 A svc : nop\n" + r8,
		"intime":   lui + r8 + "2 clk 0 IT (2) 00000008 00000000 A svc : nop\n",
		"too-wide": lui + "1 clk MR4 00103fc4 0010400000000000\n",
		"wide":     lui + "1 clk MR8 00103fc4 0010400000000000\n",
	} {
		clitest.Put(t, name, []byte(text))
	}
	for _, test := range []struct {
		args   string
		status int
		says   string
	}{
		{"log1 log2", 1, "1 record later than in the other trace"},
		{"log1 log2 -w", 1, "1 record later than in the other trace"},
		{"log1 log2 -w 2", 0, "--window-size 2: 1 time"},
		{"log2 log1 -w 2", 0, "--window-size 2: 1 time"},
		{"intime late", 1, "1 record later than in the reference"},
		{"intime late -w 2", 0, ""},
		{"log1 indented", 0, ""},
		{"twice exchanged", 1, "r8 comes in another order"},
		{"twice exchanged -w 5", 1, "r8 comes in another order"},
		{"two swapped", 0, ""},
		{"rmw wmr", 1, "read of 4 at 0x10 comes in another order"},
		{"wide too-wide", 2, `too-wide:2: column 20: found "0010400000000000", expected data of 4 bytes`},
		{"wide wide", 0, ""},
	} {
		got := clitest.Run(t, append([]string{"match"}, strings.Fields(test.args)...)...)
		if got.Status != test.status || !strings.Contains(got.Stdout+got.Stderr, test.says) {
			t.Errorf("match %s: want exit status %d and %q: %+v", test.args, test.status, test.says, got)
		}
	}
	clitest.Put(t, "out.jsonl", []byte(clitest.Run(t, "convert", "indented", "-", "--to", "json").Stdout))
	if back := clitest.Run(t, "convert", "out.jsonl", "-", "--to", "matcher"); back.Stdout != lui+r8 {
		t.Errorf("indented lines come back as %+v", back)
	}
}
