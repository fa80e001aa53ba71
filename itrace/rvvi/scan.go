package rvvi

import (
	"bytes"
	"math"

	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// token is a word of a logical line. It is small, since there are many.
type token struct {
	text []byte // without quotation marks
	line int32  // where its line begins in the text that is decoded
	at   int32  // where it begins in its line
}

// comment is what stands between apostrophes, behind so many tokens.
type comment struct {
	behind int
	text   []byte
}

// problem is what is wrong at a place.
type problem struct {
	line     int32
	at       int32
	expected string
}

// scan adds the tokens of a line, and reports whether the next line belongs to the same logical line. It stops at what is no
// token.
func (d *decoder) scan(line []byte, begin int32) (more bool) {
	plain := bytes.IndexByte(line, '\'') < 0 // no comment in it
	for at := 0; at < len(line); {
		switch c := line[at]; {
		case c <= ' ':
			at++
		case c == '\'':
			end := bytes.IndexByte(line[at+1:], '\'')
			if end < 0 {
				d.wrong = append(d.wrong, problem{begin, int32(at), "an apostrophe at the end of the comment"})
				return false
			}
			d.comments = append(d.comments, comment{len(d.tokens), line[at+1 : at+1+end]})
			at += end + 2
		case c == '"':
			end := bytes.IndexByte(line[at+1:], '"')
			if end < 0 {
				d.wrong = append(d.wrong, problem{begin, int32(at), "a quotation mark at the end of the name"})
				return false
			}
			d.tokens = append(d.tokens, token{line[at+1 : at+1+end], begin, int32(at)})
			at += end + 2
		default:
			end := itrace.WordEnd(line, at)
			if !plain {
				if n := bytes.IndexByte(line[at:end], '\''); n >= 0 {
					end = at + n
				}
			}
			if c == '\\' && end == at+1 && end == len(line) {
				return true
			}
			d.tokens = append(d.tokens, token{line[at:end], begin, int32(at)})
			at = end
		}
	}
	return false
}

// key is a kind of element.
type key uint8

const (
	isNone key = iota
	isVersion
	isVendor
	isParams
	isHart
	isIssue
	isOrder
	isRet
	isTrap
	isX
	isF
	isV
	isC
	isMode
	isVirt
	isDebug
	isCycle
	isTime
	isMem
	isNet
	isState
	isCancel
	isMeta
	isLoad
	isStore
)

// arguments are how many tokens a key has behind it; in front of what an element counts itself.
var arguments = [...]int{isVersion: 2, isVendor: 3, isParams: 1, isHart: 1, isIssue: 1, isOrder: 1, isRet: 2, isTrap: 2, isX: 2,
	isF: 2, isV: 2, isC: 2, isMode: 1, isVirt: 1, isDebug: 1, isCycle: 1, isTime: 1, isMem: 5, isNet: 2, isState: 2, isCancel: 1,
	isMeta: 1, isLoad: 2, isStore: 2}

// keyOf is the key that a word is, isNone for any other.
func keyOf(word []byte) key {
	if len(word) == 1 {
		switch word[0] | 0x20 {
		case 'x':
			return isX
		case 'f':
			return isF
		case 'v':
			return isV
		case 'c':
			return isC
		}
		return isNone
	}
	switch string(word) {
	case "RET", "REG":
		return isRet
	case "TRAP":
		return isTrap
	case "HART":
		return isHart
	case "MODE":
		return isMode
	case "MEM":
		return isMem
	case "CYCLE":
		return isCycle
	case "TIME":
		return isTime
	case "ORDER":
		return isOrder
	case "ISSUE":
		return isIssue
	case "VIRT":
		return isVirt
	case "DM":
		return isDebug
	case "NET":
		return isNet
	case "META":
		return isMeta
	case "VERSION":
		return isVersion
	case "VENDOR":
		return isVendor
	case "PARAMS":
		return isParams
	case "STATE":
		return isState
	case "CANCEL":
		return isCancel
	case "LOAD":
		return isLoad
	case "STORE":
		return isStore
	}
	return isNone
}

// element is a key with its arguments, which begin behind the token of the key.
type element struct {
	key   key
	token int
}

// parse makes elements of the tokens. What is no element is a problem up to the next key.
func (d *decoder) parse() {
	cut := len(d.wrong) > 0 // a token is not whole, which is problem enough
	for i := 0; i < len(d.tokens); {
		k := keyOf(d.tokens[i].text)
		if k == isNone {
			d.fail(i, "RET, TRAP, X, C or another key of RVVI-TEXT")
			i = d.nextKey(i + 1)
			continue
		}
		end := i + 1 + arguments[k]
		if end <= len(d.tokens) && (k == isParams || k == isMem || k == isMeta) {
			n, ok := d.decimal(end - 1)
			if !ok || n > uint64(len(d.tokens)) {
				d.fail(end-1, "a number of pairs or tokens")
				i = d.nextKey(end)
				continue
			}
			if k != isMeta {
				n *= 2
			}
			end += int(n)
		}
		if end > len(d.tokens) {
			if !cut {
				d.fail(len(d.tokens), "as many arguments as the key has")
			}
			return
		}
		d.elements = append(d.elements, element{k, i})
		i = end
	}
}

// nextKey returns where the next key is from a token on, or the end.
func (d *decoder) nextKey(i int) int {
	for i < len(d.tokens) && keyOf(d.tokens[i].text) == isNone {
		i++
	}
	return i
}

// fail notes that a token is not what was expected; the one behind the last is the end of the line.
func (d *decoder) fail(i int, expected string) {
	if i < len(d.tokens) {
		d.wrong = append(d.wrong, problem{d.tokens[i].line, d.tokens[i].at, expected})
		return
	}
	last := d.tokens[len(d.tokens)-1]
	d.wrong = append(d.wrong, problem{last.line, math.MaxInt32, expected})
}

// comment is the first behind a token, nil if there is none.
func (d *decoder) comment(i int) []byte {
	for _, c := range d.comments {
		if c.behind == i+1 {
			return c.text
		}
	}
	return nil
}

// decimal is the value of a token.
func (d *decoder) decimal(i int) (uint64, bool) { return itrace.ParseDecimal(d.tokens[i].text) }

// hex is the value of a token with 0x or without, of which all digits are known.
func (d *decoder) hex(i int) (value uint64, digits []byte, ok bool) {
	digits = d.digits(i)
	value, wrong := number(digits)
	if wrong {
		value, ok = itrace.ParseHex(digits)
		return value, digits, ok
	}
	return value, digits, true
}

// value is hex for what may have unknown digits, and any number of them.
func (d *decoder) value(i int) (value uint64, digits []byte, wild, ok bool) {
	digits = d.digits(i)
	value, wrong := number(digits)
	if wrong {
		value, wild, ok = itrace.ParseDigits(digits)
		return value, digits, wild, ok
	}
	return value, digits, false, true
}

// digits is the text of a token without 0x.
func (d *decoder) digits(i int) []byte {
	text := d.tokens[i].text
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		return text[2:]
	}
	return text
}

// number is the value of up to 16 digits, by what can be read behind them; wrong for all that this does not do.
func number(digits []byte) (value uint64, wrong bool) {
	if width := len(digits); width == 0 || width > 16 || cap(digits) < swar.Lookahead {
		return 0, true
	}
	value, bad := swar.Hex(digits[:cap(digits)], 0, len(digits))
	return value, bad != 0
}
