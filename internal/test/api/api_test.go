package api

import (
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata from the source")

// TestAPI compares what the library offers with what testdata says of it, a file for each package. It finds what an importer could
// neither name nor make, too: types of internal packages in the API of others.
func TestAPI(t *testing.T) {
	packages := public(t)
	expected := map[string]bool{}
	for _, p := range packages {
		name := filepath.Join("testdata", strings.ReplaceAll(p.Path(), "/", ".")+".txt")
		expected[name] = true
		lines := describe(p)
		for _, line := range lines {
			if strings.Contains(line, "internal/") {
				t.Errorf("%s: %s", p.Path(), line)
			}
		}
		text := strings.Join(lines, "\n") + "\n"
		if *update {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%s is a new package: -update writes %s", p.Path(), name)
			continue
		}
		if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
			t.Errorf("the API of %s is not what %s says (-: gone, which breaks programs; +: new). If that is meant, -update:\n%s",
				p.Path(), name, diff)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		switch {
		case expected[name]:
		case *update:
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is of a package that is gone", name)
		}
	}
}

// TestDescribe describes what a source has of everything that can be exported.
func TestDescribe(t *testing.T) {
	const source = `package p

import "io"

const Least = 3

var Out io.Writer

type Kind uint8

func (k *Kind) Set(to Kind) error { return nil }
func (k Kind) hidden()            {}

type Row struct {
	io.Reader
	Count int "json:\"count\""
	secret bool
}

type Set[K comparable, V any] map[K]V

func (s Set[K, V]) Get(k K) (v V) { return s[k] }

type Source interface {
	io.Closer
	Next(limit ...int) (*Row, error)
}

type Other = Row

type private struct{ Seen int }

func New(kinds ...Kind) *Row { return nil }
`
	want := []string{
		"type Kind uint8",
		"func (*Kind).Set(to Kind) error",
		"const Least untyped int",
		"func New(kinds ...Kind) *Row",
		"type Other = Row",
		"var Out io.Writer",
		"type Row struct",
		"type Row, Reader io.Reader",
		"type Row, Count int",
		"type Set[K comparable, V any] map[K]V",
		"func (Set[K, V]).Get(k K) (v V)",
		"type Source interface",
		"type Source, func (io.Closer).Close() error",
		"type Source, func (Source).Next(limit ...int) (*Row, error)",
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	p, err := config.Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, describe(p)); diff != "" {
		t.Error(diff)
	}
}
