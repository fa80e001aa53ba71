package house

import (
	"go/ast"
	"go/token"
)

// contracts are methods whose meaning Go itself fixes.
var contracts = []string{"Error", "String", "Unwrap"}

// documented finds packages without a package comment and exported declarations without a comment. A method needs none when
// an interface of the module declares it, since that is where its contract stands; nor does a constant or variable whose
// group has one or whose line ends in one.
func documented(t *tree) []finding {
	known := interfaceMethods(t)
	for _, name := range contracts {
		known[name] = true
	}
	commented := map[string]bool{}
	for _, s := range t.files {
		commented[s.pkg] = commented[s.pkg] || !s.test && s.ast.Doc.Text() != ""
	}
	var found []finding
	for _, s := range t.files {
		if !commented[s.pkg] {
			found = append(found, t.at(s, s.ast.Package, "package %s has no package comment", s.pkg))
			commented[s.pkg] = true // once is enough
		}
		if s.test || !s.written {
			continue
		}
		for _, decl := range s.ast.Decls {
			for _, name := range undocumented(decl, known) {
				found = append(found, t.at(s, name.Pos(), "%s has no comment", name.Name))
			}
		}
	}
	return found
}

// undocumented returns the exported names of a declaration that lack a comment.
func undocumented(decl ast.Decl, known map[string]bool) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc.Text() == "" && (d.Recv == nil || exportedReceiver(d) && !known[d.Name.Name]) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var names []*ast.Ident
		for _, spec := range d.Specs {
			if d.Doc.Text() == "" || d.Tok == token.TYPE && d.Lparen.IsValid() { // each type of a group needs its own
				names = append(names, undocumentedSpec(spec)...)
			}
		}
		return names
	}
	return nil
}

func undocumentedSpec(spec ast.Spec) []*ast.Ident {
	var names, exported []*ast.Ident
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Doc.Text() == "" {
			names = []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		if s.Doc.Text() == "" && s.Comment.Text() == "" {
			names = s.Names
		}
	}
	for _, name := range names {
		if name.IsExported() {
			exported = append(exported, name)
		}
	}
	return exported
}

// exportedReceiver reports whether a method belongs to an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return false
		}
	}
}

// interfaceMethods collects the methods of all interfaces that the module declares.
func interfaceMethods(t *tree) map[string]bool {
	methods := map[string]bool{}
	for _, s := range t.files {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if typ, ok := n.(*ast.InterfaceType); ok && !s.test {
				for _, field := range typ.Methods.List {
					for _, name := range field.Names {
						methods[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return methods
}
