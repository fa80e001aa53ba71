package query

import (
	"errors"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/text"
	"tracewell/itrace/query"
	"tracewell/view/wire"
)

// atCommand is "tracewell query at": a piece of the trace in one form, whatever its dialect.
type atCommand struct {
	asking
	moment
	Context flags.Count `short:"C" placeholder:"N" default:"0" help:"Print N instructions before and after it, too."`
}

// Examples implements flags.Exampler.
func (*atCommand) Examples() string {
	return `  tracewell query at run.log 70000               # instruction 70000 and what it did
  tracewell query at run.log @125000 -C 5        # at a time, with 5 instructions before and after
  tracewell query at run.log push --exec fw.elf  # the first execution of a function
`
}

// Run implements kong's command. The position is looked for from --from on, and the instructions around it do not leave the range,
// so that --cpu, --from and --to mean the same as in all other questions.
func (c *atCommand) Run(streams console.Streams) error {
	return c.ask(streams, func(a *answer) error {
		position, err := a.Position(a, c.Position, max(a.From, 0))
		if err != nil {
			return err
		}
		list := a.list()
		err = a.Around(a, position, int64(c.Context), int64(c.Context), func(m query.Moment) error {
			if err := list.add(m.Step, wire.DescribeMoment(a.Trace, m)); err != nil || a.json {
				return err
			}
			// Effects stand below their instruction, in the order of the trace: a row for each would hide where an instruction ends.
			// In JSON they are in its object.
			var effects []byte
			for i := range m.Effects {
				effects = fmt.Appendf(effects, "    %s\n", text.Visible(a.effect(&m.Effects[i])))
			}
			return list.table.Below(effects)
		})
		return errors.Join(err, list.end("no instruction there", err))
	})
}
