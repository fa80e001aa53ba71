package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tracewell/record"
	"tracewell/record/output"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/trace"
)

// How often a server is asked whether there is something new, and how often for the hits of each tracepoint, which
// take a packet each.
const (
	pollEvery  = 20 * time.Millisecond
	countEvery = 500 * time.Millisecond
)

// errLeft is the answer of Run in a session that was opened for Leave.
var errLeft = errors.New("the run is to be left to the server")

// Run traces until the run ends, and fetches the frames. Then, or when the context is cancelled, the program is let
// go and runs on untraced, unless it has ended. The error is about the server, or about the trace file, which has
// what was fetched before.
func (s *Session) Run(ctx context.Context) (record.Result, error) {
	if s.config.Disconnected {
		return s.result, errLeft
	}
	// The file comes first: what cannot be written should not be traced, and errors of the plan were reported by Open.
	file, err := output.Create(s.config.Output, s.Header())
	if err != nil {
		return s.result, err
	}
	s.frames.file = file
	s.tell(record.Event{Kind: record.Attached, PID: s.pid, Path: s.path})
	for _, w := range s.warnings {
		s.tell(record.Event{Kind: record.Warning, Err: w})
	}
	if err = s.trace(ctx); err == nil {
		err = s.finish()
	}
	if s.end = time.Now(); err != nil {
		s.result.End = record.Failed
		err = fmt.Errorf("%s: %w; the file has the frames that were fetched before, %d of them", s.config.Address, err, s.frames.count)
	}
	s.conclude()
	s.count(false)
	// Even after an error the file gets the counts and the status, so that it is whole with the frames that it has.
	s.result.Feed, s.result.Status = s.Feed(), s.status()
	return s.result, errors.Join(err, file.Update(s.result.Status, s.finder.Defined), file.Close())
}

// conclude completes the status of a run that is over, where the last one that the server gave still says that it is
// on, or that there was none: after an error of the connection, and from servers that forget a run with its program.
func (s *Session) conclude() {
	st := &s.result.Status
	switch {
	case !st.Running && st.Reason != trace.ReasonNotRun:
		return
	case s.exited:
		st.Reason, st.Description = trace.ReasonStop, "the program has ended"
	default:
		st.Reason = trace.ReasonUnknown
	}
	st.Running = false
}

func (s *Session) tell(e record.Event) {
	if s.config.Events != nil {
		s.config.Events(e)
	}
}

func (s *Session) warn(format string, args ...any) {
	s.tell(record.Event{Kind: record.Warning, Err: fmt.Errorf(format, args...)})
}

// begin starts the run.
func (s *Session) begin() error {
	if err := s.raise(); err != nil {
		return err
	}
	s.start = time.Now()
	return s.server.command(request.TraceStart)
}

// errTimeUp is why a context ends when Config.Duration is over.
var errTimeUp = errors.New("the time is up")

// trace begins the run and follows it to its end.
func (s *Session) trace(ctx context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.server.Resume(everyThread); err != nil {
		return err
	}
	// The time of a run begins when the program goes on, not with the packets that define it.
	if s.config.Duration > 0 {
		// The cause tells the end of time from the user's cancellation.
		limited, cancel := context.WithTimeoutCause(ctx, s.config.Duration, errTimeUp)
		defer cancel()
		ctx = limited
	}
	if s.server.NonStop {
		return s.poll(ctx)
	}
	return s.wait(ctx)
}

// cancelled records why a context ended the run: the user, or Config.Duration.
func (s *Session) cancelled(ctx context.Context) {
	s.result.End = record.Cancelled
	if errors.Is(context.Cause(ctx), errTimeUp) {
		s.result.End = record.TimeUp
	}
}

// poll follows a run in non-stop mode: it fetches frames while the program runs and handles the stops that come as
// notifications. As long as the server has more frames, nothing waits for the next tick.
func (s *Session) poll(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if ctx.Err() != nil {
			s.cancelled(ctx)
			return nil
		}
		more, err := s.look()
		if err != nil {
			return err
		}
		stops, err := s.notified()
		if err != nil {
			return err
		}
		if over, err := s.handle(stops); over || err != nil {
			return err
		}
		if over, err := s.over(); over || err != nil {
			return err
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// wait follows a run in all-stop mode. The server answers nothing while the program runs, so that frames are fetched
// at each stop only: when the linker reports a library, for a signal that is not passed, or at the end.
func (s *Session) wait(ctx context.Context) error {
	defer s.interruptWith(ctx)()
	for {
		st, err := s.server.AwaitStop(time.Time{})
		if err != nil {
			return err
		}
		stops, err := s.takeStops(st)
		if err != nil {
			return err
		}
		if ctx.Err() != nil && !st.Ended() {
			s.cancelled(ctx)
			return nil
		}
		if _, err := s.look(); err != nil {
			return err
		}
		if over, err := s.over(); over || err != nil {
			return err
		}
		if over, err := s.handle(stops); over || err != nil {
			return err
		}
	}
}

// handle acts on stops, and reports whether the program has ended.
func (s *Session) handle(stops []reply.Stop) (over bool, err error) {
	for len(stops) > 0 {
		st := stops[0]
		stops = stops[1:]
		switch {
		case st.Ended():
			s.gone(st)
			return true, nil
		case st.Number == int(target.SignalTrap) && s.linker != 0 && st.Thread != nil:
			s.relink()
			if err := s.stepOver(*st.Thread, s.linker); err != nil {
				return false, err
			}
			stops, s.kept = append(stops, s.kept...), nil
		default:
			if err := s.pass(st); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// gone takes note of the end of the program.
func (s *Session) gone(st reply.Stop) {
	s.result.End, s.result.ProgramEnded, s.exited = record.ProgramEnded, true, true
	if st.Kind == 'W' {
		s.result.Code = st.Number
		s.tell(record.Event{Kind: record.Exited, PID: s.pid, Code: st.Number})
		return
	}
	s.result.Signal = target.LinuxSignal(target.Signal(st.Number))
	s.tell(record.Event{Kind: record.Killed, PID: s.pid, Signal: s.result.Signal})
}

// endPatience limits the time between the end of a run by the server, for a reason that it does not give, and the
// stop reply that reports the end of the program: gdbserver ends the run with the program, and its status may be read
// first.
const endPatience = 2 * time.Second

// over reports whether the run has ended, by the server's status or because there are enough frames. A status without
// a reason is the end of the program, whose stop reply is on its way, or something that is wrong.
func (s *Session) over() (bool, error) {
	switch st := &s.result.Status; {
	case s.frames.enough():
		s.result.End = record.EnoughFrames
	case st.Running:
		return false, nil
	case st.Reason == trace.ReasonFull:
		s.result.End = record.BufferFull
	case st.Reason == trace.ReasonPassCount:
		s.result.End = record.PassCount
	case st.Reason == trace.ReasonError: // an expression failed, which ends the run in gdbserver
		return true, fmt.Errorf("the server has ended the run: tracepoint %d: %s", st.Tracepoint, st.Description)
	// The run has ended and the server does not say why: the stop reply will, soon.
	case s.stopped.IsZero():
		s.stopped = time.Now()
		return false, nil
	case time.Since(s.stopped) < endPatience:
		return false, nil
	default:
		return true, fmt.Errorf("the server has ended the run: %s", st.Description)
	}
	return true, nil
}

// relink traces what is in libraries that have come, with the thread stopped that has loaded them. What cannot be
// traced there is warned of, and the run goes on.
func (s *Session) relink() {
	came, err := s.libraries()
	if err != nil {
		s.warn("the libraries of the program cannot be looked at: %w", err)
	}
	if !came {
		return
	}
	// The locations that a tracepoint gains are those behind the ones that it has now.
	known := make(map[trace.Number]int)
	for _, t := range s.finder.Points {
		known[t.Number] = len(t.Locations)
	}
	found, warnings, err := s.finder.Find(s.seen())
	// An error in the plan would have ended Open; one that only shows here must not end the run.
	for _, w := range append(warnings, err) {
		if w != nil {
			s.tell(record.Event{Kind: record.Warning, Err: w})
		}
	}
	// In a library that was loaded again at the same place all is defined already.
	found = slices.DeleteFunc(found, func(d trace.Tracepoint) bool { return s.finder.Definition(d.Key()) != nil })
	if len(found) == 0 {
		return
	}
	if err := errors.Join(s.define(found), s.raise()); err != nil {
		s.warn("not everything is traced in what was loaded: %w", err)
	}
	// Frames of the new tracepoints may come at once, and readers look their number up in the header.
	if err := s.frames.file.Redefine(s.Header()); err != nil {
		s.warn("the file does not say what is traced in what was loaded: %w", err)
	}
	for _, t := range s.finder.Points {
		if n := known[t.Number]; n < len(t.Locations) {
			s.tell(record.Event{Kind: record.Armed, PID: s.pid, Point: t.Number, Locations: t.Locations[n:]})
		}
	}
	s.count(true)
}

// look reads the status and fetches new frames, and reports whether the server has more. Frames of a circular buffer
// move when one is dropped, so they are fetched after the end of the run.
func (s *Session) look() (more bool, err error) {
	if err := s.learn(); err != nil {
		return false, err
	}
	if !s.config.Circular {
		done, err := s.fetch(false)
		if more = !done; err != nil {
			return false, err
		}
	}
	// Counts are for people: reading them more often would delay frames on a slow link.
	if time.Since(s.counted) >= countEvery {
		err = s.tallies(s.finder.Defined)
	}
	s.count(s.result.Status.Running)
	return more, err
}

// learn reads the status of the run. gdbserver gives the counts of qTP in decimal where the manual and other servers
// have hexadecimal; it is told apart by the empty notes at the end of its status.
func (s *Session) learn() error {
	status, plain, err := s.server.TraceStatus()
	if err != nil {
		return err
	}
	_, notes, _ := strings.Cut(plain, ";notes:")
	s.decimal = strings.HasSuffix(notes, ":") // as gdbserver ends it, which gives counts in decimal
	s.result.Status = status
	return nil
}

// tallies reads the hits of tracepoints, and the bytes of their frames (qTP), by one round trip for all. They stay as they are
// where the server does not answer with two numbers: they are for people, and no reason to end a run.
func (s *Session) tallies(all []trace.Tracepoint) error {
	s.counted = time.Now()
	batch := s.server.Batch()
	// What a server replies that is no pair of numbers is an error of that call alone.
	replies := make([]*client.Result[reply.Counts], len(all))
	for i := range all {
		replies[i] = client.Add(batch, client.Ask(request.TracepointCounts, all[i].Key(), reply.Hits))
	}
	err := batch.Run()
	for i, r := range replies {
		if counts := r.Value; r.Err == nil {
			all[i].Hits, all[i].Usage = s.number(counts.Hits), s.number(counts.Usage)
		}
	}
	return err
}

// number is a count as the server means it. The digits of gdbserver's counts are decimal, and were read as hexadecimal.
func (s *Session) number(count uint64) uint64 {
	if meant, err := strconv.ParseUint(strconv.FormatUint(count, 16), 10, 64); s.decimal && err == nil {
		return meant
	}
	return count
}

// finish ends the run at the server, fetches the rest of the frames and lets the program go. The end of a program is
// acknowledged last, since the server may end with that; gdbserver 13.1 dies of QTStop where there is no program any
// more.
func (s *Session) finish() (err error) {
	if !s.exited {
		err = s.server.command(request.TraceStop)
	}
	if err == nil {
		err = s.learn()
	}
	if err == nil {
		_, err = s.fetch(true)
	}
	if err == nil {
		err = s.tallies(s.finder.Defined)
	}
	if s.exited {
		if s.server.NonStop {
			// gdbserver --once ends when the end of its program is acknowledged, so no reply may come.
			_, _, _ = s.server.NextStop()
		}
		return err
	}
	// A server that detaches removes breakpoints, but not every one does; left behind, this one would kill the program.
	if err == nil && s.linker != 0 {
		err = s.remove(s.linker)
	}
	if err == nil {
		err = s.lower()
	}
	if isGone(err) {
		return err
	}
	return errors.Join(err, s.letGo())
}

// letGo has the program go on without us.
func (s *Session) letGo() error {
	return client.Command(s.server.Client, request.Detach, request.MaybeProcess{PID: s.pid, Given: true})
}

// Leave begins the run and goes away: the server traces on until the run ends by itself. Fetch gets the frames.
func (s *Session) Leave() error {
	if !s.config.Disconnected {
		return errors.New("the run is not one that goes on at the server")
	}
	if err := s.begin(); err != nil {
		return err
	}
	return s.letGo()
}

// count updates the feed: frames and bytes are those that were fetched, hits those that the server has counted, which
// run ahead.
func (s *Session) count(running bool) {
	// Locations are copied: the session goes on to append to them while others read the feed.
	f := record.Feed{At: time.Now(), Running: running, Processes: 1, Frames: s.frames.count, Bytes: s.frames.bytes}
	for _, t := range s.finder.Points {
		// Frames and bytes count by tracepoint of the plan, hits by location.
		p := record.PointFeed{
			Number: t.Number, At: t.Location.Value, Locations: slices.Clone(t.Locations), Pending: t.Pending != nil,
			Frames: s.frames.tallies[t.Number].frames, Bytes: s.frames.tallies[t.Number].bytes,
		}
		for _, d := range s.finder.Defined {
			if d.Number == t.Number {
				p.Hits += d.Hits
			}
		}
		f.Points = append(f.Points, p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feed = f
}

// Feed tells how things stand. It may be called by any goroutine.
func (s *Session) Feed() record.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.feed
	f.At = time.Now()
	return f
}
