package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"tracewell/arch"
	"tracewell/arch/flow"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/calls"
	"tracewell/itrace/program"
	"tracewell/itrace/sites"
	"tracewell/symbol/debuginfo"
	"tracewell/view/wire"
)

// wholeCommands are the questions about all of a trace.
type wholeCommands struct {
	Functions functionsCommand `cmd:"" help:"Print what each function took: calls, instructions and time, with and without what it called."`
	Calltree  calltreeCommand  `cmd:"" help:"Print which function called which, by paths of calls, or folded stacks for flame graphs."`
	Profile   profileCommand   `cmd:"" help:"Print the addresses, lines or functions at which most instructions were executed."`
	Blocks    blocksCommand    `cmd:"" help:"Print the basic blocks in which most instructions were executed."`
	Mix       mixCommand       `cmd:"" help:"Count the instructions executed by their mnemonics."`
	Coverage  coverageCommand  `cmd:"" help:"Print what of the program was executed: lines, functions and branches; write it for lcov."`
	Events    eventsCommand    `cmd:"" help:"List exceptions and interrupts, with their causes, their handlers and how long these took."`
}

// whole is the answer to a question about all of a trace, which is read once from its beginning to --to. No index is needed for
// that; --from and --to are found by one unless they are the ends.
type whole struct {
	*calls.Walker
	*console.Output
	json     bool
	messages io.Writer
	program  *program.Program // nil without --exec
	scale    string           // the unit of time
	timed    bool             // the trace has times
}

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
		w.program = program.New(symbols, 0)
		if set == nil {
			set = w.program.Set
		}
	}
	w.Walker = calls.New(sites.New(w.program, set))
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
		bar := progress.Start(streams.Err, progress.Work{Name: "reading " + text.Visible(file.Name), Total: file.Size()})
		err := w.read(ctx, itrace.NewReader(io.NewSectionReader(file, 0, file.Size()), d), to, bar)
		bar.Done()
		if err != nil {
			return err
		}
		w.complain()
		return print(w)
	})
}

// set is the instruction set of --arch, nil for one that has to be found out.
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

// ends are the instructions of --from and --to.
func (a *asking) ends(streams console.Streams) (from, to int64, err error) {
	if a.From == "begin" && a.To == "end" {
		return 0, math.MaxInt64, nil
	}
	if a.Trace == "-" {
		return 0, 0, errors.New("--from and --to of a question about the whole trace require a file: the trace is read twice")
	}
	asked := *a
	asked.CPU, asked.JSON = nil, false
	err = asked.ask(streams, func(a *answer) error {
		from, to = max(a.From, 0), a.To
		return nil
	})
	return from, to, err
}

// read reads the trace up to an instruction.
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
	w.Finish()
	if w.Position == 0 {
		return errors.New("the trace has no instructions")
	}
	return nil
}

// note remembers whether there are times, and their unit.
func (w *whole) note(records []itrace.Record) {
	for i := range records {
		if r := &records[i]; !w.timed && r.Kind == itrace.Instruction && r.Time > 0 {
			w.timed, w.scale = true, string(r.Scale)
		}
	}
}

// complain tells what could not be explained.
func (w *whole) complain() {
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

// requireFlow is the error of a trace that does not tell calls.
func (w *whole) requireFlow() error {
	for i := range w.Table.Sites {
		if s := &w.Table.Sites[i]; s.Told && s.Count > 0 {
			return nil
		}
	}
	return errors.New("the trace tells neither opcodes nor disassembly, so calls cannot be told; --exec PROGRAM has the code")
}

// place is what is known of an address.
func (w *whole) place(pc uint64, function int32) wire.CodePlace {
	p := wire.CodePlace{Address: fmt.Sprintf("0x%x", pc)}
	if function >= 0 {
		p.Function = w.Functions[function].Name
	}
	if w.program != nil {
		if path, line, ok := w.program.Line(pc); ok {
			p.File, p.Line = path, line
		}
	}
	return p
}

// time is a time for JSON, nil if the trace has none.
func (w *whole) time(t uint64) *uint64 {
	if !w.timed {
		return nil
	}
	return &t
}

// share is a part of all instructions.
func (w *whole) share(n, of uint64) float64 { return float64(n) / float64(max(of, 1)) }

// executed is how many instructions were executed.
func (w *whole) executed() (n uint64) {
	for i := range w.Table.Sites {
		n += w.Table.Sites[i].Count
	}
	return n
}
