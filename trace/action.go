package trace

import (
	"fmt"
	"math"
	"strings"

	"tracewell/arch"
	"tracewell/rsp"
)

// ParseActions reads actions as QTDP packets and "tp A" lines write them, one after the other without a separator:
//
//	R<mask>                     any number of digits, the most significant first; bit i of their number is register i
//	M<base>,<offset>,<length>   base: a register number or -1
//	X<length>,<bytecode>        length: of the bytecode in bytes
//	L
//
// All numbers are hexadecimal. The S that begins the stepping actions of a packet is not part of this. No text is no
// actions: GDB 13.1 sends a packet without any ahead of every expression of more than 87 bytes. Errors wrap
// *rsp.SyntaxError.
func ParseActions(text string) ([]Action, error) {
	s := newScanner("tracepoint action", text)
	actions := s.actions()
	if err := s.finish(); err != nil {
		return nil, err
	}
	return actions, nil
}

// actionLetters begin the actions.
const actionLetters = "RMXL"

// actions reads actions up to the end or to the hyphen that ends a packet.
func (s scanner) actions() []Action {
	rest := s.text[s.Pos():]
	most := 0 // each action begins with a letter, none of which is a digit
	for _, letter := range actionLetters {
		most += strings.Count(rest, string(letter))
	}
	if most == 0 && (rest == "" || rest[0] == '-') {
		return nil
	}
	actions := make([]Action, 0, most)
	for !s.Done() && s.Peek() != '-' {
		actions = append(actions, s.action())
	}
	return actions
}

func (s scanner) action() Action {
	a := Action{Kind: ActionKind(s.letter(actionLetters))}
	switch a.Kind {
	case CollectRegisters:
		a.Mask = s.mask()
	case CollectMemory:
		a.Base = s.base()
		s.Literal(',')
		a.Offset = s.HexField()
		s.Literal(',')
		a.Length = s.HexField()
	case CollectExpression:
		a.Code = s.expression()
	}
	return a
}

// mask reads the number of an R action. GDB writes whole bytes; the manual and gdbserver 13.1 take any number of digits, even
// none.
func (s scanner) mask() []byte {
	digits := s.HexDigits()
	if len(digits)%2 != 0 {
		digits = "0" + digits
	}
	mask, _ := rsp.ParseHexBytes(digits)
	return mask
}

func (s scanner) base() arch.Reg {
	if s.AcceptText("-1") {
		return Absolute
	}
	return arch.Reg(s.HexUpTo(math.MaxInt32))
}

// expression reads an agent expression: its length, a comma, its bytes. One without bytes is an error, because as a
// condition it could not be told from none.
func (s scanner) expression() []byte {
	n := s.HexUpTo(math.MaxInt32)
	s.Literal(',')
	code := s.HexBytesN(n)
	if code == nil {
		s.Fail("an agent expression")
	}
	return code
}

// AppendText appends the action in the form that ParseActions reads, letter case as GDB 13.1 writes it.
func (a Action) AppendText(dst []byte) []byte {
	dst = append(dst, byte(a.Kind))
	switch a.Kind {
	case CollectRegisters:
		dst = rsp.AppendHexBytes(dst, a.Mask)
	case CollectMemory:
		if a.Base == Absolute {
			dst = append(dst, "-1"...)
		} else {
			dst = fmt.Appendf(dst, "%X", int(a.Base))
		}
		dst = fmt.Appendf(dst, ",%x,%X", a.Offset, a.Length)
	case CollectExpression:
		dst = fmt.Appendf(dst, "%08X,", len(a.Code))
		dst = rsp.AppendHexBytes(dst, a.Code)
	}
	return dst
}

// Registers returns the registers that an R action asks for, ascending.
func (a Action) Registers() []arch.Reg {
	var registers []arch.Reg
	for i := range 8 * len(a.Mask) {
		if a.Mask[len(a.Mask)-1-i/8]>>(i%8)&1 == 1 {
			registers = append(registers, arch.Reg(i))
		}
	}
	return registers
}

// String gives the action as AppendText does.
func (a Action) String() string { return string(a.AppendText(nil)) }
