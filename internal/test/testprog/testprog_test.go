package testprog

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVariants compiles one program in each variant and looks at what kind of executable it became.
func TestVariants(t *testing.T) {
	for _, optimised := range []bool{false, true} {
		for _, v := range Linkages {
			v.Optimised = optimised
			t.Run(v.String(), func(t *testing.T) {
				t.Parallel()
				file, err := elf.Open(Build(t, "spin", v).Path)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				if (file.Type == elf.ET_EXEC) != v.NoPIE {
					t.Errorf("type %v", file.Type)
				}
				interpreted := slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
				if interpreted == v.Static {
					t.Errorf("has an interpreter: %v", interpreted)
				}
				if _, err := file.DWARF(); err != nil {
					t.Errorf("debug information: %v", err)
				}
			})
		}
	}
}

// run is a program's command line, how the last line that it prints begins, and its exit status, -1 for a signal.
type run struct {
	args []string
	last string
	exit int
}

var runs = []run{
	{[]string{"hostile"}, "sum ", 0},
	{[]string{"renames"}, "", 0},
	{[]string{"collects"}, "result=", 0},
	{[]string{"threads", "3"}, "done calls=6 sum=252906", 0},
	{[]string{"queue", "5"}, "done pushes=5 pops=5 highest=2 sum=37", 0},
	{[]string{"forks", "2", "5"}, "done calls=10 before=30 after=30", 0},
	{[]string{"dies", "2", "segv"}, "step call=1 sum=3", -1},
	{[]string{"dies", "2", "kill"}, "step call=1 sum=3", -1},
	{[]string{"dies", "2", "trap"}, "step call=1 sum=3", -1},
	{[]string{"dies", "2", "abort"}, "step call=1 sum=3", -1},
	{[]string{"exits", "3"}, "step call=2 sum=6", 7},
	{[]string{"signals", "100000"}, "done calls=100000 wrong=0", 0},
	{[]string{"insns", "1000"}, "done kinds=58 wrong=0 checksum=9b92112cb6b4d118", 0},
	{[]string{"sleeper", "1000", "stdin"}, "done ticks=0 signal=0", 0},
	{[]string{"spin", "1000", "push"}, "done site=push calls=1000 wrong=0", 0},
	{[]string{"manythreads", "20", "100"}, "done threads=20 calls=2000 sum=19099000", 0},
	{[]string{"hammer", "3", "200"}, "done wrong=0", 0},
	{[]string{"pages", "rewrite", "20"}, "done wrong=0 rounds=20", 0},
	{[]string{"pages", "unmap", "20"}, "done wrong=0 rounds=20", 0},
	{[]string{"pages", "protect", "20"}, "done wrong=0 rounds=20", 0},
	{[]string{"pages", "dlclose", "3"}, "done wrong=0 rounds=3", 0},
	{[]string{"sealed", "4"}, "done calls=4 sum=6", 0},
	{[]string{"filtered", "10"}, "done wrong=0 calls=10", 0},
	{[]string{"hops", "10"}, "done wrong=0 calls=10", 0},
	{[]string{"forkstorm", "3", "5", "fork"}, "done wrong=0 children=15", 0},
	{[]string{"forkstorm", "3", "5", "vfork"}, "done wrong=0 children=15", 0},
	{[]string{"execs", "10", "leader"}, "done wrong=0 calls=10", 0},
	{[]string{"execs", "10", "thread"}, "done wrong=0 calls=10", 0},
	{[]string{"overflow", "4"}, "done wrong=0 push=2 call=2", 0},
	{[]string{"locals"}, "done threads=3", 0},
	{[]string{"namespaces"}, "done libraries=0", 0},
	{[]string{"shares", "10"}, "done calls=10 wrong=0", 0},
	{[]string{"relay", "20", "10"}, "done wrong=0", 0},
	{[]string{"padcost", "2", "1000", "2"}, "done wrong=0", 0},
	{[]string{"padded", "2", "1000"}, "done threads=2 calls=1000 handled=0", 0},
	{[]string{"paddedchildren", "6"}, "done wrong=0 calls=600", 0},
	{[]string{"prefork", "3", "10", "nested"}, "done wrong=0", 0},
	{[]string{"prefork", "3", "10", "borrow"}, "done wrong=0", 0},
	{[]string{"prefork", "3", "10", "exec"}, "done wrong=0", 0},
	{[]string{"prefork", "3", "10", "kill"}, "done wrong=0", 0},
	{[]string{"prefork", "3", "10", "asked"}, "done wrong=0", 0},
	{[]string{"neighbours", "2", "1000", "500", "4"}, "done threads=2 calls=1000 handled=", 0},
	{[]string{"strict", "1000", "1"}, "done wrong=0", 0},
	{[]string{"codes", "10"}, "done wrong=0 calls=30", 0},
	{[]string{"paddedfaults", "blocked"}, "done wrong=0 kept=1", 0},
	{[]string{"who"}, "who pid=", 0},
	{[]string{"residents", "1000", "3"}, "done threads=3 calls=", 0},
	{[]string{"crowd", "20", "10"}, "done wrong=0 threads=20", 0},
	{[]string{"blocked", "10"}, "done wrong=0 rounds=10", 0},
	{[]string{"carries", "10"}, "done sum=55080", 0},
	{[]string{"generations", "4"}, "done lines=4", 0},
	{[]string{"outlive", "leader"}, "done calls=10", 0},
	{[]string{"outlive", "clone"}, "done calls=10", 0},
	{[]string{"outlive", "last"}, "done calls=10", 0},
	{[]string{"busy", "3"}, "done threads=3 wrong=0 disorder=0 other=0 lost=0", 0},
	{[]string{"dlstorm", library + "alphalib", library + "betalib", "2", "10"}, "done wrong=0 alpha=75 beta=75", 0},
	{[]string{"plugins", library + "pluginlib", "2"}, "done calls=6 sum=84", 0},
	{[]string{"foreign"}, "take text=efbc9d312b31 number=-15", 0},
	{[]string{"family"}, "", 1},
	{[]string{"leaves", "3", "process"}, "", 7},
	{[]string{"leaves", "3", "exec"}, "", 5},
	{[]string{"steady", "3", "asked"}, "3 threads: right", 0},
	{[]string{"ticks", "3"}, "tick count=3 before=", 0},
	{[]string{"callers"}, "leaf stack=main;inlined;leaf bytes=", 0},
	{[]string{"kinds"}, "miss n=", 0},
	{[]string{"traps", "landing", "10"}, "done wrong=0", 0},
	{[]string{"traps", "exclusive", "10"}, "done number=10", 0},
	{[]string{"traps", "sleep", "10"}, "done result=0 slept=", 0},
	{[]string{"tallied", "20"}, "bucket kind=LOST name=c power=8 hits=1", 0},
	{[]string{"calls"}, "left id=", 0},
	{[]string{"returned", "2", "1000"}, "done wrong=0", 0},
	{[]string{"repeated", "2", "1000"}, "group kind=NONE hits=709 sum=709", 0},
	{[]string{"repeated", "2", "1000", "kill"}, "group kind=NONE hits=709 sum=709", -1},
	{[]string{"probes", library + "probedlib", "10"}, "done total=55", 0},
}

// library begins an argument that is a shared library of that name.
const library = "library "

// arguments are the arguments of a run for its program.
func (r run) arguments(t *testing.T, v Variant) []string {
	args := slices.Clone(r.args[1:])
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, library); ok {
			args[i] = Build(t, name, Variant{Library: true, Optimised: v.Optimised}).Path
		}
	}
	return args
}

// TestPrograms runs each program untraced, with and without optimisation: it must print then what tests expect of it.
func TestPrograms(t *testing.T) {
	for _, run := range runs {
		for _, optimised := range []bool{false, true} {
			v := Variant{NoPIE: true, Optimised: optimised}
			t.Run(strings.Join(run.args, "-")+"-"+v.String(), func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(Build(t, run.args[0], v).Path, run.arguments(t, v)...)
				output, err := cmd.Output()
				if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSpace(string(output)), "\n")
				if last := lines[len(lines)-1]; !strings.HasPrefix(last, run.last) {
					t.Errorf("last line %q, want %q", last, run.last)
				}
				if code := cmd.ProcessState.ExitCode(); code != run.exit {
					t.Errorf("exit status %d, want %d", code, run.exit)
				}
			})
		}
	}
}

// TestEveryProgramIsRun keeps the table above complete.
func TestEveryProgramIsRun(t *testing.T) {
	entries, err := sources.ReadDir("src")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".c")
		if entry.IsDir() {
			continue
		}
		if !slices.ContainsFunc(runs, func(r run) bool { return r.args[0] == name }) {
			t.Errorf("no test runs %s", entry.Name())
		}
	}
}

func TestBuildKeepsPrograms(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first := Build(t, "spin", Variant{})
	before, err := os.Stat(first.Path)
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(Build(t, "spin", Variant{}).Path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the same program was compiled twice")
	}
	if other := Build(t, "spin", Variant{Optimised: true}); other.Path == first.Path {
		t.Error("two variants share an executable")
	}
	if source, err := os.ReadFile(first.Source); err != nil || string(source) != first.text {
		t.Errorf("the source that the debug information names: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(first.Path), "compile-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestLine(t *testing.T) {
	p := &Program{Source: "x.c", text: "int a;\nint b; /* mark: here */\n"}
	if got := p.Line(t, "here"); got != 2 {
		t.Errorf("line %d, want 2", got)
	}
}

func TestRecords(t *testing.T) {
	records := Records("work worker=1 values=2,3\n\nnoise\ndone calls=-4\n")
	want := []Record{
		{"work", map[string]string{"worker": "1", "values": "2,3"}},
		{"noise", map[string]string{}},
		{"done", map[string]string{"calls": "-4"}},
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Error(diff)
	}
	if got := OfKind(records, "done"); len(got) != 1 || got[0].Int(t, "calls") != -4 {
		t.Errorf("OfKind: %v", got)
	}
}
