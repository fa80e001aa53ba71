package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/internal/text"
	"tracewell/record"
	"tracewell/record/local"
	"tracewell/record/plan"
	"tracewell/target"
	"tracewell/trace"
)

// record traces a process of this machine.
func (c *Command) record(p *plan.Plan, streams console.Streams, version page.Version) error {
	output, err := c.output(streams)
	if err != nil {
		return err
	}
	// A process that ran before, and what is behind a stub, is left in order first, however often somebody is impatient. A
	// program that was launched ends with this process.
	ctx, cancel := console.UntilSignalled(!c.attaches() && c.To == "")
	defer cancel()
	// A program that takes the terminal leaves this process in the background, where writing to it must not stop us.
	console.IgnoreTerminalStops()
	defer console.IgnoreBrokenPipes()()

	run := newRecordRun(c, p, output, streams, cancel)
	run.version = version
	// Keys of the terminal are the program's while it is in the foreground; a page outlives the program, and needs them back.
	release := func() {}
	if c.To == "" {
		run.job = console.NewJob(console.TakeTerminal(streams.In), streams.Err, run.stopped(), run.quiet)
		run.status.job = run.job
		if c.figures != nil {
			run.printer.figures.job = run.job
		}
		release = sync.OnceFunc(run.job.Close)
		defer release()
	}
	// An error comes before the status of a signal, since a run that a signal has ended may also have failed to write its file.
	result, err := run.trace(ctx)
	if run.page != nil && err == nil {
		release() // the keys of the terminal are for this process again, Ctrl-C above all
		err = run.page.wait(streams)
	}
	if err = errors.Join(err, output.deliver(streams.Out)); err != nil {
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
	case c.attaches() || !result.ProgramEnded:
		return nil
	case result.Signal != 0:
		return console.ExitStatus(console.SignalStatus + result.Signal)
	case result.Code != 0:
		return console.ExitStatus(result.Code)
	}
	return nil
}

// config turns the options into the configuration of a run. The environment is the command's own, and addresses are randomised as
// without a tracer unless --no-randomize is given: a recording shall show the program as it runs otherwise.
func (c *Command) config(p *plan.Plan, output string, streams console.Streams) local.Config {
	config := local.Config{
		PIDs: c.PID, Names: c.Comm, Streams: target.Streams{In: streams.In, Out: streams.Out, Err: streams.Err},
		Config: record.Config{
			Plan: p, Follow: c.Follow,
			// A misspelt name is more frequent than a library that is loaded later. A shell that runs the program has none of its functions.
			NotPending: !c.Pending && !c.Follow,
			Output:     output, Buffer: p.Settings.BufferSize, Circular: p.Settings.Circular,
			MaxFrames: int64(c.Frames), Duration: time.Duration(c.Duration),
			User: p.Settings.User, Notes: p.Settings.Notes,
			TrapsOnly: !c.Pads, WhenFull: target.WhenFull(c.WhenFull),
		},
	}
	if c.Output == "-" { // which is for the trace file alone
		config.Streams.Out = streams.Err
	}
	if command := c.command(); len(command) > 0 {
		config.Program = target.Program{Path: command[0], Args: command[1:], Env: os.Environ(), RandomAddresses: !c.NoRandomize}
	}
	return config
}

// recordRun is one run of record, and what is printed about it. Events and frames come from goroutines of the run, one at a time
// each.
type recordRun struct {
	*Command
	config   local.Config
	output   outputFile
	status   *runStatus
	printer  *runPrinter  // nil if frames are not printed
	page     *livePage    // nil without --view
	version  page.Version // of tracewell, for the page
	session  *record.Session
	streams  console.Streams
	out      *console.Output
	job      *console.Job
	launched atomic.Int64 // the process that a key may stop, 0 before there is one
	paused   atomic.Pointer[record.Session]
	pid      int  // of the first process, 0 before there is one
	bare     bool // what a stub calls a process may be a whole machine
	start    time.Time
}

// stopped is what Ctrl-Z does: a program that was launched is stopped, which stops this process; it has the key itself if it has
// the terminal. With a process that runs anyway the run goes on in the background (nil).
func (r *recordRun) stopped() func() {
	if r.attaches() {
		return nil
	}
	return func() {
		if pid := r.launched.Load(); pid != 0 {
			console.StopGroup(int(pid))
		}
	}
}

// quiet keeps the program from waiting for this process, which is about to be stopped. What the user misses by that is told, which
// is nothing of a program that is stopped itself.
func (r *recordRun) quiet() func() {
	session := r.paused.Load()
	if session == nil {
		return func() {}
	}
	resume, any := session.Pause()
	return console.Missing(resume, any && (r.attaches() || r.Follow), r.status.warn)
}

// newRecordRun prepares a run, which stop ends. The status keeps off a terminal to which the program or the frames are written,
// too: a table drawn there would mix with them.
func newRecordRun(c *Command, p *plan.Plan, output outputFile, streams console.Streams, stop func()) *recordRun {
	r := &recordRun{Command: c, output: output, streams: streams, out: console.NewOutput(streams.Out)}
	if c.prints() {
		r.printer = newRunPrinter(c, p, r.out, stop)
	}
	r.config = c.config(p, output.path, streams)
	// A program that was launched inherits the standard streams; one at a server or of --pid has its own.
	inherited := !c.attaches() && c.To == ""
	if c.figures != nil {
		r.printer.figures = newFigureScreen(c, r.out, streams.Out, inherited)
	}
	shared := console.IsTerminal(streams.Out) && (inherited || r.printer != nil)
	r.status = newRunStatus(streams.Err, c.Quiet, shared)
	r.status.verbose = c.Verbose
	return r
}

// open prepares the run, which takes as long as reading the debug information of the program. It is not started: names have been
// looked up, and the program, if launched, stands still with its libraries loaded, before any code of its own.
func (r *recordRun) open() (*record.Session, error) {
	if r.To == "" {
		return openHere(r.config)
	}
	session, on, err := r.openPeer(r.config.Config, r.streams)
	r.bare = on != nil && on.Auxv() == nil
	return session, err
}

// trace prepares the run and carries it out. What has been recorded is summarised even after an error, since the file is whole as
// far as it goes; the error of printing comes last, because it is the least.
func (r *recordRun) trace(ctx context.Context) (result record.Result, err error) {
	r.config.Events, r.config.Interrupted = r.event, ctx.Done()
	// Without a printer the session need not parse its frames.
	if r.printer != nil {
		r.config.Frames = r.printer.frame
		if r.printer.lines() {
			r.config.Shown, r.config.Sync = r.printer.shown, r.Sync
		}
	}
	r.session, err = whileReading(r.status.file, &r.config.Symbols, r.open)
	if err != nil {
		return result, err
	}
	defer r.session.Close()
	if r.printer != nil {
		r.printer.start, r.printer.repeats = time.Now(), r.session.Repeats
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
	for _, t := range r.config.Plan.AllReturn() {
		r.status.warn(fmt.Errorf("tracepoint %d: the condition of tracepoint %d is one of entries: all returns are recorded, and "+
			"show --where '$took >= 0' leaves out those of other calls", t.Number, t.Entry))
	}
	r.start = time.Now()
	if r.printer != nil {
		r.printer.begin(r.start)
	}
	if r.View {
		r.page = r.showPage(r.session.Program())
		defer close(r.page.over)
	}
	r.status.watch(r.session.Feed)
	result, err = r.session.Run(ctx)
	r.status.stop()
	if r.printer != nil && !result.Unread { // it is in the middle of a line that nobody reads
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
	r.printer.names = r.session.ThreadName
	return r.printer.adopt(r.session.Header())
}

// event prints an event of the run. The end of the first process is part of the summary, and so not printed here.
func (r *recordRun) event(e record.Event) {
	switch e.Kind {
	case record.Waiting:
		r.status.say("Waiting for a process named %s", text.Visible(e.Path))
	case record.Suspended:
		r.job.Suspend(e.PID, e.Signal)
	case record.Started, record.Attached:
		if r.pid != 0 {
			r.status.say("Process %d runs %s, and is recorded, too", e.PID, text.Visible(e.Path))
			break
		}
		r.pid = e.PID
		r.launched.Store(int64(e.PID))
		r.paused.Store(r.session)
		r.status.say("Recording %s (%s)%s", text.Visible(e.Path), r.where(e.PID), r.into(" into "))
		r.explain(r.session.Points())
	case record.Forked:
		r.status.say("Process %d is a child, and recorded, too", e.PID)
	case record.Execed:
		r.status.say("Process %d runs %s now", e.PID, text.Visible(e.Path))
	case record.Exited:
		if r.several() || e.PID != r.pid {
			r.status.say("Process %d exited with status %d", e.PID, e.Code)
		}
	case record.Killed:
		if r.several() || e.PID != r.pid {
			r.status.say("Process %d was killed by %s", e.PID, console.SignalText(e.Signal))
		}
	// Locations that were found in a library come with new definitions, which frames of them are printed by.
	case record.Armed:
		for _, l := range e.Locations {
			r.status.say("Tracepoint %d at %s", e.Point, text.Visible(l.String()))
		}
		r.explain([]record.Point{{Number: e.Point, Locations: e.Locations}}, e.Point) // a library may have thousands of tracepoints
		if err := r.adopt(); err != nil {
			r.status.warn(err)
		}
	case record.Warning:
		r.status.warn(e.Err)
	}
}

// into names the file, with what stands in front of it; it is empty if there is none.
func (r *recordRun) into(before string) string {
	if r.config.Output == "" {
		return ""
	}
	return before + text.Visible(r.output.String())
}

// where is the process that is recorded, or the stub in front of a program without an operating system.
func (r *recordRun) where(pid int) string {
	if r.bare {
		return "at " + text.Visible(r.To)
	}
	return fmt.Sprintf("process %d", pid)
}

// explain says how the hits of locations are collected, for --explain. The numbers are those of the tracepoints, none for all.
func (r *recordRun) explain(points []record.Point, numbers ...trace.Number) {
	if !r.Explain {
		return
	}
	texts := make(map[trace.Key]string)
	for _, e := range r.session.Explain(numbers...) {
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
func (run *recordRun) endText(r record.Result) string {
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
	case run.several():
		return "all processes have ended"
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
	r.status.say("%s, %s%s: %s", text.Plural(feed.Frames, "frame"), sizeText(feed.Bytes), r.into(", in "), r.endText(result))
	if !r.JSON || result.Unread {
		return nil
	}
	return console.WriteTo(r.out, func(out *console.Output) error { return writeRunJSON(out, r, result, time.Since(r.start)) })
}
