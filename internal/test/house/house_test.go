package house

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/broken.txt")

// limits are the lengths in lines that nothing may pass, and what may all the same: functions ("folder/file.go Name") and
// files ("folder/file.go"), each with its reason. Functions that may be recursive in a large group ("folder Type.Name") have the place
// where the depth is bounded.
//
// columns are those that a line may have; commented are packages, or with a slash at the end packages with those below them, that
// need a share of comments; statuses are the files in which a raw wait status may have a name.
type limits struct {
	function, file, columns, statuses int
	exceptions, descents              map[string]string
	commented                         []string
}

// house are the limits that the project has set itself.
var house = limits{function: 80, file: 600, columns: 132, statuses: 4, exceptions: map[string]string{}, commented: []string{
	"stub", "record", "record/local", "record/left", "tracepoint", "target/linux/", "symbol", "symbol/scope", "symbol/expr",
	"symbol/debuginfo", "cmd/tracewell/internal/cli/", "internal/asm/", "internal/jit", "internal/fast",
}}

// rules are what the module is held to.
var rules = []struct {
	name  string
	check func(*tree) []finding
}{
	{"layers", layering},
	{"fences", fences},
	{"tools", tools},
	{"documented", documented},
	{"short", short},
	{"names", names},
	{"encoders", encoders},
	{"goroutines", goroutines},
	{"recursion", recursion},
	{"processors", processors},
	{"statuses", statuses},
	{"comments", comments},
	{"columns", columns},
}

func TestHouse(t *testing.T) {
	module, err := readTree(filepath.Join("..", "..", ".."), house)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, f := range rule.check(module) {
				t.Error(f)
			}
		})
	}
}

// TestRulesFind runs the rules over a module that breaks them.
func TestRulesFind(t *testing.T) {
	broken, err := readTree(filepath.Join("testdata", "broken"), limits{function: 8, file: 40, columns: 100, exceptions: map[string]string{
		"rsp/rsp.go Excused": "shows that an exception holds",
		"rsp/rsp.go Table":   "shows that an exception that nothing needs is found",
	}, descents: map[string]string{
		"rsp tree.sum": "shows that an exception holds",
		"rsp Long":     "shows that an exception that nothing needs is found",
	}, commented: []string{"top", "bottom", "internal/", "gone"}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, rule := range rules {
		found := rule.check(broken)
		if len(found) == 0 {
			t.Errorf("rule %s finds nothing", rule.name)
		}
		slices.SortFunc(found, func(a, b finding) int {
			return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
		})
		b.WriteString("-- " + rule.name + " --\n")
		for _, f := range found {
			b.WriteString(f.String() + "\n")
		}
	}
	golden := filepath.Join("testdata", "broken.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
