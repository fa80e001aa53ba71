package filter

import (
	"slices"
	"strings"

	"tracewell/symbol/ctype"
)

// typeWords are the words of which the names of C's own integer types are made, and those that say nothing here.
var typeWords = []string{"unsigned", "signed", "char", "short", "int", "long", "_Bool", "bool", "void", "const", "volatile"}

// floatWords are the floating-point types that can be computed with.
var floatWords = map[string]*ctype.Type{"double": double, "float": float}

// tagWords begin the name of a type that the scope knows.
var tagWords = []string{"struct", "union", "enum"}

// fixedTypes are the integer types that the headers of C give names: the size in bytes, and whether they are signed.
var fixedTypes = map[string]*ctype.Type{
	"int8_t": ctype.Int(1, true), "int16_t": ctype.Int(2, true), "int32_t": ctype.Int(4, true), "int64_t": ctype.Int(8, true),
	"uint8_t": ctype.Int(1, false), "uint16_t": ctype.Int(2, false), "uint32_t": ctype.Int(4, false), "uint64_t": ctype.Int(8, false),
}

// pointerSized are those with the size of a pointer: whether they are signed.
var pointerSized = map[string]bool{"size_t": false, "ssize_t": true, "intptr_t": true, "uintptr_t": false, "ptrdiff_t": true}

// beginsType reports whether a type begins at a token. A name that is both a type of the scope and an operand is the operand.
func (p *parser) beginsType(at int) bool {
	t := p.tokens[at]
	if t.kind != tokenName {
		return false
	}
	if slices.Contains(typeWords, t.text) || slices.Contains(tagWords, t.text) || floatWords[t.text] != nil {
		return true
	}
	if _, known := p.scope.Operand(t.text); known {
		return false
	}
	_, named := p.namedType(t.text)
	return named
}

// namedType finds a type by a name that is one word, or a tag with its word.
func (p *parser) namedType(name string) (*ctype.Type, bool) {
	if t, ok := p.scope.Type(name); ok {
		return t, true
	}
	if signed, ok := pointerSized[name]; ok {
		return ctype.Int(p.abi.Pointer, signed), true
	}
	t, ok := fixedTypes[name]
	return t, ok
}

// typeName reads a type: words, then a * for each pointer and a length for arrays, as in "struct job *" and "char[16]".
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
				p.fail(first, "found "+first.text+", expected a type", "")
			}
			return typ
		}
	}
}

// lengths reads the lengths of an array type, of which the last counts the innermost elements.
func (p *parser) lengths(elem *ctype.Type) *ctype.Type {
	if !p.accept("[") {
		return elem
	}
	t := p.peek()
	n, _, ok := parseNumber(t.text, p.abi)
	if t.kind != tokenNumber || !ok || n > maxArray {
		p.unexpected("the number of elements")
	}
	p.at++
	p.expect("]")
	inner := p.lengths(elem)
	if int(n)*inner.Size > maxArray {
		p.fail(t, "the array is too large", "")
	}
	return ctype.ArrayOf(inner, int(n))
}

// maxArray is the most elements, and the most bytes, that an array may have.
const maxArray = 1 << 31

// baseType reads the words of a type.
func (p *parser) baseType() *ctype.Type {
	first := p.peek()
	var words []string
	for p.peek().kind == tokenName && slices.Contains(typeWords, p.peek().text) {
		if word := p.peek().text; word != "const" && word != "volatile" {
			words = append(words, word)
		}
		p.at++
	}
	if t := p.peek(); len(words) == 0 && t.kind == tokenName && floatWords[t.text] != nil {
		p.at++
		return floatWords[t.text]
	}
	if len(words) > 0 {
		typ := integerType(words, p.abi)
		if typ == nil {
			p.fail(first, strings.Join(words, " ")+" is no integer type", "")
		}
		return typ
	}
	t := p.peek()
	name := t.text
	if t.kind != tokenName {
		p.unexpected("a type")
	}
	p.at++
	if slices.Contains(tagWords, name) {
		tag := p.peek()
		if tag.kind != tokenName {
			p.unexpected("the name of a type")
		}
		p.at++
		name += " " + tag.text
	}
	typ, ok := p.namedType(name)
	if !ok {
		p.fail(t, "there is no type "+name, "integer types of C are known, and those in the program's debugging information")
	}
	return typ
}

// integerType makes a type of the words of C, nil if they make none.
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
		return charType(signed && (count["signed"] == 1 || !abi.UnsignedChar))
	case count["short"] == 1:
		return ctype.Int(2, signed)
	case count["long"] == 1:
		return ctype.Int(abi.Long, signed)
	case count["long"] == 2:
		return ctype.Int(8, signed)
	}
	return ctype.Int(4, signed)
}

func charType(signed bool) *ctype.Type {
	return &ctype.Type{Kind: ctype.Integer, Name: "char", Size: 1, Signed: signed, Char: true}
}
