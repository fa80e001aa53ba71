package house

import (
	"go/ast"
	"regexp"
)

// vague are the words that say nothing about what they end the name of.
var vague = regexp.MustCompile(`(Manager|Helper|Util|Info|Data)s?$`)

// vaguePackage is the same for packages, whose names are in lower case.
var vaguePackage = regexp.MustCompile(`^(manager|helper|util|info|data|common|misc)s?$`)

// names finds packages, exported declarations, fields and methods whose names end in a vague word.
func names(t *tree) []finding {
	var found []finding
	for _, s := range t.files {
		if vaguePackage.MatchString(s.ast.Name.Name) {
			found = append(found, t.at(s, s.ast.Name.Pos(), "package %s says nothing", s.ast.Name.Name))
		}
		for _, name := range declared(s.ast) {
			if name.IsExported() && vague.MatchString(name.Name) {
				found = append(found, t.at(s, name.Pos(), "the last word of %s says nothing", name.Name))
			}
		}
	}
	return found
}

// declared returns the names that a file declares at package level, and those of fields and methods anywhere in it.
func declared(file *ast.File) []*ast.Ident {
	var found []*ast.Ident
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			found = append(found, d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				found = append(found, specNames(spec)...)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var fields *ast.FieldList
		switch typ := n.(type) {
		case *ast.StructType:
			fields = typ.Fields
		case *ast.InterfaceType:
			fields = typ.Methods
		default:
			return true
		}
		for _, field := range fields.List {
			found = append(found, field.Names...)
		}
		return true
	})
	return found
}

func specNames(spec ast.Spec) []*ast.Ident {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}
	case *ast.ValueSpec:
		return s.Names
	}
	return nil
}
