package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace"
)

// convertExecution writes the execution trace that is among the operands, which must be the only one, in another dialect.
func (c *Command) convertExecution(operands []*operand, out string, streams console.Streams) error {
	in := operands[0]
	if len(operands) > 1 {
		for _, o := range operands {
			if (o.dialect == nil) != (in.dialect == nil) {
				return fmt.Errorf("%s and %s cannot be put together: one is an execution trace, the other is none", in.name, o.name)
			}
		}
		return fmt.Errorf("%s and %s are execution traces, which are converted one at a time", in.name, operands[1].name)
	}
	for _, option := range c.frameOptions() {
		if option.given {
			return fmt.Errorf("%s is for trace files, of frames, and %s is an execution trace", option.name, in.name)
		}
	}
	target, err := chooseDestination(out, c.To, ExecutionFormats, in.dialect, streams)
	if err != nil {
		return err
	}
	e := &execution{in: in, to: target.format.dialect, streams: streams, title: target.title()}
	err = e.write(target)
	// The report of an interrupted run would count lines up to a place that nobody has chosen.
	if errors.Is(err, console.ErrInterrupted) {
		return console.ErrInterrupted
	}
	e.tell()
	if e.unread != nil {
		return fmt.Errorf("%s: %w", in.name, e.unread)
	}
	if err != nil {
		return err
	}
	// The lines are kept, but whoever goes on with the output should know that not all of it is records.
	allowed := int64(0)
	if c.MaxBad != nil {
		allowed = int64(*c.MaxBad)
	}
	if e.bad > allowed || e.misplaced > 0 {
		return console.ErrTold
	}
	return nil
}

// givenOption is an option and whether the command line has it.
type givenOption struct {
	name  string
	given bool
}

// frameOptions are those that are about the frames of trace files. An execution trace has none, and an option without effect is
// refused: the user would take the whole trace for a selection.
func (c *Command) frameOptions() []givenOption {
	return []givenOption{
		{"--frames", c.Frames != nil}, {"--tracepoint", len(c.Tracepoint) > 0}, {"--where", c.Where != ""}, {"--part", c.Part != 0},
		{"--by-time", c.ByTime}, {"--exec", c.Exec != ""}, {"--registers", len(c.Registers) > 0},
	}
}

// execution is an execution trace that is written in another dialect.
type execution struct {
	in      *operand
	to      *itrace.Dialect
	title   string // of what is written, for messages
	streams console.Streams
	bar     *progress.Bar

	unread    error                 // where the trace stops being readable
	bad       int64                 // lines that are no records
	samples   []string              // the first of them
	longest   int                   // that a line may be
	cut       int64                 // lines that are longer
	untold    map[itrace.Kind]int64 // records that the dialect which is written has no words for
	cpu       int32                 // of the latest instruction
	misplaced int64                 // records of another processor, where the dialect cannot tell
}

// badSamples is how many lines that are no records are shown: enough to see a pattern, few enough for a screen.
const badSamples = 5

// write writes the trace. A signal that asks the process to end has it remove what is half written.
func (e *execution) write(t *destination) error {
	ctx, stop := console.UntilInterrupted()
	defer stop()
	// A read of a pipe may wait for ever, and the check after it would never be reached.
	if pipe := e.in.input.Pipe; pipe != nil {
		context.AfterFunc(ctx, pipe.Cancel)
	}
	if t.path != "-" || !console.IsTerminal(e.streams.Out) {
		work := progress.Work{Name: "converting " + text.Visible(e.in.name)}
		if e.in.input.File != nil {
			work.Total = e.in.input.Status.Size()
		}
		e.bar = progress.Start(e.streams.Err, work)
		defer e.bar.Done()
	}
	if t.path == "-" && t.method == nil {
		return console.Write(e.streams, func(out *console.Output) error { return e.copy(out, ctx, out.Flush) })
	}
	// Compressed lines are not flushed: small blocks compress badly.
	return t.pack(e.streams, func(w io.Writer) error { return e.copy(w, ctx, func() error { return nil }) })
}

// copy writes all records to w, and has what is gathered flushed before it waits for more. Fewer records than there is room for
// mean that the reader has to wait for the next line: then a program behind the pipe gets what there is, as from the simulator
// itself.
//
// Lines that are no records are counted and kept: the dialect that is written has a form for them as well.
func (e *execution) copy(w io.Writer, ctx context.Context, flush func() error) error {
	if !e.to.Written() {
		return e.copyBytes(w, ctx, flush)
	}
	// A dialect that writes an instruction and its effects on one line has to be given them together; of the others a record is
	// written as soon as it is read.
	reader, writer := itrace.NewReader(e.in.trace, e.in.dialect), e.to.Writer()
	e.longest = reader.MaxLine
	records := make([]itrace.Record, 512)
	var lines []byte
	var group []itrace.Record // an instruction and its effects, of which there may be more to come
	// The header is what makes the rest readable, so it also precedes a trace without records.
	if _, err := io.WriteString(w, e.to.Header); err != nil {
		return err
	}
	for {
		n, err := reader.Read(records)
		if ctx.Err() != nil {
			return console.ErrInterrupted
		}
		for i := range n {
			e.note(&records[i])
		}
		switch lines = lines[:0]; {
		case !e.to.Groups:
			lines = writer.Append(lines, records[:n])
		case err == nil:
			lines, group = e.appendGroups(writer, lines, group, records[:n])
		default:
			lines = writer.Append(lines, group)
			e.leftOver(group)
		}
		if err != nil {
			lines = writer.Finish(lines)
		}
		if _, err := w.Write(lines); err != nil {
			return err
		}
		e.bar.Set(e.in.input.Raw.Done.Load())
		if err != nil {
			return e.ended(err)
		}
		if n < len(records) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
}

// copyBytes is copy for a trace that stays as it is, whatever its lines are.
func (e *execution) copyBytes(w io.Writer, ctx context.Context, flush func() error) error {
	for buffer := make([]byte, copyBuffer); ; {
		n, err := e.in.trace.Read(buffer)
		if ctx.Err() != nil {
			return console.ErrInterrupted
		}
		if _, err := w.Write(buffer[:n]); err != nil {
			return err
		}
		e.bar.Set(e.in.input.Raw.Done.Load())
		if err != nil {
			return e.ended(err)
		}
		if err := flush(); err != nil {
			return err
		}
	}
}

// ended takes note of what the trace ends with. The error is nil if what came out of it is to be kept.
func (e *execution) ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	e.unread = err
	var damage *packed.DamageError
	if errors.As(err, &damage) {
		return nil
	}
	return err
}

// appendGroups writes the groups that are complete, and returns that which may have more to come. Its records are copies, because
// those of the reader are valid until its next read only.
func (e *execution) appendGroups(writer itrace.Writer, lines []byte, group, records []itrace.Record) ([]byte, []itrace.Record) {
	for i := range records {
		instruction := records[i].Kind == itrace.Instruction
		if instruction && !e.to.Leads {
			lines = writer.Append(lines, group)
			group = group[:0]
		}
		group = append(group, records[i].Clone())
		if instruction && e.to.Leads { // the effects of the one before, and this one
			lines = writer.Append(lines, group)
			group = group[:0]
		}
	}
	return lines, group
}

// leftOver notes effects of the last instruction that a dialect has no place for, as it writes them in front of the next: Append
// passes over them in silence.
func (e *execution) leftOver(group []itrace.Record) {
	for i := range group {
		r := &group[i]
		effect := r.Kind != itrace.Unknown && r.Kind != itrace.Remark
		if e.to.Leads && effect && (e.to.Writes == nil || e.to.Writes(r)) {
			e.leaveOut(r.Kind)
		}
	}
}

// leaveOut counts a record that is not written. The map is made when it is needed, as most conversions lose nothing.
func (e *execution) leaveOut(kind itrace.Kind) {
	if e.untold == nil {
		e.untold = make(map[itrace.Kind]int64)
	}
	e.untold[kind]++
}

// note notes what is not as it should be. Memory and registers belong to the processor of the instruction before, in dialects
// that do not name one; a record that belongs to another would change its meaning on the way, which is as bad as a lost line.
func (e *execution) note(r *itrace.Record) {
	if e.to.Writes != nil && r.Kind != itrace.Remark && !e.to.Writes(r) {
		e.leaveOut(r.Kind)
	}
	switch r.Kind {
	case itrace.Remark:
	case itrace.Unknown:
		if r.Problem.Column > e.longest {
			e.cut++
		}
		if e.bad++; len(e.samples) < badSamples {
			e.samples = append(e.samples, fmt.Sprintf("line %d, %v", r.Line, r.Problem))
		}
	case itrace.Instruction:
		e.cpu = r.CPU
	default:
		if r.CPU != e.cpu && !e.to.EffectsTellCPU {
			e.misplaced++
		}
	}
}

// tell says what is not as it should be, on standard error and after the progress bar is gone. Samples come from the trace and may
// contain anything, so they are made visible.
func (e *execution) tell() {
	e.bar.Done()
	name := text.Visible(e.in.name)
	if e.bad > 0 {
		kept := ", and kept"
		if e.untold[itrace.Unknown] > 0 {
			kept = ""
		}
		fmt.Fprintf(e.streams.Err, "tracewell: %s: %s of %s%s\n", name,
			countOf(e.bad, "line is no record", "lines are no records"), e.in.dialect.Title, kept)
		for _, sample := range e.samples {
			fmt.Fprintf(e.streams.Err, "  %s\n", text.Visible(sample))
		}
	}
	if e.cut > 0 {
		fmt.Fprintf(e.streams.Err, "tracewell: %s: of %s longer than %d bytes only the beginning is kept\n", name,
			countOf(e.cut, "line", "lines"), e.longest)
	}
	for _, kind := range slices.Sorted(maps.Keys(e.untold)) {
		fmt.Fprintf(e.streams.Err, "tracewell: %s: %s of kind %q, which %s has no words for\n", text.Visible(e.title),
			countOf(e.untold[kind], "record is left out", "records are left out"), kind, e.to.Title)
	}
	if e.misplaced > 0 {
		fmt.Fprintf(e.streams.Err, "tracewell: %s: %s of another processor than the instruction before, which %s cannot tell\n",
			text.Visible(e.title), countOf(e.misplaced, "record is", "records are"), e.to.Title)
	}
}

// countOf is a number of things in words.
func countOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
