package query

import (
	"errors"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/itrace/index"
	"tracewell/itrace/query"
	"tracewell/view/wire"
)

// valuesCommand is "tracewell query values". Changes are what people look for; a device's register is written for the write's sake,
// so that --all has these, too.
type valuesCommand struct {
	asking
	object
	picking
	All bool `help:"Print every write, also one of the value that was there before."`
}

// Examples implements flags.Exampler.
func (*valuesCommand) Examples() string {
	return `  tracewell query values run.log sp              # the stack pointer, whenever it changes
  tracewell query values run.log head --exec fw.elf --from main   # a variable
  tracewell query values run.log 0x40000000,4 --all   # every write of a device's register
`
}

// Run implements kong's command. The values of memory are those of the whole range as one number, whatever part of it is written;
// those of a register stand for themselves for each processor.
func (c *valuesCommand) Run(streams console.Streams) error {
	// What is asked about is looked up when the trace is open: names of registers are those that it has.
	return c.ask(streams, func(a *answer) error {
		o, err := a.Object(c.Object)
		if err != nil {
			return err
		}
		list := a.list(text.Column{Title: "told by"}, text.Column{Title: c.Object, Right: true})
		err = a.Values(a, o, !c.All, c.pick(), func(v query.Value) error {
			d := wire.DescribeHeldValue(a.Trace, v, o.IsRegister())
			return list.add(v.Step, d, toldBy(d, len(o.Names) > 1), orUnknown(d.Value))
		})
		if err == nil {
			a.gaps(o, [...]index.What{index.RegisterSet, index.Write})
		}
		return errors.Join(err, list.end("the trace tells no value of "+c.Object+a.within(), err))
	})
}

// toldBy is where a value is from. The first was there before the instruction in its row.
func toldBy(d wire.HeldValue, several bool) string {
	// A read tells of a value that something else has written: a device, or a processor that the trace lacks.
	// A register of several names, such as a vector that is written in halves, has rows for each.
	switch {
	case d.Initial:
		return "before"
	case d.Read:
		return "a read"
	case several:
		return d.Register
	}
	return "a write"
}
