package tracetext

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

// A definer makes definition lines of their statements. Most lines are of one statement; those of the status, of a
// tracepoint with a condition and of actions go on over several, and so a line is given away when the next one begins.
type definer struct {
	emit func(line []byte) error // takes a definition line without its LF

	// The line that is being made.
	kind       definitionKind
	text       []byte
	tracepoint trace.Tracepoint // when kind is definedTracepoint
	code       *expression      // whose instructions follow, nil for none

	key   trace.Key // of the tracepoint that pieces are of
	keyed bool

	measured bool // the R line comes last, with what the target description says
}

// definitionKind tells by what statements a definition line may be continued.
type definitionKind uint8

const (
	definedNothing    definitionKind = iota
	definedLine                      // by none
	definedStatus                    // by items
	definedTracepoint                // by a condition
	definedActions                   // by further actions
)

// expression is an agent expression of which the instructions are being read.
type expression struct {
	at    *Error // the place of the statement, for errors that are of no instruction
	text  []byte
	lines []int // number of each line of text
	take  func(code []byte)
}

// maxCode is how long an expression may be to stand as instructions, in bytes as in lines; jumps reach no further.
const maxCode = 1 << 16

// add adds the line at hand.
func (e *expression) add(c *cursor) {
	if len(e.lines) == maxCode {
		c.failure(fmt.Sprintf("found more than %d instructions, expected as many at most; as bytes there may be more", maxCode))
	}
	e.text = append(append(e.text, c.text...), '\n')
	e.lines = append(e.lines, c.line)
	c.pos = len(c.text)
}

// definitionStatements are the statements that make a definition line or tell of which tracepoint the next ones are.
var definitionStatements = map[string]func(*definer, *cursor){
	"line":          (*definer).verbatim,
	"register-size": (*definer).registerSize,
	"tdesc":         func(*definer, *cursor) {},
	"status":        (*definer).status,
	"variable":      (*definer).variable,
	"tracepoint":    (*definer).definition,
	"of":            (*definer).of,
	"at":            source(trace.SourceAt),
	"cond":          source(trace.SourceCond),
	"command":       source(trace.SourceCommand),
	"collect":       func(d *definer, c *cursor) { d.actions(trace.PieceActions, c) },
	"while-stepping": func(d *definer, c *cursor) {
		c.literal("collect")
		d.actions(trace.PieceStepActions, c)
	},
	"hits": (*definer).counts,
}

// statement takes a statement, of which word is the first word.
func (d *definer) statement(word []byte, c *cursor) error {
	if d.continues(word, c) {
		return c.end()
	}
	if err := d.flush(); err != nil {
		return err
	}
	if word[0] == '|' {
		d.begin(definedLine, "tdesc ", string(bytes.TrimPrefix(c.text[c.at+1:], []byte(" "))))
		return nil
	}
	read := definitionStatements[string(word)]
	if read == nil {
		c.fail("a definition, frames, frame, end or rest")
	} else {
		read(d, c)
	}
	return c.end()
}

// continues takes a statement that goes on with the line that is being made, and reports whether this is one.
func (d *definer) continues(word []byte, c *cursor) bool {
	switch {
	case d.code != nil && (digitValues[word[0]] < 10 || word[len(word)-1] == ':'):
		d.code.add(c)
	case d.kind == definedStatus:
		return d.statusItem(string(word), c)
	case d.kind == definedTracepoint && string(word) == "condition":
		d.expression(c, func(code []byte) { d.tracepoint.Condition = code })
	case d.kind == definedActions && string(word) == "also":
		if err := d.assemble(); err != nil {
			c.err = err
			return true
		}
		d.action(c)
	default:
		return false
	}
	return true
}

// begin begins a line with the given text.
func (d *definer) begin(kind definitionKind, text ...string) {
	d.kind = kind
	d.text = d.text[:0]
	for _, t := range text {
		d.text = append(d.text, t...)
	}
}

// flush gives away the line that is being made, if there is one.
func (d *definer) flush() error {
	if err := d.assemble(); err != nil {
		return err
	}
	kind := d.kind
	d.kind = definedNothing
	switch kind {
	case definedNothing:
		return nil
	case definedTracepoint:
		d.text = append(append(d.text[:0], "tp "...), d.tracepoint.Pieces()[0]...)
	}
	return d.emit(d.text)
}

// assemble finishes the expression whose instructions are being read, if there is one.
func (d *definer) assemble() *Error {
	e := d.code
	if e == nil {
		return nil
	}
	d.code = nil
	code, err := ax.Assemble(string(e.text))
	if syntax := (*ax.SyntaxError)(nil); errors.As(err, &syntax) {
		return &Error{e.lines[syntax.Line-1], max(syntax.Column, 1), syntax.Problem.Error()}
	}
	if err != nil {
		return &Error{e.at.Line, e.at.Column, err.Error() + ", expected its instructions on the lines below, each behind its number"}
	}
	e.take(code)
	return nil
}

// expression reads the bytes of an expression or, if there are none, has its instructions read from the lines that follow.
func (d *definer) expression(c *cursor, take func(code []byte)) {
	at := &Error{Line: c.line, Column: c.at + 1}
	if code := c.bytes(nil); len(code) > 0 {
		take(code)
	} else {
		d.code = &expression{at: at, take: take}
	}
}

func (d *definer) verbatim(c *cursor) {
	text := c.quoted("the line")
	if text == "" || bytes.ContainsRune([]byte(text), '\n') {
		c.fail("a text of one line that is not empty")
	}
	d.begin(definedLine, text)
}

func (d *definer) registerSize(c *cursor) {
	if d.measured = c.accept("tdesc"); d.measured {
		return
	}
	d.begin(definedLine, fmt.Sprintf("R %x", c.unsigned("the bytes of a register block", math.MaxInt32)))
}

func (d *definer) status(c *cursor) {
	d.begin(definedStatus, "status 0")
	if c.choice("running", "stopped") {
		d.text[len(d.text)-1] = '1'
	}
}

// statusItem takes an item of the status line and reports whether this is one.
func (d *definer) statusItem(key string, c *cursor) bool {
	value, known := statusValues[key]
	switch {
	case known:
		d.text = append(append(append(d.text, ';'), key...), ':')
		d.text = value.read(d.text, c)
	case key == "item":
		d.text = append(append(d.text, ';'), c.quoted("the item")...)
	}
	return known || key == "item"
}

func (d *definer) variable(c *cursor) {
	v := trace.Variable{Number: trace.VariableNumber(c.unsigned("the number of a variable", math.MaxUint16))}
	v.Name = c.variableName()
	c.literal("=")
	v.Initial = c.signed("a value", math.MinInt64, math.MaxInt64)
	v.Builtin = c.accept("builtin")
	d.begin(definedLine, "tsv ", v.String())
}

// variableName expects the name of a trace state variable, behind a $ or as a string.
func (c *cursor) variableName() string {
	if c.peek() == '"' {
		return c.quoted("a name")
	}
	word := c.next()
	if len(word) == 0 || word[0] != '$' {
		c.fail("a variable, its name behind a $ or as a string")
		return ""
	}
	return string(word[1:])
}

// tracepointKey expects the number and the address of a tracepoint, of which the next pieces are then.
func (d *definer) tracepointKey(c *cursor) {
	d.key.Number = trace.Number(c.unsigned("the number of a tracepoint", math.MaxInt32))
	c.literal("at")
	d.key.Addr = arch.Addr(c.unsigned("an address", math.MaxUint64))
	d.keyed = true
}

func (d *definer) of(c *cursor) {
	c.literal("tracepoint")
	d.tracepointKey(c)
}

func (d *definer) definition(c *cursor) {
	d.begin(definedTracepoint)
	d.tracepointKey(c)
	t := trace.Tracepoint{Number: d.key.Number, Addr: d.key.Addr}
	t.Enabled = c.choice("enabled", "disabled")
	if c.accept("step") {
		t.Step = c.unsigned("a number of steps", math.MaxUint64)
	}
	if c.accept("pass") {
		t.Pass = c.unsigned("a pass count", math.MaxUint64)
	}
	if t.Fast = c.accept("fast"); t.Fast {
		t.FastLength = int(c.unsigned("the length of an instruction", math.MaxInt32))
	}
	t.Static = c.accept("static")
	d.tracepoint = t
}

// piece begins the line of a piece of the tracepoint at hand, up to what follows its key.
func (d *definer) piece(kind definitionKind, letter trace.PieceKind, c *cursor) {
	if !d.keyed {
		c.failure("the tracepoint is not known, expected above a line tracepoint … or of tracepoint …")
	}
	d.begin(kind, fmt.Sprintf("tp %c%x:%x:", letter, int(d.key.Number), uint64(d.key.Addr)))
}

func source(kind trace.SourceType) func(*definer, *cursor) {
	return func(d *definer, c *cursor) {
		d.piece(definedLine, trace.PieceSource, c)
		text := c.quoted("the text")
		d.text = fmt.Appendf(d.text, "%s:0:%x:%x", kind, len(text), text)
	}
}

func (d *definer) counts(c *cursor) {
	d.piece(definedLine, trace.PieceCounts, c)
	hits := c.unsigned("a number of hits", math.MaxUint64)
	c.literal("usage")
	d.text = fmt.Appendf(d.text, "%x:%x", hits, c.unsigned("a number of bytes", math.MaxUint64))
}

// actions begins a line of actions and reads the first one, if there is any.
func (d *definer) actions(kind trace.PieceKind, c *cursor) {
	d.piece(definedActions, kind, c)
	if !c.accept("nothing") {
		d.action(c)
	}
}

// actionStatements read what follows the word that tells what is collected.
var actionStatements = map[string]func(*definer, *cursor){
	"registers": func(d *definer, c *cursor) {
		mask := c.bytes(nil)
		if len(mask) == 0 {
			c.fail("a mask of registers, as bytes of two hexadecimal digits")
		}
		d.add(trace.Action{Kind: trace.CollectRegisters, Mask: mask})
	},
	"memory": func(d *definer, c *cursor) {
		a := trace.Action{Kind: trace.CollectMemory, Base: trace.Absolute}
		a.Length = c.unsigned("a length", math.MaxUint64)
		c.literal("bytes", "at")
		a.Offset = c.unsigned("an address or an offset", math.MaxUint64)
		if c.accept("from") {
			c.literal("register")
			a.Base = arch.Reg(c.unsigned("the number of a register", math.MaxInt32))
		}
		d.add(a)
	},
	"expression": func(d *definer, c *cursor) {
		d.expression(c, func(code []byte) { d.add(trace.Action{Kind: trace.CollectExpression, Code: code}) })
	},
	"static": func(d *definer, c *cursor) { d.add(trace.Action{Kind: trace.CollectStatic}) },
}

func (d *definer) action(c *cursor) {
	read := actionStatements[string(c.next())]
	if read == nil {
		c.fail("registers, memory, expression or static")
		return
	}
	read(d, c)
}

func (d *definer) add(a trace.Action) { d.text = a.AppendText(d.text) }
