package ctf

import (
	"math"
	"strconv"

	"tracewell/arch"
)

// declared is what metadata declare, as far as it is understood.
type declared struct {
	order   arch.ByteOrder
	header  *record // of a packet
	context *record // of a packet
	event   *record // header of an event
	events  []declaredEvent
	env     []setting

	end int // the last line
}

// declaredEvent is one event class.
type declaredEvent struct {
	name   string
	id     uint64
	fields record
	line   int
}

// setting is one string of an env block.
type setting struct {
	name, text string
	line       int
}

// parser reads metadata. The first error stays, and everything after it looks like the end of the text.
type parser struct {
	lexer lexer
	token token // the next one
	err   error

	aliases map[string]*valueType
	result  declared
}

// parse reads metadata. The error is a *MetadataError.
func parse(metadata []byte) (*declared, error) {
	if !Is(metadata) {
		const enough = 80
		return nil, &MetadataError{1, token{kind: tokenString, text: string(metadata[:min(len(metadata), enough)])}.String(),
			"text that begins with " + strconv.Quote(beginning)}
	}
	p := &parser{lexer: lexer{string(metadata), 1}, aliases: make(map[string]*valueType)}
	p.advance()
	for p.err == nil && p.token.kind != tokenEnd {
		read := topLevel[p.token.text]
		if p.token.kind != tokenName || read == nil {
			p.fail("a declaration (typealias, trace, stream, event, env, clock or callsite)")
			break
		}
		p.advance()
		read(p)
		p.mark(";")
	}
	p.result.end = p.lexer.line
	return &p.result, p.err
}

// What follows the keyword of a declaration, and what the keys of a block mean. Other keys are passed over.
var (
	topLevel = map[string]func(*parser){
		"typealias": (*parser).typealias,
		"trace":     func(p *parser) { p.block(traceKeys) },
		"stream":    func(p *parser) { p.block(streamKeys) },
		"event":     (*parser).eventClass,
		"env":       (*parser).environment,
		"clock":     func(p *parser) { p.passTo(";") },
		"callsite":  func(p *parser) { p.passTo(";") },
	}
	traceKeys = map[string]func(*parser){
		"byte_order":    func(p *parser) { p.result.order = p.byteOrder() },
		"packet.header": func(p *parser) { p.only(&p.result.header) },
	}
	streamKeys = map[string]func(*parser){
		"packet.context": func(p *parser) { p.only(&p.result.context) },
		"event.header":   func(p *parser) { p.only(&p.result.event) },
		"event.context":  func(p *parser) { p.fail("events without a context") },
	}
)

func (p *parser) fail(expected string) {
	if p.err == nil {
		p.err = &MetadataError{p.token.line, p.token.String(), expected}
	}
	p.token = token{line: p.token.line}
}

// advance goes to the next token and returns the one before.
func (p *parser) advance() token {
	t := p.token
	if p.err != nil {
		return t
	}
	next, err := p.lexer.next()
	p.token = next
	if err != nil {
		p.err = err
		p.token = token{}
	}
	return t
}

// at reports whether the next token is this mark.
func (p *parser) at(mark string) bool { return p.token.kind == tokenMark && p.token.text == mark }

// accept passes over a mark if it is there.
func (p *parser) accept(mark string) bool {
	is := p.at(mark)
	if is {
		p.advance()
	}
	return is
}

func (p *parser) mark(mark string) {
	if !p.accept(mark) {
		p.fail(strconv.Quote(mark))
	}
}

func (p *parser) name(what string) string {
	if p.token.kind != tokenName {
		p.fail(what)
	}
	return p.advance().text
}

func (p *parser) number(most uint64) uint64 {
	n, err := strconv.ParseUint(p.token.text, 0, 64)
	if p.token.kind != tokenNumber || err != nil || n > most {
		p.fail("a number from 0 to " + strconv.FormatUint(most, 10))
	}
	p.advance()
	return n
}

// passTo goes to a mark, over blocks in braces that may hold such marks of their own.
func (p *parser) passTo(mark string) {
	for depth := 0; p.token.kind != tokenEnd; p.advance() {
		switch {
		case p.at(mark) && depth == 0:
			return
		case p.at("{"):
			depth++
		case p.at("}"):
			depth--
		}
	}
}

// block reads settings in braces. Those whose key is not in the table are passed over.
func (p *parser) block(keys map[string]func(*parser)) {
	p.mark("{")
	for p.err == nil && !p.accept("}") {
		key := p.name("a key")
		for p.accept(".") {
			key += "." + p.name("a key")
		}
		if !p.accept(":=") {
			p.mark("=")
		}
		if read := keys[key]; read != nil {
			read(p)
		} else {
			p.passTo(";")
		}
		p.mark(";")
	}
}

// only reads a record that there can be one of: traces with several kinds of stream are none of GDB's.
func (p *parser) only(r **record) {
	if *r != nil {
		p.fail("a trace with one kind of stream")
	}
	*r = p.record()
}

func (p *parser) eventClass() {
	e := declaredEvent{line: p.token.line}
	p.block(map[string]func(*parser){
		"name":    func(p *parser) { e.name = p.advance().text },
		"id":      func(p *parser) { e.id = p.number(math.MaxUint64) },
		"fields":  func(p *parser) { e.fields = *p.record() },
		"context": func(p *parser) { p.fail("events without a context") },
	})
	p.result.events = append(p.result.events, e)
}

// environment reads the strings of an env block; it may also have numbers.
func (p *parser) environment() {
	p.mark("{")
	for p.err == nil && !p.accept("}") {
		s := setting{line: p.token.line, name: p.name("a name")}
		p.mark("=")
		if p.token.kind == tokenString {
			s.text = p.token.text
			p.result.env = append(p.result.env, s)
		}
		p.passTo(";")
		p.mark(";")
	}
}
