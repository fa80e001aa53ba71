//go:build linux && amd64

package padtest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/tfile"
)

var (
	whole = flag.Bool("whole", false, "every second instruction, and longer runs of the programs")
	seed  = flag.Uint64("seed", 0, "which instructions are chosen; 0 for others each time")
	traps = flag.Bool("traps", false, "trace by breakpoint instructions alone")
)

// base is where a position-independent program is without randomisation of addresses.
const base = 0x555555554000

// limit is for one run of a program.
const limit = 10 * time.Minute

// A subject is a program with something to do whose outcome shows whether it went wrong.
type subject struct {
	name   string
	path   string
	args   []string
	input  string
	status int
}

// subjects are programs of Debian, of Go, and programs in testdata that check themselves.
func subjects(t *testing.T) []subject {
	dir := t.TempDir()
	size := 300
	if *whole {
		size = 20000
	}
	rounds := strconv.Itoa(size)
	file := filepath.Join(dir, "text")
	if err := os.WriteFile(file, []byte(prose(size)), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/checks.pl")
	if err != nil {
		t.Fatal(err)
	}
	debian := func(name, input string, status int, args ...string) subject {
		return subject{name, testtool.Path(t, name), args, input, status}
	}
	return []subject{
		debian("gzip", "", 0, "-9", "-n", "-c", file),
		debian("diff", prose(size*2/3), 1, "-", file),
		debian("sqlite3", statements(size/3), 0, ":memory:"),
		debian("xmllint", document(size), 0, "--xpath", "sum(//n[. mod 7 = 3])", "-"),
		debian("perl", "", 0, script, rounds),
		built(t, "throws", []string{rounds}, "g++", "-O2", "-g", "-static-libstdc++", "-static-libgcc", "testdata/throws.cc"),
		built(t, "checks", []string{rounds}, "rustc", "-O", "-g", "testdata/checks.rs"),
		built(t, "strings", []string{"-test.short"}, "go", "test", "-c", "strings"),
	}
}

// built has a tool make a program.
func built(t *testing.T, name string, args []string, tool string, options ...string) subject {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if made, err := testtool.Command(t, tool, append(options, "-o", path)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", tool, err, made)
	}
	return subject{name: name, path: path, args: args}
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

// statements is SQL that goes through parser, B-trees, sorter, functions and floating point, and checks the database.
func statements(rows int) string {
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
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PERL_HASH_SEED=0", "HOME="+t.TempDir())
	var output, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errors
	stuck := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	err = cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return outcome{output.String(), errors.String(), cmd.ProcessState.ExitCode()}
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

// TestEverySecond runs programs with tracepoints on every second instruction, or some thousand of them, and compares what they
// print with what they print untraced. A third of the tracepoints have a condition that is never true, a third one that sets
// a variable, and the rest collect registers and memory at each hit until they have had their share.
func TestEverySecond(t *testing.T) {
	random := seeded(t)
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			sites := instructions(t, s.path)
			most := 1000
			if *whole { // there can be no more tracepoints than 32767
				most = 32_000
			}
			if len(sites) > most {
				r := rand.New(rand.NewPCG(random, 0))
				r.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
				sites = sites[:most]
				slices.Sort(sites)
			}
			want := s.run(t, append([]string{s.path}, s.args...)...)
			if want.status != s.status {
				t.Fatalf("untraced: %+v", want)
			}
			file := filepath.Join(t.TempDir(), "run.tf")
			command := []string{gdbtest.Binary(t), "record", "-q", "--script", script(t, sites), "-o", file}
			if *traps {
				command = append(command, "--no-pads")
			}
			start := time.Now()
			got := s.run(t, append(append(command, "--", s.path), s.args...)...)
			if got != want {
				t.Fatalf("traced: status %d, %d bytes, errors %.2000q\nuntraced: status %d, %d bytes, errors %.200q", got.status,
					len(got.output), got.errors, want.status, len(want.output), want.errors)
			}
			frames := check(t, file, sites)
			t.Logf("%d locations, %d frames, %v", len(sites), frames, time.Since(start).Round(time.Millisecond))
			if frames == 0 {
				t.Error("no frames")
			}
		})
	}
}

// instructions lists the addresses of every second instruction in the text section of a program, as objdump decodes it.
func instructions(t *testing.T, path string) []uint64 {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	listing, err := testtool.Command(t, "objdump", "-d", "-j", ".text", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var sites []uint64
	n := 0
	for line := range strings.Lines(string(listing)) {
		address, text, ok := strings.Cut(strings.TrimSpace(line), ":\t")
		at, err := strconv.ParseUint(address, 16, 64)
		if !ok || err != nil || strings.Contains(text, "(bad)") {
			continue
		}
		if n++; n%2 == 0 {
			sites = append(sites, bias(f)+at)
		}
	}
	return sites
}

// bias is what a program's addresses are more than those of its file, without randomisation.
func bias(f *elf.File) uint64 {
	if f.Type == elf.ET_DYN {
		return base
	}
	return 0
}

// variables are as many trace state variables as the tracepoints that end by themselves share.
const variables = 100

// script writes a script of tracepoints, numbered from 1 in the order of the addresses.
func script(t *testing.T, sites []uint64) string {
	var b strings.Builder
	b.WriteString("tvariable $hits = 0\n")
	for i := range variables {
		fmt.Fprintf(&b, "tvariable $n%d = 0\n", i)
	}
	for i, at := range sites {
		condition := "$rsp == 0"
		switch i % 3 {
		case 1:
			condition = "($hits = $hits + 1) % 1009 == 0"
		case 2:
			condition = fmt.Sprintf("($n%d = $n%[1]d + 1) <= 25", i%variables)
		}
		fmt.Fprintf(&b, "trace *%#x if %s\nactions\ncollect $rip, $rsp, *(long *)$rsp\nend\n", at, condition)
	}
	return write(t, b.String())
}

// check looks at each frame of a file: the pc among its registers is the address of its tracepoint, and the word that the stack
// pointer points to is in it. It returns how many frames there are.
func check(t *testing.T, path string, sites []uint64) int {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	register := func(f tfile.Frame, n int) uint64 { return binary.LittleEndian.Uint64(f.Registers()[8*n:]) }
	for i := range file.NumFrames() {
		f, err := file.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		const rsp, rip = 7, 16
		if pc, want := register(f, rip), sites[f.Tracepoint()-1]; pc != want {
			t.Fatalf("frame %d of tracepoint %d: pc %#x, want %#x", i, f.Tracepoint(), pc, want)
		}
		if n := f.ReadMemory(arch.Addr(register(f, rsp)), make([]byte, 8)); n != 8 {
			t.Fatalf("frame %d of tracepoint %d: %d bytes of the word at the stack pointer", i, f.Tracepoint(), n)
		}
	}
	return file.NumFrames()
}
