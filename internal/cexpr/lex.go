package cexpr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TokenKind is a kind of token. Keywords are Names: which words are types depends on the scope.
type TokenKind uint8

// The kinds of token.
const (
	End TokenKind = iota
	Name
	Dollar // a name that begins with $
	Number
	Character
	String
	Punctuation
)

// Token is a word of an expression.
type Token struct {
	Kind  TokenKind
	Text  string
	Start int // in bytes from the start of the expression
}

// End is where the token ends.
func (t Token) End() int { return t.Start + len(t.Text) }

// punctuation is the operators, longer ones before their prefixes. Those that change something are known so that the message
// can be about them.
var punctuation = []string{
	"<<=", ">>=", "...",
	"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::",
	"+", "-", "*", "/", "%", "<", ">", "=", "!", "~", "&", "|", "^", "?", ":", "(", ")", "[", "]", "{", "}", ".", "@", ",", ";",
}

// lex splits an expression into tokens. The last one is End, at the length of the text. Blanks separate and are not kept.
func lex(text string) ([]Token, *Error) {
	var tokens []Token
	for at := 0; ; {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n"))
		if at == len(text) {
			return append(tokens, Token{Start: at}), nil
		}
		t := next(text, at)
		if t.Text == "" {
			_, size := utf8.DecodeRuneInString(text[at:])
			return nil, &Error{Text: text, Start: at, End: at + size, Problem: "this begins nothing that an expression has"}
		}
		tokens = append(tokens, t)
		at = t.End()
	}
}

// next returns the token at an offset, without text if there is none. Strings are tokens for the sake of a message: no expression
// can compute with one, but the name of a thread is compared with them.
func next(text string, at int) Token {
	rest := text[at:]
	switch first, _ := utf8.DecodeRuneInString(rest); {
	case first == '$':
		return Token{Dollar, rest[:1+nameLength(rest[1:])], at}
	case isLetter(first):
		return Token{Name, rest[:nameLength(rest)], at}
	case '0' <= first && first <= '9':
		return Token{Number, rest[:numberLength(rest)], at}
	case first == '\'':
		return Token{Character, rest[:quotedLength(rest, '\'')], at}
	case first == '"':
		return Token{String, rest[:quotedLength(rest, '"')], at}
	}
	for _, p := range punctuation {
		if strings.HasPrefix(rest, p) {
			return Token{Punctuation, p, at}
		}
	}
	return Token{Start: at}
}

// IsWord reports whether a name can have the character in it.
func IsWord(r rune) bool { return isLetter(r) || unicode.IsDigit(r) }

// isLetter reports whether a name can begin with the character: any letter of Unicode, as GCC, rustc and Go allow.
func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

// nameLength is how many bytes of letters and digits rest begins with: nothing else ends a name, as C has it, so that a name of
// Go or Rust with other characters has to be put in quotes.
func nameLength(rest string) int {
	n := strings.IndexFunc(rest, func(r rune) bool { return !IsWord(r) })
	if n < 0 {
		return len(rest)
	}
	return n
}

// numberLength is how many bytes of a number rest begins with, be it one that is known or not. A sign belongs to it behind the
// letter of an exponent: e, or p in a hexadecimal number, where e is a digit.
func numberLength(rest string) int {
	exponent := "e"
	if strings.HasPrefix(rest, "0x") || strings.HasPrefix(rest, "0X") {
		exponent = "p"
	}
	previous := ""
	n := strings.IndexFunc(rest, func(r rune) bool {
		sign := (r == '+' || r == '-') && previous == exponent
		previous = strings.ToLower(string(r))
		return !IsWord(r) && r != '.' && !sign
	})
	if n < 0 {
		return len(rest)
	}
	return n
}

// quotedLength is the length of a literal with its quotes, 0 if it does not end. A backslash takes the next byte with it.
func quotedLength(rest string, quote byte) int {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return 0
}

// Normal brings an expression into the form in which a Scope finds it: without blanks, but for one between two words. Text that
// is no expression comes back as it is.
func Normal(text string) string {
	tokens, err := lex(text)
	if err != nil {
		return text
	}
	return join(tokens)
}

// join writes tokens one after the other.
func join(tokens []Token) string {
	var b strings.Builder
	previous := Token{Kind: Punctuation}
	for _, t := range tokens {
		if isWord(previous) && isWord(t) {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
		previous = t
	}
	return b.String()
}

// isWord reports whether a token would run into another one without a blank between them.
func isWord(t Token) bool {
	return t.Kind == Name || t.Kind == Dollar || t.Kind == Number
}
