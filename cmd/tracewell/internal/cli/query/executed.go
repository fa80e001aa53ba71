package query

import (
	"errors"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/itrace/query"
	"tracewell/view/wire"
)

// executedCommand is "tracewell query executed". --limit 1 reads one block of the trace, and --count all those that have the place.
type executedCommand struct {
	asking
	Place string `arg:"" complete:"locations" help:"The place in code: an address as 0x80000000, or with --exec a function, FUNCTION+BYTES or FILE:LINE."`
	picking
	Count bool `xor:"pick" help:"Print only how often it was executed."`
}

// Examples implements flags.Exampler.
func (*executedCommand) Examples() string {
	return `  tracewell query executed run.log 0x80000104 --limit 1   # the first time
  tracewell query executed run.log push --exec fw.elf --count   # how often a function was called
  tracewell query executed run.log queue.c:88 --exec fw.elf --last 10
`
}

// Run implements kong's command. A place may have several addresses, since a compiler takes lines apart and copies functions into
// others: an execution of any of them counts.
func (c *executedCommand) Run(streams console.Streams) error {
	return c.ask(streams, func(a *answer) error {
		place, err := a.Code(c.Place)
		if err != nil {
			return err
		}
		if c.Count {
			return a.count(place)
		}
		list := a.list()
		err = a.Executed(a, place, c.pick(), func(s query.Step) error { return list.add(s, wire.DescribeStep(a.Trace, s)) })
		return errors.Join(err, list.end(c.Place+" is not executed"+a.within(), err))
	})
}

// count prints how often a place was executed, and if it has several addresses how often each was.
func (a *answer) count(place query.Code) error {
	var counts []int64
	if err := a.search(func() (err error) {
		counts, err = a.Count(a, place)
		return err
	}); err != nil {
		return err
	}
	// No execution is an answer, too: the number is 0.
	d := wire.DescribeExecutions(a.Trace, place, counts)
	if a.json {
		return a.object(d)
	}
	// A number alone is for scripts, as that of show --count.
	if len(d.Addresses) == 1 {
		return console.WriteLine(a.Output, "%d", d.Count)
	}
	// Of several addresses each has a line, as the copies of an inlined function differ in how often they are executed.
	for _, addr := range d.Addresses {
		fmt.Fprintf(a, "%d  %s %s\n", addr.Count, addr.Address, addr.Symbol)
	}
	return nil
}
