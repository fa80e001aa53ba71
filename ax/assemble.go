package ax

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Assemble makes bytecode of the text form. It accepts what Program.String and Disassemble print, and more:
//
//	text        one line after another
//	line        [label] [instruction] [# comment]
//	label       a number, or a name and a colon
//	instruction opcode [operand] | printf COUNT "FORMAT"
//
// A number before an instruction is a label like a name, so an edited disassembly need not be renumbered: "goto 17" goes
// to the line that 17 stands before, wherever that is by now. If no line has the number it is an offset. Numbers are
// decimal, or hexadecimal after 0x. The format of printf is a Go string literal, raw or interpreted, of the bytes that the
// bytecode holds; C escapes belong in a raw one.
//
// The result is verified as by Decode. Errors are of type *SyntaxError, but for ErrEmptyExpression.
func Assemble(text string) ([]byte, error) {
	a := assembler{labels: make(map[string]*symbol)}
	for i, line := range strings.Split(text, "\n") {
		a.at = position{line: i + 1}
		if err := a.line(cursor{text: line}); err != nil {
			return nil, err
		}
	}
	return a.finish()
}

// SyntaxError is a fault in the text form.
type SyntaxError struct {
	Line, Column int // from 1; the column counts bytes
	Problem      error
}

// Error gives place and problem.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Problem)
}

// Unwrap gives the problem: an *Error if the text is right and the program is not.
func (e *SyntaxError) Unwrap() error { return e.Problem }

// position is a place in the text.
type position struct{ line, column int }

func (p position) fault(problem error) error { return &SyntaxError{p.line, p.column, problem} }

// symbol is a label of the text: a name, or a number in decimal.
type symbol struct {
	label  Label
	bound  bool
	used   bool
	usedAt position // where it was used first
}

// assembler is the state of one call of Assemble.
type assembler struct {
	builder Builder
	labels  map[string]*symbol
	order   []string   // of the labels as they came up
	at      position   // of the token at hand
	places  []position // by offset: the instruction that starts there
}

// line assembles one line.
func (a *assembler) line(c cursor) error {
	word, err := a.next(&c)
	if err != nil {
		return err
	}
	if key, ok := labelKey(word); ok {
		if err := a.bind(key, word); err != nil {
			return err
		}
		if word, err = a.next(&c); err != nil {
			return err
		}
	}
	if word == "" {
		return nil
	}
	op, ok := opsByName[word]
	if !ok {
		return a.at.fault(fmt.Errorf("%q is no opcode", word))
	}
	start := a.at
	if err := a.instruction(op, &c); err != nil {
		return err
	}
	for len(a.places) < a.builder.Offset() {
		a.places = append(a.places, start)
	}
	if word, err = a.next(&c); err == nil && word != "" {
		err = a.at.fault(fmt.Errorf("%q follows the instruction, want the end of the line", word))
	}
	return err
}

// next takes a token off the line and makes its place that of errors.
func (a *assembler) next(c *cursor) (string, error) {
	word, column, err := c.next()
	a.at.column = column
	if err != nil {
		return "", a.at.fault(err)
	}
	return word, nil
}

// labelKey tells whether word is a label before an instruction, and by what key it is known.
func labelKey(word string) (string, bool) {
	if name, ok := strings.CutSuffix(word, ":"); ok {
		return name, isName(name)
	}
	return numericKey(word)
}

// numericKey is the decimal form of a number.
func numericKey(word string) (string, bool) {
	v, err := parseNumber(word)
	return strconv.FormatUint(v, 10), err == nil
}

// symbol finds or makes the label of key.
func (a *assembler) symbol(key string) *symbol {
	s := a.labels[key]
	if s == nil {
		s = &symbol{label: a.builder.NewLabel()}
		a.labels[key] = s
		a.order = append(a.order, key)
	}
	return s
}

// bind makes key the label of the next instruction.
func (a *assembler) bind(key, word string) error {
	s := a.symbol(key)
	if s.bound {
		return a.at.fault(fmt.Errorf("%q labels two places", word))
	}
	s.bound = true
	a.builder.Bind(s.label)
	return nil
}

// instruction assembles the operand of op, and op with it.
func (a *assembler) instruction(op Op, c *cursor) error {
	switch opcodes[op].operand {
	case none:
		a.builder.Emit(op)
		return a.built()
	case target:
		return a.jump(op, c)
	}
	word, err := a.next(c)
	if err != nil {
		return err
	}
	operand, err := parseNumber(word)
	if err != nil {
		return a.at.fault(fmt.Errorf("operand of %v: want a number, got %q", op, word))
	}
	if op != OpPrintf {
		a.builder.Emit(op, operand)
		return a.built()
	}
	literal, err := a.next(c)
	if err != nil {
		return err
	}
	format, err := strconv.Unquote(literal)
	if err != nil || literal[0] == '\'' {
		return a.at.fault(fmt.Errorf("format of %v: want a string literal, got %q", op, literal))
	}
	a.builder.Printf(int(min(operand, 1<<16)), format)
	return a.built()
}

// jump assembles a jump to a label, which is known by its key until the end of the text.
func (a *assembler) jump(op Op, c *cursor) error {
	word, err := a.next(c)
	if err != nil {
		return err
	}
	key, ok := numericKey(word)
	if !ok {
		if key = word; !isName(word) {
			return a.at.fault(fmt.Errorf("operand of %v: want a label or a number, got %q", op, word))
		}
	}
	s := a.symbol(key)
	if !s.used {
		s.used, s.usedAt = true, a.at
	}
	a.builder.Jump(op, s.label)
	return a.built()
}

// built reports the builder's mistake as one at the present place.
func (a *assembler) built() error {
	if a.builder.err == nil {
		return nil
	}
	return a.at.fault(a.builder.err)
}

// finish takes numbers that label no line for offsets, and verifies the whole.
func (a *assembler) finish() ([]byte, error) {
	for _, key := range a.order {
		s := a.labels[key]
		if s.bound {
			continue
		}
		offset, err := strconv.ParseUint(key, 10, 16)
		if err != nil {
			return nil, s.usedAt.fault(fmt.Errorf("%q labels no line", key))
		}
		a.builder.bindTo(s.label, int(offset))
	}
	p, err := a.builder.Program()
	if fault := (*Error)(nil); errors.As(err, &fault) {
		return nil, a.places[fault.Offset].fault(fault)
	}
	if err != nil {
		return nil, err
	}
	return p.Code(), nil
}
