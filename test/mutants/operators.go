//go:build unix

package main

import (
	"go/ast"
	"go/token"
	"math/big"
	"strconv"
)

// mutant is a change of one place in a file.
type mutant struct {
	file        string // path
	line        int
	from, to    int // bytes that are replaced
	replacement string
	old         string // what is replaced, on one line
}

// swaps are the operators that take the place of another, each by itself.
var swaps = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.AND}, token.AND_NOT: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN}, token.MUL_ASSIGN: {token.QUO_ASSIGN},
	token.OR_ASSIGN: {token.AND_ASSIGN}, token.AND_ASSIGN: {token.OR_ASSIGN},
	token.SHL_ASSIGN: {token.SHR_ASSIGN}, token.SHR_ASSIGN: {token.SHL_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.BREAK: {token.CONTINUE}, token.CONTINUE: {token.BREAK},
}

// source is a file whose mutants are made.
type source struct {
	path    string
	text    []byte
	set     *token.FileSet
	mutants []*mutant
}

func (s *source) offset(pos token.Pos) int { return s.set.Position(pos).Offset }

// add makes a mutant of what lies between two places.
func (s *source) add(from, to token.Pos, replacement string) {
	m := &mutant{file: s.path, line: s.set.Position(from).Line, from: s.offset(from), to: s.offset(to), replacement: replacement}
	m.old = brief(string(s.text[m.from:m.to]))
	s.mutants = append(s.mutants, m)
}

// swap makes the mutants of an operator.
func (s *source) swap(at token.Pos, operator token.Token) {
	for _, other := range swaps[operator] {
		s.add(at, at+token.Pos(len(operator.String())), other.String())
	}
}

// mutate makes all mutants of a file.
func (s *source) mutate(f *ast.File) {
	for _, decl := range f.Decls {
		if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		ast.Inspect(decl, s.visit)
	}
}

// visit makes the mutants of a node. Types have none, nor have tags of fields.
func (s *source) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		s.swap(n.OpPos, n.Op)
	case *ast.AssignStmt:
		s.swap(n.TokPos, n.Tok)
		if n.Tok != token.DEFINE {
			s.drop(n)
		}
	case *ast.IncDecStmt:
		s.swap(n.TokPos, n.Tok)
		s.drop(n)
	case *ast.ExprStmt:
		s.drop(n)
	case *ast.BranchStmt:
		s.swap(n.TokPos, n.Tok)
	case *ast.UnaryExpr:
		if n.Op == token.NOT || n.Op == token.SUB || n.Op == token.XOR {
			s.add(n.OpPos, n.OpPos+1, "")
		}
	case *ast.IfStmt:
		s.add(n.Cond.Pos(), n.Cond.End(), "!("+s.of(n.Cond)+")")
	case *ast.BasicLit:
		s.literal(n)
	case *ast.Ident:
		s.truth(n)
	case *ast.FuncDecl:
		s.returns(n.Type, n.Body)
	case *ast.FuncLit:
		s.returns(n.Type, n.Body)
	case *ast.StructType, *ast.InterfaceType:
		return false
	}
	return true
}

func (s *source) of(n ast.Node) string { return string(s.text[s.offset(n.Pos()):s.offset(n.End())]) }

// drop leaves a statement out. What it uses stays used, as far as that is needed for the mutant to compile.
func (s *source) drop(n ast.Stmt) { s.add(n.Pos(), n.End(), "{}") }

// literal makes a number one more and one less, and a character the next.
func (s *source) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		value, ok := new(big.Int).SetString(n.Value, 0)
		if !ok {
			return
		}
		s.add(n.Pos(), n.End(), new(big.Int).Add(value, big.NewInt(1)).String())
		if value.Sign() > 0 {
			s.add(n.Pos(), n.End(), new(big.Int).Sub(value, big.NewInt(1)).String())
		}
	case token.CHAR:
		if c, _, _, err := strconv.UnquoteChar(n.Value[1:], '\''); err == nil {
			s.add(n.Pos(), n.End(), strconv.QuoteRune(c+1))
		}
	}
}

func (s *source) truth(n *ast.Ident) {
	switch n.Name {
	case "true":
		s.add(n.Pos(), n.End(), "false")
	case "false":
		s.add(n.Pos(), n.End(), "true")
	}
}

// zeros are zero values by the names of types.
var zeros = map[string]string{
	"bool": "false", "string": `""`, "error": "nil", "any": "nil", "byte": "0", "rune": "0", "int": "0", "int8": "0", "int16": "0", "int32": "0",
	"int64": "0", "uint": "0", "uint8": "0", "uint16": "0", "uint32": "0", "uint64": "0", "uintptr": "0",
}

// returns has each return of a function give one zero value in place of what it gives.
func (s *source) returns(f *ast.FuncType, body *ast.BlockStmt) {
	if f.Results == nil || body == nil {
		return
	}
	var results []string
	for _, field := range f.Results.List {
		for range max(1, len(field.Names)) {
			results = append(results, zero(field.Type))
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner {
			return false
		}
		r, ok := n.(*ast.ReturnStmt)
		if !ok || len(r.Results) != len(results) {
			return true
		}
		for i, value := range r.Results {
			// true and false are swapped elsewhere.
			if text := s.of(value); results[i] != "" && text != results[i] && text != "true" {
				s.add(value.Pos(), value.End(), results[i])
			}
		}
		return true
	})
}

// zero is the zero value of a type, empty if its name does not tell.
func zero(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return zeros[t.Name]
	case *ast.StarExpr, *ast.MapType, *ast.FuncType, *ast.InterfaceType, *ast.ChanType:
		return "nil"
	case *ast.ArrayType:
		if t.Len == nil {
			return "nil"
		}
	}
	return ""
}
