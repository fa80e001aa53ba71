package query

import (
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/jsontext"
	"tracewell/internal/text"
	"tracewell/itrace/calls"
	"tracewell/view/wire"
)

// eventsCommand is "tracewell query events".
//
// How long a handler took is from its first instruction to the one that leaves it. What lies between the request and the first
// instruction a trace of instructions cannot tell, unless the request is made by an instruction: see "query latency".
type eventsCommand struct {
	asking
	ByCause bool   `help:"Print one row per cause and handler, with the shortest, mean and longest time."`
	Cause   string `placeholder:"TEXT" help:"Only those of this cause."`
}

// Examples implements flags.Exampler.
func (*eventsCommand) Examples() string {
	return `  tracewell query events run.log --exec fw.elf             # exceptions and interrupts, with their handlers and latencies
  tracewell query events run.log --exec fw.elf --by-cause  # how many, and how long they took
`
}

// Run implements kong's command. An event is printed when its handler has ended, so nested ones come before what they interrupted:
// a list that is sorted by its beginning would have to be kept until the end.
func (c *eventsCommand) Run(streams console.Streams) error {
	var table *text.Table
	var sums wire.Interruptions
	var failed error // a walker that has no use for what it tells cannot end the reading, so the first error waits
	return c.readWhole(streams, func(w *whole) error {
		w.OnTrap = func(t *calls.Trap) {
			// What began in front of --from is counted by nobody else either.
			if t.At < w.From || c.Cause != "" && c.Cause != t.Cause || failed != nil {
				return
			}
			e := w.Interruption(t)
			switch {
			case c.ByCause:
				sums.Add(e)
			case w.json:
				failed = jsontext.Write(w.Output, e, "")
			default:
				if table == nil { // not before the first one is it known whether there are times
					table = text.NewTable(w, w.Width, w.Style, w.eventColumns()...)
				}
				failed = table.Row(console.CellsOf(eventCells(e)))
			}
		}
		return nil
	}, func(w *whole) error {
		// By now everything but sums has been printed, and what is held back of the table.
		switch err := w.requireFlow(); {
		case err != nil:
			return err
		case failed != nil:
			return failed
		case c.ByCause:
			return w.causes(sums.Summaries())
		case table == nil:
			return nil
		}
		return table.Flush()
	})
}

// eventColumns are those of single events. The first is a position, as other questions take it.
func (w *whole) eventColumns() []text.Column {
	columns := append(right("instruction", "cpu"), text.Column{Title: "event"}, text.Column{Title: "cause"}, text.Column{Title: "at"},
		text.Column{Title: "function"}, text.Column{Title: "handler"}, text.Column{Title: "instructions", Right: true})
	if w.Timed {
		columns = append(columns, text.Column{Title: w.unit(), Right: true})
	}
	return columns
}

// eventCells are the cells of an event. What a handler took that has not returned is less than all, which the + says.
func eventCells(e wire.Interruption) []string {
	more := ""
	if e.Unfinished {
		more = "+"
	}
	cells := []string{number(e.Instruction), number(int(e.CPU)), e.Event, text.Visible(e.Cause), e.Place.Address,
		text.Visible(e.Place.Function), shown(e.Handler), number(e.Instructions) + more}
	if e.Time != nil {
		cells = append(cells, number(*e.Time)+more)
	}
	return cells
}

// causes prints a row for each cause and handler. The place of the longest is there because the next question is what happened
// then, which "query at" and "query calltree --from" answer.
func (w *whole) causes(list []wire.InterruptionSummary) error {
	columns := append(right("count"), text.Column{Title: "event"}, text.Column{Title: "cause"}, text.Column{Title: "handler"})
	columns = append(columns, right("min", "mean", "max")...)
	if w.Timed {
		columns = append(columns, right("min "+w.unit(), "mean "+w.unit(), "max "+w.unit())...)
	}
	return rows(w, list, append(columns, right("longest at")...), func(s wire.InterruptionSummary) []string {
		row := append([]string{number(s.Count), s.Event, text.Visible(s.Cause), shown(s.Handler)}, spreadCells(s.Instructions)...)
		if w.Timed { // of handlers that have not returned there are no times
			var time wire.Spread
			if s.Time != nil {
				time = *s.Time
			}
			row = append(row, spreadCells(time)...)
		}
		return append(row, number(s.Longest))
	})
}

// spreadCells are the cells of figures.
func spreadCells(s wire.Spread) []string {
	// Means of whole numbers have one digit more than these.
	return []string{number(s.Min), fmt.Sprintf("%.1f", s.Mean), number(s.Max)}
}
