package cexpr

import (
	"slices"
	"strings"

	"tracewell/symbol/ctype"
)

// typeWords are the words of which the names of C's own integer types are made, and those that say nothing here.
var typeWords = []string{"unsigned", "signed", "char", "short", "int", "long", "_Bool", "bool", "void", "const", "volatile"}

// Double and Float are the floating-point types that have names without a program.
var (
	Double = &ctype.Type{Kind: ctype.Float, Name: "double", Size: 8}
	Float  = &ctype.Type{Kind: ctype.Float, Name: "float", Size: 4}
)

// floatWords are their names. GDB has long double, too, with which nothing here computes.
var floatWords = map[string]*ctype.Type{"double": Double, "float": Float}

// tagWords begin the name of a type that only the scope can have.
var tagWords = []string{"struct", "union", "enum"}

// fixedTypes are the integer types that the headers of C give names: the size in bytes, and whether they are signed.
var fixedTypes = map[string]*ctype.Type{
	"int8_t": ctype.Int(1, true), "int16_t": ctype.Int(2, true), "int32_t": ctype.Int(4, true), "int64_t": ctype.Int(8, true),
	"uint8_t": ctype.Int(1, false), "uint16_t": ctype.Int(2, false), "uint32_t": ctype.Int(4, false), "uint64_t": ctype.Int(8, false),
}

// pointerSized are those with the size of a pointer: whether they are signed. The program's own definition comes before these.
var pointerSized = map[string]bool{"size_t": false, "ssize_t": true, "intptr_t": true, "uintptr_t": false, "ptrdiff_t": true}

// beginsType reports whether a type begins at a token. A name that is both a type of the scope and a value is the value, as a
// variable hides a typedef of an outer scope in C.
func (p *parser) beginsType(at int) bool {
	t := p.tokens[at]
	if t.Kind != Name && !p.isAt(at, "::") {
		return false
	}
	if slices.Contains(typeWords, t.Text) || slices.Contains(tagWords, t.Text) || floatWords[t.Text] != nil {
		return p.reserved(t.Text)
	}
	name := join(p.tokens[at:p.qualified(at)])
	if p.names.Value(name) {
		return false
	}
	_, named := p.namedType(name)
	return named
}

// namedType finds a type by its name, or by a tag with its word.
func (p *parser) namedType(name string) (*ctype.Type, bool) {
	if t, ok := p.names.Type(name); ok {
		return t, true
	}
	if signed, ok := pointerSized[name]; ok {
		return ctype.Int(p.abi.Pointer, signed), true
	}
	t, ok := fixedTypes[name]
	return t, ok
}

// typeName reads a type: words, then a * for each pointer and a length for arrays, as in "struct job *" and "char[16]". Pointers to
// arrays and to functions, which need parentheses, are not read.
func (p *parser) typeName() *ctype.Type {
	first := p.peek()
	typ := p.baseType()
	for {
		switch {
		case p.accept("*"):
			typ = ctype.PointerTo(typ, p.abi.Pointer)
		case p.accept("const"), p.accept("volatile"):
		case p.is("["):
			return p.lengths(typ)
		default:
			if typ == nil {
				p.fail(first, "found "+first.Text+", expected a type", "")
			}
			return typ
		}
	}
}

// lengths reads the lengths of an array type, of which the last counts the innermost elements: char[2][3] is two arrays of three.
func (p *parser) lengths(elem *ctype.Type) *ctype.Type {
	if !p.accept("[") {
		return elem
	}
	t := p.peek()
	n, _, ok := ParseInteger(t.Text, p.abi)
	if t.Kind != Number || !ok || n > MaxArray {
		p.unexpected("the number of elements")
	}
	p.at++
	p.expect("]")
	inner := p.lengths(elem)
	if int(n)*inner.Size > MaxArray {
		p.fail(t, "the array is too large", "")
	}
	return ctype.ArrayOf(inner, int(n))
}

// MaxArray is the most elements, and the most bytes, that an array may have.
const MaxArray = 1 << 31

// baseType reads the words of a type, up to what makes pointers and arrays of it.
func (p *parser) baseType() *ctype.Type {
	first := p.peek()
	var words []string
	for p.peek().Kind == Name && slices.Contains(typeWords, p.peek().Text) {
		if word := p.peek().Text; word != "const" && word != "volatile" {
			words = append(words, word)
		}
		p.at++
	}
	if t := p.peek(); len(words) == 0 && t.Kind == Name && floatWords[t.Text] != nil {
		p.at++
		return floatWords[t.Text]
	}
	if len(words) == 0 {
		return p.taggedType()
	}
	if p.dialect == Tracing && len(words) == 1 {
		if typ, ok := p.names.Type(words[0]); ok { // Go's int is not that of C
			return typ
		}
	}
	typ := integerType(words, p.abi)
	if typ == nil {
		p.fail(first, strings.Join(words, " ")+" is no integer type", "")
	}
	return typ
}

// taggedType reads the name of a type, with struct, union or enum in front of it if that was written. In C the names of
// structures are apart from all others; the scope is asked for "struct job".
func (p *parser) taggedType() *ctype.Type {
	t := p.peek()
	tag := ""
	if t.Kind == Name && slices.Contains(tagWords, t.Text) {
		tag = t.Text + " "
		p.at++
		if p.peek().Kind != Name {
			p.unexpected("the name of a type")
		}
	} else if t.Kind != Name && !p.is("::") {
		p.unexpected("a type")
	}
	from := p.at
	p.at = p.qualified(p.at)
	name := tag + join(p.tokens[from:p.at])
	typ, ok := p.namedType(name)
	if !ok {
		p.fail(t, "there is no type "+name, "integer types of C are known, and those in the program's debugging information")
	}
	return typ
}

// integerType makes a type of the words of C in any order (C17, 6.7.2), nil if they make none.
func integerType(words []string, abi ctype.ABI) *ctype.Type {
	count := make(map[string]int)
	for _, word := range words {
		count[word]++
	}
	if count["unsigned"]+count["signed"] > 1 || count["int"] > 1 || count["short"] > 1 || count["long"] > 2 {
		return nil
	}
	signed := count["unsigned"] == 0
	bases := count["char"] + count["short"] + min(count["long"], 1) + count["_Bool"] + count["bool"] + count["void"]
	switch {
	case bases > 1:
		return nil
	case count["void"] == 1 && len(words) == 1:
		return ctype.Void
	case count["_Bool"]+count["bool"] == 1 && len(words) == 1:
		return &ctype.Type{Kind: ctype.Bool, Name: "bool", Size: 1}
	case count["_Bool"]+count["bool"]+count["void"] > 0, count["char"] > 0 && count["int"] > 0:
		return nil
	case count["char"] == 1:
		t := charType(signed && (count["signed"] == 1 || !abi.UnsignedChar))
		t.Name = strings.Join(words, " ")
		return t
	case count["short"] == 1:
		return ctype.Int(2, signed)
	case count["long"] == 1:
		return ctype.Int(abi.Long, signed)
	case count["long"] == 2:
		return ctype.Int(8, signed)
	}
	return ctype.Int(4, signed)
}

// charType is a type of one byte that GDB prints as a character.
func charType(signed bool) *ctype.Type {
	return &ctype.Type{Kind: ctype.Integer, Name: "char", Size: 1, Signed: signed, Char: true}
}
