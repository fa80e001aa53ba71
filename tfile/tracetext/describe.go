package tracetext

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/tdesc"
	"tracewell/trace"
)

// A describer makes statements of definition lines. It has a definer make the line of them again; where that gives another
// line, as it does for all that is written otherwise than usual, the statement is the line itself as a string.
type describer struct {
	layout *tdesc.Layout // for the names of registers

	again  definer
	made   []byte // by again
	count  int    // of lines that again made
	before string // keyword of the line before
}

func newDescriber(layout *tdesc.Layout) *describer {
	d := &describer{layout: layout, before: "R"}
	d.again.emit = func(line []byte) error {
		d.made = append(d.made[:0], line...)
		d.count++
		return nil
	}
	return d
}

// describers append the statements for the rest of a line, behind the keyword and a space.
var describers = map[string]func(d *describer, dst []byte, rest string) []byte{
	"R":      (*describer).registerSize,
	"tdesc":  (*describer).description,
	"status": (*describer).status,
	"tsv":    (*describer).variable,
	"tp":     (*describer).piece,
}

// line appends the statements for a definition line.
func (d *describer) line(dst []byte, line string) []byte {
	keyword, rest, spaced := strings.Cut(line, " ")
	describe := describers[keyword]
	if describe == nil || !spaced {
		return appendVerbatim(dst, line)
	}
	start, key, keyed := len(dst), d.again.key, d.again.keyed
	if keyword != d.before && keyword != "tp" {
		dst = append(dst, '\n')
	}
	if dst = describe(d, dst, rest); !d.makes(dst[start:], line) {
		d.again.key, d.again.keyed = key, keyed
		return appendVerbatim(dst[:start], line)
	}
	d.before = keyword
	return dst
}

func appendVerbatim(dst []byte, line string) []byte {
	return append(strconv.AppendQuote(append(dst, "line "...), line), '\n')
}

// makes reports whether the statements make the line, and only that.
func (d *describer) makes(statements []byte, line string) bool {
	d.count = 0
	for text := range bytes.Lines(statements) {
		c := cursor{text: text[:len(text)-1]}
		if word := c.next(); len(word) > 0 && d.again.statement(word, &c) != nil {
			d.again.kind, d.again.code = definedNothing, nil
			return false
		}
	}
	return d.again.flush() == nil && d.count == 1 && string(d.made) == line
}

func (d *describer) registerSize(dst []byte, rest string) []byte {
	n, err := strconv.ParseUint(rest, 16, 31)
	if err != nil {
		return dst
	}
	return fmt.Appendf(dst, "register-size %d\n", n)
}

func (d *describer) description(dst []byte, rest string) []byte {
	if !isPlain(rest) {
		return dst
	}
	if d.before != "tdesc" {
		dst = append(dst, "tdesc\n"...)
	}
	dst = append(dst, '|')
	if rest != "" {
		dst = append(append(dst, ' '), rest...)
	}
	return append(dst, '\n')
}

func (d *describer) status(dst []byte, rest string) []byte {
	run, items, more := strings.Cut(rest, ";")
	state := "stopped"
	if run == "1" {
		state = "running"
	}
	dst = fmt.Appendf(dst, "status %s\n", state)
	for more {
		var item string
		item, items, more = strings.Cut(items, ";")
		dst = appendStatusItem(dst, item)
	}
	return dst
}

// appendStatusItem appends the statement for an item of the status line; the item as a string if its value is written
// otherwise than usual.
func appendStatusItem(dst []byte, item string) []byte {
	start := len(dst)
	key, value, _ := strings.Cut(item, ":")
	if form, known := statusValues[key]; known {
		dst = append(append(append(dst, "  "...), key...), ' ')
		shownAt := len(dst)
		var ok bool
		if dst, ok = form.show(dst, value); ok {
			again := cursor{text: dst[shownAt:]}
			if string(form.read(nil, &again)) == value && again.end() == nil {
				return append(dst, '\n')
			}
		}
	}
	dst = strconv.AppendQuote(append(dst[:start], "  item "...), item)
	return append(dst, '\n')
}

func (d *describer) variable(dst []byte, rest string) []byte {
	v, err := trace.ParseVariable(rest)
	if err != nil {
		return dst
	}
	name := strconv.Quote(v.Name)
	if isWord(v.Name) {
		name = "$" + v.Name
	}
	dst = fmt.Appendf(dst, "variable %d %s = %d", v.Number, name, v.Initial)
	if v.Builtin {
		dst = append(dst, " builtin"...)
	}
	return append(dst, '\n')
}

// pieceDescribers append the statements of each kind of piece.
var pieceDescribers = map[trace.PieceKind]func(d *describer, dst []byte, p trace.Piece) []byte{
	trace.PieceDefinition:  (*describer).definition,
	trace.PieceActions:     (*describer).actions,
	trace.PieceStepActions: (*describer).actions,
	trace.PieceSource: func(_ *describer, dst []byte, p trace.Piece) []byte {
		word := string(p.Source.Type)
		if p.Source.Type == trace.SourceCommand {
			word = "command"
		}
		return fmt.Appendf(dst, "  %s %s\n", word, strconv.Quote(p.Source.Text))
	},
	trace.PieceCounts: func(_ *describer, dst []byte, p trace.Piece) []byte {
		return fmt.Appendf(dst, "  hits %d usage %d\n", p.Hits, p.Usage)
	},
}

func (d *describer) piece(dst []byte, rest string) []byte {
	p, err := trace.ParsePiece(rest)
	if err != nil {
		return dst
	}
	if p.Kind != trace.PieceDefinition && (p.Key != d.again.key || !d.again.keyed) {
		dst = fmt.Appendf(dst, "\nof tracepoint %d at %v\n", p.Key.Number, p.Key.Addr)
	}
	return pieceDescribers[p.Kind](d, dst, p)
}

func (d *describer) definition(dst []byte, p trace.Piece) []byte {
	t := p.Definition
	state := "disabled"
	if t.Enabled {
		state = "enabled"
	}
	dst = fmt.Appendf(dst, "\ntracepoint %d at %v %s", t.Number, t.Addr, state)
	if t.Step > 0 {
		dst = fmt.Appendf(dst, " step %d", t.Step)
	}
	if t.Pass > 0 {
		dst = fmt.Appendf(dst, " pass %d", t.Pass)
	}
	if t.Fast {
		dst = fmt.Appendf(dst, " fast %d", t.FastLength)
	}
	if t.Static {
		dst = append(dst, " static"...)
	}
	dst = append(dst, '\n')
	if t.Condition != nil {
		dst = appendCode(append(dst, "  condition"...), t.Condition)
	}
	return dst
}

func (d *describer) actions(dst []byte, p trace.Piece) []byte {
	dst = append(dst, "  "...)
	if p.Kind == trace.PieceStepActions {
		dst = append(dst, "while-stepping "...)
	}
	dst = append(dst, "collect"...)
	if len(p.Actions) == 0 {
		return append(dst, " nothing\n"...)
	}
	for i, a := range p.Actions {
		if i > 0 {
			dst = append(dst, "    also"...)
		}
		dst = d.action(dst, a)
	}
	return dst
}

func (d *describer) action(dst []byte, a trace.Action) []byte {
	switch a.Kind {
	case trace.CollectRegisters:
		dst = fmt.Appendf(dst, " registers %x", a.Mask)
		return append(d.appendNames(dst, a.Registers()), '\n')
	case trace.CollectMemory:
		dst = fmt.Appendf(dst, " memory %d bytes at %#x", a.Length, a.Offset)
		if a.Base != trace.Absolute {
			dst = fmt.Appendf(dst, " from register %d", int(a.Base))
		}
		return append(dst, '\n')
	case trace.CollectExpression:
		return appendCode(append(dst, " expression"...), a.Code)
	}
	return append(dst, " static\n"...)
}

// mostNames is how many registers of a mask a comment names.
const mostNames = 8

// appendNames appends a comment with the names of the registers of a mask, or how many there are.
func (d *describer) appendNames(dst []byte, registers []arch.Reg) []byte {
	if len(registers) > mostNames {
		return fmt.Appendf(dst, "  # %d registers", len(registers))
	}
	var names []string
	for _, n := range registers {
		slot := d.layout.ByNumber(n)
		if slot == nil || !isPlain(slot.Reg.Name) {
			return dst
		}
		names = append(names, slot.Reg.Name)
	}
	if len(names) == 0 {
		return dst
	}
	return fmt.Appendf(dst, "  # %s", strings.Join(names, " "))
}

// appendCode appends the instructions of an expression, one a line, or its bytes if it cannot be assembled of those.
func appendCode(dst, code []byte) []byte {
	if len(code) <= maxCode {
		text, err := ax.Disassemble(code)
		if err == nil {
			if again, err := ax.Assemble(text); err == nil && bytes.Equal(again, code) {
				dst = append(dst, '\n')
				for line := range strings.Lines(text) {
					dst = append(append(dst, "  "...), line...)
				}
				return dst
			}
		}
	}
	return fmt.Appendf(dst, " %x\n", code)
}
