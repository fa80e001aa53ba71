package trace

import (
	"math"

	"tracewell/arch"
	"tracewell/rsp"
)

// ParseQTDP reads what follows "QTDP:" in the packet that defines a tracepoint:
//
//	<number>:<address>:<E|D>:<step>:<pass>[:F<length>][:S][:X<length>,<bytecode>][-]
//
// more is the final hyphen: action packets may follow. GDB sends it for every tracepoint that has a command list, even if
// no action comes of it, so it promises nothing. Whether the number is one that frames can carry is not asked here. Errors
// wrap *rsp.SyntaxError; an unknown option letter is one, where gdbserver drops the rest of the packet.
func ParseQTDP(text string) (t Tracepoint, more bool, err error) {
	s := newScanner("QTDP packet", text)
	t = s.definition()
	more = s.Accept('-')
	if err := s.finish(); err != nil {
		return Tracepoint{}, false, err
	}
	return t, more, nil
}

// definition reads what a QTDP packet and a T piece have in common.
func (s scanner) definition() Tracepoint {
	k := s.key()
	t := Tracepoint{Number: k.Number, Addr: k.Addr}
	s.Literal(':')
	t.Enabled = s.letter("ED") == 'E'
	s.Literal(':')
	t.Step = s.HexField()
	s.Literal(':')
	t.Pass = s.HexField()
	for s.Accept(':') {
		s.option(&t)
	}
	return t
}

func (s scanner) option(t *Tracepoint) {
	switch s.letter("FSX") {
	case 'F':
		t.Fast = true
		t.FastLength = int(s.HexUpTo(math.MaxInt32))
	case 'S':
		t.Static = true
	case 'X':
		t.Condition = s.expression()
	}
}

func (s scanner) key() Key {
	n := s.HexUpTo(math.MaxInt32)
	s.Literal(':')
	return Key{Number(n), arch.Addr(s.HexField())}
}

// ActionPacket is a packet that adds actions to a tracepoint.
type ActionPacket struct {
	Key Key
	// Stepping says that the stepping actions begin here. Only the first packet with some says so: later packets of the same
	// definition belong to them all the same.
	Stepping bool
	Actions  []Action
	More     bool // more packets may follow
}

// ParseQTDPActions reads what follows "QTDP:-" in a packet that adds actions to a tracepoint:
//
//	<number>:<address>:[S]<action>…[-]
//
// The S is Stepping, the final hyphen More. Errors wrap *rsp.SyntaxError.
func ParseQTDPActions(text string) (p ActionPacket, err error) {
	s := newScanner("QTDP action packet", text)
	p.Key = s.key()
	s.Literal(':')
	p.Stepping = s.Accept('S')
	p.Actions = s.actions()
	p.More = s.Accept('-')
	if err := s.finish(); err != nil {
		return ActionPacket{}, err
	}
	return p, nil
}

// AppendText appends the packet in the form that ParseQTDPActions reads.
func (p ActionPacket) AppendText(dst []byte) []byte {
	dst = append(p.Key.appendText(dst), ':')
	if p.Stepping {
		dst = append(dst, 'S')
	}
	for _, a := range p.Actions {
		dst = a.AppendText(dst)
	}
	return appendMore(dst, p.More)
}

// AppendQTDP appends the definition in the form that ParseQTDP reads. Actions and source have packets of their own.
func (t *Tracepoint) AppendQTDP(dst []byte, more bool) []byte {
	return appendMore(t.appendDefinition(dst), more)
}

func appendMore(dst []byte, more bool) []byte {
	if more {
		dst = append(dst, '-')
	}
	return dst
}

// Packets returns the packets that define t on a stub, without framing, in the order that GDB sends them: QTDP, a QTDP:-
// for each action, a QTDPsrc for each source string. Counts are not part of a definition.
func (t *Tracepoint) Packets() []string {
	left := len(t.Actions) + len(t.StepActions)
	packets := []string{string(t.AppendQTDP([]byte("QTDP:"), left > 0))}
	add := func(a Action, stepping bool) {
		left--
		p := ActionPacket{t.Key(), stepping, []Action{a}, left > 0}
		packets = append(packets, string(p.AppendText([]byte("QTDP:-"))))
	}
	for _, a := range t.Actions {
		add(a, false)
	}
	for i, a := range t.StepActions {
		add(a, i == 0)
	}
	for _, p := range t.sourcePieces() {
		packets = append(packets, "QTDPsrc:"+p.String())
	}
	return packets
}

// appendPrefix starts a text with name, the key and a colon.
func (k Key) appendPrefix(name string) []byte { return append(k.appendText([]byte(name)), ':') }

func (k Key) appendText(dst []byte) []byte {
	dst = rsp.AppendHex(dst, uint64(k.Number))
	dst = append(dst, ':')
	return rsp.AppendHex(dst, uint64(k.Addr))
}

func (t *Tracepoint) appendDefinition(dst []byte) []byte {
	dst = t.Key().appendText(dst)
	enabled := ":D:"
	if t.Enabled {
		enabled = ":E:"
	}
	dst = rsp.AppendHex(append(dst, enabled...), t.Step)
	dst = rsp.AppendHex(append(dst, ':'), t.Pass)
	if t.Fast {
		dst = rsp.AppendHex(append(dst, ":F"...), uint64(t.FastLength))
	}
	if t.Static {
		dst = append(dst, ":S"...)
	}
	if t.Condition != nil {
		dst = rsp.AppendHex(append(dst, ":X"...), uint64(len(t.Condition)))
		dst = rsp.AppendHexBytes(append(dst, ','), t.Condition)
	}
	return dst
}
