package ax

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"tracewell/arch"
)

// A StringReader reads the string at addr up to the zero that ends it, or the first limit characters of it if that comes
// first. A wide string is one of wchar_t of four bytes each, as on Linux; it is returned in UTF-8.
type StringReader func(addr arch.Addr, wide bool, limit int) (string, error)

// MaxString is how much of a string is printed that no precision cuts short: the largest limit that a StringReader is given.
const MaxString = 4096

// FormatPrintf gives what C's printf would print for the format and arguments of a printf instruction. The format is as in
// the bytecode, with its C escapes undecoded.
//
// The conversions are d i u o x X c s p and %, with the flags - + space # 0, width, precision and the lengths hh h l ll j z
// t. An argument is a cell of the stack: without a length, its low 32 bits are printed; l, ll, j, z and t print all 64,
// which is right for 32-bit targets too, as GDB extends a value to the cell by its type. A %s argument is an address, which
// readString is asked for; 0 prints as (null). %lc and %ls print wide characters in UTF-8. There is no floating point, which
// GDB cannot compile and gdbserver refuses, no * and no %n.
//
// It is an error if the format is not such, if args does not have exactly one element for each conversion, or if readString
// fails.
func FormatPrintf(format string, args []int64, readString StringReader) (string, error) {
	pieces, err := parseFormat(format, len(args))
	if err != nil {
		return "", err
	}
	var out []byte
	used := 0
	for _, p := range pieces {
		out = append(out, p.literal...)
		if p.verb == 0 {
			continue
		}
		if out, err = p.append(out, args[used], readString); err != nil {
			return "", fmt.Errorf("printf format %q: argument %d: %w", format, used+1, err)
		}
		used++
	}
	return string(out), nil
}

// StringArgument is an argument of a printf instruction that is the address of a string.
type StringArgument struct {
	Arg   int // its index
	Wide  bool
	Limit int // characters that are printed of it at most
}

// StringArguments lists those of a format with a number of arguments, in order: FormatPrintf asks for each that is not 0.
func StringArguments(format string, args int) ([]StringArgument, error) {
	pieces, err := parseFormat(format, args)
	if err != nil {
		return nil, err
	}
	var list []StringArgument
	arg := 0
	for i := range pieces {
		p := &pieces[i]
		if p.verb == 's' {
			list = append(list, StringArgument{arg, p.wide, p.limit()})
		}
		if p.verb != 0 {
			arg++
		}
	}
	return list, nil
}

// CheckPrintf finds the first printf instruction that would fail whatever it is given, by its format or the number of its
// arguments. Decode does not look at either.
func (p *Program) CheckPrintf() error {
	for i := range p.steps {
		s := &p.steps[i]
		if s.unit != printing {
			continue
		}
		args := int(s.pops) - 2 // besides function and channel
		if _, err := parseFormat(p.formats[s.arg], args); err != nil {
			return p.fault(i, ErrPrintf, err)
		}
	}
	return nil
}

// parseFormat parses a format as it is in the bytecode, for a number of arguments.
func parseFormat(format string, args int) ([]piece, error) {
	text, err := decodeEscapes(format)
	if err != nil {
		return nil, fmt.Errorf("printf format %q: %w", format, err)
	}
	pieces, err := parsePieces(text)
	if err != nil {
		return nil, fmt.Errorf("printf format %q: %w", format, err)
	}
	if want := conversions(pieces); want != args {
		return nil, fmt.Errorf("printf format %q: takes %d arguments, %d given", format, want, args)
	}
	return pieces, nil
}

// conversions counts the pieces that take an argument.
func conversions(pieces []piece) (n int) {
	for _, p := range pieces {
		if p.verb != 0 {
			n++
		}
	}
	return n
}

// piece is some text and the conversion behind it.
type piece struct {
	literal string

	verb      byte // 0 for no conversion
	bits      int  // of the argument that count
	wide      bool // a character or string of wchar_t
	minus     bool
	plus      bool
	space     bool
	sharp     bool
	zero      bool
	width     int
	precision int // noPrecision if not given
}

const (
	noPrecision = -1

	// maxPadding bounds widths and precisions, which come from peers and ask for memory.
	maxPadding = 4096
)

// lengths are the length modifiers and the bits that they make count. Longer ones come before their prefixes.
var lengths = []struct {
	text string
	bits int
}{{"hh", 8}, {"h", 16}, {"ll", 64}, {"l", 64}, {"j", 64}, {"z", 64}, {"t", 64}, {"", 32}}

// parsePieces parses a format without escapes.
func parsePieces(text string) ([]piece, error) {
	var pieces []piece
	for {
		literal, rest, found := strings.Cut(text, "%")
		p := piece{literal: literal, precision: noPrecision}
		if !found {
			return append(pieces, p), nil
		}
		if text, found = strings.CutPrefix(rest, "%"); found {
			p.literal += "%"
			pieces = append(pieces, p)
			continue
		}
		var err error
		if text, err = p.parseConversion(rest); err != nil {
			return nil, fmt.Errorf("conversion %q: %w", "%"+rest[:len(rest)-len(text)], err)
		}
		pieces = append(pieces, p)
	}
}

// parseConversion parses what follows the % and returns the text behind it.
func (p *piece) parseConversion(text string) (rest string, err error) {
	text = p.parseFlags(text)
	if text, p.width, err = parsePadding(text); err != nil {
		return text, err
	}
	if after, found := strings.CutPrefix(text, "."); found {
		if text, p.precision, err = parsePadding(after); err != nil {
			return text, err
		}
	}
	modifier := ""
	for _, l := range lengths {
		if strings.HasPrefix(text, l.text) {
			modifier, p.bits = l.text, l.bits
			break
		}
	}
	if text = text[len(modifier):]; text == "" {
		return text, fmt.Errorf("ends early, want one of d i u o x X c s p")
	}
	p.verb = text[0]
	switch {
	case strings.IndexByte("diuoxXcsp", p.verb) < 0:
		err = fmt.Errorf("%q is not one of d i u o x X c s p", p.verb)
	case modifier == "l" && (p.verb == 'c' || p.verb == 's'):
		p.wide = true
	case modifier != "" && strings.IndexByte("csp", p.verb) >= 0:
		err = fmt.Errorf("%q takes no length %s", p.verb, modifier)
	}
	return text[1:], err
}

func (p *piece) parseFlags(text string) (rest string) {
	for i := range len(text) {
		switch text[i] {
		case '-':
			p.minus = true
		case '+':
			p.plus = true
		case ' ':
			p.space = true
		case '#':
			p.sharp = true
		case '0':
			p.zero = true
		default:
			return text[i:]
		}
	}
	return ""
}

// parsePadding parses a width or a precision, 0 if there are no digits.
func parsePadding(text string) (rest string, n int, err error) {
	for text != "" && '0' <= text[0] && text[0] <= '9' {
		if n = 10*n + int(text[0]-'0'); n > maxPadding {
			return text, 0, fmt.Errorf("width or precision over %d", maxPadding)
		}
		text = text[1:]
	}
	return text, n, nil
}

// append appends arg as the conversion prints it.
func (p *piece) append(dst []byte, arg int64, readString StringReader) ([]byte, error) {
	switch p.verb {
	case 'c':
		if p.wide {
			return p.pad(dst, "", string(rune(int32(arg)))), nil
		}
		return p.pad(dst, "", string([]byte{byte(arg)})), nil
	case 's':
		s, err := p.text(arch.Addr(arg), readString)
		return p.pad(dst, "", s), err
	case 'p':
		if arg == 0 {
			return p.pad(dst, "", "(nil)"), nil // as glibc has it
		}
		return p.pad(dst, "", arch.Addr(arg).String()), nil
	case 'd', 'i':
		return p.appendSigned(dst, arg), nil
	default:
		return p.appendUnsigned(dst, arg), nil
	}
}

// limit is how many characters of a string are printed.
func (p *piece) limit() int {
	if p.precision != noPrecision {
		return min(MaxString, p.precision)
	}
	return MaxString
}

// text is the string at addr, as much of it as the precision allows. That is bytes of a wide string, too, but whole
// characters.
func (p *piece) text(addr arch.Addr, readString StringReader) (string, error) {
	s := "(null)"
	if addr != 0 {
		var err error
		if s, err = readString(addr, p.wide, p.limit()); err != nil {
			return "", fmt.Errorf("string at %v: %w", addr, err)
		}
	}
	if p.precision == noPrecision || p.precision >= len(s) {
		return s, nil
	}
	cut := p.precision
	for p.wide && cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut], nil
}

func (p *piece) appendSigned(dst []byte, arg int64) []byte {
	arg = arg << (64 - p.bits) >> (64 - p.bits)
	magnitude, sign := uint64(arg), ""
	switch {
	case arg < 0:
		magnitude, sign = -magnitude, "-"
	case p.plus:
		sign = "+"
	case p.space:
		sign = " "
	}
	return p.padNumber(dst, sign, p.digits(magnitude, 10))
}

func (p *piece) appendUnsigned(dst []byte, arg int64) []byte {
	v := uint64(arg) << (64 - p.bits) >> (64 - p.bits)
	switch p.verb {
	case 'o':
		digits := p.digits(v, 8)
		if p.sharp && !strings.HasPrefix(digits, "0") {
			digits = "0" + digits
		}
		return p.padNumber(dst, "", digits)
	case 'x', 'X':
		digits, prefix := p.digits(v, 16), ""
		if p.sharp && v != 0 {
			prefix = "0x"
		}
		if p.verb == 'X' {
			digits, prefix = strings.ToUpper(digits), strings.ToUpper(prefix)
		}
		return p.padNumber(dst, prefix, digits)
	default:
		return p.padNumber(dst, "", p.digits(v, 10))
	}
}

// digits is v in base, with as many digits as the precision asks for at least. 0 has no digits if it asks for none.
func (p *piece) digits(v uint64, base int) string {
	if v == 0 && p.precision == 0 {
		return ""
	}
	digits := strconv.FormatUint(v, base)
	return strings.Repeat("0", max(0, p.precision-len(digits))) + digits
}

// padNumber pads to the width, with zeros if they are asked for and neither a precision nor - overrules them.
func (p *piece) padNumber(dst []byte, prefix, digits string) []byte {
	if p.zero && !p.minus && p.precision == noPrecision {
		prefix += strings.Repeat("0", max(0, p.width-len(prefix)-len(digits)))
	}
	return p.pad(dst, prefix, digits)
}

// pad appends prefix and text, padded to the width with blanks.
func (p *piece) pad(dst []byte, prefix, text string) []byte {
	blanks := bytes.Repeat([]byte{' '}, max(0, p.width-len(prefix)-len(text)))
	if !p.minus {
		dst = append(dst, blanks...)
	}
	dst = append(append(dst, prefix...), text...)
	if p.minus {
		dst = append(dst, blanks...)
	}
	return dst
}
