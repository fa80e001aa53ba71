package house

import "go/ast"

// short finds functions and files that are longer than the limits, and exceptions that nothing needs any more. The lines of a
// composite literal do not count: a table is not what makes a function hard to follow. Generated files are left alone.
func short(t *tree) []finding {
	var found []finding
	needed := map[string]bool{}
	report := func(key string, f finding) {
		if needed[key] = true; t.limits.exceptions[key] == "" {
			found = append(found, f)
		}
	}
	for _, s := range t.files {
		if !s.written {
			continue
		}
		if s.lines > t.limits.file {
			report(s.path, finding{s.path, s.lines, "the file is too long"})
		}
		for _, decl := range s.ast.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := t.length(f.Body); n > t.limits.function {
				report(s.path+" "+f.Name.Name, t.at(s, f.Pos(), "%s has %d lines", f.Name.Name, n))
			}
		}
	}
	for key := range t.limits.exceptions {
		if !needed[key] {
			found = append(found, finding{key, 0, "the exception is not needed"})
		}
	}
	return found
}

// length counts the lines of a function from its opening brace to its closing one, without those of tables.
func (t *tree) length(body *ast.BlockStmt) int {
	lines := t.line(body.Rbrace) - t.line(body.Lbrace) + 1
	ast.Inspect(body, func(n ast.Node) bool {
		table, ok := n.(*ast.CompositeLit)
		if ok {
			lines -= t.line(table.Rbrace) - t.line(table.Lbrace)
		}
		return !ok
	})
	return lines
}
