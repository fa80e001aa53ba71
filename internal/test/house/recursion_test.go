package house

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/importer"
	"go/token"
	"go/types"
	"path"
	"runtime"
	"slices"
	"strings"
)

// flat are the packages, or with a slash at the end folders of packages, in which no more than largestGroup functions may call one
// another in a circle: what reads there which of them is at work can say who has called it.
var flat = []string{"target/", "stub", "tracepoint", "record/", "rsp/"}

const largestGroup = 5

// recursion finds groups of functions in the packages of flat that call one another: the strongly connected components of the
// static calls. A group is excused that goes down a tree, as parsers and printers do, and so is as deep as its input (limits.descents).
// What a function literal calls counts as called where it is written; calls through interfaces and of function
// values do not count.
func recursion(t *tree) []finding {
	var found []finding
	needed := map[string]bool{}
	c := newChecker(t)
	for _, pkg := range t.packages() {
		if !isFlat(pkg) {
			continue
		}
		for _, group := range c.groups(pkg) {
			if len(group) <= largestGroup {
				continue
			}
			var names []string
			excused := false
			for _, f := range group {
				names = append(names, f.name)
				if t.limits.descents[pkg+" "+f.name] != "" {
					excused, needed[pkg+" "+f.name] = true, true
				}
			}
			if !excused {
				found = append(found, t.at(group[0].source, group[0].pos, "%d functions of %s call one another: %s",
					len(group), pkg, strings.Join(names, ", ")))
			}
		}
	}
	for key := range t.limits.descents {
		if !needed[key] {
			found = append(found, finding{key, 0, "the exception is not needed"})
		}
	}
	return found
}

func isFlat(pkg string) bool {
	return slices.ContainsFunc(flat, func(name string) bool {
		folder, all := strings.CutSuffix(name, "/")
		return pkg == folder || all && strings.HasPrefix(pkg, name)
	})
}

// packages lists the folders with Go files that are no tests.
func (t *tree) packages() []string {
	var all []string
	for _, s := range t.files {
		if !s.test && !slices.Contains(all, s.pkg) {
			all = append(all, s.pkg)
		}
	}
	slices.Sort(all)
	return all
}

// checker finds out what the names in packages of the tree mean. What the module imports from elsewhere comes from its source.
type checker struct {
	t      *tree
	own    map[string]*types.Package // by folder; nil while it is being checked
	info   types.Info
	beyond types.Importer
}

func newChecker(t *tree) *checker {
	build.Default.CgoEnabled = false // or the source of net would be put through cgo
	return &checker{t: t, own: map[string]*types.Package{}, beyond: importer.ForCompiler(token.NewFileSet(), "source", nil),
		info: types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
}

// Import implements types.Importer.
func (c *checker) Import(name string) (*types.Package, error) {
	pkg, ok := c.t.own(name)
	if !ok {
		return c.beyond.Import(name)
	}
	if known, ok := c.own[pkg]; known != nil {
		return known, nil
	} else if ok {
		return nil, fmt.Errorf("%s imports itself", pkg)
	}
	c.own[pkg] = nil
	// A package that does not compile is the compiler's business; what is wrong with it makes no group larger.
	config := types.Config{Importer: c, Error: func(error) {}}
	var files []*ast.File
	for _, s := range c.t.sources(pkg) {
		files = append(files, s.ast)
	}
	checked, _ := config.Check(name, c.t.fset, files, &c.info)
	c.own[pkg] = checked
	return checked, nil
}

// sources are the files of a package that are built for the machine at hand.
func (t *tree) sources(pkg string) []*source {
	var all []*source
	for _, s := range t.files {
		if s.pkg == pkg && !s.test && built(s) {
			all = append(all, s)
		}
	}
	return all
}

// built reports whether a file's name and its build constraint, if it has one, are fulfilled here.
func built(s *source) bool {
	has := func(tag string) bool {
		return tag == runtime.GOOS || tag == runtime.GOARCH || tag == "unix" && runtime.GOOS != "windows" || strings.HasPrefix(tag, "go1.")
	}
	for _, part := range strings.Split(strings.TrimSuffix(path.Base(s.path), ".go"), "_")[1:] {
		if slices.Contains([]string{"linux", "darwin", "windows", "amd64", "arm64", "riscv64"}, part) && !has(part) {
			return false
		}
	}
	for _, group := range s.ast.Comments {
		for _, line := range group.List {
			if expr, err := constraint.Parse(line.Text); err == nil && line.Pos() < s.ast.Package && !expr.Eval(has) {
				return false
			}
		}
	}
	return true
}

// function is a declared function or method with what it calls in its own package.
type function struct {
	name   string // with its receiver's type
	source *source
	pos    token.Pos
	calls  []types.Object

	index, low int // of Tarjan's algorithm
	onStack    bool
}

// groups returns the functions of a package in groups that call one another, each in the order of the source.
func (c *checker) groups(pkg string) [][]*function {
	c.Import(c.t.module + "/" + pkg)
	functions := map[types.Object]*function{}
	var order []*function
	for _, s := range c.t.sources(pkg) {
		for _, decl := range s.ast.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Body == nil || c.info.Defs[d.Name] == nil {
				continue
			}
			f := &function{name: signature(d), source: s, pos: d.Pos(), calls: c.calls(d.Body)}
			functions[c.info.Defs[d.Name]] = f
			order = append(order, f)
		}
	}
	s := components{functions: functions}
	for _, f := range order {
		if f.index == 0 {
			s.visit(f)
		}
	}
	for _, group := range s.found {
		slices.SortFunc(group, func(a, b *function) int { return int(a.pos - b.pos) })
	}
	return s.found
}

// calls lists what is called in a body by name.
func (c *checker) calls(body ast.Node) []types.Object {
	var all []types.Object
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := ast.Unparen(call.Fun)
		if index, ok := name.(*ast.IndexExpr); ok { // an instance of a generic function
			name = index.X
		}
		switch name := name.(type) {
		case *ast.Ident:
			all = append(all, c.called(name))
		case *ast.SelectorExpr:
			all = append(all, c.called(name.Sel))
		}
		return true
	})
	return all
}

// called is what a name means, of a method of a generic type the one that is declared.
func (c *checker) called(name *ast.Ident) types.Object {
	if f, ok := c.info.Uses[name].(*types.Func); ok {
		return f.Origin()
	}
	return nil
}

// signature is the name of a function with its receiver's type.
func signature(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	kind := d.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	switch generic := kind.(type) {
	case *ast.IndexExpr:
		kind = generic.X
	case *ast.IndexListExpr:
		kind = generic.X
	}
	return kind.(*ast.Ident).Name + "." + d.Name.Name
}

// components are the strongly connected ones of a graph, by Tarjan's algorithm.
type components struct {
	functions map[types.Object]*function
	stack     []*function
	next      int
	found     [][]*function
}

func (s *components) visit(f *function) {
	s.next++
	f.index, f.low, f.onStack = s.next, s.next, true
	s.stack = append(s.stack, f)
	for _, called := range f.calls {
		switch g := s.functions[called]; {
		case g == nil:
		case g.index == 0:
			s.visit(g)
			f.low = min(f.low, g.low)
		case g.onStack:
			f.low = min(f.low, g.index)
		}
	}
	if f.low != f.index {
		return
	}
	first := slices.Index(s.stack, f)
	group := slices.Clone(s.stack[first:])
	s.stack = s.stack[:first]
	for _, g := range group {
		g.onStack = false
	}
	s.found = append(s.found, group)
}
