//go:build linux && amd64

package recordtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// builds of the programs in testdata: the compiler and its options.
func returnBuilds(compilers ...string) (builds [][]string) {
	for i, compiler := range compilers {
		for _, level := range []string{"-O0", "-O2"} {
			if i == 0 || *whole {
				builds = append(builds, []string{compiler, "-g", level})
			}
		}
	}
	return builds
}

// named finds the functions that a source defines by a macro: F(type, NAME, …). Those that stand behind a word are apart.
func named(t *testing.T, source, word string) (names, behind []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(content), word)
	find := func(text string) (names []string) {
		for _, m := range regexp.MustCompile(`\bF\([^(]*?, (\w+),`).FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		return names
	}
	if names, behind = find(first), find(rest); len(names) < 10 {
		t.Fatalf("%s defines only %q", source, names)
	}
	return names, behind
}

// compiled compiles a program of testdata.
func compiled(t *testing.T, source string, command []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	args := append(slices.Clone(command[1:]), "-w", "-no-pie", "-o", path, filepath.Join("testdata", source), "-lstdc++")
	if out, err := testtool.Command(t, command[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
	return path
}

// returned is a frame of a return as show --json has it.
type returned struct {
	Source    string
	Collected map[string]any
}

// recordFrames records a program by the command line. It returns the file, its frames, and what the program printed.
func recordFrames(t *testing.T, program string, options ...string) (file string, frames []returned, printed string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "run.tf")
	args := slices.Concat([]string{"record", "-q", "-o", file}, options, []string{"--", program})
	out, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), args...).Output()
	if err != nil {
		t.Fatalf("record: %v\n%s", err, out)
	}
	lines, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), "show", file, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		var frame returned
		if err := json.Unmarshal([]byte(line), &frame); err != nil {
			t.Fatal(err)
		}
		frames = append(frames, frame)
	}
	return file, frames, string(out)
}

// recordReturns records the returns of functions. It returns what show, with some options, prints of each value that was returned, in
// the order of the frames, with the function in front, the frames themselves, and what the program printed.
func recordReturns(t *testing.T, program string, functions []string, show ...string) (values []string, frames []returned, printed string) {
	t.Helper()
	var options []string
	for _, f := range functions {
		options = append(options, "--return="+f)
	}
	file, frames, printed := recordFrames(t, program, options...)
	text, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), append([]string{"show", file, "--full"}, show...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	function := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if m := frameLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[1]) // there are two for each function
			function = functions[(number-1)/2]
		}
		if value, ok := strings.CutPrefix(line, "$return = "); ok {
			values = append(values, function+" = "+value)
		}
	}
	return values, frames, printed
}

// TestReturnsOfC: $return is what GDB's finish says, and what the caller has stored, for every class of values that the ABI has.
func TestReturnsOfC(t *testing.T) {
	functions, beyond := named(t, "returns.c", "#define BEYOND")
	for _, build := range returnBuilds("gcc", "clang") {
		t.Run(strings.Join(build, " "), func(t *testing.T) {
			t.Parallel()
			program := compiled(t, "returns.c", build)
			var script strings.Builder
			for _, f := range functions {
				fmt.Fprintf(&script, "tbreak %s\n", f)
			}
			for i, f := range functions {
				fmt.Fprintf(&script, "%s\n-- %s --\nfinish\n", map[bool]string{true: "run", false: "continue"}[i == 0], f)
			}
			gdb := gdbtest.Run(t, program, script.String())
			var want []string
			for _, f := range functions {
				_, value, _ := strings.Cut(gdb.Section(t, f), "Value returned is $")
				_, value, ok := strings.Cut(value, " = ")
				if !ok {
					t.Fatalf("GDB does not say what %s returned:\n%s", f, gdb.Section(t, f))
				}
				value, _, _ = strings.Cut(value, "\n")
				want = append(want, f+" = "+value)
			}
			all := append(functions, beyond...)
			got, _, _ := recordReturns(t, program, append(all, "nothing"), "--raw")
			compareLines(t, want, got[:min(len(want), len(got))])
			compareLines(t, stored(t, program, "nothing", all), got)
		})
	}
}

// stored is what GDB prints of the variables that the results are in, when a function has been reached.
func stored(t *testing.T, program, at string, functions []string) (values []string) {
	t.Helper()
	script := "tbreak " + at + "\nrun\n"
	for _, f := range functions {
		script += fmt.Sprintf("-- %s --\nprint/r r_%[1]s\n", f)
	}
	gdb := gdbtest.Run(t, program, script)
	for _, f := range functions {
		_, value, _ := strings.Cut(gdb.Section(t, f), " = ")
		values = append(values, f+" = "+value)
	}
	return values
}

// TestReturnsOfCPP: $return is what the caller has stored, for objects that are returned in registers and in memory.
func TestReturnsOfCPP(t *testing.T) {
	functions, _ := named(t, "returns.cc", "#define DEFINE")
	for _, build := range returnBuilds("g++", "clang") {
		t.Run(strings.Join(build, " "), func(t *testing.T) {
			t.Parallel()
			program := compiled(t, "returns.cc", build)
			got, _, _ := recordReturns(t, program, functions, "--raw")
			compareLines(t, stored(t, program, "finished", functions), got)
		})
	}
}

// compareLines compares values of functions.
func compareLines(t *testing.T, want, got []string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			t.Errorf("no value: %s", want[i])
		case i >= len(want):
			t.Errorf("one more value: %s", got[i])
		case want[i] != got[i]:
			t.Errorf("recorded\n%s\nand not\n%s", got[i], want[i])
		}
	}
}

// saidBy are the values that the program itself prints, and the functions that it does so for.
func saidBy(printed string) (values, functions []string) {
	for line := range strings.Lines(printed) {
		line = strings.TrimSuffix(line, "\n")
		if function, _, ok := strings.Cut(line, " = "); ok {
			values = append(values, line)
			if !slices.Contains(functions, function) {
				functions = append(functions, function)
			}
		}
	}
	return values, functions
}

// TestReturnsOfOthers: $return is what programs of Go and Rust print, whose conventions GDB does not know.
func TestReturnsOfOthers(t *testing.T) {
	for _, test := range []struct {
		source, output string
		command        []string
		costly         bool     // the whole library is compiled
		refused        []string // what the optimizer may leave out
		show           []string // options: the program of Go prints members
	}{
		{"returns.go", "-o", []string{"go", "build"}, false, nil, []string{"--raw"}},
		{"returns.go", "-o", []string{"go", "build", "-gcflags=-N -l"}, true, nil, []string{"--raw"}},
		{"returns.rs", "-o", []string{"rustc", "-g", "-Cpanic=abort"}, false, nil, nil},
		{"returns.rs", "-o", []string{"rustc", "-g", "-O"}, false, []string{"returns::local", "returns::constant"}, nil},
	} {
		if test.costly && !*whole {
			continue
		}
		t.Run(strings.Join(test.command, " "), func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "program")
			args := append(slices.Clone(test.command[1:]), test.output, program, filepath.Join("testdata", test.source))
			if out, err := testtool.Command(t, test.command[0], args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := exec.CommandContext(t.Context(), program).Output()
			if err != nil {
				t.Fatal(err)
			}
			_, functions := saidBy(string(out))
			got, _, printed := recordReturns(t, program, append(functions, test.refused...), test.show...)
			want, _ := saidBy(printed)
			got = slices.DeleteFunc(got, func(line string) bool { return strings.Contains(line, " = <") }) // why there is none
			compareLines(t, want, got)
		})
	}
}

// TestDurations: $took is not less than what the function measures itself, and not more than what its caller does, call by call, by
// the program's own clock; whether pads make the frames or hits that stop the thread.
func TestDurations(t *testing.T) {
	program := testprog.Build(t, "calls", testprog.Variant{}).Path
	for _, options := range [][]string{{"--return=work"}, {"--no-pads", "--return=work"}} {
		t.Run(options[0], func(t *testing.T) {
			_, frames, printed := recordFrames(t, program, options...)
			took := make(map[string]float64)
			for _, frame := range frames {
				if ns, ok := frame.Collected["$took"].(float64); ok {
					took[fmt.Sprint(frame.Collected["id@entry"])] = ns
				}
			}
			calls := testprog.OfKind(testprog.Records(printed), "call")
			if len(calls) != 18 || len(took) != len(calls) {
				t.Fatalf("%d calls, and %d with a time", len(calls), len(took))
			}
			for _, call := range calls {
				ours, known := took[call.Fields["id"]]
				inner, outer := float64(call.Int(t, "inner")), float64(call.Int(t, "outer"))
				// Clocks are converted with an error of some parts in a million, and the processor may read one early.
				slack := 100 + outer/10_000
				if !known || ours < inner-slack || ours > outer+slack {
					t.Errorf("call %s took %v ns, and for the program between %v and %v", call.Fields["id"], ours, inner, outer)
				}
			}
		})
	}
}

// TestPairs: each return has the arguments of its own call, in recursions of several goroutines whose stacks are moved meanwhile,
// and behind calls that ended by longjmp, an exception or a panic, which have no return.
func TestPairs(t *testing.T) {
	goProgram := filepath.Join(t.TempDir(), "program")
	if out, err := testtool.Command(t, "go", "build", "-o", goProgram, "testdata/returns.go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plain, optimized := compiled(t, "returns.cc", []string{"g++", "-g", "-O0"}), compiled(t, "returns.cc", []string{"g++", "-g", "-O2"})
	sum := func(n int) int { return n * (n + 1) / 2 }
	fib := []int{0, 1, 1, 2, 3, 5, 8}
	for _, test := range []struct {
		program, function, argument string
		entries, returns            int
		want                        func(n int) int
	}{
		{goProgram, "main.deep", "n@entry", 41 + 42 + 43 + 44, 41 + 42 + 43 + 44, sum},
		{goProgram, "main.thrower", "n@entry", 4 + 3 + 2, 3, func(n int) int { return n }},
		{goProgram, "main.catcher", "n@entry", 3, 3, func(n int) int { return map[int]int{3: -3, 2: 2, 1: -1}[n] }},
		{plain, "fib", "n@entry", 25, 25, func(n int) int { return fib[n] }},
		{plain, "thrower", "n@entry", 6, 0, nil},
		{plain, "jumper", "n@entry", 8, 0, nil},
		{optimized, "catcher", "n@entry", 2, 2, func(n int) int { return -n }},
		{optimized, "setter", "n@entry", 2, 2, func(n int) int { return 70 + n }},
	} {
		t.Run(test.function, func(t *testing.T) {
			_, frames, _ := recordReturns(t, test.program, []string{test.function})
			entries, returns := 0, 0
			for _, frame := range frames {
				if !strings.HasSuffix(frame.Source, " returns") {
					entries++
					continue
				}
				returns++
				n, ok := frame.Collected[test.argument].(float64)
				took, timed := frame.Collected["$took"].(float64)
				if got, _ := frame.Collected["$return"].(float64); !ok || !timed || took < 0 || int(got) != test.want(int(n)) {
					t.Errorf("a frame of a return has %v", frame.Collected)
				}
			}
			if entries != test.entries || returns != test.returns {
				t.Errorf("%d entries and %d returns, not %d and %d", entries, returns, test.entries, test.returns)
			}
		})
	}
}
