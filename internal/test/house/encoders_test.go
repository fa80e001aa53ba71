package house

import (
	"go/ast"
	"slices"
)

// encoding is the package through which JSON is written.
const encoding = "internal/jsontext"

// encoders finds what writes JSON by itself, which would leave raw what encoding escapes. Reading is free, and so are tests, with
// the packages that only they import.
func encoders(t *tree) []finding {
	l, _, err := readLayers(t.root)
	if err != nil {
		return []finding{{layersFile, 1, err.Error()}}
	}
	var found []finding
	for _, s := range t.files {
		if _, imported := s.imports()["encoding/json"]; !imported || s.test || s.pkg == encoding || l.tests[s.pkg] {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := selector.X.(*ast.Ident)
			name := selector.Sel.Name
			if ok && pkg.Name == "json" && slices.Contains([]string{"NewEncoder", "Marshal", "MarshalIndent"}, name) {
				found = append(found, t.at(s, n.Pos(), "json.%s: JSON is written by %s", name, encoding))
			}
			return true
		})
	}
	return found
}
