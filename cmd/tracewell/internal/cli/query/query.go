// Package query is "tracewell query": questions about an execution trace, a command each. This package reads the options and
// prints; what the questions mean, and how they are answered, is in itrace/query.
//
// # The flow of a question
//
// The operand is opened as replay does it: unpacked if it is compressed, its dialect detected, its index loaded or built. The range
// of --from and --to is found, then the question is asked (asking.ask), and each answer is printed as it is found, so that a reader
// who has seen enough, as head, ends the search. Ctrl-C ends it, too.
//
// # Output
//
// A table for people has a row for each answer, with columns only for what the trace tells; JSON has an object a line with all that
// is told. Both come from the structs of view/wire, so that they cannot contradict each other. A value that the trace does not tell
// is a question mark in a table and absent in JSON, and never 0. What the trace tells only in part, as reads without their values,
// is said on standard error: who sees some accesses would otherwise take them for all.
//
// # Adding a question
//
// A question is a file with a struct that embeds asking, an entry in Command, a document in view/wire and its name in the
// reference of docs/json.md (view/wire/reference_test.go). A question that finds nothing says so on standard error, and ends with
// status 0; one that the trace cannot answer is an error.
package query

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/text"
	"tracewell/itrace/execution"
	"tracewell/itrace/query"
)

// Command is "tracewell query": the table of questions. kong reads help, completion and manual pages from it. Questions about a
// point of the trace stand in front of those about all of it.
type Command struct {
	Writers   writersCommand   `cmd:"" help:"List who wrote a register or memory, with the values before and after."`
	Readers   readersCommand   `cmd:"" help:"List who read a register or memory."`
	Values    valuesCommand    `cmd:"" help:"List the values of a register or of memory over time."`
	Registers registersCommand `cmd:"" help:"Print what registers held at a position."`
	Memory    memoryCommand    `cmd:"" help:"Print what memory held at a position."`
	Executed  executedCommand  `cmd:"" help:"List when an address, a function or a line was executed, or count how often."`
	Latency   latencyCommand   `cmd:"" help:"Measure how long it takes from one place in code to another."`
	At        atCommand        `cmd:"" help:"Print the instruction at a position or a time, its effects, and those around it."`

	wholeCommands
}

// asking is what all questions have in common: the trace and what of it is asked about.
type asking struct {
	Trace string `arg:"" help:"The execution trace, compressed or not; - is standard input."`

	// The range is the same for all questions: from the position of --from up to that of --to, whose instruction is not in it.
	From string `placeholder:"POSITION" default:"begin" help:"Only what happened from here on: the number of an instruction, :LINE of the trace, @TIME, or the first execution of an address, a symbol or FILE:LINE."`
	To   string `placeholder:"POSITION" default:"end" help:"Only what happened in front of here; a place in code is its first execution behind --from."`
	// Instructions are numbered over all processors, whichever of them is asked about.
	CPU  *int32 `name:"cpu" placeholder:"N" help:"Only processor N."`
	Exec string `placeholder:"ELF" help:"The program that was executed, for the names of its functions, variables and lines, and for what memory held in the beginning."`
	input.ExecutionOptions
	input.LoadOptions
	Endian string `group:"Execution traces:" enum:"auto,little,big" default:"auto" help:"The byte order of memory, if it is not detected correctly: little or big."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// order is the byte order of --endian, nil for auto.
func (a *asking) order() arch.ByteOrder {
	return map[string]arch.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}[a.Endian]
}

// answer is what prints the answers to a question: the trace to ask, the output, and the context that ends the search.
type answer struct {
	*query.Trace
	*console.Output
	context.Context
	json     bool
	endian   string // of --endian
	messages *os.File
}

// ask opens the trace and has print ask it and print the answers. Ctrl-C ends the context.
func (a *asking) ask(streams console.Streams, print func(*answer) error) error {
	file, err := input.OpenPacked(a.Trace, streams)
	if err != nil {
		return err
	}
	defer file.Close()
	program, loaded, closeProgram, err := a.OpenProgram(a.Exec)
	if err != nil {
		return err
	}
	defer closeProgram()
	options := execution.Options{Arch: a.Arch, Order: a.order(), Program: loaded, Bias: a.Bias, Keep: a.KeepIndex()}
	e, err := a.open(file, options, streams)
	if err != nil {
		return err
	}
	defer e.Close()
	// A compressed file that is cut off is asked as far as it could be unpacked; the damage is told, as by replay.
	if file.Damage != nil {
		fmt.Fprintf(streams.Err, "tracewell: %v\n", file.Damage)
	}
	t, err := query.New(e, program)
	if err != nil {
		return err
	}
	ctx, stop := console.UntilInterrupted()
	defer stop()
	if err := a.restrict(ctx, t); err != nil {
		return err
	}
	// Only here anything is printed: what is wrong with the question leaves standard output empty.
	err = console.Write(streams, func(out *console.Output) error {
		return print(&answer{t, out, ctx, a.JSON, a.Endian, streams.Err})
	})
	// What was printed so far stays; the status says that it is not all.
	if ctx.Err() != nil {
		return errors.Join(console.ErrInterrupted, file.Damage)
	}
	return err
}

// open finds the dialect and the index of the trace. A trace of which nothing tells the architecture can be asked all the same: its
// registers then have the names of the trace only.
func (a *asking) open(file *input.PackedFile, o execution.Options, streams console.Streams) (e *execution.Execution, err error) {
	d, err := a.DialectOf(file)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, fmt.Errorf("%s is not an execution trace; show prints trace files", text.Visible(file.Name))
	}
	err = input.IndexExecution(file, streams, o, func(s execution.Source, o execution.Options) (notes []string, err error) {
		// What the user or the program says of the architecture need not be said again.
		if e, notes, err = execution.Open(s, d, o); err == nil && e.Inferred && e.Title != "" {
			notes = append(notes, e.Title)
		}
		return notes, err
	})
	return e, err
}

// restrict finds what of the trace is asked about.
func (a *asking) restrict(ctx context.Context, t *query.Trace) (err error) {
	if a.CPU != nil {
		if err := t.OnCPU(*a.CPU); err != nil {
			return fmt.Errorf("--cpu: %w", err)
		}
	}
	// A place in --to is looked for behind --from: the end of a function is behind its beginning.
	from, err := t.Position(ctx, a.From, 0)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	to, err := t.Position(ctx, a.To, max(from, 0))
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if to < from {
		return fmt.Errorf("--to is instruction %d, in front of --from, which is %d", to, from)
	}
	t.From, t.To = from, to
	return nil
}
