package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/record"
	"tracewell/record/plan"
	"tracewell/record/remote"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// record traces a process of this machine.
func (c *Command) record(p *plan.Plan, streams console.Streams) error {
	output, err := c.output(streams)
	if err != nil {
		return err
	}
	// A process that ran before is left in order first, however often somebody is impatient. A program that was launched ends with
	// this process.
	ctx, cancel := console.UntilSignalled(c.PID == 0)
	defer cancel()
	// A program that takes the terminal leaves this process in the background, where writing to it must not stop us.
	console.IgnoreTerminalStops()
	defer console.IgnoreBrokenPipes()()

	run := newRecordRun(c, p, output, streams, cancel)
	if c.Remote == "" {
		run.job = console.NewJob(console.TakeTerminal(streams.In), streams.Err, run.stopped())
		run.status.job = run.job
		defer run.job.Close()
	}
	// An error comes before the status of a signal, since a run that a signal has ended may also have failed to write its file.
	result, err := run.trace(ctx)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := console.SignalledStatus(ctx); err != nil {
		return err
	}
	return c.ending(result)
}

// ending returns the exit status of a program that was launched, here or by a server, as that of record, and 128 and the number
// of the signal that killed it, as shells do. A process that was attached to has a parent of its own that is interested.
func (c *Command) ending(result record.Result) error {
	// A shell reports 128 and the number as well, so a script sees the same status with record in front of the program as without.
	switch {
	case c.PID != 0 || !result.ProgramEnded:
		return nil
	case result.Signal != 0:
		return console.ExitStatus(console.SignalStatus + result.Signal)
	case result.Code != 0:
		return console.ExitStatus(result.Code)
	}
	return nil
}

// config turns the options into the configuration of a run. The environment is the command's own, and addresses are randomised as
// without a tracer: a recording shall show the program as it runs otherwise.
func (c *Command) config(p *plan.Plan, output string, streams console.Streams) record.Config {
	config := record.Config{
		Plan: p, PID: int(c.PID), Streams: target.Streams{In: streams.In, Out: streams.Out, Err: streams.Err}, Follow: c.Follow,
		Output: output, Buffer: p.Settings.BufferSize, Circular: p.Settings.Circular,
		MaxFrames: int64(c.Frames), Duration: time.Duration(c.Duration),
		User: p.Settings.User, Notes: p.Settings.Notes,
		TrapsOnly: !c.Pads, WhenFull: target.WhenFull(c.WhenFull),
	}
	if command := c.command(); len(command) > 0 {
		config.Program = target.Program{Path: command[0], Args: command[1:], Env: os.Environ(), RandomAddresses: true}
	}
	return config
}

// recordRun is one run of record, and what is printed about it. Events and frames come from goroutines of the run, one at a time
// each.
type recordRun struct {
	*Command
	config   record.Config
	status   *runStatus
	printer  *runPrinter // nil if frames are not printed
	session  recordSession
	out      *console.Output
	job      *console.Job
	launched atomic.Int64 // the process that a key may stop, 0 before there is one
	pid      int          // of the first process, 0 before there is one
	start    time.Time
}

// stopped is what Ctrl-Z does: a program that was launched is stopped, which stops this process; it has the key itself if it has
// the terminal. With a process that runs anyway the run goes on in the background (nil).
func (r *recordRun) stopped() func() {
	if r.PID != 0 {
		return nil
	}
	return func() {
		if pid := r.launched.Load(); pid != 0 {
			console.StopGroup(int(pid))
		}
	}
}

// newRecordRun prepares a run, which stop ends. The status keeps off a terminal to which the program or the frames are written,
// too: a table drawn there would mix with them.
func newRecordRun(c *Command, p *plan.Plan, path string, streams console.Streams, stop func()) *recordRun {
	r := &recordRun{Command: c, out: console.NewOutput(streams.Out)}
	if c.Print || c.Format.Given() {
		r.printer = newRunPrinter(c, p, r.out, stop)
	}
	r.config = c.config(p, path, streams)
	// A program that was launched inherits the standard streams; one at a server or of --pid has its own.
	shared := console.IsTerminal(streams.Out) && (r.config.PID == 0 && c.Remote == "" || r.printer != nil)
	r.status = newRunStatus(streams.Err, c.Quiet, shared)
	return r
}

// recordSession is a run on this machine (record.Session), or at a server (remote.Session). It is prepared, but not started: the
// names of the program have been looked up, and the program, if launched, stands still with its libraries loaded, before any
// code of its own.
type recordSession interface {
	Points() []record.Point
	Warnings() []error
	Program() *symbol.Program
	Header() tfile.Header
	Feed() record.Feed
	Run(context.Context) (record.Result, error)
	Close() error
}

// open prepares the run, which takes as long as reading the debug information of the program.
func (r *recordRun) open() (recordSession, error) {
	if r.Remote != "" {
		return remote.Open(remote.Config{Config: r.config, Address: r.Remote})
	}
	return openHere(r.config)
}

// trace prepares the run and carries it out. What has been recorded is summarised even after an error, since the file is whole as
// far as it goes; the error of printing comes last, because it is the least.
func (r *recordRun) trace(ctx context.Context) (result record.Result, err error) {
	r.config.Events = r.event
	// Without a printer the session need not parse its frames.
	if r.printer != nil {
		r.config.Frames = r.printer.frame
	}
	r.session, err = whileReading(r.status.file, &r.config.Symbols, r.open)
	if err != nil {
		return result, err
	}
	defer r.session.Close()
	if r.printer != nil {
		r.printer.start = time.Now()
		if r.printer.program = r.session.Program(); r.printer.program != nil {
			defer r.printer.program.Close()
		}
	}
	if err := r.adopt(); err != nil {
		return result, err
	}
	// The printer has its definitions before the run is on: a frame may come with the first instruction. The status is stopped before
	// the summary, as a table that is still drawn would come behind it.
	r.status.points(r.session.Points())
	r.start = time.Now()
	if r.printer != nil {
		r.printer.begin()
	}
	r.status.watch(r.session.Feed)
	result, err = r.session.Run(ctx)
	r.status.stop()
	if r.printer != nil {
		if failed := r.printer.close(); err == nil {
			err = failed
		}
	}
	if err == nil || result.Feed.Points != nil {
		err = errors.Join(err, r.summarise(result))
	}
	return result, err
}

// adopt gives the printer the present definitions. They grow when a library is loaded that a pending tracepoint has waited for.
func (r *recordRun) adopt() error {
	if r.printer == nil {
		return nil
	}
	return r.printer.adopt(r.session.Header())
}

// event prints an event of the run. The end of the first process is part of the summary, and so not printed here.
func (r *recordRun) event(e record.Event) {
	switch e.Kind {
	case record.Suspended:
		r.job.Suspend(e.PID, e.Signal)
	case record.Started, record.Attached:
		r.pid = e.PID
		r.launched.Store(int64(e.PID))
		r.status.say("Recording %s (process %d) into %s", text.Visible(e.Path), e.PID, text.Visible(r.config.Output))
		r.explain(r.session.Points())
	case record.Forked:
		r.status.say("Process %d is a child, and recorded, too", e.PID)
	case record.Execed:
		r.status.say("Process %d runs %s now", e.PID, text.Visible(e.Path))
	case record.Exited:
		if e.PID != r.pid {
			r.status.say("Process %d exited with status %d", e.PID, e.Code)
		}
	case record.Killed:
		if e.PID != r.pid {
			r.status.say("Process %d was killed by %s", e.PID, console.SignalText(e.Signal))
		}
	// Locations that were found in a library come with new definitions, which frames of them are printed by.
	case record.Armed:
		for _, l := range e.Locations {
			r.status.say("Tracepoint %d at %s", e.Point, text.Visible(l.String()))
		}
		r.explain([]record.Point{{Number: e.Point, Locations: e.Locations}})
		if err := r.adopt(); err != nil {
			r.status.warn(err)
		}
	case record.Warning:
		r.status.warn(e.Err)
	}
}

// explain says how the hits of locations are collected, for --explain.
func (r *recordRun) explain(points []record.Point) {
	here, ok := r.session.(interface {
		Explain() []tracepoint.Explanation
	})
	if !ok || !r.Explain {
		return
	}
	texts := make(map[trace.Key]string)
	for _, e := range here.Explain() {
		texts[e.Key] = e.String()
	}
	for _, p := range points {
		for _, l := range p.Locations {
			r.status.say("Tracepoint %d at %s: %s", p.Number, text.Visible(l.String()), texts[trace.Key{Number: p.Number, Addr: l.Addr}])
		}
	}
}

// shownLocations is the most locations of a tracepoint that are listed; an inlined function may have hundreds.
const shownLocations = 4

// pointText lists the locations of a tracepoint, one on a line, or counts them.
func pointText(p record.Point) string {
	// The whole list is what --dry-run prints, and what the object of --json has.
	if len(p.Locations) > shownLocations {
		return fmt.Sprintf("Tracepoint %d at %s: %d locations", p.Number, text.Visible(p.At), len(p.Locations))
	}
	var lines []string
	for _, l := range p.Locations {
		lines = append(lines, fmt.Sprintf("Tracepoint %d at %s", p.Number, text.Visible(l.String())))
	}
	return strings.Join(lines, "\n")
}

// endText is the reason why a run has ended. A program that ended while the run was cancelled counts as interrupted.
func endText(r record.Result) string {
	switch {
	case r.End == record.TimeUp:
		return "the time is up"
	case r.End == record.EnoughFrames:
		return "the number of --frames is reached"
	case r.End == record.BufferFull:
		return "the buffer is full"
	case r.End == record.PassCount:
		return fmt.Sprintf("tracepoint %d has reached its pass count", r.Status.Tracepoint)
	case r.End == record.Cancelled:
		return "interrupted"
	case r.End == record.Failed:
		return "not all could be recorded"
	// What is left are ends by the program itself.
	case r.Signal != 0:
		return "the program was killed by " + console.SignalText(r.Signal)
	}
	return fmt.Sprintf("the program exited with status %d", r.Code)
}

// summarise prints the table of tracepoints, warns of those that no file of the program defined until the end, and names the file
// and why the run ended; with --json it prints the same as an object on standard output.
func (r *recordRun) summarise(result record.Result) error {
	feed := result.Feed
	r.status.summary(feed)
	// A typing error in the name of a function looks like a library that never came, so the end of the run is where it must be told.
	for _, p := range feed.Points {
		if p.Pending {
			r.status.warn(fmt.Errorf("tracepoint %d: %s was nowhere", p.Number, text.Visible(p.At)))
		}
	}
	if feed.Lost > 0 {
		r.status.warn(fmt.Errorf("%s lost for want of room", text.Plural(feed.Lost, "frame")))
	}
	r.status.say("%s, %s, in %s: %s", text.Plural(feed.Frames, "frame"), sizeText(feed.Bytes), text.Visible(r.config.Output),
		endText(result))
	if !r.JSON {
		return nil
	}
	return console.WriteTo(r.out, func(out *console.Output) error { return writeRunJSON(out, r, result, time.Since(r.start)) })
}
