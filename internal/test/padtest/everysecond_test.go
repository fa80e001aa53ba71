//go:build linux && amd64

package padtest

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/tfile"
	"tracewell/trace"
)

var (
	whole = flag.Bool("whole", false, "every second instruction, and longer runs of the programs")
	seed  = flag.Uint64("seed", 0, "which instructions are chosen; 0 for others each time")
	turns = flag.Int("turns", 0, "how many runs of a program -whole has, each with 30,000 locations more; 0 for all that there are")
	traps = flag.Bool("traps", false, "trace by breakpoint instructions alone")
)

// base is where a position-independent program is without randomisation of addresses.
const base = 0x555555554000

// limit is for one run of a program.
const limit = 30 * time.Minute

// A subject is a program with something to do whose outcome shows whether it went wrong.
type subject struct {
	name      string
	path      string
	args      []string
	input     string
	status    int
	libraries []string // paths of those that do its work, which are traced, too
	source    string   // in testdata, with statements whose values are compared; "" if there are none
}

// A program is a subject that is not made before it is run.
type program struct {
	name string
	make func(t *testing.T) subject
}

// programs are those of Debian, of Go, and programs in testdata that check themselves, with work of some size.
func programs(size int) []program {
	rounds := strconv.Itoa(size)
	return []program{
		{"gzip", func(t *testing.T) subject { return debian(t, "gzip", "-9", "-n", "-c", textFile(t, size)) }},
		{"diff", func(t *testing.T) subject {
			s := debian(t, "diff", "-", textFile(t, size)).reads(prose(size * 2 / 3))
			s.status = 1
			return s
		}},
		{"sqlite3", func(t *testing.T) subject {
			return debian(t, "sqlite3", ":memory:").reads(queries(size/3)).with(t, "libsqlite3.so.0")
		}},
		{"xmllint", func(t *testing.T) subject {
			return debian(t, "xmllint", "--xpath", "sum(//n[. mod 7 = 3])", "-").reads(document(size)).with(t, "libxml2.so.2")
		}},
		{"perl", func(t *testing.T) subject {
			script, err := filepath.Abs("testdata/checks.pl")
			if err != nil {
				t.Fatal(err)
			}
			return debian(t, "perl", script, rounds)
		}},
		{"python3", python},
		{"calls", func(t *testing.T) subject {
			return built(t, "calls.c", []string{"3", rounds, "3"}, "gcc", "-O2", "-g", "-pthread")
		}},
		{"throws", func(t *testing.T) subject {
			s := built(t, "throws.cc", []string{strconv.Itoa(size / 3)}, "g++", "-O2", "-g", "-static-libstdc++", "-static-libgcc")
			return s.with(t, "libc.so.6")
		}},
		{"checks", func(t *testing.T) subject { return built(t, "checks.rs", []string{rounds}, "rustc", "-O", "-g") }},
		{"strings", func(t *testing.T) subject { return built(t, "strings", []string{"-test.short"}, "go", "test", "-c") }},
	}
}

// debian is a program of Debian, by the path of what the kernel maps, not of a link to it.
func debian(t *testing.T, name string, args ...string) subject {
	t.Helper()
	path, err := filepath.EvalSymlinks(testtool.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return subject{name: name, path: path, args: args}
}

// reads gives a subject its standard input.
func (s subject) reads(input string) subject {
	s.input = input
	return s
}

// with has a library traced, too.
func (s subject) with(t *testing.T, name string) subject {
	t.Helper()
	s.libraries = append(s.libraries, library(t, name))
	return s
}

// textFile is a file of prose.
func textFile(t *testing.T, lines int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(prose(lines)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// python is CPython with its own tests, of the modules that it is mostly made of if -whole is given, and the libraries that it loads
// for them as it runs.
func python(t *testing.T) subject {
	t.Helper()
	tests := []string{"test.test_bisect", "test.test_json.test_float", "test.test_json.test_scanstring"}
	if *whole {
		tests = []string{"test.test_json", "test.test_re", "test.test_struct", "test.test_dict", "test.test_generators", "test.test_sort"}
	}
	s := debian(t, "python3", append([]string{"-m", "unittest", "-v"}, tests...)...)
	modules, err := filepath.Glob("/usr/lib/python3*/lib-dynload/_json.*.so")
	if err != nil || len(modules) == 0 {
		t.Fatalf("no module _json of python3: %v", err)
	}
	s.libraries = modules
	return s
}

// built has a tool make a program of a source in testdata, or of a package of Go.
func built(t *testing.T, name string, args []string, tool string, options ...string) subject {
	t.Helper()
	s := subject{name: strings.TrimSuffix(name, filepath.Ext(name)), args: args}
	if s.name != name {
		s.source = filepath.Join("testdata", name)
		name = s.source
	}
	s.path = filepath.Join(t.TempDir(), s.name)
	if made, err := testtool.Command(t, tool, append(options, "-o", s.path, name)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", tool, err, made)
	}
	return s
}

// prose is text that compresses about as English does.
func prose(lines int) string {
	words := strings.Fields("a frame holds what the actions of one tracepoint collected at one hit and its number names it")
	r := rand.New(rand.NewPCG(1, uint64(lines)))
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%d", i*i)
		for range 3 + r.IntN(9) {
			b.WriteString(" " + words[r.IntN(len(words))])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// queries is SQL that goes through parser, B-trees, sorter, functions and floating point, and checks the database.
func queries(rows int) string {
	return fmt.Sprintf(`create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i < %d)
  insert into t select i, printf('%%08x', i*2654435761 %% 4294967296), i/7.0 from n;
create index tb on t(b); create index tc on t(c);
select count(*), sum(length(b)), round(avg(c), 6), min(b), max(b) from t;
update t set c = c * 1.5 where b like '%%a%%';
delete from t where a %% 11 = 5;
select a, b, round(c, 4) from t where c between 10 and 20 order by b desc limit 20;
select substr(b, 1, 1) k, count(*), group_concat(a %% 10, '') from t group by k having count(*) > 3 order by 2, 1;
pragma integrity_check;
`, rows)
}

func document(elements int) string {
	var b strings.Builder
	b.WriteString("<list>")
	for i := range elements {
		fmt.Fprintf(&b, "<n at='%d'>%d</n>", i, i*37%1009)
	}
	b.WriteString("</list>")
	return b.String()
}

// outcome is all that a run of a program shows.
type outcome struct {
	output, errors string
	status         int
}

// took is how long unittest of Python says that it took.
var took = regexp.MustCompile(`(?m)^(Ran \d+ tests) in .*$`)

// run has a command read the subject's input, from a file, so that each read returns all that it can. Addresses are not randomised.
func (s subject) run(t *testing.T, command ...string) outcome {
	t.Helper()
	cmd := testtool.Command(t, "setarch", append([]string{"-R"}, command...)...)
	input, err := os.CreateTemp(t.TempDir(), "input")
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	if _, err := input.WriteString(s.input); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = input
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PERL_HASH_SEED=0", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "HOME="+t.TempDir())
	var output, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errors
	stuck := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	err = cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return outcome{output.String(), took.ReplaceAllString(errors.String(), "$1"), cmd.ProcessState.ExitCode()}
}

// seeded is what the choice of instructions begins with.
func seeded(t *testing.T) uint64 {
	random := *seed
	if random == 0 {
		random = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", random)
	return random
}

// TestEverySecond runs programs with tracepoints on every second instruction, or a thousand of them, and compares what they
// print with what they print untraced. A third of the tracepoints have a condition that is never true, a third one that sets
// a variable, and the rest collect registers and memory at each hit until they have had their share. Programs in testdata tell
// besides what they know in some lines, where further tracepoints collect it.
func TestEverySecond(t *testing.T) {
	random, size := seeded(t), 300
	if *whole {
		size = 5000
	}
	for _, p := range programs(size) {
		t.Run(p.name, func(t *testing.T) {
			s := p.make(t)
			var known []statement
			if s.source != "" {
				known = statementsOf(t, s.source)
			}
			all := s.every(t)
			runs := [][]place{all.sample(random, 1000)}
			if *whole {
				runs = all.runs(random)
			}
			want := s.run(t, append([]string{s.path}, s.args...)...)
			if want.status != s.status {
				t.Fatalf("untraced: %+v", want)
			}
			armed := 0
			for i, places := range runs {
				s.everySecond(t, fmt.Sprintf("run %d of %d", i+1, len(runs)), places, known, want)
				armed += len(places)
			}
			t.Logf("%d of %d locations, in %d instructions", armed, len(all.places), all.of)
		})
	}
}

// recorded is what record prints, in the middle of what the program prints itself if a library has just been loaded. The last group is
// how the hits of a location are collected.
var recorded = regexp.MustCompile(`Tracepoint \d+ at 0x[^\n]*?(?:: (pad|trap)\b[^\n]*)?\n|Recording /[^\n]* into [^\n]*\n|` +
	`[0-9hms.]+: \d+ hits, [^\n]*\n|` +
	`tracewell: warning: tracepoint \d+ at 0x[^\n]* only chooses the function [^\n]*\n|` +
	`tracewell: warning: tracepoint \d+: [^\n]*\n[^\n]*\n[^\n]*\nLibraries that are loaded later are searched for it\n|` +
	` *tp +location (?s:.*)$`)

// everySecond runs a program with tracepoints at some places, and those of statements in front of them.
func (s subject) everySecond(t *testing.T, name string, places []place, known []statement, want outcome) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.tf")
	command := []string{gdbtest.Binary(t), "record", "--explain", "--pending", "--script", script(t, known, places), "-o", file}
	if *traps {
		command = append(command, "--no-pads")
	}
	start := time.Now()
	got := s.run(t, append(append(command, "--", s.path), s.args...)...)
	count := map[string]int{}
	for _, found := range recorded.FindAllStringSubmatch(got.errors, -1) {
		count[found[1]]++
	}
	got.errors = recorded.ReplaceAllString(got.errors, "")
	if got != want {
		t.Fatalf("%s: traced: status %d, %d bytes, errors %.2000q\nuntraced: status %d, %d bytes, errors %.200q", name, got.status,
			len(got.output), got.errors, want.status, len(want.output), want.errors)
	}
	frames, values := check(t, file, len(known), places), 0
	if known != nil {
		values = compareKnown(t, file, got.output, known)
	}
	t.Logf("%s: %d locations, %d pads and %d traps, %d frames, %d of what the program knew, %v", name, len(places)+len(known), count["pad"],
		count["trap"], frames, values, time.Since(start).Round(time.Millisecond))
	if !*traps && count["pad"] <= count["trap"] {
		t.Errorf("%s: more traps than pads", name)
	}
	if !*whole && frames == 0 {
		t.Error("no frames")
	}
}

// variables are as many trace state variables as the tracepoints that end by themselves share.
const variables = 100

// script writes a script of tracepoints: those of statements, and then in order those of the places.
func script(t *testing.T, known []statement, places []place) string {
	var b strings.Builder
	b.WriteString(statementScript(known))
	b.WriteString("tvariable $hits = 0\n")
	for i := range variables {
		fmt.Fprintf(&b, "tvariable $n%d = 0\n", i)
	}
	for i, at := range places {
		condition, more := "$rsp == 0", ""
		switch i % 3 {
		case 1:
			condition, more = fmt.Sprintf("($hits = $hits + 1) %% %d == 0", shown), ", $hits"
		case 2:
			condition = fmt.Sprintf("($n%d = $n%[1]d + 1) <= %[2]d", i%variables, share)
			more = fmt.Sprintf(", $n%d, *(char *)$rip@%d", i%variables, codeShown)
		}
		fmt.Fprintf(&b, "trace %s if %s\nactions\ncollect $rip, $rsp, *(long *)$rsp%s\nend\n", at, condition, more)
	}
	return write(t, b.String())
}

// shown is how many hits of the counted tracepoints make one frame, share how many frames one variable allows, and codeShown how many bytes
// of the program's code are collected.
const (
	shown     = 1009
	share     = 25
	codeShown = 8
)

// check looks at each frame of a file but those of its first tracepoints: the pc is where the place is, with one offset for each image;
// the word that the stack pointer points to is in it; the bytes of code are those of the file, not of a jump; and the variables have
// each value that they must have had, in order. It returns how many frames there are.
func check(t *testing.T, path string, first int, places []place) (frames int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]trace.VariableNumber{}
	for _, v := range file.Header().Variables {
		numbers[v.Name] = v.Number
	}
	const rsp, rip = 7, 16
	register := func(f tfile.Frame, n int) uint64 { return binary.LittleEndian.Uint64(f.Registers()[8*n:]) }
	last := map[string]int64{}
	for i := range file.NumFrames() {
		f := frame(t, file, i)
		n := int(f.Tracepoint()) - 1 - first
		if n < 0 {
			continue
		}
		frames++
		at := places[n]
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("frame %d, of tracepoint %d at %v: "+format, append([]any{i, f.Tracepoint(), at}, args...)...)
		}
		pc := register(f, rip)
		if at.image.base == 0 && pc > at.at {
			at.image.base = pc - at.at
		}
		if pc != at.image.base+at.at || at.image.base%4096 != 0 {
			fail("pc %#x, by others it is %#x", pc, at.image.base+at.at)
		}
		if n := f.ReadMemory(arch.Addr(register(f, rsp)), make([]byte, 8)); n != 8 {
			fail("%d bytes of the word at the stack pointer", n)
		}
		variable, step := "hits", int64(shown)
		if n%3 == 2 {
			variable, step = fmt.Sprintf("n%d", n%variables), 1
			code := make([]byte, len(at.code(codeShown)))
			if f.ReadMemory(arch.Addr(pc), code); !bytes.Equal(code, at.code(codeShown)) {
				fail("code %x, the file has %x", code, at.code(codeShown))
			}
		}
		last[variable] += step
		if value, ok := f.Variable(numbers[variable]); !ok || value != last[variable] {
			fail("$%s is %d, not %d", variable, value, last[variable])
		}
	}
	return frames
}
