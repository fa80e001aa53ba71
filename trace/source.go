package trace

import (
	"fmt"
	"math"

	"tracewell/rsp"
)

// SourceType says what a source string is.
type SourceType string

// The types of source string, in the words of QTDPsrc.
const (
	SourceAt      SourceType = "at"
	SourceCond    SourceType = "cond"
	SourceCommand SourceType = "cmd"
)

// SourcePiece is a string that the user typed, or a part of one. GDB 13.1 always sends whole strings, but the grammar lets
// a long one come in parts.
type SourcePiece struct {
	Key   Key
	Type  SourceType
	Start int // byte offset of Text in the whole string
	Total int // length of the whole string in bytes
	Text  string
}

// ParseQTDPSource reads what follows "QTDPsrc:" in the packet that carries a source string of a tracepoint:
//
//	<number>:<address>:<at|cond|cmd>:<start>:<total>:<text in pairs of hexadecimal digits>
//
// Errors wrap *rsp.SyntaxError; text that reaches past the total is one.
func ParseQTDPSource(text string) (SourcePiece, error) {
	s := newScanner("QTDPsrc packet", text)
	p := s.sourcePiece()
	if err := s.finish(); err != nil {
		return SourcePiece{}, err
	}
	return p, nil
}

func (s scanner) sourcePiece() SourcePiece {
	p := SourcePiece{Key: s.key()}
	s.Literal(':')
	p.Type = s.sourceType()
	s.Literal(':')
	p.Start = int(s.HexUpTo(math.MaxInt32))
	s.Literal(':')
	p.Total = int(s.HexUpTo(math.MaxInt32))
	s.Literal(':')
	room := max(p.Total-p.Start, 0)
	p.Text = string(s.HexBytesN(uint64(min(room, (s.left()+1)/2))))
	return p
}

func (s scanner) sourceType() SourceType {
	for _, t := range []SourceType{SourceAt, SourceCond, SourceCommand} {
		if s.AcceptText(string(t)) {
			return t
		}
	}
	s.Fail("at, cond or cmd")
	return ""
}

// String gives the piece as ParseQTDPSource reads it.
func (p SourcePiece) String() string {
	dst := p.Key.appendText(nil)
	dst = fmt.Appendf(dst, ":%s:%x:%x:", p.Type, p.Start, p.Total)
	return string(rsp.AppendHexBytes(dst, p.Text))
}

// Add puts one piece in its place. A piece at offset 0 begins its string: it replaces the location or the condition, or
// appends a command. Any other must continue the string of its type that came last; if it does not, the error says so and
// s is as it was.
func (s *Source) Add(p SourcePiece) error {
	if p.Type == SourceCommand && p.Start == 0 {
		s.Commands = append(s.Commands, p.Text)
		return nil
	}
	text := s.latest(p.Type)
	if text == nil || p.Start != 0 && p.Start != len(*text) {
		return fmt.Errorf("source text %q of type %s begins at offset %d: nothing before it ends there",
			p.Text, p.Type, p.Start)
	}
	*text = (*text)[:p.Start] + p.Text
	return nil
}

// latest returns the string of type t that a further piece would continue, nil for none.
func (s *Source) latest(t SourceType) *string {
	switch {
	case t == SourceAt:
		return &s.At
	case t == SourceCond:
		return &s.Cond
	case t == SourceCommand && len(s.Commands) > 0:
		return &s.Commands[len(s.Commands)-1]
	}
	return nil
}

// sourcePieces returns the source strings that t has, each whole, in the order that GDB writes them.
func (t *Tracepoint) sourcePieces() []SourcePiece {
	var pieces []SourcePiece
	add := func(kind SourceType, text string) {
		pieces = append(pieces, SourcePiece{Key: t.Key(), Type: kind, Total: len(text), Text: text})
	}
	if t.Source.At != "" {
		add(SourceAt, t.Source.At)
	}
	if t.Source.Cond != "" {
		add(SourceCond, t.Source.Cond)
	}
	for _, c := range t.Source.Commands {
		add(SourceCommand, c)
	}
	return pieces
}
