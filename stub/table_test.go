package stub

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/target"
)

// TestTable checks that rows are complete and that no row hides another.
func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	abilities := reflect.TypeFor[target.Groups]()
	for _, g := range groups() {
		if g.name == "" || len(g.packets) == 0 {
			t.Errorf("group %q is not complete", g.name)
		}
		for _, a := range g.needs {
			for needed := range strings.SplitSeq(a.name, "|") {
				if _, ok := abilities.MethodByName(needed); needed != "" && !ok {
					t.Errorf("group %q needs %s, which no target has", g.name, needed)
				}
			}
		}
		for _, p := range g.packets {
			if p.Grammar == nil || p.handler == nil || p.about == "" || p.reply == "" {
				t.Errorf("packet %q is not complete", p.Prefix)
			}
			if seen[p.Prefix] {
				t.Errorf("packet %q has two rows", p.Prefix)
			}
			seen[p.Prefix] = true
			for _, token := range strings.Fields(p.tokens) {
				if !strings.HasSuffix(token, "+") {
					t.Errorf("packet %q announces %q, which says neither how", p.Prefix, token)
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	s, _ := toyServer(t, Config{})
	for _, test := range []struct{ packet, prefix, args string }{
		{"qC", "qC", ""},
		{"qCRC:1,2", "qCRC:", "1,2"},
		{"qCR:1,2", "", ""},
		{"QTDP:1:2", "QTDP:", "1:2"},
		{"QTDP:-1:2", "QTDP:-", "1:2"},
		{"vCont?", "vCont?", ""},
		{"vCont;c", "vCont;", "c"},
		{"vCont", "", ""},
		{"D", "D", ""},
		{"D;1", "D", ";1"},
		{"x", "x", ""},
		{"", "", ""},
		{"qXfer:auxv:read::0,1", "", ""}, // the toy has none
		{"qXfer:threads:read::0,1", "qXfer:threads:read:", ":0,1"},
	} {
		prefix, args := "", ""
		if p, rest := s.lookup([]byte(test.packet)); p != nil {
			prefix, args = p.Prefix, string(rest)
		}
		if prefix != test.prefix || args != test.args {
			t.Errorf("%q is %q with %q, expected %q with %q", test.packet, prefix, args, test.prefix, test.args)
		}
	}
}

// TestReference compares the description of all packets with the document.
func TestReference(t *testing.T) {
	const file = "../docs/packets.md"
	got := reference()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/packets.md differs (-want +got); go generate ./stub writes it:\n%s", diff)
	}
}

// TestTranscribed checks that every packet is sent in a transcript.
func TestTranscribed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	table := newTable()
	sent := make(map[string]bool)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			payload, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
			if r, _ := table.find([]byte(payload)); ok && r != nil {
				sent[r.packet.Prefix] = true
			}
		}
	}
	for _, prefix := range slices.Sorted(maps.Keys(table.rows)) {
		if !sent[prefix] {
			t.Errorf("packet %q is in no transcript", prefix)
		}
	}
}

// TestEveryHandlerHasARow looks in the source for methods with the form of a handler, or of what qXfer reads by, that no row
// names.
func TestEveryHandlerHasARow(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	handlers, named := make(map[string]bool), make(map[string]bool)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			switch {
			case ok && isHandler(f):
				handlers[f.Name.Name] = true
			case ok && strings.HasSuffix(f.Name.Name, "Packets"):
				ast.Inspect(f, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						named[s.Sel.Name] = true
					}
					return true
				})
			}
		}
	}
	if len(handlers) == 0 {
		t.Fatal("no handlers found")
	}
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		if !named[name] {
			t.Errorf("no row has the handler %s", name)
		}
	}
}

// helpers have the form of a handler and are called by handlers.
var helpers = []string{"enterFrame", "resumeBack", "start"}

// isHandler reports whether f is func (*session) f(A) ([]byte, error), whatever A is.
func isHandler(f *ast.FuncDecl) bool {
	if f.Recv == nil || f.Type.Results == nil || slices.Contains(helpers, f.Name.Name) {
		return false
	}
	return slices.Equal(kinds(f.Recv), []string{"*session"}) && len(kinds(f.Type.Params)) == 1 &&
		slices.Equal(kinds(f.Type.Results), []string{"[]byte", "error"})
}

// kinds lists the types of fields, as far as handlers have them.
func kinds(fields *ast.FieldList) []string {
	var list []string
	for _, field := range fields.List {
		kind := "other"
		switch t := field.Type.(type) {
		case *ast.Ident:
			kind = t.Name
		case *ast.StarExpr:
			if elem, ok := t.X.(*ast.Ident); ok {
				kind = "*" + elem.Name
			}
		case *ast.ArrayType:
			if elem, ok := t.Elt.(*ast.Ident); ok && t.Len == nil {
				kind = "[]" + elem.Name
			}
		}
		list = append(list, slices.Repeat([]string{kind}, max(len(field.Names), 1))...)
	}
	return list
}
