package query

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"tracewell/internal/jsontext"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/itrace/query"
	"tracewell/view/wire"
)

// object prints an object of JSON on a line.
func (a *answer) object(value any) error { return jsontext.Write(a.Output, value, "") }

// listing is instructions as rows of a table or as objects of JSON, one a line. Both are written as answers are found, so a reader
// of a pipe sees the first before the search has ended; the table holds back the rows by which it fixes its widths.
type listing struct {
	*answer
	table *text.Table // not used for JSON
	count int         // of instructions
}

// list begins a listing, with the columns that the trace has something for, and others behind them.
func (a *answer) list(more ...text.Column) *listing {
	columns := []text.Column{{Title: "instruction", Right: true}}
	// A column that would be empty, or the same in all rows, is left out.
	if a.LastTime > 0 {
		columns = append(columns, text.Column{Title: "time", Right: true})
	}
	if len(a.CPUs) > 1 {
		columns = append(columns, text.Column{Title: "cpu", Right: true})
	}
	columns = append(columns, text.Column{Title: "pc"})
	if a.Program != nil {
		columns = append(columns, text.Column{Title: "function"}, text.Column{Title: "line"})
	}
	columns = append(append(columns, more...), text.Column{Title: "disassembly"})
	return &listing{answer: a, table: text.NewTable(a.Output, a.Width, a.Style, columns...)}
}

// add adds an instruction: its object, or a row with the cells of the columns that list was given.
func (l *listing) add(s query.Step, object any, more ...string) error {
	if l.count++; l.json {
		return l.object(object)
	}
	return l.row(s, more...)
}

// end prints what is held back, also after a search that failed. Where nothing was found the message is for people only: to a
// program no line says it, and standard output stays empty.
func (l *listing) end(nothing string, failed error) error {
	switch {
	case failed != nil && l.count == 0:
		return nil
	case l.count == 0:
		_, err := fmt.Fprintln(l.messages, "tracewell: "+text.Visible(nothing))
		return err
	case l.json:
		return nil
	}
	return l.table.Flush()
}

// row adds a row. The cells have the words that JSON has, so that both say the same. The texts come from the trace, so what
// commands a terminal in them is escaped.
func (l *listing) row(s query.Step, more ...string) error {
	d := wire.DescribeStep(l.Trace, s)
	cells := []string{strconv.FormatInt(s.Number, 10)}
	if l.LastTime > 0 {
		cells = append(cells, optional(d.Time))
	}
	if len(l.CPUs) > 1 {
		cells = append(cells, optional(d.CPU))
	}
	// The address stands beside its symbol, as in a disassembly.
	cells = append(cells, d.PC)
	if l.Program != nil {
		cells = append(cells, d.Symbol, sourceLine(s.Place))
	}
	// Where the producer does not disassemble, the opcode tells more than nothing.
	// Producers put tabs between mnemonic and operands, or many blanks.
	words := strings.Join(strings.Fields(d.Disassembly), " ")
	if words == "" {
		words = d.Opcode
	}
	// Either means that the instruction has no effects, which would puzzle otherwise.
	switch {
	case d.Skipped:
		words += " (skipped)"
	case d.Trapped:
		words += " (trapped)"
	}
	// Escapes do not depend on the terminal: a table in a file may be shown on one later.
	var visible [][]byte
	for _, cell := range append(append(cells, more...), words) {
		visible = append(visible, []byte(text.Visible(cell)))
	}
	return l.table.Row(visible)
}

// optional is a number, or nothing: in front of the first instruction there is neither a processor nor a time.
func optional[N int32 | int64](n *N) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// sourceLine is a line of the source, by the name of its file alone: the folders are those of whoever compiled it.
func sourceLine(p query.Place) string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line)
}

// effect is an effect in words, as it stands below the row of its instruction. A value that the trace does not tell is shown as
// such, and never as zero.
func (a *answer) effect(it *index.Item) string {
	e := wire.DescribeEffect(a.Trace, it)
	// An event has no value, or one of its own meaning, such as the address of a fault.
	value := e.Value
	if value == "" {
		value = "not told"
	}
	// Some producers tell of an effect when it is there, as of a division that takes its time.
	if e.Back > 0 {
		value += fmt.Sprintf(", of the instruction %d before", e.Back)
	}
	switch it.Kind {
	case itrace.Register:
		return fmt.Sprintf("%s = %s", e.Register, value)
	case itrace.RegisterRead:
		return fmt.Sprintf("%s is %s", e.Register, value)
	case itrace.Event:
		return fmt.Sprintf("%s %s %s", e.Event, e.Cause, e.Value)
	}
	return fmt.Sprintf("%s %d bytes at %s: %s", e.Kind, e.Size, e.Address, value)
}

// within is where an answer was looked for, for the message that there is none: the range may be narrower than its user thinks, as
// where it ends with the first execution of a symbol.
func (a *answer) within() string {
	if a.From < 0 && a.To == a.Instructions {
		return ""
	}
	return fmt.Sprintf(" from instruction %d to %d", max(a.From, 0), a.To)
}

// search runs a question that is answered when all is searched, behind a bar. Others print what they find meanwhile, to the same
// terminal perhaps.
func (a *answer) search(question func() error) error {
	bar := progress.Start(a.messages, progress.Work{Name: "searching " + text.Visible(a.Execution.Name), Total: a.Bytes})
	a.Progress = bar.Set
	defer func() {
		a.Progress = nil
		bar.Done()
	}()
	return question()
}

// order says on standard error which byte order is assumed of memory where nothing tells it. A wrong one would show numbers that
// are wrong and look right.
func (a *answer) order() {
	if a.Execution.Machine == nil && a.Execution.Program == nil && a.endian == "auto" {
		fmt.Fprintf(a.messages, "tracewell: %v; memory is taken for little endian, unless --endian says otherwise\n", a.Execution.Unclear)
	}
}
