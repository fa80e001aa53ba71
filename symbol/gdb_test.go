package symbol

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/corpus"
	"tracewell/internal/test/gdbtest"
	"tracewell/symbol/debuginfo"
)

// askGDB returns where GDB puts a breakpoint for each of some locations in a program that does not run.
func askGDB(t *testing.T, program string, specs []string) map[string][]arch.Addr {
	t.Helper()
	folder := t.TempDir()
	request, answer := filepath.Join(folder, "request"), filepath.Join(folder, "answer")
	script, err := filepath.Abs("testdata/locate.py")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(specs)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(request, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TRACEWELL_REQUEST", request)
	t.Setenv("TRACEWELL_ANSWER", answer)
	gdbtest.Run(t, program, "source "+script+"\n")
	content, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	var places map[string][]arch.Addr
	if err := json.Unmarshal(content, &places); err != nil {
		t.Fatal(err)
	}
	return places
}

// everything returns the name of each function of a program's own sources, and each line of these.
func everything(t *testing.T, p *Program, built *corpus.Program) []string {
	t.Helper()
	var specs []string
	file := p.Main().File()
	file.EachName(debuginfo.KindFunction, func(name string, off debuginfo.Offset) bool {
		e, err := file.Entry(off)
		if err == nil && (e.Unit.Language != debuginfo.LanguageGo || strings.HasPrefix(name, "main.")) &&
			(e.Unit.Language != debuginfo.LanguageRust || strings.HasSuffix(e.Unit.CompDir, filepath.Base(filepath.Dir(built.Path)))) {
			specs = append(specs, name)
		}
		return true
	})
	sources, err := filepath.Glob(filepath.Join(filepath.Dir(built.Path), "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range built.Marks {
		sources = append(sources, m.File)
	}
	slices.Sort(sources)
	for _, source := range slices.Compact(sources) {
		for line := range 140 {
			specs = append(specs, filepath.Base(source)+":"+strconv.Itoa(line+1))
		}
	}
	slices.Sort(specs)
	return slices.Compact(specs)
}

// numbered is a name with a number among the arguments of a template.
var numbered = regexp.MustCompile(`<\d+, `)

// agree reports whether GDB has put a breakpoint where a tracepoint would go. There are six things that GDB does and Locate does
// not, or the other way round. It takes the stub through which a program calls a library for the function. And a line whose code was moved out of
// a function, to below its beginning, it moves "behind the prologue": to the beginning of the function.
//
// And it does not find a function of a namespace by the arguments that debug information has for a template, 0 for 0ul.
// Nor does it find a constructor that is inherited, whose symbol has the name of the base class.
// It does not find inlined copies by the file, nor by parameters.
// And of inlined functions it takes those that are local to the one that is asked for, f(int)::Guard::Guard for f.
func agree(o *Object, spec string, ours, gdb []arch.Addr) bool {
	gdb = slices.DeleteFunc(slices.Clone(gdb), func(addr arch.Addr) bool {
		if l := o.describe(addr); l.Inlined && strings.HasPrefix(l.Function, spec+"(") && strings.Contains(l.Function[len(spec):], ")::") {
			return true
		}
		for _, name := range []string{".plt", ".plt.sec", ".plt.got"} {
			if content, begin, ok := o.File().Section(name); ok && addr >= begin && uint64(addr-begin) < uint64(len(content)) {
				return true
			}
		}
		return false
	})
	if len(gdb) == 0 && len(ours) > 0 && !slices.ContainsFunc(ours, func(addr arch.Addr) bool { return !o.describe(addr).Inlined }) {
		return true
	}
	if len(gdb) == 0 && (numbered.MatchString(spec) || isConstructor(spec)) {
		return true
	}
	if len(ours) != len(gdb) {
		return false
	}
	for i, addr := range ours {
		if addr == gdb[i] {
			continue
		}
		u := o.unitAt(addr)
		if u == nil {
			return false
		}
		b := u.blockAt(addr).linkage()
		if b == nil || b.begin() != gdb[i] || addr >= gdb[i] || b.within(addr, gdb[i]) {
			return false
		}
	}
	return true
}

func isConstructor(spec string) bool {
	n := parseName(spec)
	return len(n.scopes) > 0 && n.scopes[len(n.scopes)-1] == n.last
}

// TestLocationsOfGDB compares every function and every line of programs in four languages. With TRACEWELL_ALL set it takes all
// builds of them.
func TestLocationsOfGDB(t *testing.T) {
	builds := corpus.Few()
	if os.Getenv("TRACEWELL_ALL") != "" {
		builds = corpus.Builds
	}
	for _, b := range builds {
		t.Run(b.String(), func(t *testing.T) {
			built := corpus.Compile(t, b)
			p, err := Open(built.Path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			compareAll(t, p, built)
		})
	}
}

func compareAll(t *testing.T, p *Program, built *corpus.Program) {
	specs := everything(t, p, built)
	want := askGDB(t, built.Path, specs)
	known := 0
	for _, spec := range specs {
		var got []arch.Addr
		locations, err := p.Locate(spec)
		for _, l := range locations {
			got = append(got, l.Addr)
		}
		if len(want[spec]) > 0 {
			known++
		}
		if !agree(p.Main(), spec, got, want[spec]) {
			t.Errorf("%s: %v (%v), GDB has %v", spec, got, err, want[spec])
		}
	}
	if known < 80 {
		t.Errorf("GDB knows only %d of %d locations", known, len(specs))
	}
	t.Logf("%d locations compared, of which GDB knows %d", len(specs), known)
}
