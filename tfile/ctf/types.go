package ctf

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
)

var byteOrders = map[string]arch.ByteOrder{"le": binary.LittleEndian, "be": binary.BigEndian, "network": binary.BigEndian,
	"native": nil}

func (p *parser) byteOrder() arch.ByteOrder {
	order, known := byteOrders[p.token.text]
	if !known {
		p.fail("le or be")
	}
	p.advance()
	return order
}

// record reads a structure.
func (p *parser) record() *record {
	r := &record{align: 1}
	if p.token.text != "struct" {
		p.fail(`"struct"`)
	}
	p.advance()
	p.mark("{")
	for p.err == nil && !p.accept("}") {
		if len(r.fields) == maxFields {
			p.fail("no more than " + strconv.Itoa(maxFields) + " fields")
			break
		}
		f := p.field(r)
		if p.err == nil {
			r.align = max(r.align, f.typ.align)
			r.fields = append(r.fields, f)
		}
	}
	if p.token.text == "align" {
		p.advance()
		p.mark("(")
		r.align = max(r.align, p.alignment())
		p.mark(")")
	}
	return r
}

// field reads one field of r.
func (p *parser) field(r *record) field {
	f := field{line: p.token.line, count: scalar}
	if f.typ = p.plainType(); f.typ != nil {
		f.name = p.name("the name of the field")
	} else {
		words := p.words()
		f.name = words[len(words)-1]
		if f.typ = p.aliases[strings.Join(words[:len(words)-1], " ")]; f.typ == nil {
			p.fail("a type that is an integer or a string, and a name, before it")
		}
	}
	if p.accept("[") {
		p.length(r, &f)
		p.mark("]")
	}
	p.mark(";")
	return f
}

// length reads the length of an array: a number, or the name of an earlier field.
func (p *parser) length(r *record, f *field) {
	if p.token.kind == tokenNumber {
		f.count = int(p.number(math.MaxInt32))
		return
	}
	f.count = counted
	for f.from = range r.fields {
		if from := &r.fields[f.from]; from.name == p.token.text && from.count == scalar && from.typ.size > 0 {
			p.advance()
			return
		}
	}
	p.fail("a number, or an earlier field that is one")
}

// words reads names, of which there must be one.
func (p *parser) words() []string {
	words := []string{p.name("a type")}
	for p.token.kind == tokenName {
		words = append(words, p.advance().text)
	}
	return words
}

// typealias gives a type a name. Types other than integers and strings get none: only a field of such a type is an error.
func (p *parser) typealias() {
	typ := p.plainType()
	if typ == nil && p.token.kind == tokenName {
		typ = p.aliases[strings.Join(p.words(), " ")]
	}
	p.passTo(":=")
	p.mark(":=")
	name := strings.Join(p.words(), " ")
	if typ != nil {
		p.aliases[name] = typ
	}
}

// plainType reads the description of an integer or of a string; nil if the next token begins neither.
func (p *parser) plainType() *valueType {
	switch p.token.text {
	case "integer":
		return p.integer()
	case "string":
		p.advance()
		if p.at("{") {
			p.block(nil)
		}
		return &valueType{align: 1}
	}
	return nil
}

// integer reads the description of an integer. Its alignment is that of a byte if it is not told.
func (p *parser) integer() *valueType {
	t := &valueType{align: 1}
	p.advance()
	p.block(map[string]func(*parser){
		"size":       func(p *parser) { t.size = p.bits(8, 16, 32, 64) },
		"align":      func(p *parser) { t.align = p.alignment() },
		"signed":     func(p *parser) { t.signed = p.truth() },
		"byte_order": func(p *parser) { t.order = p.byteOrder() },
	})
	if t.size == 0 {
		p.fail("an integer with a size")
	}
	return t
}

// bits reads a number of bits, one of those, as a number of bytes.
func (p *parser) bits(allowed ...uint64) int {
	at := p.token
	n := p.number(math.MaxUint64)
	if p.err == nil && !slices.Contains(allowed, n) {
		p.token = at
		p.fail(fmt.Sprintf("one of %d bits", allowed))
	}
	return int(n / 8)
}

// alignment reads one in bits. As every size is one of whole bytes, less than a byte is as good as one.
func (p *parser) alignment() int { return max(1, p.bits(1, 2, 4, 8, 16, 32, 64, 128, 256, 512)) }

func (p *parser) truth() bool {
	t := p.advance()
	return t.text == "true" || t.text == "1"
}
