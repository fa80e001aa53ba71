//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pack is a package and its mutants.
type pack struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	TestGoFiles  []string // of the package itself
	XTestGoFiles []string // of the package of that name with _test
	mutants      []*mutant
}

// load finds a package, and all its mutants. Files that a program has written have none.
func load(path string) (*pack, error) {
	var complaint bytes.Buffer
	list := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles", path)
	list.Stderr = &complaint
	described, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	var p pack
	decoder := json.NewDecoder(bytes.NewReader(described))
	if err := decoder.Decode(&p); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	if decoder.More() {
		return nil, errors.New("it is more than one package")
	}
	if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 { // go test -c then makes no binary, and does not fail
		return nil, errors.New("it has no tests of its own")
	}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		s := &source{path: filepath.Join(p.Dir, name), text: text, set: token.NewFileSet()}
		f, err := parser.ParseFile(s.set, s.path, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if !ast.IsGenerated(f) {
			s.mutate(f)
		}
		p.mutants = append(p.mutants, s.mutants...)
	}
	if len(p.mutants) == 0 {
		return nil, errors.New("there is nothing to change")
	}
	return &p, nil
}

// brief is a text on one line, and not much of it.
func brief(text string) string {
	const width = 70
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > width {
		text = string(runes[:width]) + "…"
	}
	if text == "" {
		return "nothing"
	}
	return text
}
