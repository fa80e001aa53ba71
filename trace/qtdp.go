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

// ParseQTDPActions reads what follows "QTDP:-" in a packet that adds actions to a tracepoint:
//
//	<number>:<address>:[S]<action>…[-]
//
// stepping is the S, which only the first packet with stepping actions carries: later packets of the same definition
// belong to the stepping actions without saying so. more is the final hyphen. Errors wrap *rsp.SyntaxError.
func ParseQTDPActions(text string) (k Key, stepping bool, actions []Action, more bool, err error) {
	s := newScanner("QTDP action packet", text)
	k = s.key()
	s.Literal(':')
	stepping = s.Accept('S')
	actions = s.actions()
	more = s.Accept('-')
	if err := s.finish(); err != nil {
		return Key{}, false, nil, false, err
	}
	return k, stepping, actions, more, nil
}

// Packets returns the packets that define t on a stub, without framing, in the order that GDB sends them: QTDP, a QTDP:-
// for each action, a QTDPsrc for each source string. Counts are not part of a definition.
func (t *Tracepoint) Packets() []string {
	pending := len(t.Actions) + len(t.StepActions)
	finish := func(dst []byte) string {
		if pending > 0 {
			dst = append(dst, '-')
		}
		pending--
		return string(dst)
	}
	packets := []string{finish(t.appendDefinition([]byte("QTDP:")))}
	for _, a := range t.Actions {
		packets = append(packets, finish(a.AppendText(t.Key().appendPrefix("QTDP:-"))))
	}
	prefix := "S"
	for _, a := range t.StepActions {
		dst := append(t.Key().appendPrefix("QTDP:-"), prefix...)
		packets = append(packets, finish(a.AppendText(dst)))
		prefix = ""
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
