package symbol

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testtool"
)

// versioned is a library that exports functions as a C library does: one now and before, one since always, one without a version, one
// under another name than in its source, one of C++, and one that chooses another.
const versioned = `
__asm__(".symver old_work,work@V1");
__asm__(".symver new_work,work@@V2");
__asm__(".symver steady_inside,steady@@V1");
__asm__(".symver exported_inside,exported@@V2");
__asm__(".symver put_inside,_ZN2ns3putEi@@V2");
int calls;
__asm__(".symver hidden_count,count@@V2");
int hidden_count;
int old_work(int n) { calls += n; return calls; }
int new_work(int n) { calls += 2 * n; return calls; }
int steady_inside(int n) { calls += 3 * n; return calls; }
int exported_inside(int n) { calls += 4 * n; return calls; }
int plain(int n) { calls += 5 * n; return calls; }
int put_inside(int n) { calls += 6 * n; return calls; }
static void *choose(void) { return plain; }
int chosen(int) __attribute__((ifunc("choose")));
`

// buildVersioned compiles the library with some more flags.
func buildVersioned(t *testing.T, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "versioned.so")
	for name, text := range map[string]string{"versioned.c": versioned, "map": "V1 { global: work; steady; plain; chosen; };\nV2 { global: work; exported; count; _ZN2ns3putEi; } V1;\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := append(flags, "-O0", "-shared", "-fPIC", "-Wl,--version-script="+filepath.Join(folder, "map"), "-o", path, filepath.Join(folder, "versioned.c"))
	if out, err := testtool.Command(t, "gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return path
}

// TestVersions: a name means the versions that GDB takes it for, with and without debug information, and in a stripped library.
func TestVersions(t *testing.T) {
	specs := []string{
		"work", "work@V1", "work@@V2", "work@V2", "work@@V1", "steady", "steady@@V1", "exported", "exported@@V2", "plain", "plain@@V2", "ns::put",
		"ns::put(int)", "_ZN2ns3putEi", "wor", "work@", "@V1", "exported_inside",
	}
	for name, flags := range map[string][]string{"described": {"-g"}, "symbols": nil, "stripped": {"-s"}} {
		t.Run(name, func(t *testing.T) {
			path := buildVersioned(t, flags...)
			p := openProgram(t, path)
			gdb := askGDB(t, path, specs)
			for _, spec := range specs {
				locations, _ := p.Locate(spec) // what is not found is nowhere
				var ours []arch.Addr
				for _, l := range locations {
					ours = append(ours, l.Addr)
				}
				want := gdb[spec]
				if spec == "work@V2" { // GDB finds the version that is used by default with two @ only
					want = gdb["work@@V2"]
				}
				if !slices.Equal(ours, want) {
					t.Errorf("%s: %v, GDB has %v", spec, ours, want)
				}
			}
			if name == "stripped" {
				return
			}
			for pattern, want := range map[string]string{
				"work": "work work", "work*": "work work", "exporte?": "exported", "work@V1": "work", "ns::p*": "ns::put(int)", "chos*": "chosen!", "/^stead/": "steady",
			} {
				listed, err := p.List(pattern)
				var names []string
				for _, l := range listed {
					mark := ""
					if l.Resolver {
						mark = "!"
					}
					names = append(names, l.Function+mark)
				}
				slices.Sort(names)
				if got := strings.NewReplacer("old_", "", "new_", "", "_inside", "").Replace(strings.Join(names, " ")); err != nil || got != want {
					t.Errorf("%s lists %q, %v; want %q", pattern, got, err, want)
				}
			}
			locations, err := p.Locate("work@@V2")
			if err != nil || len(locations) != 1 {
				t.Fatal(err)
			}
			if got := p.Describe(locations[0].Addr); !strings.HasPrefix(got, "work+") {
				t.Errorf("the new version is described as %s", got)
			}
			old, _ := p.Locate("work@V1")
			if got := p.Describe(old[0].Addr); !strings.HasPrefix(got, "work@V1+") && !strings.HasPrefix(got, "old_work+") {
				t.Errorf("the old version is described as %s", got)
			}
			if s, ok := p.Symbol("count"); !ok || s.Function || s.Size != 4 {
				t.Errorf("count: %+v, %v", s, ok)
			}
			if _, err := p.Locate("exportd"); err == nil || !strings.Contains(fmt.Sprint(err), "exported") {
				t.Errorf("near exportd there is %v", err)
			}
		})
	}
}
