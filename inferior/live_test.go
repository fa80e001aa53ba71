//go:build amd64 && linux

package inferior

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// reportOf is the variable by which a script of GDB has this program report on a process that GDB has stopped.
const reportOf = "TRACEWELL_TEST_REPORT"

func TestMain(m *testing.M) {
	if pid := os.Getenv(reportOf); pid != "" {
		report(pid)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stopped is a process of this machine, read through /proc.
type stopped struct {
	pid string
	mem *os.File
}

func (s stopped) ReadMemory(addr arch.Addr, p []byte) (int, error) {
	return s.mem.ReadAt(p, int64(addr))
}
func (s stopped) ReadAuxv() ([]byte, error)      { return os.ReadFile("/proc/" + s.pid + "/auxv") }
func (s stopped) Open(path string) (File, error) { return os.Open(path) }

// report prints all that can be found out about a process.
func report(pid string) {
	mem, err := os.Open("/proc/" + pid + "/mem")
	if err != nil {
		fmt.Println("error", err)
		return
	}
	s, err := New(stopped{pid, mem}, isas["64-bit little-endian"])
	if err != nil {
		fmt.Println("error", err)
		return
	}
	file, err := elf.Open("/proc/" + pid + "/exe")
	if err != nil {
		fmt.Println("error", err)
		return
	}
	bias, err := s.Bias(arch.Addr(file.Entry))
	fmt.Println("bias", bias, err)
	if h, err := s.programHeaders(); err != nil || h.bias != bias {
		fmt.Println("error: by program headers the bias is", h, err)
	}
	name, err := s.Interpreter()
	fmt.Println("interpreter", name, err)
	fmt.Println("entry", s.Entry())
	at, err := s.LinkerBreakpoint()
	fmt.Println("breakpoint", at, err)
	links, err := s.LinkMap()
	fmt.Println("list", links.Consistent(), err)
	for i, n := range links.Namespaces {
		fmt.Println("state", i, n.State)
	}
	for _, o := range links.Objects {
		namespace := slices.IndexFunc(links.Namespaces, func(n Namespace) bool { return n.RDebug == o.LMID })
		fmt.Println("object", namespace, o.Addr, o.VDSO, o.Name)
	}
}

// look is the part of a script that has a process looked at from both sides.
func look(section string) string {
	return fmt.Sprintf(`
		-- %[1]s --
		python gdb.execute('shell %[2]s=%%d %[3]s' %% gdb.selected_inferior().pid)
		-- %[1]s by GDB --
		info auxv
		info proc mappings
		? printf "main %%#lx\n", (long)&main
		? printf "function %%#lx\n", (long)&_dl_debug_state
		? printf "state %%d\n", *(int *)((char *)&_r_debug + 24)
	`, section, reportOf, os.Args[0])
}

// seen is what both sides have to say at one stop.
type seen struct{ ours, gdb string }

func at(t *testing.T, o *gdbtest.Output, section string) seen {
	t.Helper()
	s := seen{o.Section(t, section), o.Section(t, section+" by GDB")}
	if strings.Contains(s.ours, "error") {
		t.Errorf("%s:\n%s", section, s.ours)
	}
	return s
}

// find is what follows a word at the beginning of a line, "" if there is no such line.
func find(text, pattern string) string {
	m := regexp.MustCompile(`(?m)^` + pattern + `(.*)$`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.TrimSpace(m[1])
}

// mapped are the files that GDB finds mapped into a process, and its [vdso], each with the lowest address of every copy.
func (s seen) mapped() map[string][]uint64 {
	found := map[string][]uint64{}
	for _, m := range regexp.MustCompile(`(?m)^ *0x([0-9a-f]+) +0x[0-9a-f]+ +0x[0-9a-f]+ +0x0 +\S+ +(/\S+|\[vdso\])$`).FindAllStringSubmatch(s.gdb, -1) {
		start, _ := strconv.ParseUint(m[1], 16, 64)
		found[m[2]] = append(found[m[2]], start)
	}
	return found
}

// objects are the libraries of our report in the form of mapped: the dynamic linker is in the list of each namespace.
func (s seen) objects(t *testing.T) map[string][]uint64 {
	t.Helper()
	found := map[string][]uint64{}
	for _, m := range regexp.MustCompile(`(?m)^object \d+ 0x([0-9a-f]+) (true|false) (.+)$`).FindAllStringSubmatch(s.ours, -1) {
		name := "[vdso]"
		if m[2] == "false" {
			var err error
			if name, err = filepath.EvalSymlinks(m[3]); err != nil {
				t.Error(err)
			}
		}
		start, _ := strconv.ParseUint(m[1], 16, 64)
		if !slices.Contains(found[name], start) {
			found[name] = append(found[name], start)
		}
	}
	for _, starts := range found {
		slices.Sort(starts)
	}
	return found
}

// base is the lowest address of a program in its file, and where it has main, 0 if it is stripped.
func base(t *testing.T, path string) (lowest, main uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if s.Name == "main" {
			main = s.Value
		}
	}
	i := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_LOAD && p.Off == 0 })
	return f.Progs[i].Vaddr, main
}

// placed compares the program itself: its entry point with the auxiliary vector as GDB has it, its bias with the mappings, and
// with where GDB has main.
func (s seen) placed(t *testing.T, path string) {
	t.Helper()
	if want := find(s.gdb, `9 +AT_ENTRY +Entry point of program +`); find(s.ours, "entry ") != want || want == "" {
		t.Errorf("entry %s, GDB says %q", find(s.ours, "entry "), want)
	}
	lowest, main := base(t, path)
	mapped := s.mapped()[path]
	if len(mapped) == 0 {
		t.Fatalf("GDB does not say where %s is:\n%s", path, s.gdb)
	}
	want := fmt.Sprintf("%#x <nil>", mapped[0]-lowest)
	if got := find(s.ours, "bias "); got != want {
		t.Errorf("bias %s, mapped for %s", got, want)
	}
	if there, err := strconv.ParseUint(find(s.gdb, "main "), 0, 64); main != 0 && (err != nil || there != mapped[0]-lowest+main) {
		t.Errorf("GDB has main at %#x, the mappings at %#x", there, mapped[0]-lowest+main)
	}
}

// listed compares the libraries with the files that are mapped.
func (s seen) listed(t *testing.T, path string) {
	t.Helper()
	want := s.mapped()
	delete(want, path)
	if got := s.objects(t); !maps.EqualFunc(got, want, slices.Equal) || len(got) == 0 {
		t.Errorf("libraries %x\nmapped    %x", got, want)
	}
	if got := find(s.ours, "list "); got != "true <nil>" {
		t.Errorf("the list is %s", got)
	}
	if got, want := find(s.ours, "breakpoint "), find(s.gdb, "function "); got != want+" <nil>" {
		t.Errorf("breakpoint at %s, GDB has the function at %q", got, want)
	}
}

// unlisted compares what there is before the dynamic linker has run, or without one.
func (s seen) unlisted(t *testing.T, static bool) {
	t.Helper()
	want := find(s.gdb, "function ") + " <nil>"
	if static {
		want = "0x0 <nil>"
	}
	if got := find(s.ours, "breakpoint "); got != want {
		t.Errorf("breakpoint at %s, GDB has the function at %s", got, want)
	}
	if find(s.ours, "list ") != "true <nil>" || strings.Contains(s.ours, "object") {
		t.Errorf("a list without a linker:\n%s", s.ours)
	}
}

// other compiles a test program in another way.
func other(t *testing.T, p *testprog.Program, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if out, err := testtool.Command(t, "gcc", append(flags, "-pthread", "-o", path, p.Source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestLinkages looks at a program at its first instruction and in main, in all the ways in which it can be linked. One is linked for
// a high address and loaded elsewhere, as a prelinked one is, and one is stripped.
func TestLinkages(t *testing.T) {
	paths := map[string]string{}
	for _, v := range testprog.Linkages {
		paths[v.String()] = testprog.Build(t, "namespaces", v).Path
	}
	source := testprog.Build(t, "namespaces", testprog.Variant{})
	paths["high"] = other(t, source, "-pie", "-fPIE", "-Wl,-Ttext-segment=0x7fff00000000")
	paths["stripped"] = other(t, source, "-s")
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			static := strings.Contains(name, "static")
			script := "starti\n" + look("start")
			if name != "stripped" {
				script += "break main\ncontinue\n" + look("main")
			}
			o := gdbtest.Run(t, path, script+"kill\n")
			start := at(t, o, "start")
			start.placed(t, path)
			start.unlisted(t, static)
			if interpreter := find(start.ours, "interpreter "); static != (interpreter == "<nil>") {
				t.Errorf("interpreter %s", interpreter)
			}
			if name == "stripped" {
				return
			}
			main := at(t, o, "main")
			main.placed(t, path)
			if static {
				// A static PIE has a list, too, of itself and the kernel's object.
				if got := main.objects(t); len(got) > 1 || len(got) == 1 && !slices.Equal(got["[vdso]"], main.mapped()["[vdso]"]) {
					t.Errorf("a static program has libraries %x", got)
				}
				return
			}
			main.listed(t, path)
		})
	}
}

// TestLoading looks at a program that loads a library into several namespaces: after each time, and while the linker is at it.
func TestLoading(t *testing.T) {
	t.Parallel()
	p := testprog.Build(t, "namespaces", testprog.Variant{})
	library := testprog.Build(t, "lazylocal", testprog.Variant{Library: true}).Path
	script := "set args " + library + " 2\nbreak main\nrun\nbreak loaded\n"
	for n := range 3 {
		script += "continue\n" + look(fmt.Sprint(n))
	}
	// The function is called when the linker begins to change its list, and when it has finished.
	script += "kill\ndelete\nbreak main\nrun\nbreak *&_dl_debug_state\ncontinue\n" + look("begun") + "continue\n" + look("finished") + "kill\n"
	o := gdbtest.Run(t, p.Path, script)
	for n := range 3 {
		s := at(t, o, fmt.Sprint(n))
		s.placed(t, p.Path)
		s.listed(t, p.Path)
		if got := len(s.objects(t)[library]); got != n+1 {
			t.Errorf("%d copies of the library, want %d", got, n+1)
		}
		if got := strings.Count(s.ours, "state "); got != n+1 {
			t.Errorf("%d namespaces, want %d", got, n+1)
		}
	}
	for section, consistent := range map[string]string{"begun": "false <nil>", "finished": "true <nil>"} {
		s := at(t, o, section)
		if got, want := find(s.ours, "state 0 "), find(s.gdb, "state "); got != want || want == "" {
			t.Errorf("%s: state %s, GDB reads %q", section, got, want)
		}
		if got := find(s.ours, "list "); got != consistent {
			t.Errorf("%s: the list is %s, want %s", section, got, consistent)
		}
	}
}

// TestLinkers has programs run by other dynamic linkers: by one that does not export its function, which is known only when it has
// run, and by one that was executed itself, which leads to no list.
func TestLinkers(t *testing.T) {
	t.Parallel()
	p := testprog.Build(t, "namespaces", testprog.Variant{})
	linker, err := filepath.EvalSymlinks("/lib64/ld-linux-x86-64.so.2")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(linker)
	if err != nil {
		t.Fatal(err)
	}
	name := []byte("\x00_dl_debug_state\x00")
	if !bytes.Contains(content, name) {
		t.Fatalf("%s does not export %q", linker, name)
	}
	quiet := filepath.Join(t.TempDir(), "ld.so")
	if err := os.WriteFile(quiet, bytes.Replace(content, name, []byte("\x00_xx_xxxxx_xxxxx\x00"), 1), 0o700); err != nil {
		t.Fatal(err)
	}
	path := other(t, p, "-g", "-Wl,--dynamic-linker="+quiet)
	o := gdbtest.Run(t, path, "starti\n"+look("start")+"break main\ncontinue\n"+look("main")+"kill\n")
	if s := at(t, o, "start"); !strings.Contains(find(s.ours, "breakpoint "), quiet+": it has neither") {
		t.Errorf("breakpoint at %s", find(s.ours, "breakpoint "))
	}
	s := at(t, o, "main")
	want := s.mapped()
	delete(want, path)
	if got := s.objects(t); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("libraries %x\nmapped    %x", got, want)
	}
	var function uint64
	symbols, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	exported, err := symbols.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exported {
		if e.Name == "_dl_debug_state" {
			function = e.Value
		}
	}
	if got, want := find(s.ours, "breakpoint "), fmt.Sprintf("%#x <nil>", want[quiet][0]+function); got != want {
		t.Errorf("breakpoint at %s, want %s", got, want)
	}
	o = gdbtest.Run(t, linker, "set args "+p.Path+"\nstarti\n"+look("itself")+"kill\n")
	s = at(t, o, "itself")
	s.placed(t, linker)
	if got := find(s.ours, "list "); !strings.Contains(got, ErrNoDebug.Error()) {
		t.Errorf("the list of the linker itself: %s", got)
	}
}
