package house

import (
	"go/ast"
	"strconv"
	"strings"
)

// toolPackage is the package that says where the tools are that tests run.
const toolPackage = "internal/test/testtool"

// programArgument is which argument of the functions of os/exec is the program.
var programArgument = map[string]int{"Command": 0, "CommandContext": 1, "LookPath": 0}

// tools finds tests that run whatever PATH has first. The go command is the one that runs them.
func tools(t *tree) []finding {
	l, _, err := readLayers(t.root)
	if err != nil {
		return []finding{{layersFile, 1, err.Error()}}
	}
	var found []finding
	for _, s := range t.files {
		if !s.test && !l.tests[s.pkg] || s.pkg == toolPackage {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if program := namedProgram(n); program != "" && program != "go" && !strings.HasPrefix(program, "/") {
				found = append(found, t.at(s, n.Pos(), "%s is looked for in PATH: use %s", program, toolPackage))
			}
			return true
		})
	}
	return found
}

// namedProgram returns the program that a call of os/exec names in the source, or the beginning of its name.
func namedProgram(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := function.X.(*ast.Ident)
	i, runs := programArgument[function.Sel.Name]
	if !ok || pkg.Name != "exec" || !runs || i >= len(call.Args) {
		return ""
	}
	program := call.Args[i]
	for sum, ok := program.(*ast.BinaryExpr); ok; sum, ok = program.(*ast.BinaryExpr) {
		program = sum.X
	}
	if literal, ok := program.(*ast.BasicLit); ok {
		name, _ := strconv.Unquote(literal.Value)
		return name
	}
	return ""
}
