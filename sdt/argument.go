package sdt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Argument is where an argument of a probe is: an operand of x86-64 in the assembler's own words (AT&T syntax), with what
// kind of value it is.
type Argument struct {
	Text string // as the note has it
	Err  error  // why it cannot be understood, nil if it can; the rest is zero then

	Size   int  // bytes of the value: 1, 2, 4 or 8
	Signed bool // a signed integer
	Float  bool // a floating-point number of 4 or 8 bytes

	Place        Place
	Register     Register // Place is InRegister: which one; InMemory: the base, which may be none
	Index        Register // InMemory: added Scale times
	Scale        int
	Segment      string // InMemory: "fs_base" or "gs_base" is added; "" for none
	Displacement int64  // Constant: the value; InMemory: added
	Symbol       string // a symbol whose address is part of Displacement; "" for none
	Linked       bool   // it is, and so the bias has yet to be added; only Read finds symbols
}

// Place is where an operand is.
type Place uint8

// The places.
const (
	Constant Place = iota // in the instruction; the address of a symbol, too
	InRegister
	InMemory
)

// Register is one of the processor's registers or a part of one.
type Register struct {
	Name  string // of the whole register, as GDB's target descriptions call it: "rax", "xmm0"; "" for none
	Shift int    // bits below the part: 8 for ah, bh, ch and dh
	Size  int    // bytes of the part, at most 8
}

// ParseArguments reads the arguments of a note, which blanks separate:
//
//	[SIZE[f]@]OPERAND
//	SIZE      1, 2, 4 or 8 bytes, negative for a signed integer; f for floating point
//	OPERAND   $NUMBER, %REGISTER, or [%fs:|%gs:]DISPLACEMENT(%BASE,%INDEX,SCALE) with every part optional
//
// A displacement is a sum of numbers and at most one symbol. Without a size an argument counts as a signed one of eight
// bytes. One that is none of this has Err set and does not affect the others.
func ParseArguments(text string) []Argument {
	var arguments []Argument
	for _, word := range words(text) {
		a, err := parseArgument(word)
		if err != nil {
			a = Argument{Err: fmt.Errorf("argument %q: %w", word, err)}
		}
		a.Text = word
		arguments = append(arguments, a)
	}
	return arguments
}

// words splits at blanks that are not within parentheses.
func words(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return c == ' ' && depth <= 0
	})
}

func parseArgument(word string) (Argument, error) {
	a := Argument{Size: 8, Signed: true}
	operand := word
	if size, rest, ok := strings.Cut(word, "@"); ok && isSize(size) {
		if err := a.parseSize(size); err != nil {
			return a, err
		}
		operand = rest
	}
	return a, a.parseOperand(operand)
}

// isSize tells a size from the beginning of an operand that has an @ of its own, such as x@tpoff.
func isSize(s string) bool { return s != "" && strings.Trim(s, "-0123456789f") == "" }

func (a *Argument) parseSize(s string) error {
	s, a.Float = strings.CutSuffix(s, "f")
	n, err := strconv.Atoi(s)
	if err != nil {
		return fmt.Errorf("size %q is not a number", s)
	}
	if a.Signed = n < 0 && !a.Float; n < 0 {
		n = -n
	}
	a.Size = n
	if n != 1 && n != 2 && n != 4 && n != 8 || a.Float && n < 4 {
		return fmt.Errorf("no value has a size of %s", s)
	}
	return nil
}

func (a *Argument) parseOperand(s string) error {
	if constant, ok := strings.CutPrefix(s, "$"); ok {
		a.Place = Constant
		return a.parseSum(constant)
	}
	if segment, rest, ok := strings.Cut(s, ":"); ok {
		var err error
		if a.Segment, err = parseSegment(segment); err != nil {
			return err
		}
		a.Place = InMemory
		return a.parseMemory(rest)
	}
	if strings.HasPrefix(s, "%") {
		a.Place = InRegister
		var err error
		a.Register, err = parseRegister(s)
		return err
	}
	a.Place = InMemory
	return a.parseMemory(s)
}

func (a *Argument) parseMemory(s string) error {
	displacement, registers, based := strings.Cut(s, "(")
	if displacement != "" || !based {
		if err := a.parseSum(displacement); err != nil {
			return err
		}
	}
	if !based {
		return nil
	}
	registers, closed := strings.CutSuffix(registers, ")")
	if !closed {
		return errors.New("a parenthesis is not closed")
	}
	parts := strings.Split(strings.ReplaceAll(registers, " ", ""), ",")
	if len(parts) > 3 {
		return errors.New("more than a base, an index and a scale")
	}
	if err := a.parseBase(parts[0]); err != nil {
		return err
	}
	if len(parts) > 1 {
		return a.parseIndex(parts[1:])
	}
	return nil
}

// parseBase reads a base register. A symbol relative to the pc is just the symbol: the assembler has made the difference.
func (a *Argument) parseBase(s string) error {
	if s == "" || s == "%"+machine.PC && a.Symbol != "" {
		return nil
	}
	var err error
	a.Register, err = parseAddressRegister(s)
	return err
}

// parseIndex reads an index register and perhaps a scale.
func (a *Argument) parseIndex(parts []string) error {
	a.Scale = 1
	if len(parts) > 1 {
		scale, err := strconv.Atoi(parts[1])
		if err != nil || scale != 1 && scale != 2 && scale != 4 && scale != 8 {
			return fmt.Errorf("no index has a scale of %q", parts[1])
		}
		a.Scale = scale
	}
	if parts[0] == "" {
		return nil
	}
	var err error
	a.Index, err = parseAddressRegister(parts[0])
	return err
}

// parseSum reads numbers and at most one symbol, each but the first with a sign. A number is as in C: decimal, 0x or octal.
func (a *Argument) parseSum(s string) error {
	if s == "" {
		return errors.New("a number is missing")
	}
	for s != "" {
		negative := s[0] == '-'
		if negative || s[0] == '+' {
			s = s[1:]
		}
		end := strings.IndexAny(s, "+-")
		if end < 0 {
			end = len(s)
		}
		term := s[:end]
		s = s[end:]
		n, err := parseNumber(term)
		switch {
		case err == nil && negative:
			a.Displacement -= n
		case err == nil:
			a.Displacement += n
		case isSymbol(term) && !negative && a.Symbol == "":
			a.Symbol = term
		default:
			return fmt.Errorf("cannot read %q", term)
		}
	}
	return nil
}

// parseNumber reads up to 64 bits; a number that needs the highest of them is negative.
func parseNumber(s string) (int64, error) {
	if s == "" || s[0] < '0' || s[0] > '9' || strings.Contains(s, "_") {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseUint(s, 0, 64)
	return int64(n), err
}

// isSymbol reports whether s is the name of a symbol, without a relocation such as @GOTPCREL or @tpoff behind it.
func isSymbol(s string) bool {
	for i, c := range s {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '.' || c == '$'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
