package filter

import (
	"fmt"
	"slices"

	"tracewell/symbol/ctype"
)

// form is a form of expression.
type form uint8

const (
	formName     form = iota
	formLiteral       // number or character
	formUnary         // op kids[0]
	formBinary        // kids[0] op kids[1]; op may be @
	formChoice        // kids[0] ? kids[1] : kids[2]
	formCast          // (typ) kids[0]
	formMemory        // {typ} kids[0]
	formIndex         // kids[0] [ kids[1] ]
	formMember        // kids[0] . member, or ->, which op says
	formSizeType      // sizeof (typ)
	formSizeExpr      // sizeof kids[0]
)

// node is a part of an expression.
type node struct {
	form   form
	op     string
	kids   []*node
	typ    *ctype.Type
	token  token // formName, formLiteral; formMember: the member
	tokens []token
}

// parser reads an expression by descending into its parts. It gives up by a panic with an *Error, which parse turns into a
// result.
type parser struct {
	text   string
	tokens []token
	at     int
	depth  int
	scope  Scope
	abi    ctype.ABI
}

// maxDepth bounds how deep parts lie within parts, and with it the stack that reading and evaluating need.
const maxDepth = 200

// parse reads a whole expression.
func parse(text string, scope Scope, abi ctype.ABI) (root *node, err *Error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens, scope: scope, abi: abi}
	defer func() {
		if failure := recover(); failure != nil {
			root, err = nil, failure.(*Error)
		}
	}()
	root = p.choice()
	if p.peek().kind != tokenEnd {
		p.unexpected("an operator or the end")
	}
	return root, nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

// is reports whether the next token is the punctuation or word.
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.text == text && (t.kind == tokenPunctuation || t.kind == tokenName)
}

func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected(text)
	}
}

func (p *parser) fail(t token, problem, hint string) {
	panic(&Error{Text: p.text, Start: t.start, End: t.end(), Problem: problem, Hint: hint})
}

// changing are the operators of C that change something, with what is likely meant.
var changing = map[string]string{
	"=": "to compare, write ==", "++": "", "--": "", "+=": "", "-=": "", "*=": "", "/=": "", "%=": "", "&=": "", "|=": "",
	"^=": "", "<<=": "", ">>=": "",
}

func (p *parser) unexpected(wanted string) {
	t := p.peek()
	if hint, ok := changing[t.text]; ok && t.kind == tokenPunctuation {
		p.fail(t, fmt.Sprintf("%s changes what was recorded", t.text), hint)
	}
	found := t.text
	if t.kind == tokenEnd {
		found = "the end"
	}
	p.fail(t, fmt.Sprintf("found %s, expected %s", found, wanted), "")
}

// node finishes a part that began at a token.
func (p *parser) node(n node, from int) *node {
	n.tokens = p.tokens[from:p.at]
	return &n
}

// deeper counts how deep the parser is. The result is to be called when it comes back.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), fmt.Sprintf("more than %d parts within one another", maxDepth), "")
	}
	return func() { p.depth-- }
}

func (p *parser) choice() *node {
	defer p.deeper()()
	from := p.at
	condition := p.binary(0)
	if !p.accept("?") {
		return condition
	}
	yes := p.choice()
	p.expect(":")
	no := p.choice()
	return p.node(node{form: formChoice, kids: []*node{condition, yes, no}}, from)
}

// levels are the binary operators, those that bind least first. @ is where GDB has it.
var levels = [][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"@"}, {"+", "-"}, {"*", "/", "%"},
}

func (p *parser) binary(level int) *node {
	if level == len(levels) {
		return p.unary()
	}
	from := p.at
	left := p.binary(level + 1)
	for count := 1; p.peek().kind == tokenPunctuation && slices.Contains(levels[level], p.peek().text); count++ {
		if count > maxDepth {
			p.fail(p.peek(), fmt.Sprintf("more than %d operators in a row", maxDepth), "use parentheses")
		}
		op := p.peek().text
		p.at++
		right := p.binary(level + 1)
		left = p.node(node{form: formBinary, op: op, kids: []*node{left, right}}, from)
	}
	return left
}

var unaryOperators = []string{"-", "+", "!", "~", "*", "&"}

func (p *parser) unary() *node {
	defer p.deeper()()
	from := p.at
	t := p.peek()
	switch {
	case t.kind == tokenPunctuation && slices.Contains(unaryOperators, t.text):
		p.at++
		return p.node(node{form: formUnary, op: t.text, kids: []*node{p.unary()}}, from)
	case p.is("sizeof"):
		return p.sizeof()
	case p.is("{"):
		p.at++
		typ := p.typeName()
		p.expect("}")
		return p.node(node{form: formMemory, typ: typ, kids: []*node{p.unary()}}, from)
	case p.is("(") && p.beginsType(p.at+1):
		p.at++
		typ := p.typeName()
		p.expect(")")
		return p.node(node{form: formCast, typ: typ, kids: []*node{p.unary()}}, from)
	}
	return p.postfix()
}

func (p *parser) sizeof() *node {
	from := p.at
	p.at++
	if p.is("(") && p.beginsType(p.at+1) {
		p.at++
		typ := p.typeName()
		p.expect(")")
		return p.node(node{form: formSizeType, typ: typ}, from)
	}
	return p.node(node{form: formSizeExpr, kids: []*node{p.unary()}}, from)
}

func (p *parser) postfix() *node {
	from := p.at
	n := p.primary()
	for count := 1; ; count++ {
		t := p.peek()
		if count > maxDepth {
			p.fail(t, fmt.Sprintf("more than %d members and indexes in a row", maxDepth), "")
		}
		switch {
		case p.accept("["):
			index := p.choice()
			p.expect("]")
			n = p.node(node{form: formIndex, kids: []*node{n, index}}, from)
		case p.accept("."), p.accept("->"):
			member := p.peek()
			if member.kind != tokenName {
				p.unexpected("the name of a member")
			}
			p.at++
			n = p.node(node{form: formMember, op: t.text, token: member, kids: []*node{n}}, from)
		case p.is("("):
			p.fail(t, "a function cannot be called", "nothing runs any more: only what was collected is there")
		default:
			return n
		}
	}
}

func (p *parser) primary() *node {
	from := p.at
	t := p.peek()
	switch {
	case t.kind == tokenDollar:
		p.at++
		return p.node(node{form: formName, token: t}, from)
	case t.kind == tokenName, p.is("::"):
		return p.name()
	case t.kind == tokenNumber, t.kind == tokenCharacter:
		p.at++
		return p.node(node{form: formLiteral, token: t}, from)
	case p.accept("("):
		n := p.choice()
		p.expect(")")
		return n
	}
	p.unexpected("a value")
	return nil
}

// name reads a name with its C++ scopes.
func (p *parser) name() *node {
	from := p.at
	p.accept("::")
	for {
		t := p.peek()
		if t.kind != tokenName {
			p.unexpected("a name")
		}
		p.at++
		if !p.accept("::") {
			n := p.node(node{form: formName, token: t}, from)
			n.token.start, n.token.text = n.tokens[0].start, p.text[n.tokens[0].start:t.end()]
			return n
		}
	}
}
