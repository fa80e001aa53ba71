package cexpr

import "strings"

// name reads a name with its scopes: ns::x, 'queue.c'::x, push::x, Stack<int>::x.
func (p *parser) name() *Node {
	from := p.at
	p.accept("::")
	if t := p.peek(); t.Kind != Name && !p.isQuotedName(p.at) {
		p.unexpected("a name")
	}
	p.at = p.qualified(p.at)
	if p.accept("::") {
		p.unexpected("a name")
	}
	n := p.node(Node{Form: NameForm}, from)
	n.Token = Token{Kind: Name, Text: p.text[n.Start():n.End()], Start: n.Start()}
	return n
}

// qualified returns the token behind a name with its scopes, of which the first word stands at a token.
func (p *parser) qualified(at int) int {
	start := at
	for {
		at++
		if p.dialect == Tracing && p.isAt(at, "<") {
			at = p.arguments(start, at)
		}
		if !p.isAt(at, "::") || p.tokens[at+1].Kind != Name {
			return at
		}
		at++
	}
}

// mostArguments is how many tokens the arguments of a template may have. Without a bound each of many < would read to the end of
// the expression.
const mostArguments = 200

// arguments returns the token behind the arguments of a template, which begin at a token; and that token itself where < is an
// operator, which it is unless a scope follows the arguments or something has the name with them.
func (p *parser) arguments(start, at int) int {
	depth := 0
	for end := at; ; end++ {
		t := p.tokens[end]
		switch {
		case end-at > mostArguments:
			return at
		case t.Text == "<":
			depth++
		case t.Text == ">":
			depth--
		case t.Text == ">>":
			depth -= 2
		case t.Kind != Name && t.Kind != Number && !strings.Contains(":: , * &", t.Text), t.Kind == End:
			return at
		}
		if depth > 0 {
			continue
		}
		name := join(p.tokens[start : end+1])
		_, isType := p.names.Type(name)
		if depth == 0 && (p.isAt(end+1, "::") || isType || p.names.Value(name)) {
			return end + 1
		}
		return at
	}
}

// isQuotedName reports whether a token is a name in quotes: a file before ::, or what cannot be a character.
func (p *parser) isQuotedName(at int) bool {
	t := p.tokens[at]
	if t.Kind != Character || p.dialect != Tracing {
		return false
	}
	_, character := ParseCharacter(t.Text, p.abi)
	return p.isAt(at+1, "::") || !character && len(t.Text) > 3 && t.Text[1] != '\\'
}

// isTupleIndex reports whether a number stands for members of Rust's tuples: 0, or 0.1 for a member of a member.
func isTupleIndex(text string) bool { return strings.Trim(text, "0123456789.") == "" }

// tupleMembers reads such a number. In debug information rustc calls the members __0 and so on.
func (p *parser) tupleMembers(whole *Node, op string, from int) *Node {
	t := p.peek()
	p.at++
	for _, index := range strings.Split(t.Text, ".") {
		member := Token{Kind: Name, Text: "__" + index, Start: t.Start}
		whole = p.node(Node{Form: Member, Op: op, Token: member, Kids: []*Node{whole}}, from)
	}
	return whole
}
