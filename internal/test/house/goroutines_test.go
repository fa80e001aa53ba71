package house

import (
	"go/ast"
	"strings"
)

// starting is the package that starts goroutines.
const starting = "internal/routine"

// goroutines finds those that are started otherwise: a panic of theirs would end the process with its breakpoints left behind.
// Examples show what anyone can write who imports the library.
func goroutines(t *tree) []finding {
	var found []finding
	for _, s := range t.files {
		if s.test || s.pkg == starting || strings.HasPrefix(s.pkg, "examples/") {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = append(found, t.at(s, n.Pos(), "a go statement: only %s may start goroutines", starting))
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "sync" && n.Sel.Name == "WaitGroup" {
					found = append(found, t.at(s, n.Pos(), "sync.WaitGroup: %s.Group starts goroutines as it should", starting))
				}
			}
			return true
		})
	}
	return found
}
