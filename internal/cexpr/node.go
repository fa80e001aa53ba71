package cexpr

import "tracewell/symbol/ctype"

// Form is a form of expression.
type Form uint8

// The forms. Those from Assign on are of the dialect Tracing alone.
const (
	NameForm   Form = iota // Token
	Literal                // Token: number, character or string
	Unary                  // Op Kids[0]
	Binary                 // Kids[0] Op Kids[1]; Op may be @
	Choice                 // Kids[0] ? Kids[1] : Kids[2]
	Cast                   // (Type) Kids[0], or the casts of C++
	Memory                 // {Type} Kids[0]
	Index                  // Kids[0] [ Kids[1] ]
	Member                 // Kids[0] . Token, or ->, which Op says
	SizeType               // sizeof (Type)
	SizeExpr               // sizeof Kids[0]
	Assign                 // Kids[0] Op Kids[1]: =, += and so on
	StepBefore             // ++ or -- Kids[0]
	StepAfter              // Kids[0] ++ or --
	Comma                  // Kids[0] , Kids[1]
	Forms                  // how many there are
)

// Node is a part of an expression. Which members are set is said with each Form; Kids are in the order of the text.
type Node struct {
	Form   Form
	Op     string
	Kids   []*Node
	Type   *ctype.Type
	Token  Token
	tokens []Token
}

// NewName returns the node of a name that stands alone, for names that were not parsed: those of $locals.
func NewName(name string) *Node {
	token := Token{Kind: Name, Text: name}
	return &Node{Form: NameForm, Token: token, tokens: []Token{token}}
}

// Start is where the part begins in the expression, in bytes.
func (n *Node) Start() int { return n.tokens[0].Start }

// End is where it ends.
func (n *Node) End() int { return n.tokens[len(n.tokens)-1].End() }

// String gives the part in the form that Normal gives.
func (n *Node) String() string { return join(n.tokens) }

// Error makes an error about the part of an expression, of which text is the whole.
func (n *Node) Error(text, problem, hint string) *Error {
	return &Error{Text: text, Start: n.Start(), End: n.End(), Problem: problem, Hint: hint}
}
