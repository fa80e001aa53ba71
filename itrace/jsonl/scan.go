package jsonl

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"tracewell/itrace"
)

// scanner finds the members of an object. After the first problem it reads nothing more.
type scanner struct {
	line    []byte
	at      int
	seen    keySet
	spans   [numKeys]span // of the values of members that were seen
	closing int           // where the object ends
	problem *itrace.SyntaxError
}

// span is a value as it stands in the line.
type span struct {
	start, end int
	escaped    bool // it is a string with escapes
}

// fail notes that what begins at a place is not what was expected.
func (s *scanner) fail(at int, expected string) {
	if s.problem == nil {
		s.problem = itrace.Mismatch(s.line, at, expected)
	}
	s.at = len(s.line)
}

// failAt does so for the value of a member, or the end of the object for one that is not there.
func (s *scanner) failAt(k key, expected string) {
	if !s.seen.has(k) {
		s.fail(s.closing, expected)
		return
	}
	if span := s.spans[k]; s.problem == nil {
		s.problem = itrace.Mismatch(s.line[:span.end], span.start, expected)
	}
}

// blanks goes behind blanks and returns the byte there, 0 at the end of the line.
func (s *scanner) blanks() byte {
	for s.at < len(s.line) {
		if c := s.line[s.at]; c > ' ' {
			return c
		}
		s.at++
	}
	return 0
}

// object reads a line.
func (p *parser) object(line []byte) {
	p.line, p.at, p.seen, p.problem = line, 0, 0, nil
	if p.blanks() != '{' {
		p.fail(p.at, "an object of JSON")
		return
	}
	p.at++
	if p.blanks() != '}' {
		for last, more := otherKey, true; more; more = p.another() {
			last = p.member(last)
		}
	}
	p.closing = p.at
	p.at++
	if p.blanks(); p.at < len(p.line) {
		p.fail(p.at, "the end of the line")
	}
}

// another goes behind the comma that follows a member, and reports whether there is one.
func (s *scanner) another() bool {
	switch s.blanks() {
	case ',':
		s.at++
		s.blanks()
		return true
	case '}':
	default:
		s.fail(s.at, `"," or "}"`)
	}
	return false
}

// member reads a member that comes behind another, and returns which it is.
func (p *parser) member(last key) key {
	k := p.behind[last]
	if k < numKeys && bytes.HasPrefix(p.line[p.at:], []byte(heads[k])) {
		p.at += len(heads[k])
	} else {
		k = p.key()
		p.behind[last] = k
	}
	p.blanks()
	start := p.at
	escaped := p.value()
	if k < numKeys && p.problem == nil {
		p.spans[k] = span{start, p.at, escaped}
		if p.line[start] == 'n' {
			p.seen &^= 1 << k
		} else {
			p.seen |= 1 << k
		}
	}
	return k
}

// key reads the name of a member and the colon behind it.
func (p *parser) key() key {
	start := p.at
	if start >= len(p.line) || p.line[start] != '"' {
		p.fail(start, "the name of a member")
		return otherKey
	}
	escaped := p.string()
	name := p.line[min(start+1, len(p.line)):max(p.at-1, start+1)]
	if p.problem != nil {
		return otherKey
	}
	if p.blanks() != ':' {
		p.fail(p.at, `":"`)
		return otherKey
	}
	p.at++
	if k, ok := byName[string(name)]; ok && !escaped {
		return k
	}
	return otherKey
}

// value passes over a value, and reports whether it is a string with escapes.
func (s *scanner) value() (escaped bool) {
	if s.at >= len(s.line) {
		s.fail(s.at, "a value")
		return false
	}
	switch c := s.line[s.at]; {
	case c == '"':
		return s.string()
	case c == '{' || c == '[':
		s.nested()
	case c == '-' || c >= '0' && c <= '9':
		s.bare()
	default:
		start := s.at
		s.bare()
		switch string(s.line[start:s.at]) {
		case "true", "false", "null":
		default:
			s.fail(start, "a value")
		}
	}
	return false
}

// bare goes behind a number or a name.
func (s *scanner) bare() {
	for s.at < len(s.line) {
		switch c := s.line[s.at]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '.', c == '-', c == '+', c == 'E':
			s.at++
		default:
			return
		}
	}
}

// string goes behind a string and reports whether it has escapes.
func (s *scanner) string() (escaped bool) {
	for at := s.special(s.at + 1); at < len(s.line); at = s.special(at + 2) {
		if s.line[at] == '"' {
			s.at = at + 1
			return escaped
		}
		escaped = true
	}
	s.fail(len(s.line), `"\"" at the end of a string`)
	return false
}

// special returns where the next quotation mark or backslash is, from a place on, or the end of the line.
func (s *scanner) special(at int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; at+8 <= len(s.line); at += 8 {
		x := binary.LittleEndian.Uint64(s.line[at : at+8])
		quote, backslash := x^ones*'"', x^ones*'\\'
		// The lowest bit that is set is that of the first byte that is 0.
		if found := ((quote-ones)&^quote | (backslash-ones)&^backslash) & high; found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(s.line) && s.line[at] != '"' && s.line[at] != '\\' {
		at++
	}
	return at
}

// nested goes behind an object or an array, of which the brackets are only counted: nobody reads what is in it.
func (s *scanner) nested() {
	for depth := 0; s.at < len(s.line); {
		switch s.line[s.at] {
		case '"':
			s.string()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
	s.fail(len(s.line), "the end of what is nested")
}
