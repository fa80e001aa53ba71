package house

import (
	"go/ast"
	"slices"
	"strings"
)

// encoding is the package through which JSON is written.
const encoding = "internal/jsontext"

// commandLine has no shapes of JSON: programs rely on them, and front ends share them.
const commandLine = "cmd/tracewell"

// encoders finds what writes JSON by itself, which would leave raw what encoding escapes, and structs of the command line that are
// encoded. Reading is free, and so are tests, with the packages that only they import.
func encoders(t *tree) []finding {
	l, _, err := readLayers(t.root)
	if err != nil {
		return []finding{{layersFile, 1, err.Error()}}
	}
	var found []finding
	for _, s := range t.files {
		if strings.HasPrefix(s.pkg, commandLine) && !s.test && !l.tests[s.pkg] {
			found = append(found, shapes(t, s)...)
		}
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

// shapes finds the members of structs that are named for JSON.
func shapes(t *tree, s *source) (found []finding) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && f.Tag != nil && strings.Contains(f.Tag.Value, `json:"`) {
			found = append(found, t.at(s, f.Pos(), "a shape of JSON: those are in view/wire or where the value is made"))
		}
		return true
	})
	return found
}
