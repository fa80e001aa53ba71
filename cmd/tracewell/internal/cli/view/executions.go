package view

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/itrace/execution"
	"tracewell/itrace/match"
	"tracewell/itrace/match/batch"
	"tracewell/itrace/match/profile"
	"tracewell/symbol"
	"tracewell/web/comparison"
	subject "tracewell/web/execution"
	"tracewell/web/sources"
)

// # What the operands are
//
// A second operand makes a comparison of both. Of one the content decides: what begins with an object of JSON that has a verdict is
// results of match --json, what is in the dialect of an execution trace is one, and everything else is left to trace files, whose
// errors then say what the file is not. So a trace may be called anything, and come compressed or through a pipe.
//
// A file is opened once, for a pipe could not be opened again: whoever finds out what it is passes it on, and who takes it closes
// it, in the end or when something goes wrong.
//
// # What a comparison costs
//
// Two traces are compared before the page is there, by the way that match takes: in one pass, in bounded memory. Nothing of the
// traces is read afterwards. An execution trace is the opposite: its page is there as soon as there is an index, and reads as it is
// asked.

// comparing are the options of a comparison of two traces. Whoever wants more of those that match has gives the results of match
// --json to view.
type comparing struct {
	Other   string      `arg:"" optional:"" help:"A second execution trace, to be compared with the first, which is the reference."`
	Profile profileName `group:"Comparisons:" placeholder:"NAME" complete:"profiles" help:"Use the options of match that stand for a pair of producers: ${profiles}. For others: match --json, whose results view shows."`
}

// profileName is the value of --profile.
type profileName struct{ *profile.Profile }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *profileName) UnmarshalText(name []byte) (err error) {
	p.Profile, err = profile.ByName(string(name))
	return err
}

// What a comparison that is looked at shows of both traces around a root cause, in instructions: more than match prints, since
// equal lines are folded.
const (
	shownBefore = 64
	shownBehind = 32
)

// How much of what a comparison has found can be looked at. A root cause has some hundred lines around it in memory, a consequence
// two.
const (
	shownRoots        = 1000
	shownConsequences = 5000
)

// offered are the source files that a page may ask for.
func (c *Command) offered() (*sources.Sources, error) {
	s, err := sources.New(c.Exec, c.Source)
	if err != nil {
		return nil, fmt.Errorf("--source: %w", err)
	}
	return s, nil
}

// execution is the page of an execution trace, whose file it closes. The command ends with status 2 for a compressed trace that is
// cut off, though its beginning is shown, as all commands do.
func (c *Command) execution(file *input.PackedFile, d *itrace.Dialect, streams console.Streams) (_ *opened, err error) {
	// Closers are collected, since every step has one more thing to close if the next one fails.
	toClose := []func() error{file.Close}
	closeAll := func() error {
		var all []error
		// Whatever fails to close, the others are closed all the same.
		for _, close := range toClose {
			all = append(all, close())
		}
		return errors.Join(all...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	o := subject.Options{Content: file, Size: file.Size()}
	// The names are for people, the file for what memory holds before the trace has told of it.
	var loaded *elf.File
	var closeProgram func() error
	if o.Program, loaded, closeProgram, err = c.OpenProgram(c.Exec); err != nil {
		return nil, err
	}
	toClose = append(toClose, closeProgram)
	if o.Sources, err = c.offered(); err != nil {
		return nil, err
	}
	options := execution.Options{Arch: c.Arch, Order: c.Order(), Program: loaded, Bias: c.Bias, Keep: c.KeepIndex()}
	// The notes are printed, and the page shows them, too: who opens it may be another than who started the server.
	err = input.IndexExecution(file, streams, options, func(s execution.Source, own execution.Options) (notes []string, err error) {
		o.Execution, notes, err = execution.Open(s, d, own)
		o.Notes = notes
		return notes, err
	})
	if err != nil {
		return nil, err
	}
	// The index is read as long as the page is there, so it is closed before the trace that it is of.
	toClose = append([]func() error{o.Execution.Close}, toClose...)
	return &opened{subject.New(o), file.Explain(nil), closeAll}, nil
}

// compare is the page of the comparison of two traces, which are read here once.
func (c *Command) compare(ctx context.Context, streams console.Streams) (*opened, error) {
	pair := batch.Pair{Name: c.File + " " + c.Other, Reference: c.File, Other: c.Other}
	// A trace that cannot be opened is the error of the command here: a page that says nothing else would be of no use.
	var traces [2]*input.Stream
	total := int64(0)
	for i, path := range []string{pair.Reference, pair.Other} {
		t, err := input.OpenStream(path, streams)
		if err != nil {
			return nil, err
		}
		defer t.Close()
		traces[i] = t
		total += t.Status.Size()
	}
	if err := input.CheckPair(traces[0], traces[1]); err != nil {
		return nil, err
	}
	// How much of a pipe is still to come nobody knows: it counts for nothing, and the bar then reaches its end too early.
	bar := progress.Start(streams.Err, progress.Work{Name: "comparing", Total: total})
	options := match.Options{Context: shownBefore, Following: shownBehind, MaxDifferences: shownRoots, Described: shownRoots,
		Consequences: shownConsequences, Progress: func(int64, int64) {
			bar.Set(traces[0].Raw.Done.Load() + traces[1].Raw.Done.Load())
		}}
	if c.Profile.Profile != nil {
		options = c.Profile.Apply(options)
	}
	// --dialect is that of both. Without it each is found out by itself, as traces of two producers mostly differ in it.
	inputs := [2]match.Input{traces[0].Input(), traces[1].Input()}
	inputs[0].Dialect, inputs[1].Dialect = c.Dialect.Dialect, c.Dialect.Dialect
	// What goes wrong from here on is in the report, and so on the page: lines that cannot be read, traces of which nothing is
	// alike.
	report := match.Compare(ctx, inputs[0], inputs[1], dialects.All, options)
	bar.Done()
	// A page of half a comparison would look like one of a whole.
	if ctx.Err() != nil {
		return nil, console.ErrInterrupted
	}
	result := &batch.Result{Result: match.Result{Name: pair.Name, Report: report}}
	for _, t := range traces {
		if changed := t.Changed(); changed != "" {
			result.Notes = append(result.Notes, text.Visible(t.Name)+": "+changed)
		}
	}
	return c.comparison([]*batch.Result{result}, "")
}

// results is the page of what match --json has written, in a file that it closes.
func (c *Command) results(file *input.PackedFile) (*opened, error) {
	// Nothing of the file is needed afterwards. It may have come from another machine, or through a pipe.
	results, err := batch.Read(io.NewSectionReader(file, 0, file.Size()), file.Name)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	// One comparison is called what its traces are called, several what their file is called.
	title := ""
	if len(results) > 1 { // as those of a night
		title = filepath.Base(file.Name)
	}
	opened, err := c.comparison(results, title)
	if err == nil {
		opened.err = file.Explain(nil)
	}
	return opened, err
}

// comparison is the page of results.
func (c *Command) comparison(results []*batch.Result, title string) (*opened, error) {
	// Both traces are taken for those of one program, as match does; addresses without a name just have none.
	names, _, closeProgram, err := c.OpenProgram(c.Exec)
	if err != nil {
		return nil, err
	}
	// The paths in results are those of the machine that has compared, so source files are looked for below the program's folder.
	offered, err := c.offered()
	if err != nil {
		return nil, errors.Join(err, closeProgram())
	}
	return &opened{comparison.New(results, comparison.Options{
		Title: title, Dialects: dialects.All, Programs: [2]*symbol.Program{names, names}, Sources: offered,
	}), nil, closeProgram}, nil
}

// holdsResults reports whether a file is what match --json writes: an object that has a verdict. Execution traces may be objects
// as well.
func holdsResults(file *input.PackedFile) bool {
	head := make([]byte, itrace.DetectBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return false
	}
	head = bytes.TrimLeft(head[:n], " \t\r\n")
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	// Members come in their order, so that the verdict is among the first; what comes behind it may be cut off here.
	decoder := json.NewDecoder(bytes.NewReader(head))
	// A verdict further down, as in a value, is none of the object.
	for depth := 0; ; {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		case "verdict":
			if depth == 1 {
				return true
			}
		}
		if depth == 0 {
			return false
		}
	}
}

// openExecutions opens what is no trace file: execution traces, comparisons, results. It returns nil for a trace file, whose
// content is then in file, or for a folder, without one.
func (c *Command) openExecutions(ctx context.Context, streams console.Streams) (_ *opened, file *input.PackedFile, err error) {
	switch {
	case c.Other != "":
		o, err := c.compare(ctx, streams)
		return o, nil, err
	// A folder is none of what follows, and cannot be looked into by reading it.
	case input.HoldsCTF(c.File):
		return nil, nil, nil
	}
	if file, err = input.OpenTraceBytes(c.File, streams); err != nil {
		return nil, nil, err
	}
	// A user who names a dialect has an execution trace, whatever it looks like.
	if c.Dialect.Dialect == nil && holdsResults(file) {
		o, err := c.results(file)
		return o, nil, err
	}
	d, err := c.DialectOf(file)
	switch {
	case err != nil:
		return nil, nil, errors.Join(err, file.Close())
	case d == nil:
		return nil, file, nil
	}
	o, err := c.execution(file, d, streams)
	return o, nil, err
}
