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
	result, err := run.trace(ctx)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := console.SignalledStatus(ctx); err != nil {
		return err
	}
	return c.ending(result)
}

// ending hands on how a program ended that was launched, here or by a server.
func (c *Command) ending(result record.Result) error {
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

// config is what the options come to.
func (c *Command) config(p *plan.Plan, output string, streams console.Streams) record.Config {
	config := record.Config{
		Plan: p, PID: int(c.PID), Streams: target.Streams{In: streams.In, Out: streams.Out, Err: streams.Err}, Follow: c.Follow,
		Output: output, Buffer: p.Settings.BufferSize, Circular: p.Settings.Circular,
		MaxFrames: int64(c.Frames), Duration: time.Duration(c.Duration),
		User: p.Settings.User, Notes: p.Settings.Notes,
	}
	if command := c.command(); len(command) > 0 {
		config.Program = target.Program{Path: command[0], Args: command[1:], Env: os.Environ(), RandomAddresses: true}
	}
	return config
}

// recordRun is one run of record, with what is told of it.
type recordRun struct {
	*Command
	config   record.Config
	status   *runStatus
	printer  *runPrinter // nil if frames are not printed
	session  recordSession
	out      *console.Output
	job      *console.Job
	launched atomic.Int64 // the process that a key may stop, 0 before there is one
	pid      int
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

// newRecordRun prepares a run, which stop ends.
func newRecordRun(c *Command, p *plan.Plan, path string, streams console.Streams, stop func()) *recordRun {
	r := &recordRun{Command: c, out: console.NewOutput(streams.Out)}
	if c.Print || c.Format.Given() {
		r.printer = newRunPrinter(c, p, r.out, stop)
		stamp := "$" + trace.TimestampName
		p.CollectAlways(plan.Text{Value: stamp, Origin: "--print", Line: stamp})
	}
	r.config = c.config(p, path, streams)
	shared := console.IsTerminal(streams.Out) && (r.config.PID == 0 && c.Remote == "" || r.printer != nil)
	r.status = newRunStatus(streams.Err, c.Quiet, shared)
	return r
}

// recordSession is a run on this machine, or at a server.
type recordSession interface {
	Points() []record.Point
	Warnings() []error
	Program() *symbol.Program
	Header() tfile.Header
	Feed() record.Feed
	Run(context.Context) (record.Result, error)
	Close() error
}

// open prepares the run.
func (r *recordRun) open(config record.Config) (recordSession, error) {
	if r.Remote != "" {
		return remote.Open(remote.Config{Config: config, Address: r.Remote})
	}
	return openHere(config)
}

// trace prepares the run and carries it out.
func (r *recordRun) trace(ctx context.Context) (result record.Result, err error) {
	r.config.Events = r.event
	if r.printer != nil {
		r.config.Frames = r.printer.frame
	}
	reading := newReadingBar(r.status.file)
	r.config.Symbols.Progress = reading.set
	r.session, err = r.open(r.config)
	reading.done()
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

// adopt has frames understood by the definitions that there are now.
func (r *recordRun) adopt() error {
	if r.printer == nil {
		return nil
	}
	return r.printer.adopt(r.session.Header())
}

// event tells what happens during a run.
func (r *recordRun) event(e record.Event) {
	switch e.Kind {
	case record.Suspended:
		r.job.Suspend(e.PID, e.Signal)
	case record.Started, record.Attached:
		r.pid = e.PID
		r.launched.Store(int64(e.PID))
		r.status.say("Recording %s (process %d) into %s", text.Visible(e.Path), e.PID, text.Visible(r.config.Output))
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
	case record.Armed:
		for _, l := range e.Locations {
			r.status.say("Tracepoint %d at %s", e.Point, text.Visible(l.String()))
		}
		if err := r.adopt(); err != nil {
			r.status.warn(err)
		}
	case record.Warning:
		r.status.warn(e.Err)
	}
}

// shownLocations are how many locations of a tracepoint are listed.
const shownLocations = 4

// pointText says where a tracepoint is.
func pointText(p record.Point) string {
	if len(p.Locations) > shownLocations {
		return fmt.Sprintf("Tracepoint %d at %s: %d locations", p.Number, text.Visible(p.At), len(p.Locations))
	}
	var lines []string
	for _, l := range p.Locations {
		lines = append(lines, fmt.Sprintf("Tracepoint %d at %s", p.Number, text.Visible(l.String())))
	}
	return strings.Join(lines, "\n")
}

// endText says why a run has ended.
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
	case r.Signal != 0:
		return "the program was killed by " + console.SignalText(r.Signal)
	}
	return fmt.Sprintf("the program exited with status %d", r.Code)
}

// summarise says what came of a run.
func (r *recordRun) summarise(result record.Result) error {
	feed := result.Feed
	r.status.summary(feed)
	for _, p := range feed.Points {
		if p.Pending {
			r.status.warn(fmt.Errorf("tracepoint %d: %s was nowhere", p.Number, text.Visible(p.At)))
		}
	}
	r.status.say("%s, %s, in %s: %s", text.Plural(feed.Frames, "frame"), sizeText(feed.Bytes), text.Visible(r.config.Output), endText(result))
	if !r.JSON {
		return nil
	}
	return console.WriteTo(r.out, func(out *console.Output) error { return writeRunJSON(out, r, result, time.Since(r.start)) })
}
