package query

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/itrace/calls"
	"tracewell/view/wire"
)

// eventsCommand is "tracewell query events".
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

// Run implements kong's command. An event is printed when its handler has ended, so nested ones come before what they interrupted.
func (c *eventsCommand) Run(streams console.Streams) error {
	var table *text.Table
	sums := &interruptions{}
	var failed error
	return c.readWhole(streams, func(w *whole) error {
		w.OnTrap = func(t *calls.Trap) {
			if t.At < w.From || c.Cause != "" && c.Cause != t.Cause || failed != nil {
				return
			}
			switch {
			case c.ByCause:
				sums.add(w, t)
			case w.json:
				failed = objects(w, []wire.Interruption{w.interruption(t)})
			default:
				if table == nil { // by the first it is known whether there are times
					table = w.eventTable()
				}
				failed = table.Row(console.CellsOf(w.eventCells(t)))
			}
		}
		return nil
	}, func(w *whole) error {
		switch err := w.requireFlow(); {
		case err != nil:
			return err
		case failed != nil:
			return failed
		case c.ByCause:
			return sums.print(w)
		case table == nil:
			return nil
		}
		return table.Flush()
	})
}

func (w *whole) interruption(t *calls.Trap) wire.Interruption {
	return wire.Interruption{
		Instruction: t.At, Event: t.Kind.String(), Cause: t.Cause, CPU: t.CPU, Place: w.place(t.Place, t.Function),
		Handler: w.handlerPlace(t), Depth: t.Depth, Instructions: t.Instructions, Time: w.time(t.Time), Unfinished: !t.Returned}
}

func (w *whole) handlerPlace(t *calls.Trap) wire.CodePlace {
	return w.place(t.Handler, w.Table.Sites[w.Table.At(t.Handler)].Function)
}

func (w *whole) eventTable() *text.Table {
	columns := []text.Column{{Title: "instruction", Right: true}, {Title: "cpu", Right: true}, {Title: "event"}, {Title: "cause"},
		{Title: "at"}, {Title: "function"}, {Title: "handler"}, {Title: "instructions", Right: true}}
	if w.timed {
		columns = append(columns, text.Column{Title: w.unit(), Right: true})
	}
	return text.NewTable(w, w.Width, w.Style, columns...)
}

func (w *whole) eventCells(t *calls.Trap) []string {
	e := w.interruption(t)
	more := "" // behind what is not all
	if e.Unfinished {
		more = "+"
	}
	cells := []string{strconv.FormatInt(e.Instruction, 10), strconv.Itoa(int(e.CPU)), e.Event, text.Visible(e.Cause), e.Place.Address,
		text.Visible(e.Place.Function), shown(e.Handler),
		strconv.FormatUint(e.Instructions, 10) + more}
	if e.Time != nil {
		cells = append(cells, strconv.FormatUint(*e.Time, 10)+more)
	}
	return cells
}

// interruptions are sums by cause and handler.
type interruptions struct {
	list []*interruptionSum
}

type interruptionSum struct {
	wire.InterruptionSummary
	time         wire.Spread
	sum, sumTime uint64
}

func (s *interruptions) add(w *whole, t *calls.Trap) {
	handler := w.handlerPlace(t)
	i := slices.IndexFunc(s.list, func(o *interruptionSum) bool {
		return o.Event == t.Kind.String() && o.Cause == t.Cause && o.Handler == handler
	})
	if i < 0 {
		i = len(s.list)
		s.list = append(s.list, &interruptionSum{InterruptionSummary: wire.InterruptionSummary{
			Event: t.Kind.String(), Cause: t.Cause, Handler: handler}})
	}
	o := s.list[i]
	o.Count++
	if !t.Returned {
		return
	}
	if o.Finished == 0 || t.Instructions > o.Instructions.Max {
		o.Longest = t.At
	}
	spread := func(p *wire.Spread, n uint64) {
		if o.Finished == 0 {
			p.Min = n
		}
		p.Min, p.Max = min(p.Min, n), max(p.Max, n)
	}
	spread(&o.Instructions, t.Instructions)
	spread(&o.time, t.Time)
	o.Finished++
	o.sum, o.sumTime = o.sum+t.Instructions, o.sumTime+t.Time
}

// print prints the sums, the most frequent first.
func (s *interruptions) print(w *whole) error {
	slices.SortStableFunc(s.list, func(a, b *interruptionSum) int { return cmp.Compare(b.Count, a.Count) })
	columns := []text.Column{{Title: "count", Right: true}, {Title: "event"}, {Title: "cause"}, {Title: "handler"},
		{Title: "min", Right: true}, {Title: "mean", Right: true}, {Title: "max", Right: true}}
	if w.timed {
		columns = append(columns, text.Column{Title: "min " + w.unit(), Right: true}, text.Column{Title: "mean " + w.unit(), Right: true},
			text.Column{Title: "max " + w.unit(), Right: true})
	}
	table := text.NewTable(w, w.Width, w.Style, append(columns, text.Column{Title: "longest at", Right: true})...)
	for _, o := range s.list {
		finished := float64(max(o.Finished, 1))
		o.Instructions.Mean, o.time.Mean = float64(o.sum)/finished, float64(o.sumTime)/finished
		if w.timed {
			o.Time = &o.time
		}
		var err error
		if w.json {
			err = objects(w, []wire.InterruptionSummary{o.InterruptionSummary})
		} else {
			row := []string{strconv.FormatUint(o.Count, 10), o.Event, text.Visible(o.Cause), shown(o.Handler)}
			row = append(row, cellsOf(o.Instructions)...)
			if w.timed {
				row = append(row, cellsOf(o.time)...)
			}
			err = table.Row(console.CellsOf(append(row, strconv.FormatInt(o.Longest, 10))))
		}
		if err != nil {
			return err
		}
	}
	if w.json {
		return nil
	}
	return table.Flush()
}

func cellsOf(s wire.Spread) []string {
	return []string{strconv.FormatUint(s.Min, 10), fmt.Sprintf("%.1f", s.Mean), strconv.FormatUint(s.Max, 10)}
}
