package query

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/text"
	"tracewell/itrace/index"
	"tracewell/itrace/query"
	"tracewell/view/wire"
)

// object is the operand of questions about something that has values. Registers come first, since users of a trace think of them:
// addresses have 0x in front, so that only names can mean either.
type object struct {
	Object string `arg:"" complete:"locations" help:"A register by any of its names, an address as 0x1000, a range as 0x1000..0x100f or 0x1000,16, or with --exec a variable; &NAME is a variable whose name is that of a register, too."`
}

// picking are the options of questions with many answers, as show has them. The first and the last are found without the others:
// from the beginning of the range forwards, or from its end backwards.
type picking struct {
	Limit flags.Positive `placeholder:"N" xor:"pick" help:"Only the first N."`
	Last  flags.Positive `placeholder:"N" xor:"pick" help:"Only the last N, which are found from the end of the range backwards."`
}

// pick is what the options are to the question.
func (p *picking) pick() query.Pick { return query.Pick{First: int64(p.Limit), Last: int64(p.Last)} }

// rowOutput is the option of questions whose answers are rows that can be a file, too. It has no format for waveforms: accesses are
// events, of which none is between two others.
type rowOutput struct {
	Output string `short:"o" placeholder:"FILE" help:"Write the answers to a file for another tool: .parquet."`
}

// writersCommand is "tracewell query writers". --last 1 is what a watchpoint backwards finds, without a debugger.
type writersCommand struct {
	asking
	object
	picking
	rowOutput
}

// Examples implements flags.Exampler.
func (*writersCommand) Examples() string {
	return `  tracewell query writers run.log a0             # every write of a register
  tracewell query writers run.log 0x10010..0x1001f --last 1   # who wrote these bytes last
  tracewell query writers run.log queue --exec fw.elf --from main --to 70000 --last 5
  tracewell query writers run.log 0x80001000,4 --json | jq -r .symbol | sort | uniq -c
`
}

// Run implements kong's command. What is looked for differs for registers and for memory.
func (c *writersCommand) Run(streams console.Streams) error {
	if c.Output != "" {
		return c.export(streams, c.Output, []string{c.Object}, map[string]exporter{
			".parquet": func(a *answer, objects []query.Object, out io.Writer) error {
				return a.accessTable(a.Writers, objects[0], c.pick(), [2]index.What{index.RegisterSet, index.Write}, out)
			},
		})
	}
	return c.ask(streams, func(a *answer) error {
		return a.accesses(a.Writers, c.Object, c.pick(), "writes", [2]index.What{index.RegisterSet, index.Write})
	})
}

// readersCommand is "tracewell query readers". Few producers tell of reads of registers, and those of others are not inferred from
// opcodes.
type readersCommand struct {
	asking
	object
	picking
	rowOutput
}

// Examples implements flags.Exampler.
func (*readersCommand) Examples() string {
	return `  tracewell query readers run.log 0x10010,4 --from 70000 --limit 1   # who reads it next
  tracewell query readers run.log queue --exec fw.elf --cpu 1
`
}

// Run implements kong's command.
func (c *readersCommand) Run(streams console.Streams) error {
	if c.Output != "" {
		return c.export(streams, c.Output, []string{c.Object}, map[string]exporter{
			".parquet": func(a *answer, objects []query.Object, out io.Writer) error {
				return a.accessTable(a.Readers, objects[0], c.pick(), [2]index.What{index.RegisterGet, index.Read}, out)
			},
		})
	}
	return c.ask(streams, func(a *answer) error {
		return a.accesses(a.Readers, c.Object, c.pick(), "reads", [2]index.What{index.RegisterGet, index.Read})
	})
}

// accessQuestion is Writers or Readers.
type accessQuestion func(context.Context, query.Object, query.Pick, func(query.Access) error) error

// accessTable writes accesses as rows of a file. No accesses are a file without rows, which scripts need no exception for; the
// table for people says it in words.
func (a *answer) accessTable(question accessQuestion, o query.Object, pick query.Pick, what [2]index.What, out io.Writer) error {
	file, err := newRowFile(out)
	if err != nil {
		return err
	}
	if err := question(a, o, pick, func(access query.Access) error {
		d := wire.DescribeAccess(a.Trace, access)
		return file.add(o.Text, d.Step, accessed(d), d.Value, d.Before)
	}); err != nil {
		return err
	}
	// A file with some accesses would be taken for one with all.
	a.gaps(o, what)
	return file.Flush()
}

// accessed is what was accessed, as an operand has it. It may be wider than what was asked about, or begin in front of it.
func accessed(d wire.Access) string {
	if d.Register != "" {
		return d.Register
	}
	return fmt.Sprintf("%s,%d", d.Address, d.Size)
}

// accesses prints accesses to a register or to memory. Where the trace tells of only some of them, that is said: otherwise a user
// would take those for all.
func (a *answer) accesses(question accessQuestion, operand string, pick query.Pick, verb string, what [2]index.What) error {
	o, err := a.Object(operand)
	if err != nil {
		return err
	}
	// The value before stands in front of that behind, as it was in time.
	list := a.list(text.Column{Title: verb}, text.Column{Title: "before", Right: true}, text.Column{Title: "value", Right: true})
	err = question(a, o, pick, func(access query.Access) error {
		d := wire.DescribeAccess(a.Trace, access)
		return list.add(access.Step, d, accessed(d), orUnknown(d.Before), orUnknown(d.Value))
	})
	// What the trace cannot answer at all is the error, and needs no remark.
	if err == nil {
		a.gaps(o, what)
	}
	return errors.Join(err, list.end("nothing "+verb+" "+operand+a.within(), err))
}

// orUnknown is a value, or what stands for one that the trace does not tell: never 0. Where only some digits are known, the others
// are question marks, too (wire.HexDigits).
func orUnknown(value string) string {
	if value == "" {
		return "?"
	}
	return value
}

// gaps says on standard error what of accesses the trace does not tell, by what is looked for of a register or of memory.
func (a *answer) gaps(o query.Object, what [2]index.What) {
	// Bytes have an order and registers have none.
	of := what[1]
	if o.IsRegister() {
		of = what[0]
	} else {
		a.order()
	}
	for _, gap := range a.Gaps(of) {
		fmt.Fprintln(a.messages, "tracewell: "+gap)
	}
}
