package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tracewell/arch"
	"tracewell/internal/routine"
	"tracewell/record/output"
	"tracewell/target"
	"tracewell/trace"
)

// updateEvery is how often the counts in the file are brought up to date.
const updateEvery = 500 * time.Millisecond

// Run traces until the run ends. When the context is cancelled a program that was launched is asked to end by SIGTERM, unless it
// ends anyway, and after a while killed; if the run ends otherwise before the program, that goes on untraced and Run returns
// when it ends. Attached processes are let go, and so are the children of either. The error is about the trace file, or what
// else kept the run from being recorded in full.
func (s *Session) Run(ctx context.Context) (Result, error) {
	s.cancelled = func() bool { return ctx.Err() != nil }
	if err := s.begin(); err != nil {
		close(s.parted)
		return s.result, err
	}
	err := s.loop(ctx)
	err = errors.Join(err, s.leave(ctx))
	close(s.parted)
	if s.entry.Launched && !s.result.ProgramEnded {
		s.await(ctx)
	}
	return s.result, err
}

// begin starts the run and lets the program go.
func (s *Session) begin() error {
	if s.engine == nil {
		return errors.New("the session is over")
	}
	header := s.Header() // before the run, since it takes milliseconds in which an attached program makes frames
	if err := s.engine.Start(tracer{s.tracer, s}, s.entry.PID); err != nil {
		return err
	}
	if s.stream != nil {
		if s.config.Buffer == 0 && s.config.Output != "" {
			// Only now, when nothing else can fail: no empty file is left behind by a run that never began.
			file, err := output.Create(s.config.Output, header)
			if err != nil {
				return errors.Join(err, s.engine.Stop(trace.ReasonStop, ""))
			}
			s.stream.file = file
			s.refresh()
		}
		routine.Go(s.stream.run)
	}
	s.mu.Lock()
	s.running = true
	s.mu.Unlock()
	// Started or attached, the event comes first, and then what is not as it should be.
	kind := Attached
	if s.entry.Launched {
		kind = Started
	}
	s.tell(Event{Kind: kind, PID: s.entry.PID, Path: s.processes[s.entry.PID].path})
	for _, pid := range s.entry.Others {
		if p := s.processes[pid]; p != nil {
			s.tell(Event{Kind: Attached, PID: pid, Path: p.path})
		}
	}
	for _, w := range s.warnings {
		s.tell(Event{Kind: Warning, Err: w})
	}
	return nil
}

func (s *Session) tell(e Event) {
	if e.Kind == Started || e.Kind == Attached || e.Kind == Forked || e.Kind == Execed {
		s.names.learn(int64(e.PID)) // it stands still
	}
	if s.config.Events != nil {
		s.config.Events(e)
	}
}

func (s *Session) warn(format string, args ...any) {
	s.tell(Event{Kind: Warning, Err: fmt.Errorf(format, args...)})
}

// loop acts on what happens until the run is over.
func (s *Session) loop(ctx context.Context) error {
	var timeUp <-chan time.Time
	if s.config.Duration > 0 {
		timer := time.NewTimer(s.config.Duration)
		defer timer.Stop()
		// The time counts from the resumption below, not from the launch.
		timeUp = timer.C
	}
	tick := time.NewTicker(updateEvery)
	defer tick.Stop()
	if !s.going {
		if err := s.goOn(); err != nil {
			return err
		}
	}
	for {
		select {
		case ev := <-s.target.Runner().Events():
			if err := s.happened(ev); err != nil {
				return err
			}
			if len(s.processes) == 0 {
				if s.host.Newcomers() != nil && s.engine.Status().Running {
					s.going = false
					continue
				}
				s.result.End = s.howEnded()
				return nil
			}
			if err := s.target.Runner().Resume([]target.Action{{Thread: ev.Thread, Signal: passed(ev)}, everyThread}); err != nil {
				return err
			}
		case pid := <-s.host.Newcomers():
			if err := s.join(pid); err != nil {
				return err
			}
		case c := <-s.changes:
			c.done <- s.change(c.plan)
		case <-s.leaving:
			s.result.End = Left
			return nil
		case stop := <-s.host.GroupStops():
			if s.entry.Launched && stop.PID == s.entry.PID {
				s.suspended(stop)
			}
		case err := <-s.host.Warnings():
			s.tell(Event{Kind: Warning, Err: err})
		// The engine ends a run by itself: the buffer is full, a pass count or the number of frames is reached, or an
		// expression failed.
		case <-s.ended:
			s.result.End = s.howEnded()
			return nil
		case <-ctx.Done():
			s.result.End = Cancelled
			return nil
		case <-timeUp:
			s.result.End = TimeUp
			return nil
		// Who opens the file meanwhile, or after this process was killed, finds counts that are half a second old.
		case <-tick.C:
			s.refresh()
		}
	}
}

// suspended reports that job control has stopped the program that was launched.
func (s *Session) suspended(stop target.GroupStop) {
	s.tell(Event{Kind: Suspended, PID: stop.PID, Signal: stop.Signal})
}

// passed is the signal that a thread goes on with.
func passed(ev target.Event) target.Signal {
	if ev.Kind != target.Stopped || ev.Signal == target.SignalTrap {
		return target.SignalNone
	}
	return ev.Signal
}

// howEnded tells the end of a run that the engine has ended, or that goes on without a program. A program may end before the
// session has looked at the end of the run.
func (s *Session) howEnded() End {
	switch st := s.engine.Status(); {
	case st.Running:
		return ProgramEnded
	case st.Reason == trace.ReasonFull:
		return BufferFull
	case st.Reason == trace.ReasonPassCount:
		return PassCount
	case st.Reason == trace.ReasonStop:
		return EnoughFrames
	}
	return Failed
}

// happened acts on one event, with everything stopped.
func (s *Session) happened(ev target.Event) error {
	pid := ev.Thread.PID
	p := s.processes[pid]
	if p == nil {
		return nil
	}
	switch ev.Kind {
	case target.Exited, target.Terminated:
		s.gone(ev)
	// The target has stopped parent and child, and goes on with both when the loop resumes.
	case target.Forked, target.Vforked:
		s.forked(p, ev.Child.PID)
	case target.Execed:
		s.execed(pid, ev.Path)
	case target.Stopped:
		// The only breakpoints are those at which dynamic linkers report changes.
		if ev.Reason == target.ReasonSwBreak {
			return s.relink(p)
		}
	}
	return nil
}

// gone takes note of the end of a process.
func (s *Session) gone(ev target.Event) {
	pid, signal := ev.Thread.PID, target.LinuxSignal(ev.Signal)
	e := Event{Kind: Exited, PID: pid, Code: ev.Code}
	if ev.Kind == target.Terminated {
		e = Event{Kind: Killed, PID: pid, Signal: signal}
	}
	s.mu.Lock()
	delete(s.processes, pid)
	s.mu.Unlock()
	if pid == s.entry.PID {
		s.result.ProgramEnded, s.result.Code, s.result.Signal = true, e.Code, e.Signal
	}
	s.tell(e)
}

// forked takes in a child, which has everything that its parent has, but for the sites.
func (s *Session) forked(parent *process, pid int) {
	child := parent.fork(pid)
	s.mu.Lock()
	s.processes[pid] = child
	s.mu.Unlock()
	for _, err := range s.follow(pid, slices.Sorted(maps.Keys(child.sites))) {
		if err != nil {
			s.warn("process %d, a child of %d, is not traced everywhere: %w", pid, parent.pid, err)
		}
	}
	s.tell(Event{Kind: Forked, PID: pid})
}

// execed begins anew with a process that runs another program.
func (s *Session) execed(pid int, path string) {
	s.mu.Lock()
	delete(s.processes, pid)
	s.mu.Unlock()
	s.tell(Event{Kind: Execed, PID: pid, Path: path})
	if err := s.welcomeAgain(pid); err != nil {
		s.warn("%s, which process %d runs now, is not traced: %w", path, pid, err)
	}
}

func (s *Session) welcomeAgain(pid int) error {
	before := len(s.warnings)
	_, err := s.welcome(pid)
	for _, w := range s.warnings[before:] {
		s.tell(Event{Kind: Warning, Err: w})
	}
	p := s.processes[pid]
	if p == nil {
		// Without a program there is nothing to find, but its end and its forks are still events.
		p = &process{pid: pid} // it is under trace, though nothing can be done with it
		s.mu.Lock()
		s.processes[pid] = p
		s.mu.Unlock()
		return err
	}
	return errors.Join(err, s.arm(p))
}

// relink deals with a change of the libraries of a process.
func (s *Session) relink(p *process) error {
	came, _, err := s.libraries(p)
	if err != nil {
		s.warn("the libraries of process %d cannot be looked at: %w", p.pid, err)
	}
	if len(came) == 0 {
		return nil
	}
	return s.arm(p)
}

// arm sets tracepoints at what has become known in a process.
func (s *Session) arm(p *process) error {
	known := make(map[trace.Number]int)
	for _, t := range s.finder.Points {
		known[t.Number] = len(t.Locations)
	}
	s.mu.Lock()
	found, warnings, err := s.finder.Find(p.image())
	s.mu.Unlock()
	if err != nil {
		warnings = append(warnings, err)
	}
	for _, w := range warnings {
		s.tell(Event{Kind: Warning, Err: w})
	}
	if err := s.add(p, found); err != nil {
		return err
	}
	for _, t := range s.finder.Points {
		if n := known[t.Number]; n < len(t.Locations) {
			s.tell(Event{Kind: Armed, PID: p.pid, Point: t.Number, Locations: t.Locations[n:]})
		}
	}
	return nil
}

// add traces more during a run. What another process has been traced at already needs no new definition.
func (s *Session) add(p *process, found []trace.Tracepoint) error {
	extent := s.finder.Complete(found)
	var fresh []trace.Tracepoint
	var again []arch.Addr
	var back []trace.Key
	for _, d := range found {
		known := s.finder.Definition(d.Key())
		switch {
		// What a library had there that is gone may not be what this one has.
		case known == nil, s.away[d.Key()] && !same(known, &d):
			delete(s.away, d.Key())
			fresh = append(fresh, d)
		case s.away[d.Key()]:
			delete(s.away, d.Key())
			back = append(back, d.Key())
		case !same(known, &d):
			s.tell(Event{Kind: Warning, Err: otherThere(p.pid, &d)})
			delete(p.sites, d.Addr)
		case s.isTraced(d.Addr):
			again = append(again, d.Addr)
		}
	}
	for _, err := range s.follow(p.pid, again) {
		if err != nil {
			s.warn("process %d is not traced everywhere: %w", p.pid, err)
		}
	}
	if err := s.engine.EnableAll(back, true); err != nil {
		s.warn("process %d is not traced everywhere: %w", p.pid, err)
	}
	if len(fresh) == 0 {
		return nil
	}
	// The length of register blocks stands in the file's header, and cannot grow while frames are appended.
	if block := s.stream; block != nil && extent > block.registers {
		s.warn("of the registers that are collected in what was loaded, those behind the first %d bytes are not recorded",
			block.registers)
	}
	if err := s.define(fresh); err != nil {
		s.warn("process %d: %w", p.pid, err)
	}
	if s.stream == nil || s.stream.file == nil {
		return nil
	}
	h := s.Header()
	return s.stream.now(func() error { return s.stream.file.Redefine(h) })
}
