// Package api holds the library to what it has promised to those who import it: the exported names and types of every package
// that can be imported from outside stand in testdata, and a change of one shows as a change of a file there. A line that goes
// breaks programs; a line that comes is a new promise.
//
// Nothing of it is built into the product.
package api

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
)

// public returns the packages of the module that others can import, in the order of their paths, with their types.
func public(t *testing.T) []*types.Package {
	t.Helper()
	// The compiler's own export data has exactly what an importer sees.
	cmd := exec.Command(testtool.Path(t, "go"), "list", "-export", "-deps",
		"-f", "{{.ImportPath}} {{.Export}} {{.Name}} {{with .Module}}{{.Main}}{{end}}", "tracewell/...")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0") // the system with all packages
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	exports := map[string]string{}
	var paths []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue // unsafe, which has no file
		}
		exports[fields[0]] = fields[1]
		if fields[len(fields)-1] == "true" && fields[2] != "main" && !isInternal(fields[0]) {
			paths = append(paths, fields[0])
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	var packages []*types.Package
	for _, path := range slices.Sorted(slices.Values(paths)) {
		p, err := imports.Import(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		packages = append(packages, p)
	}
	return packages
}

func isInternal(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "internal")
}

// describe returns a line for each exported name of p, and for each exported field and method of its types, in order.
func describe(p *types.Package) []string {
	short := types.RelativeTo(p)
	var lines []string
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		if t, ok := object.(*types.TypeName); ok {
			lines = append(lines, typeLines(t, short)...)
		} else {
			lines = append(lines, types.ObjectString(object, short))
		}
	}
	return lines
}

// typeLines describes a type: what it is, then its exported fields and methods by themselves, so that one more is one line more.
func typeLines(t *types.TypeName, short types.Qualifier) []string {
	named, ok := types.Unalias(t.Type()).(*types.Named)
	if !ok || t.IsAlias() {
		return []string{types.ObjectString(t, short)}
	}
	var lines []string
	head := "type " + t.Name() + parameters(named, short)
	switch under := named.Underlying().(type) {
	case *types.Struct:
		lines = append(lines, head+" struct")
		for field := range under.Fields() {
			if field.Exported() {
				lines = append(lines, fmt.Sprintf("%s, %s %s", head, field.Name(), types.TypeString(field.Type(), short)))
			}
		}
	case *types.Interface:
		lines = append(lines, head+" interface")
		for method := range under.Methods() {
			lines = append(lines, head+", "+types.ObjectString(method, short))
		}
	default:
		lines = append(lines, head+" "+types.TypeString(under, short))
	}
	for method := range named.Methods() {
		if method.Exported() {
			lines = append(lines, types.ObjectString(method, short))
		}
	}
	return lines
}

func parameters(named *types.Named, short types.Qualifier) string {
	if named.TypeParams().Len() == 0 {
		return ""
	}
	var list []string
	for p := range named.TypeParams().TypeParams() {
		list = append(list, p.Obj().Name()+" "+types.TypeString(p.Constraint(), short))
	}
	return "[" + strings.Join(list, ", ") + "]"
}
