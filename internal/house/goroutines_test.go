package house

import "go/ast"

// starting is the package that starts goroutines.
const starting = "internal/routine"

// goroutines finds those that are started otherwise: a panic of theirs would end the process with its breakpoints left behind.
func goroutines(t *tree) []finding {
	var found []finding
	for _, s := range t.files {
		if s.test || s.pkg == starting {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				found = append(found, t.at(s, g.Pos(), "a go statement: only %s may start goroutines", starting))
			}
			return true
		})
	}
	return found
}
