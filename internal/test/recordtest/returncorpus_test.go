//go:build linux && amd64

package recordtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/corpus"
	"tracewell/internal/test/gdbtest"
	"tracewell/record/plan"
	"tracewell/symbol"
)

//go:embed testdata/finish.py
var finisher string

// TestReturnsOfCorpus records the returns of all functions of the corpus that are called, in all builds. In C and C++ the first call
// of each has to return what GDB's finish says, in Rust and Go all calls what the program itself prints.
func TestReturnsOfCorpus(t *testing.T) {
	if !*whole {
		t.Skip("the programs of TestReturnsOfC and its like stand for the corpus; -whole goes through it")
	}
	for _, b := range corpus.Builds {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			program := corpus.Compile(t, b)
			switch b.Language {
			case corpus.C, corpus.CPP:
				finished(t, program)
			default:
				printed(t, program, b)
			}
		})
	}
}

// finished compares with GDB's finish.
func finished(t *testing.T, program *corpus.Program) {
	t.Helper()
	functions := functionsOf(t, program)
	names, err := json.Marshal(functions)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "finish.py")
	if err := os.WriteFile(script, fmt.Appendf(nil, "FUNCTIONS = %s\n%s", names, finisher), 0o600); err != nil {
		t.Fatal(err)
	}
	gdb := gdbtest.RunFor(t, 10*gdbtest.Timeout, program.Path, "set exec-wrapper env -i "+corpus.Environment+
		"\nset auto-load python-scripts off\nset width 0\n-- finish --\nsource "+script+"\n")
	returns := returnsOf(t, program.Path, functions)
	called, values := 0, 0
	for _, said := range strings.Split(gdb.Section(t, "finish"), "call of ")[1:] {
		function, rest, _ := strings.Cut(said, "\n")
		_, rest, has := strings.Cut(rest, "Value returned is $")
		_, value, _ := strings.Cut(rest, " = ")
		value, _, _ = strings.Cut(value, "\n")
		ours := returns[function]
		switch {
		case len(ours) == 0:
			t.Errorf("%s is called in GDB, and has no return here", function)
		case ours[0].value != value:
			t.Errorf("%s returns %q, and in GDB %q", function, ours[0].value, value)
		case has:
			values++
		}
		called++
	}
	if t.Logf("%d functions, %d called, %d values", len(functions), called, values); called < 2 || values < 2 {
		t.Error("too few")
	}
}

// functionsOf are the functions of the corpus' own files that are not inlined and whose returns can be recorded.
func functionsOf(t *testing.T, program *corpus.Program) (names []string) {
	t.Helper()
	p, err := symbol.Open(program.Path, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	libraries, err := filepath.Glob(filepath.Join(filepath.Dir(program.Path), "lib*.so"))
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range libraries {
		if _, err := p.Add(library, 1<<40); err != nil {
			t.Fatal(err)
		}
	}
	all, err := p.List("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		ofCorpus := slices.ContainsFunc(program.Marks, func(m corpus.Mark) bool { return m.File == filepath.Base(l.File) })
		if l.Function == "main" || l.Function == "main()" { // finish is not meaningful in the outermost frame
			continue
		}
		if !ofCorpus || l.Copy || l.Probe != nil || slices.Contains(names, l.Function) {
			continue
		}
		if exits, err := p.Exits(l.Addr); err != nil || len(exits.Returns)+len(exits.Tails) == 0 {
			t.Logf("%s: %v", l.Function, err)
			continue
		}
		if at, err := p.Locate("*" + l.Function); err != nil || len(at) != 1 {
			t.Logf("%s: %d places, %v", l.Function, len(at), err)
			continue
		}
		names = append(names, l.Function)
	}
	return names
}

// call is one that has returned: what show prints of the value, "" for none.
type call struct{ value string }

// returnsOf records the returns of functions, each at its own address, and returns the calls of each in the order of their entries.
func returnsOf(t *testing.T, path string, functions []string) map[string][]call {
	t.Helper()
	var items []plan.Item
	for _, f := range functions {
		items = append(items, plan.Item{Option: "--return", Value: "*" + f})
	}
	var p plan.Plan
	if err := p.AddItems(items); err != nil {
		t.Fatal(err)
	}
	file := recordedBy(t, &p, false, path)
	text, err := exec.CommandContext(t.Context(), gdbtest.Binary(t), "show", file, "--full", "--raw", "--exec", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	calls := make(map[string][]call)
	open := make(map[string][]int) // the calls that have not returned, by function; the programs have one thread
	current := (*call)(nil)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if m := frameLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[1])
			f := functions[(number-1)/2]
			if number%2 == 1 {
				open[f] = append(open[f], len(calls[f]))
				calls[f] = append(calls[f], call{"no return"})
				current = nil
				continue
			}
			last := len(open[f]) - 1
			current = &calls[f][open[f][last]]
			open[f], current.value = open[f][:last], ""
		}
		if value, ok := strings.CutPrefix(line, "$return = "); ok {
			current.value = value
		}
	}
	return calls
}

// refusal is why a function of Rust has no value where LLVM may have removed it.
const refusal = "<LLVM leaves out results that all callers know"

// printed compares with what the program prints of its own calls. Optimised functions of Rust may be refused with the reason.
func printed(t *testing.T, program *corpus.Program, b corpus.Build) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program.Path).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, functions := saidBy(string(out))
	var show []string
	if b.Language == corpus.Go {
		show = []string{"--raw"}
	}
	got, _, said := recordReturns(t, program.Path, functions, show...)
	want, _ := saidBy(said)
	refused := 0
	for i := range min(len(got), len(want)) {
		function, value, _ := strings.Cut(got[i], " = ")
		if b.Language == corpus.Rust && b.Optimise != "0" && strings.HasPrefix(value, refusal) && strings.HasPrefix(want[i], function+" = ") {
			got[i] = want[i]
			refused++
		}
	}
	compareLines(t, want, got)
	if t.Logf("%d values, %d refused", len(want)-refused, refused); len(want) < 12 || refused == len(want) {
		t.Errorf("the program prints only %q, and %d are refused", want, refused)
	}
}
