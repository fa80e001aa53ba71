package cexpr

import (
	"fmt"
	"slices"

	"tracewell/symbol/ctype"
)

// Names says what the grammar has to know of names.
type Names interface {
	// Type finds a type that C does not define: "struct job", "queue_t", "ns::Point".
	Type(name string) (*ctype.Type, bool)
	// Value reports whether something that has a value is called so. Where it is also a type, it is taken for the value.
	Value(name string) bool
	// Keyword reports whether a keyword of C is one in the language of the names, too. In Rust a variable may be called long.
	Keyword(word string) bool
	ABI() ctype.ABI
}

// Dialect says how much of the grammar is meant.
type Dialect uint8

// The dialects.
const (
	// Reading has what tells the value of something that was recorded, and changes nothing.
	Reading Dialect = iota
	// Tracing has what GDB takes for a tracepoint besides: assignments, commas, strings, the casts of C++, names in quotes
	// and names of templates, and the members of Rust's tuples.
	Tracing
)

// Parse reads a whole expression.
func Parse(text string, names Names, dialect Dialect) (root *Node, err *Error) {
	p, err := newParser(text, names, dialect)
	if err != nil {
		return nil, err
	}
	defer p.rescue(&err)
	root = p.sequence()
	p.end()
	return root, nil
}

// ParseList reads expressions with commas between them, at least one: the arguments of a collect action. A comma in parentheses is
// the operator.
func ParseList(text string, names Names, dialect Dialect) (list []*Node, err *Error) {
	p, err := newParser(text, names, dialect)
	if err != nil {
		return nil, err
	}
	defer p.rescue(&err)
	for more := true; more; more = p.accept(",") {
		list = append(list, p.assignment())
	}
	p.end()
	return list, nil
}

// parser reads an expression by descending into its parts, with one token of lookahead, and more only where a type may begin. It
// gives up by a panic with an *Error, which rescue turns into a result.
type parser struct {
	text    string
	tokens  []Token
	at      int
	depth   int
	names   Names
	abi     ctype.ABI
	dialect Dialect
}

// maxDepth bounds how deep parts lie within parts, and with it the stack that reading and evaluating need: Go's stacks grow, but
// a line of a script with a million parentheses must not take a gigabyte.
const maxDepth = 200

// newParser splits a text into tokens.
func newParser(text string, names Names, dialect Dialect) (*parser, *Error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	return &parser{text: text, tokens: tokens, names: names, abi: names.ABI(), dialect: dialect}, nil
}

// rescue returns the *Error that fail has given up with.
func (p *parser) rescue(err **Error) {
	if failure := recover(); failure != nil {
		*err = failure.(*Error)
	}
}

// end requires that nothing follows.
func (p *parser) end() {
	if p.peek().Kind != End {
		p.unexpected("an operator or the end")
	}
}

// peek is the next token. There is always one: the last is End, and nothing reads past it.
func (p *parser) peek() Token { return p.tokens[p.at] }

// is reports whether the next token is the punctuation or word.
func (p *parser) is(text string) bool { return p.isAt(p.at, text) }

// isAt reports whether a token is the punctuation or word. Literals never are: 'x' and "x" are text of the user's.
func (p *parser) isAt(at int, text string) bool {
	t := p.tokens[at]
	return t.Text == text && (t.Kind == Punctuation || t.Kind == Name)
}

// reserved reports whether a keyword of C is meant as one, and not as the name of something.
func (p *parser) reserved(word string) bool { return p.names.Keyword(word) || !p.names.Value(word) }

// accept reads the punctuation or word if it comes next.
func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.at++
	return true
}

// expect reads the punctuation or word, which must come next.
func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected(text)
	}
}

// fail gives up with an error about a token.
func (p *parser) fail(t Token, problem, hint string) {
	panic(&Error{Text: p.text, Start: t.Start, End: t.End(), Problem: problem, Hint: hint})
}

// changing are the operators of C that change something, with what is likely meant.
var changing = map[string]string{
	"=": "to compare, write ==", "++": "", "--": "", "+=": "", "-=": "", "*=": "", "/=": "", "%=": "", "&=": "", "|=": "",
	"^=": "", "<<=": "", ">>=": "",
}

// unexpected gives up with what was found and what could have stood there. In the dialect Reading an operator that changes
// something is explained, since it is mostly = typed for ==.
func (p *parser) unexpected(wanted string) {
	t := p.peek()
	if hint, ok := changing[t.Text]; ok && t.Kind == Punctuation && p.dialect == Reading {
		p.fail(t, fmt.Sprintf("%s changes what was recorded", t.Text), hint)
	}
	found := t.Text
	if t.Kind == End {
		found = "the end"
	}
	p.fail(t, fmt.Sprintf("found %s, expected %s", found, wanted), "")
}

// node finishes a part that began at a token: its text reaches up to the token that was read last.
func (p *parser) node(n Node, from int) *Node {
	n.tokens = p.tokens[from:p.at]
	return &n
}

// deeper counts how deep the parser has descended. The result is to be called on the way back: defer p.deeper()().
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), fmt.Sprintf("more than %d parts within one another", maxDepth), "")
	}
	return func() { p.depth-- }
}

// sequence reads expressions with commas between them, of which the last has the value. They are in the dialect Tracing alone.
func (p *parser) sequence() *Node {
	from := p.at
	left := p.assignment()
	for count := 1; p.dialect == Tracing && p.is(","); count++ {
		p.tooMany(count)
		p.at++
		right := p.assignment()
		left = p.node(Node{Form: Comma, Op: ",", Kids: []*Node{left, right}}, from)
	}
	return left
}

// assignment reads what may be an assignment, where the dialect has any. It binds from the right, and any expression may stand on
// its left: which ones can be assigned to is for the compiler to say, whose message is better.
func (p *parser) assignment() *Node {
	defer p.deeper()()
	from := p.at
	left := p.choice()
	op := p.peek().Text
	if _, ok := changing[op]; !ok || p.peek().Kind != Punctuation || p.dialect != Tracing || op == "++" || op == "--" {
		return left
	}
	p.at++
	right := p.assignment()
	return p.node(Node{Form: Assign, Op: op, Kids: []*Node{left, right}}, from)
}

// choice reads a ? b : c, which binds from the right.
func (p *parser) choice() *Node {
	defer p.deeper()()
	from := p.at
	condition := p.binary(0)
	if !p.accept("?") {
		return condition
	}
	yes := p.choice()
	p.expect(":")
	no := p.choice()
	return p.node(Node{Form: Choice, Kids: []*Node{condition, yes, no}}, from)
}

// levels are the binary operators, those that bind least first. @ binds less than + and more than <<, as in GDB's grammar, so that
// buf + 2 @ n is n elements from buf + 2 on.
var levels = [][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"@"}, {"+", "-"}, {"*", "/", "%"},
}

// binary reads operators of a level and those that bind more. All bind from the left.
func (p *parser) binary(level int) *Node {
	if level == len(levels) {
		return p.unary()
	}
	from := p.at
	left := p.binary(level + 1)
	for count := 1; p.peek().Kind == Punctuation && slices.Contains(levels[level], p.peek().Text); count++ {
		p.tooMany(count)
		op := p.peek().Text
		p.at++
		right := p.binary(level + 1)
		left = p.node(Node{Form: Binary, Op: op, Kids: []*Node{left, right}}, from)
	}
	return left
}

// tooMany bounds how many operators may follow one another, as each lies deeper in the tree than the next.
func (p *parser) tooMany(count int) {
	if count > maxDepth {
		p.fail(p.peek(), fmt.Sprintf("more than %d operators in a row", maxDepth), "use parentheses")
	}
}

// unaryOperators stand before their operand and bind from the right.
var unaryOperators = []string{"-", "+", "!", "~", "*", "&"}

// unary reads operators, casts and sizeof in front of a value. {type} address is GDB's; C has no expression that begins with a
// brace.
func (p *parser) unary() *Node {
	defer p.deeper()()
	from := p.at
	t := p.peek()
	switch {
	case t.Kind == Punctuation && slices.Contains(unaryOperators, t.Text):
		p.at++
		return p.node(Node{Form: Unary, Op: t.Text, Kids: []*Node{p.unary()}}, from)
	case p.dialect == Tracing && (p.is("++") || p.is("--")):
		p.at++
		return p.node(Node{Form: StepBefore, Op: t.Text, Kids: []*Node{p.unary()}}, from)
	case p.is("sizeof") && p.reserved("sizeof"):
		return p.sizeof()
	case p.is("{"):
		p.at++
		typ := p.typeName()
		p.expect("}")
		return p.node(Node{Form: Memory, Type: typ, Kids: []*Node{p.unary()}}, from)
	case p.is("(") && p.beginsType(p.at+1):
		p.at++
		typ := p.typeName()
		p.expect(")")
		return p.node(Node{Form: Cast, Type: typ, Kids: []*Node{p.unary()}}, from)
	}
	return p.postfix()
}

// sizeof reads sizeof (type) or sizeof and a unary expression, as C has it: sizeof (a) + 1 is a sum.
func (p *parser) sizeof() *Node {
	from := p.at
	p.at++
	if p.is("(") && p.beginsType(p.at+1) {
		p.at++
		typ := p.typeName()
		p.expect(")")
		return p.node(Node{Form: SizeType, Type: typ}, from)
	}
	return p.node(Node{Form: SizeExpr, Kids: []*Node{p.unary()}}, from)
}

// postfix reads indexes, members and what steps behind a value.
func (p *parser) postfix() *Node {
	from := p.at
	n := p.primary()
	for count := 1; ; count++ {
		t := p.peek()
		if count > maxDepth {
			p.fail(t, fmt.Sprintf("more than %d members and indexes in a row", maxDepth), "")
		}
		switch {
		case p.accept("["):
			index := p.sequence()
			p.expect("]")
			n = p.node(Node{Form: Index, Kids: []*Node{n, index}}, from)
		case p.accept("."), p.accept("->"):
			n = p.member(n, t.Text, from)
		case p.dialect == Tracing && (p.is("++") || p.is("--")):
			p.at++
			n = p.node(Node{Form: StepAfter, Op: t.Text, Kids: []*Node{n}}, from)
		case p.is("("):
			p.fail(t, "a function cannot be called", callHints[p.dialect])
		default:
			return n
		}
	}
}

// callHints say why nothing is called, by dialect.
var callHints = [...]string{
	Reading: "nothing runs any more: only what was collected is there",
	Tracing: "a tracepoint looks at the program and runs nothing in it",
}

// member reads the name of a member behind its operator: with a base class, x.Base::y, or a number where it is one of a tuple.
func (p *parser) member(whole *Node, op string, from int) *Node {
	name := p.peek()
	if p.dialect == Tracing && name.Kind == Number && isTupleIndex(name.Text) {
		return p.tupleMembers(whole, op, from)
	}
	if name.Kind != Name {
		p.unexpected("the name of a member")
	}
	p.at++
	for p.dialect == Tracing && p.is("::") && p.tokens[p.at+1].Kind == Name {
		name.Text = p.text[name.Start:p.tokens[p.at+1].End()]
		p.at += 2
	}
	return p.node(Node{Form: Member, Op: op, Token: name, Kids: []*Node{whole}}, from)
}

// primary reads a name, a literal or a part in parentheses. Parentheses leave no node: the tree says what they said.
func (p *parser) primary() *Node {
	from := p.at
	t := p.peek()
	switch {
	case t.Kind == Dollar:
		p.at++
		return p.node(Node{Form: NameForm, Token: t}, from)
	case p.dialect == Tracing && slices.Contains(castWords, t.Text) && p.isAt(p.at+1, "<"):
		return p.wordedCast()
	case p.dialect == Tracing && p.isQuotedName(p.at):
		return p.name()
	case p.beginsFunctionalCast():
		return p.functionalCast()
	case t.Kind == Name, p.is("::"):
		return p.name()
	case t.Kind == Number, t.Kind == Character, t.Kind == String:
		p.at++
		return p.node(Node{Form: Literal, Token: t}, from)
	case p.accept("("):
		n := p.sequence()
		p.expect(")")
		return n
	}
	p.unexpected("a value")
	return nil
}

// castWords begin the casts of C++ that say what they mean by a word.
var castWords = []string{"static_cast", "reinterpret_cast", "const_cast"}

// wordedCast reads static_cast<T>(x) and the like. All three are the one cast that there is; what C++ forbids is not checked.
func (p *parser) wordedCast() *Node {
	from := p.at
	p.at += 2
	typ := p.typeName()
	p.expect(">")
	p.expect("(")
	n := p.sequence()
	p.expect(")")
	return p.node(Node{Form: Cast, Type: typ, Kids: []*Node{n}}, from)
}

// beginsFunctionalCast reports whether T(x) comes next.
func (p *parser) beginsFunctionalCast() bool {
	if p.dialect != Tracing || p.peek().Kind != Name || !p.beginsType(p.at) {
		return false
	}
	return slices.Contains(typeWords, p.peek().Text) || p.isAt(p.qualified(p.at), "(")
}

// functionalCast reads T(x), a cast in C++; T is a name or one word of C, so that unsigned(x) is one.
func (p *parser) functionalCast() *Node {
	from := p.at
	typ := p.baseType()
	p.expect("(")
	n := p.sequence()
	p.expect(")")
	return p.node(Node{Form: Cast, Type: typ, Kids: []*Node{n}}, from)
}
