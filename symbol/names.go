package symbol

import (
	"slices"
	"strings"
)

// name is the qualified name of a function in its parts: ns::Ring<int>::put(int const&) const.
type name struct {
	scopes []string // "ns", "Ring<int>"; without blanks that say nothing
	last   string   // "put"
	args   string   // of a template: "<int>", "" for none
	params string   // "(int const&) const", "" where the name was given without
	result string   // what stands before the name: the type that a template's instance returns
}

// operators are the overloadable ones, those before their own beginnings.
var operators = []string{
	"new[]", "delete[]", "new", "delete", "co_await", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
	"++", "--", "->", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "()", "[]", ",", "<", ">", "+", "-", "*", "/", "%", "^", "&",
	"|", "~", "!", "=", `""`,
}

// parseName takes the name of a function apart. Names come from users, from demanglers and from debug information, and each
// writes them a little differently. They are compared part by part, after blanks, keywords and synonyms of integer types have
// been brought into one form. Nothing here can fail: a text that is no name becomes a name that nothing has.
func parseName(text string) name {
	text = squeeze(withoutTags(text))
	var n name
	for len(text) > 0 {
		part, args, params, rest := component(text)
		if next, ok := strings.CutPrefix(rest, "::"); ok {
			n.scopes = append(n.scopes, part+args+params)
			text = next
			continue
		}
		// Demangled names of template functions begin with the result: "int max<int>(int, int)".
		if blank := strings.TrimLeft(rest, " *&"); blank != rest && blank != "" && params == "" { // what came was a type
			n = name{result: strings.Join(append(n.scopes, part+args), "::") + strings.TrimRight(rest[:len(rest)-len(blank)], " ")}
			text = blank
			continue
		}
		n.last, n.args, n.params = part, canonicalArguments(args), params+rest
		break
	}
	// A scope may be a template, or a function around a local class, with arguments or parameters of its own.
	for i, scope := range n.scopes {
		part, args, params, _ := component(scope)
		n.scopes[i] = part + canonicalArguments(args) + params
	}
	n.params = canonicalParameters(n.params)
	return n
}

// component splits off the first part of a qualified name.
func component(text string) (part, args, params, rest string) {
	i := 0
	// operator<, operator(), operator[] and operator-> contain what would end any other name.
	if op, ok := strings.CutPrefix(text, "operator"); ok && (op == "" || !isWord(op[0])) {
		i = len("operator") + operatorLength(op)
	} else {
		for i < len(text) && (!strings.ContainsRune("<(: *&", rune(text[i])) || i == 0 && text[0] == '(') {
			switch text[i] {
			case '(', '{', '[', '\'':
				i = closing(text, i)
			default:
				i++
			}
		}
		if i < len(text) && text[i] == ':' && !strings.HasPrefix(text[i:], "::") {
			i++
		}
	}
	part, rest = text[:i], text[i:]
	if strings.HasPrefix(rest, "<") {
		end := closing(rest, 0)
		args, rest = rest[:end], rest[end:]
	}
	if strings.HasPrefix(rest, "(") {
		end := closing(rest, 0)
		params, rest = rest[:end], rest[end:]
		// "f() const::Local": the qualifiers belong to the parameters of the scope, not to what follows.
		if qualifiers, after, ok := strings.Cut(rest, "::"); ok && strings.TrimSpace(qualifiers) != "" {
			if qualifiesMethod(qualifiers) {
				params, rest = params+qualifiers, "::"+after
			}
		}
	}
	return part, args, params, rest
}

// qualifiesMethod reports whether what stands behind parameters belongs to them: "const &".
func qualifiesMethod(text string) bool {
	return !slices.ContainsFunc(strings.Fields(strings.ReplaceAll(text, "&", " ")), func(word string) bool {
		return word != "const" && word != "volatile"
	})
}

// operatorLength returns how much of what stands behind "operator" is the operator's name: a symbol, or the type that a
// conversion gives.
func operatorLength(text string) int {
	trimmed := strings.TrimLeft(text, " ")
	blank := len(text) - len(trimmed)
	for _, op := range operators {
		if strings.HasPrefix(trimmed, op) && (!isWord(op[0]) || len(trimmed) == len(op) || !isWord(trimmed[len(op)])) {
			return blank + len(op)
		}
	}
	if end := strings.IndexByte(text, '('); end >= 0 {
		return end
	}
	return len(text)
}

// closing returns the place behind the bracket that closes the one at i, the end of the text if there is none.
func closing(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '(', '<', '[', '{':
			depth++
		// -> is no bracket.
		case '>':
			if i > 0 && text[i-1] == '-' {
				continue
			}
			depth--
		case ')', ']', '}':
			depth--
		case '\'':
			if end := strings.IndexByte(text[i+1:], '\''); end >= 0 {
				i += end + 1
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// isWord reports whether a byte may be part of an identifier; bytes above ASCII are, as in GDB.
func isWord(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// squeeze takes out the blanks that do not hold two words apart.
func squeeze(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == ' ' || c == '\t' {
			rest := strings.TrimLeft(text[i:], " \t")
			if len(b) == 0 || rest == "" || !isWord(rest[0]) || !isWord(b[len(b)-1]) && !isSuffix(b, rest) {
				continue
			}
			if b[len(b)-1] == ' ' {
				continue
			}
			c = ' '
		}
		b = append(b, c)
	}
	return string(b)
}

// isSuffix reports whether a blank stands behind a type or a template's arguments, where it ends a result: "T* f", "A<int> f".
func isSuffix(before []byte, rest string) bool {
	switch before[len(before)-1] {
	// A word behind one of these is the name of the function; a bracket is its parameters.
	case '>', '*', '&', ')':
		return rest[0] != '(' && isWord(rest[0])
	}
	return false
}

// withoutTags takes out tags of the binary interface, which no user writes: "name[abi:cxx11]".
func withoutTags(text string) string {
	for {
		i := strings.Index(text, "[abi:")
		if i < 0 {
			return text
		}
		text = text[:i] + text[closing(text, i):]
	}
}

// canonicalParameters brings types of parameters into the form that a demangled name has: "(const int &)" is "(int const&)".
func canonicalParameters(params string) string {
	if params == "" || params[0] != '(' {
		return params
	}
	end := closing(params, 0)
	// f(void) is C for f().
	list := splitTop(strings.TrimSuffix(params[1:end], ")"))
	for i, p := range list {
		list[i] = canonicalType(p)
	}
	if len(list) == 1 && list[0] == "void" {
		list = nil
	}
	return "(" + strings.Join(list, ",") + ")" + strings.ReplaceAll(params[end:], " ", "")
}

// canonicalArguments does the same for the arguments of a template.
func canonicalArguments(args string) string {
	if args == "" {
		return ""
	}
	list := splitTop(strings.TrimSuffix(args[1:], ">"))
	for i, a := range list {
		list[i] = canonicalType(a)
	}
	return "<" + strings.Join(list, ",") + ">"
}

// splitTop splits a list at the commas that are in no brackets.
func splitTop(list string) []string {
	var parts []string
	begin, i := 0, 0
	for i < len(list) {
		switch list[i] {
		case '(', '<', '[', '{':
			i = closing(list, i)
			continue
		case ',':
			parts = append(parts, list[begin:i])
			begin = i + 1
		}
		i++
	}
	if begin < len(list) {
		parts = append(parts, list[begin:])
	}
	return parts
}

// integers are the other ways to write the integer types.
var integers = map[string]string{
	"unsigned": "unsigned int", "long int": "long", "long unsigned int": "unsigned long", "unsigned long int": "unsigned long",
	"short int": "short", "short unsigned int": "unsigned short", "unsigned short int": "unsigned short",
	"signed": "int", "signed int": "int",
	"long long int": "long long", "long long unsigned int": "unsigned long long", "unsigned long long int": "unsigned long long",
}

// canonicalType brings one type into the form of demangled names: synonyms of integer types, the place of const, and no keywords of
// C. It works on text alone: a typedef stays what it is called.
func canonicalType(text string) string {
	text = squeeze(strings.TrimSpace(text))
	if at := strings.IndexByte(text, '<'); at > 0 {
		end := closing(text, at)
		text = text[:at] + canonicalArguments(text[at:end]) + text[end:]
	}
	end := len(text)
	for i := 0; i < end; {
		switch text[i] {
		case '<':
			i = closing(text, i)
		case '*', '&', '(', '[':
			end = i
		default:
			i++
		}
	}
	base, rest := text[:end], text[end:]
	// The qualifiers of the innermost type come behind it in a demangled name, "int const*". A const by value says nothing to the
	// caller and is left out, as demanglers do. struct, class, enum and union are only C's way of naming types.
	words := strings.Fields(base)
	constant := false
	words = slices.DeleteFunc(words, func(w string) bool {
		constant = constant || w == "const"
		return w == "const" || w == "struct" || w == "class" || w == "enum" || w == "union"
	})
	base = strings.Join(words, " ")
	if usual, ok := integers[base]; ok {
		base = usual
	}
	if constant && rest != "" {
		base += " const"
	}
	return base + rest
}

// is reports whether a function has a name, given without scopes but perhaps with the arguments of a template.
func (n name) is(plain string) bool {
	other := parseName(plain)
	return n.last == other.last && (other.args == "" || other.args == n.args)
}

// matches reports whether a name that a user gave means a function. Where wild is set the function may be in more scopes than
// the name gives. Arguments of templates and parameters count where the name gives them.
func (n *name) matches(f *name, wild bool) bool {
	if n.last != f.last || n.args != "" && n.args != f.args || n.params != "" && n.params != f.params {
		return false
	}
	// The user may leave out outer scopes: "put" finds ns::Ring<int>::put.
	extra := len(f.scopes) - len(n.scopes)
	if extra < 0 || extra > 0 && !wild {
		return false
	}
	for i, scope := range n.scopes {
		of := f.scopes[extra+i]
		// Template arguments of a scope may be left out as a whole: Ring::put finds every instance.
		if scope != of && (strings.ContainsRune(scope, '<') || scope != withoutArguments(of)) {
			return false
		}
	}
	return true
}

// withoutArguments is a scope without the arguments of a template: "Ring" of "Ring<int>".
func withoutArguments(scope string) string {
	part, _, params, _ := component(scope)
	return part + params
}
