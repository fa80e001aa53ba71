package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// tree is the source of a module, parsed.
type tree struct {
	root   string
	module string // module path
	fset   *token.FileSet
	files  []*source
	limits limits
}

// source is one Go file.
type source struct {
	path    string // from the module's root, with slashes
	pkg     string // folder of path: the package's import path without the module's
	test    bool   // a _test.go file
	text    []byte
	ast     *ast.File
	lines   int
	written bool // by people: false for generated code
}

// readTree parses every Go file of the module at root. Folders that the go tool ignores are left out.
func readTree(root string, limits limits) (*tree, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	t := &tree{root: root, module: strings.TrimPrefix(first, "module "), fset: token.NewFileSet(), limits: limits}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && ignored(entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		return t.parse(name)
	})
	return t, err
}

func ignored(folder string) bool {
	return folder == "testdata" || strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

func (t *tree) parse(name string) error {
	relative, err := filepath.Rel(t.root, name)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	slashed := filepath.ToSlash(relative)
	t.files = append(t.files, &source{
		path:    slashed,
		pkg:     path.Dir(slashed),
		test:    strings.HasSuffix(slashed, "_test.go"),
		text:    text,
		ast:     parsed,
		lines:   t.fset.File(parsed.Pos()).LineCount() - 1, // the last newline begins no line
		written: !ast.IsGenerated(parsed),
	})
	return nil
}

// imports returns the import paths of a file with their positions.
func (s *source) imports() map[string]token.Pos {
	found := map[string]token.Pos{}
	for _, spec := range s.ast.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil {
			found[name] = spec.Pos()
		}
	}
	return found
}

// own returns the package that an import path names when it is one of the module's.
func (t *tree) own(importPath string) (pkg string, ok bool) {
	return strings.CutPrefix(importPath, t.module+"/")
}

// line returns the number of the line of a position.
func (t *tree) line(pos token.Pos) int { return t.fset.Position(pos).Line }

// finding is a place where a rule is broken.
type finding struct {
	path string
	line int
	text string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.text) }

// at makes a finding at a position in a file.
func (t *tree) at(s *source, pos token.Pos, format string, args ...any) finding {
	return finding{s.path, t.line(pos), fmt.Sprintf(format, args...)}
}
