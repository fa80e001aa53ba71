package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"tracewell/arch"
	"tracewell/arch/flow"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/jsontext"
	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/calls"
	"tracewell/itrace/program"
	"tracewell/itrace/sites"
	"tracewell/symbol/debuginfo"
	"tracewell/view/wire"
)

// wholeCommands are the questions about all of a trace. They share one pass (readWhole) and differ in what they print of it, so
// that the counts of one are those of another.
type wholeCommands struct {
	Functions functionsCommand `cmd:"" help:"Print what each function took: calls, instructions and time, with and without what it called."`
	Calltree  calltreeCommand  `cmd:"" help:"Print which function called which, by paths of calls, or folded stacks for flame graphs."`
	Profile   profileCommand   `cmd:"" help:"Print the addresses, lines or functions at which most instructions were executed."`
	Blocks    blocksCommand    `cmd:"" help:"Print the basic blocks in which most instructions were executed."`
	Mix       mixCommand       `cmd:"" help:"Count the instructions executed by their mnemonics."`
	Coverage  coverageCommand  `cmd:"" help:"Print what of the program was executed: lines, functions and branches; write it for lcov."`
	Events    eventsCommand    `cmd:"" help:"List exceptions and interrupts, with their causes, their handlers and how long these took."`
	Parting   partingCommand   `cmd:"" help:"Find where the runs of two versions of a program part, by functions and lines of the source."`
}

// whole is the answer to a question about all of a trace, which is read once from its beginning to --to. No index is needed for
// that; --from and --to are found by one unless they are the ends.
//
// It has what was found, which the documents of view/wire are made of, and where to print them: people and programs get the same
// figures, because tables are made of these documents, too.
type whole struct {
	wire.WholeTrace
	*console.Output
	json     bool
	messages io.Writer
	scale    string // the unit of time
}

// # The flow of a question about all of a trace
//
// The trace is opened and its dialect detected as for other questions. If there are --from and --to, the index finds them first.
// Then records go from the decoder to the walker, which counts: what is executed where, and which calls are active. At the end
// print gets the walker, in which everything is. Only two questions need more while it reads: events, which prints what is over at
// once, and the calls for Perfetto, of which there may be more than fit into memory. They hand the walker a function in prepare.
//
// To add one: a struct that embeds asking, whose Run calls readWhole; a line in wholeCommands; a document in view/wire with a
// method of WholeTrace that makes it. What is printed of it are rows, with columns that have a cell.

// readWhole reads the trace and has print print what was found. prepare, unless nil, is given the walker before anything is read,
// and the output.
func (a *asking) readWhole(streams console.Streams, prepare func(*whole) error, print func(*whole) error) error {
	from, to, err := a.ends(streams)
	if err != nil {
		return err
	}
	file, err := input.OpenPacked(a.Trace, streams)
	if err != nil {
		return err
	}
	defer file.Close()
	// What could be unpacked of a damaged file is read: most of a long trace is worth more than nothing.
	if file.Damage != nil {
		fmt.Fprintf(streams.Err, "tracewell: %v\n", file.Damage)
	}
	d, err := a.DialectOf(file)
	if err != nil {
		return err
	}
	if d == nil {
		return fmt.Errorf("%s is not an execution trace; show prints trace files", text.Visible(file.Name))
	}
	w := &whole{json: a.JSON, messages: streams.Err}
	set, err := a.set()
	if err != nil {
		return err
	}
	if a.Exec != "" {
		symbols, err := debuginfo.Open(a.Exec, debuginfo.Options{})
		if err != nil {
			return err
		}
		defer symbols.Close()
		w.Code = program.New(symbols, a.Bias)
		// A user who names an architecture knows better than the file, as with code that another core of the chip executes.
		if set == nil {
			set = w.Code.Set
		}
	}
	// Without either the walker finds out the instruction set by the first instructions.
	w.Walker = calls.New(sites.New(w.Code, set))
	w.From, w.Only = from, a.CPU
	ctx, stop := console.UntilInterrupted()
	defer stop()
	return console.Write(streams, func(out *console.Output) error {
		w.Output = out
		if prepare != nil {
			if err := prepare(w); err != nil {
				return err
			}
		}
		// The bar is gone before anything is printed: both may be on the same terminal.
		bar := progress.Start(streams.Err, progress.Work{Name: "reading " + text.Visible(file.Name), Total: file.Size()})
		err := w.read(ctx, itrace.NewReader(io.NewSectionReader(file, 0, file.Size()), d), to, bar)
		bar.Done()
		// Of a large file damage shows when it is reached.
		var damage *packed.DamageError
		if errors.As(err, &damage) {
			fmt.Fprintf(streams.Err, "tracewell: %s: %v\n", text.Visible(file.Name), err)
			err = w.finish()
		}
		if err != nil {
			return err
		}
		w.complain()
		return print(w)
	})
}

// set is the instruction set of --arch, nil for one that has to be found out. Architectures whose registers are known to replay,
// but not how they call, are an error here and nowhere else.
func (a *asking) set() (*flow.Set, error) {
	if a.Arch == "" {
		return nil, nil
	}
	m := arch.ByName(a.Arch)
	if m == nil {
		return nil, fmt.Errorf("--arch: unknown architecture %s (%s)", text.Quote(a.Arch), input.Architectures())
	}
	order := a.order()
	if order == nil {
		order = m.Order
	}
	if s := flow.Of(m, order); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("--arch: calls of %s cannot be told yet", m.Title)
}

// ends are the instructions of --from and --to. Positions mean the same as in questions about a point, so the index finds them; but
// the index is not built for those who ask about everything, as that takes longer than the answer.
func (a *asking) ends(streams console.Streams) (from, to int64, err error) {
	if a.From == "begin" && a.To == "end" {
		return 0, math.MaxInt64, nil
	}
	if a.Trace == "-" {
		return 0, 0, errors.New("--from and --to of a question about the whole trace require a file: the trace is read twice")
	}
	// Positions count the instructions of all processors, and what is printed is not theirs.
	asked := *a
	asked.CPU, asked.JSON = nil, false
	err = asked.ask(streams, func(a *answer) error {
		from, to = max(a.From, 0), a.To
		return nil
	})
	return from, to, err
}

// read reads the trace up to an instruction. The records of a batch are few, so that they stay in the processor's cache between the
// decoder and the walker.
func (w *whole) read(ctx context.Context, r *itrace.Reader, to int64, bar *progress.Bar) error {
	records := make([]itrace.Record, 256)
	for left := to; left > 0; {
		n, err := r.Read(records)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return console.ErrInterrupted
		}
		// Effects of the last instruction say nothing that is asked, so the batch is cut in front of the first one too many.
		for i := 0; i < n; i++ {
			if records[i].Kind == itrace.Instruction {
				if left == 0 {
					n = i
					break
				}
				left--
			}
		}
		w.note(records[:n])
		w.Add(records[:n])
		_, done := r.Position()
		bar.Set(done)
	}
	return w.finish()
}

// finish ends the trace.
func (w *whole) finish() error {
	w.Finish()
	// An empty answer would look as if nothing of what was asked had been executed.
	if w.Position == 0 {
		return errors.New("the trace has no instructions")
	}
	return nil
}

// note remembers whether there are times, and their unit. A trace whose times are all 0 has none: producers that do not tell time
// write that, or nothing.
func (w *whole) note(records []itrace.Record) {
	for i := range records {
		if r := &records[i]; !w.Timed && r.Kind == itrace.Instruction && r.Time > 0 {
			w.Timed, w.scale = true, string(r.Scale)
		}
	}
}

// elsewhere reports whether something was executed, but nothing of the program.
func (w *whole) elsewhere() bool {
	of := func(s sites.Site) bool { return w.Code.Code(s.PC) != nil }
	return w.Code != nil && len(w.Table.Sites) > 0 && !slices.ContainsFunc(w.Table.Sites, of)
}

// complain tells what could not be explained, on standard error: the figures are right but for that, and whoever reads them should
// know.
func (w *whole) complain() {
	if w.elsewhere() {
		fmt.Fprintln(w.messages, "tracewell: no instruction of the trace is in the program; "+
			"--bias says how far above its addresses it was loaded")
	}
	// Each kind is one line, however often it was met: with gaps it is met all the time.
	say := func(n uint64, what string) {
		if n > 0 {
			fmt.Fprintf(w.messages, "tracewell: %s\n", fmt.Sprintf(what, n))
		}
	}
	if w.requireFlow() != nil { // calls are not told at all, which matters to few questions
		return
	}
	say(w.Untold, "%d times the trace does not tell what led from one instruction to the next: --exec has the code")
	say(w.Missed, "%d times instructions are missing, or something led into the middle of a function")
	say(w.Unmatched, "%d returns went to no caller")
	say(w.Elided, "%d calls count for their callers: there are too many paths of calls")
}

// requireFlow is the error of a trace that does not tell calls. A table with one function in it would look like an answer.
func (w *whole) requireFlow() error {
	for i := range w.Table.Sites {
		if s := &w.Table.Sites[i]; s.Told && s.Count > 0 {
			return nil
		}
	}
	// Few instructions fit many sets: one of the wrong set would make calls of what is none.
	if w.Table.Opcodes {
		return errors.New("the instruction set cannot be told by so few instructions; --arch or --exec tells it")
	}
	return errors.New("the trace tells neither opcodes nor disassembly, so calls cannot be told; --exec PROGRAM has the code")
}

// hasLines reports whether the program tells lines.
func (w *whole) hasLines() bool { return w.Code != nil && w.Code.File.HasDWARF() }

// noLines is the error of a question about lines of a program that has none.
func (w *whole) noLines() error {
	if w.Code == nil {
		return errors.New("lines require the program: --exec")
	}
	return fmt.Errorf("%s: no lines: %s", text.Visible(w.Code.File.Path()), w.Code.File.WhyNoDWARF())
}

// unit is what times are counted in. Some producers give no unit.
func (w *whole) unit() string { return cmp.Or(w.scale, "time") }

// rows prints elements of a list: as objects, one a line, or as rows of a table with the cells that row makes of each. All
// questions print by this, so that none can forget one of the two forms.
func rows[T any](w *whole, list []T, columns []text.Column, row func(T) []string) error {
	table := text.NewTable(w, w.Width, w.Style, columns...)
	for _, item := range list {
		var err error
		if w.json {
			err = jsontext.Write(w.Output, item, "")
		} else {
			err = table.Row(console.CellsOf(row(item)))
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

// first are the first elements of a list, or all if the limit is 0. Lists are sorted by what matters, so that few of them are
// enough on a terminal; programs are given the same, to be told what they ask for.
func first[T any](list []T, limit flags.Count) []T {
	if limit > 0 && len(list) > int(limit) {
		return list[:limit]
	}
	return list
}

// right are columns of numbers, which people compare by their last digits.
func right(titles ...string) (columns []text.Column) {
	for _, title := range titles {
		columns = append(columns, text.Column{Title: title, Right: true})
	}
	return columns
}

// placeColumns are those of a function, and of a line if the program tells lines: a column without a cell is no use.
func (w *whole) placeColumns() []text.Column {
	columns := []text.Column{{Title: "function"}}
	if w.hasLines() {
		columns = append(columns, text.Column{Title: "line"})
	}
	return columns
}

// placeCells are the cells of these columns. The folders of a file are those of whoever compiled it, and only JSON has them.
func (w *whole) placeCells(p wire.CodePlace, function string) []string {
	switch {
	case !w.hasLines():
		return []string{function}
	case p.File == "":
		return []string{function, ""}
	}
	return []string{function, text.Visible(fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line))}
}

// shown is the name of a place for people: its address if it has no name.
func shown(p wire.CodePlace) string { return text.Visible(cmp.Or(p.Function, p.Address)) }

// percent is a share for people: a tenth of a percent is what figures of this kind are good for.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// number is a count. It has no separators, which differ between languages and would not be read back by scripts.
func number[N int | int64 | uint64](n N) string { return fmt.Sprint(n) }
