package dap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/google/go-dap"

	"tracewell/internal/routine"
	"tracewell/internal/text"
	"tracewell/record"
	"tracewell/record/local"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/view"
)

// running is a program that runs, under trace. What is under mu is changed by the run, from its goroutines.
type running struct {
	session   *session
	arguments *launchArguments
	file      *symbol.Program // of the program, as its file has it: for breakpoints
	fileNames *names
	plan      *plan.Plan
	numbers   map[int]trace.Number // of tracepoints, by the number of the breakpoint
	highest   trace.Number
	shown     int64 // the hit that the client looks at, -1 for none: then the program runs for it
	moment    *frameMoment
	entry     bool          // it stands still, before its first instruction
	lost      bool          // it has ended, and the client has been told
	printed   chan struct{} // closed when all that the program prints has been told; nil for one that was attached to
	told      atomic.Int64  // bytes of that

	mu     sync.Mutex
	run    *record.Session
	cancel context.CancelFunc
	ended  chan struct{} // closed when Run has returned
	pid    int
	points map[trace.Number]*breakpoint // by which hits are printed
	armed  map[trace.Number]bool        // of which the client knows that they are set, or will be
	hits   hits
	view   *view.View // of all definitions so far; nil before there are some
	naming *names     // of that view, for lines of log points
	early  []record.Frame
	over   bool // the program has ended
}

// openLive prepares to start a program or to attach to one. Nothing is started before the client has set its breakpoints.
func (s *session) openLive(a *launchArguments) (debuggee, error) {
	switch {
	case s.Record == nil:
		return nil, errors.New("processes of this machine cannot be traced here; a recording can be opened: trace")
	case a.PID == 0 && a.Program == "":
		return nil, errors.New("launch wants trace, a recording, or program, a file to execute")
	}
	if a.PID != 0 && a.Program == "" {
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", a.PID))
		if err != nil {
			return nil, fmt.Errorf("process %d cannot be traced: %w", a.PID, err)
		}
		a.Program = path
	}
	whole, err := filepath.Abs(a.Program)
	if err != nil {
		return nil, err
	}
	a.Program = whole
	l := &running{session: s, arguments: a, plan: newPlan(), shown: -1,
		numbers: make(map[int]trace.Number), armed: make(map[trace.Number]bool)}
	if l.file, err = symbol.Open(a.Program, symbol.Options{}); err != nil {
		return nil, err
	}
	file := l.file.Main().File()
	l.fileNames = &names{program: l.file, machine: file.Arch(), order: file.Order()}
	return l, nil
}

func (l *running) reach() reach { return live }

func (l *running) names() *names {
	if l.moment != nil {
		return l.moment.names
	}
	return l.fileNames
}

// errRuns is why nothing can be looked at.
var errRuns = errors.New("the program runs; pause shows its last hit")

func (l *running) at(int) (moment, error) {
	switch {
	case l.entry:
		return nil, errors.New("the program has not begun")
	case l.moment == nil:
		return nil, errRuns
	}
	return l.moment, nil
}

// threads lists the thread of the hit that is looked at; while the program runs one thread stands for all.
func (l *running) threads() []protocol.Thread {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moment != nil {
		name := fmt.Sprintf("%s, hit %d of %d", l.moment.threadName(), l.shown, l.hits.next)
		return []protocol.Thread{{Id: l.moment.threadOf(), Name: name}}
	}
	program := text.Visible(filepath.Base(l.arguments.Program))
	return []protocol.Thread{{Id: max(l.pid, 1), Name: fmt.Sprintf("%s, %d hits", program, l.hits.next)}}
}

func (l *running) begin(_ context.Context, stopAtEntry bool) (stop, error) {
	if err := l.open(); err != nil {
		return stop{}, errors.Join(err, errEnded)
	}
	if stopAtEntry && l.arguments.PID == 0 {
		l.entry = true
		return stop{reason: "entry", description: "before the program's first instruction", thread: 1}, nil
	}
	l.start()
	return stop{}, nil
}

// open has the program started, or attached to.
func (l *running) open() error {
	a := l.arguments
	config := local.Config{Config: record.Config{
		Plan: l.plan, Follow: a.Follow, Changes: true, Output: a.Output, TrapsOnly: a.Traps,
		Frames: l.frame, Events: l.happened,
	}}
	close := func() {}
	if a.PID != 0 {
		config.PIDs = []int{int(a.PID)}
	} else {
		config.Program = target.Program{Path: a.Program, Args: a.Args, Env: a.Env.over(os.Environ()), Dir: a.Cwd,
			RandomAddresses: true}
		var err error
		if config.Streams, close, err = l.streams(); err != nil {
			return err
		}
	}
	run, err := l.session.Record(config)
	close()
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.run, l.hits, l.over = run, hits{}, false
	l.early = nil
	l.mu.Unlock()
	for _, p := range run.Points() {
		if len(p.Locations) > 0 {
			l.arm(p.Number)
		}
	}
	l.adopt(run)
	return nil
}

// streams are the standard streams of the program. What it prints are events; those of the adapter are the client's.
func (l *running) streams() (streams target.Streams, closeOurs func(), err error) {
	var ours []*os.File
	closeOurs = func() {
		for _, f := range ours {
			f.Close()
		}
	}
	if streams.In, err = os.Open(os.DevNull); err != nil {
		return streams, closeOurs, err
	}
	ours = append(ours, streams.In)
	var forwarders routine.Group
	for category, to := range map[string]**os.File{"stdout": &streams.Out, "stderr": &streams.Err} {
		r, w, err := os.Pipe()
		if err != nil {
			return streams, closeOurs, err
		}
		*to = w
		ours = append(ours, w)
		forwarders.Go(func() { l.forward(r, category) })
	}
	printed := make(chan struct{})
	l.printed = printed
	routine.Go(func() {
		forwarders.Wait()
		close(printed)
	})
	return streams, closeOurs, nil
}

// forward sends what the program prints as events.
func (l *running) forward(r *os.File, category string) {
	defer r.Close()
	const piece = 16 << 10
	b := make([]byte, piece)
	for {
		n, err := r.Read(b)
		if n > 0 {
			l.session.tell("output", protocol.OutputEventBody{Category: category, Output: string(b[:n])})
			l.told.Add(int64(n))
		}
		if err != nil {
			return
		}
	}
}

// start lets the program run.
func (l *running) start() {
	l.entry = false
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	l.mu.Lock()
	run, printed := l.run, l.printed
	l.cancel, l.ended = cancel, ended
	l.mu.Unlock()
	routine.Go(func() {
		result, err := run.Run(ctx)
		l.mu.Lock()
		l.over = true
		l.mu.Unlock()
		if err != nil {
			l.session.say("stderr", "%v", err)
		}
		_ = run.Close() // nothing is left to be put in order
		close(ended)
		if result.ProgramEnded && printed != nil {
			l.awaitPrinted(printed)
		}
		l.session.limiter.flush()
		l.session.from(func() { l.finished(run, result) })
	})
}

// printDelay is for how long nothing may be told of what the program prints until its end is told all the same. A process that it
// has left behind may have its streams for as long as it likes, and print; a slow client is waited for, but not for ever.
const (
	printDelay = time.Second
	mostDelays = 30
)

// awaitPrinted waits until all that the program has printed has been told.
func (l *running) awaitPrinted(printed <-chan struct{}) {
	for told, delays := int64(-1), 0; told != l.told.Load() && delays < mostDelays; delays++ {
		told = l.told.Load()
		select {
		case <-printed:
			return
		case <-time.After(printDelay):
		}
	}
}

// finished tells the client of the end. If breakpoints have collected something there is something to look at: the session goes on
// until the client continues or disconnects.
func (l *running) finished(run *record.Session, r record.Result) {
	if run != l.run || l.lost {
		return // it was started anew meanwhile
	}
	s := l.session
	if r.ProgramEnded {
		code := r.Code
		if r.Signal != 0 {
			const signalStatus = 128 // as shells have it
			code = signalStatus + r.Signal
			s.say("console", "the program was killed by signal %d", r.Signal)
		}
		s.tell("exited", protocol.ExitedEventBody{ExitCode: code})
	}
	l.lost = true
	if at, ok := l.hits.lastSnapshot(&l.mu, l.points); ok && l.arguments.stopsOnExit() {
		if where, err := l.show(at, "pause"); err == nil {
			where.description = "the program has ended; this is its last hit"
			s.stopped(where)
			return
		}
	}
	s.tell("terminated", nil)
}

// happened is told of processes and tracepoints by the run.
func (l *running) happened(e record.Event) {
	s := l.session
	switch e.Kind {
	case record.Started, record.Attached:
		l.mu.Lock()
		l.pid = e.PID
		l.mu.Unlock()
		method := protocol.ProcessEventBody{Name: e.Path, SystemProcessId: e.PID, IsLocalProcess: true, StartMethod: "launch"}
		if e.Kind == record.Attached {
			method.StartMethod = "attach"
		}
		s.tell("process", method)
	case record.Forked:
		s.say("console", "process %d is traced, too", e.PID)
	case record.Execed:
		s.say("console", "process %d executes %s", e.PID, e.Path)
	case record.Armed:
		l.arm(e.Point)
		l.adopt(l.run)
	case record.Suspended:
		s.say("console", "process %d was stopped by signal %d, until SIGCONT", e.PID, e.Signal)
	case record.Warning:
		s.say("console", "%v", e.Err)
	}
}

// arm tells the client that a breakpoint is set now.
func (l *running) arm(n trace.Number) {
	l.mu.Lock()
	b, known := l.points[n], l.armed[n]
	l.armed[n] = true
	l.mu.Unlock()
	if b != nil && !known {
		set := protocol.Breakpoint{Id: b.id, Verified: true}
		l.session.tell("breakpoint", protocol.BreakpointEventBody{Reason: "changed", Breakpoint: set})
	}
}

// adopt makes a view of the present definitions, and prints the hits that had to wait for them.
func (l *running) adopt(run *record.Session) {
	v, _ := view.New(definitions(run.Header()), run.Program())
	v.NameThreads(run.ThreadName)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view, l.naming = v, viewNames(v)
	for _, f := range l.early {
		l.take(f)
	}
	l.early = nil
}

// mostEarly bounds how many frames wait for their definitions.
const mostEarly = 10000

// frame takes a frame of the run.
func (l *running) frame(f record.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.view.Source(f.Tracepoint()) == "" && len(l.early) < mostEarly {
		kept, ok := copyFrame(f.Frame, l.view)
		if ok {
			l.early = append(l.early, record.Frame{Frame: kept, Index: f.Index})
		}
		return
	}
	l.take(f)
}

// take keeps a frame to look at, and prints it if it is of a log point. mu is held.
func (l *running) take(f record.Frame) {
	l.hits.add(f.Bytes())
	if b := l.points[f.Tracepoint()]; b != nil && b.log != nil {
		m := newFrameMoment(l.naming, l.view, l.view.Of(int(f.Index), f.Frame))
		l.session.log(l.naming, m, b.log)
	}
}

// show goes to a hit.
func (l *running) show(at int64, reason string) (stop, error) {
	l.mu.Lock()
	raw, ok := l.hits.get(at)
	v := l.view
	l.mu.Unlock()
	if !ok {
		return stop{}, errors.New("the hit is not kept any more")
	}
	f, err := parseFrame(raw, v)
	if err != nil {
		return stop{}, err
	}
	n := l.names()
	if l.moment == nil || l.moment.view != v {
		n = viewNames(v)
	}
	l.moment, l.shown = newFrameMoment(n, v, v.Of(int(at), f)), at
	return stop{reason: reason, thread: l.moment.threadOf(), hit: l.hitOf(f.Tracepoint())}, nil
}

// hitOf is the number of the breakpoint of a tracepoint.
func (l *running) hitOf(n trace.Number) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.points[n]; b != nil {
		return []int{b.id}
	}
	return nil
}

// pause implements pauser: the last hit is what there is to see of a program that is not stopped.
func (l *running) pause() (stop, error) {
	if l.entry {
		return stop{reason: "entry", thread: 1}, nil
	}
	l.mu.Lock()
	last := l.hits.next - 1
	l.mu.Unlock()
	if last < 0 {
		return stop{}, errors.New("no breakpoint was hit yet; the program goes on")
	}
	at, err := l.show(last, "pause")
	at.description = fmt.Sprintf("hit %d; the program goes on", last)
	return at, err
}

// refuses implements pauser: from hit to hit goes who looks at one.
func (l *running) refuses(m motion) error {
	if !l.entry && l.moment == nil && (m.way != onward || m.backwards) {
		return errRuns
	}
	return nil
}

// move goes from hit to hit. To continue is to look at none.
func (l *running) move(_ context.Context, m motion) (stop, error) {
	switch {
	case l.entry:
		l.start()
		return stop{}, nil
	case m.way == onward && !m.backwards:
		l.moment, l.shown = nil, -1
		if l.lost {
			l.session.tell("terminated", nil)
		}
		return stop{}, nil
	}
	l.mu.Lock()
	first, end := l.hits.first, l.hits.next
	l.mu.Unlock()
	to := l.shown + 1
	if m.backwards {
		to = l.shown - 1
	}
	if m.way == onward {
		to = first
	}
	description := ""
	switch {
	case to < first:
		to, description = first, "this is the first hit that is kept"
	case to >= end:
		to, description = end-1, "this is the last hit so far"
	}
	at, err := l.show(to, "step")
	at.description = description
	return at, err
}

// restart starts a program anew.
func (l *running) restart(ctx context.Context) (stop, error) {
	if l.arguments.PID != 0 {
		return stop{}, errors.New("a process that was attached to cannot be started anew")
	}
	l.lost = true
	if err := l.leave(true); err != nil {
		return stop{}, err
	}
	l.moment, l.shown, l.lost = nil, -1, false
	return l.begin(ctx, l.arguments.stopsOnEntry())
}

// terminate asks the program to end.
func (l *running) terminate() error {
	l.mu.Lock()
	cancel, pid := l.cancel, l.pid
	l.mu.Unlock()
	switch {
	case l.lost || cancel == nil:
		l.session.later = append(l.session.later, func() { l.session.tell("terminated", nil) })
		return nil
	case l.arguments.PID != 0:
		return l.session.Terminate(pid)
	}
	cancel()
	return nil
}

// leave ends the run, and with terminate the program.
func (l *running) leave(terminate bool) error {
	l.mu.Lock()
	run, cancel, ended, over := l.run, l.cancel, l.ended, l.over
	l.mu.Unlock()
	switch {
	case run == nil:
		return nil
	case cancel == nil: // it was never started
		return run.Close()
	case over:
	case terminate && l.arguments.PID != 0:
		run.Leave()
		return l.session.Terminate(int(l.arguments.PID))
	case terminate:
		cancel()
	default:
		run.Leave()
		if l.arguments.PID == 0 {
			return nil // Run waits for the end of the program
		}
	}
	<-ended
	return nil
}

func (l *running) close(terminate bool) error {
	l.lost = true
	return errors.Join(l.leave(terminate), l.file.Close())
}

// commands implements debuggee.
func (l *running) commands() []command {
	return []command{
		{"hits", "", "lists the breakpoints with their counts", l.counts},
		{"hit", "N", "shows a hit by its number", func(_ context.Context, _ *session, n string) (string, *stop, error) {
			at, err := strconv.ParseInt(n, 10, 64)
			if err != nil {
				return "", nil, fmt.Errorf("%q is no number of a hit", n)
			}
			where, err := l.show(at, "goto")
			return "", &where, err
		}},
		{"explain", "", "tells how hits are collected: by a pad or a trap, and why", l.explain},
	}
}
