package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// errNoProgram and errEnded say that there is nothing to trace.
var (
	errNoProgram = errors.New("the server has no program: start one there first")
	errEnded     = errors.New("the program ended before its own code could run")
)

// takeOver brings the server into the mode for the run and stops the program. In non-stop mode the server answers
// packets while the program runs, so that frames can be fetched all the time. In all-stop mode it answers none until
// the next stop.
//
// The reply to "?" is a stop in all-stop mode. In non-stop mode it is the first of them, the others follow by
// vStopped, and OK says that everything runs.
func (s *Session) takeOver() error {
	if err := s.chooseMode(); err != nil {
		return err
	}
	first, stopped, err := s.server.StopReason()
	if err != nil {
		return fmt.Errorf("%w (%w)", errNoProgram, err)
	}
	if stopped {
		stops, err := s.takeStops(first)
		if err != nil {
			return err
		}
		if stops[len(stops)-1].Ended() {
			return errNoProgram
		}
	}
	if s.server.Features().Has("QPassSignals") {
		return client.Command(s.server.Client, request.PassSignals, passed())
	}
	return nil
}

// chooseMode chooses non-stop mode. A server that lacks it is asked for extended mode, in which the frames outlive the program.
func (s *Session) chooseMode() error {
	if s.server.Features().Has("QNonStop") && client.Command(s.server.Client, request.NonStop, true) == nil {
		s.server.NonStop = true
		return nil
	}
	if s.config.MaxFrames > 0 {
		s.warnings = append(s.warnings, errors.New("the server has no non-stop mode: frames are counted only when the program stops"))
	}
	_, err := s.server.Exchange(request.Extended.Append(nil, request.None{}))
	return err
}

// passed lists the signals that do not stop the program: all but those of a breakpoint and of an interrupt.
func passed() (all []int) {
	const highest = 150
	for n := target.Signal(1); n <= highest; n++ {
		if n != target.SignalTrap && n != target.SignalInt {
			all = append(all, int(n))
		}
	}
	return all
}

// mostStops is how many threads may stop at once.
const mostStops = 1 << 13

// notified returns the stops that a notification began, none if there was no notification.
func (s *Session) notified() ([]reply.Stop, error) {
	first, ok, err := s.server.Notified()
	if err != nil || !ok {
		return nil, err
	}
	return s.takeStops(first)
}

// takeStops returns a stop and those that the server has besides. The end of the program is not acknowledged: gdbserver ends with
// that, and with it the frames.
func (s *Session) takeStops(next reply.Stop) (stops []reply.Stop, err error) {
	for more := true; more; {
		// A server that sends them all the same does not keep to qSupported.
		if next.Kind == 'N' || next.Kind == 'w' { // which are only for clients that announced them
			return nil, fmt.Errorf("the server replied %q where the program has stopped", reply.Stopped.Append(nil, next))
		}
		if stops = append(stops, next); next.Ended() || !s.server.NonStop {
			return stops, nil
		}
		if len(stops) == mostStops {
			return nil, errors.New("the server reports stops without an end")
		}
		if next, more, err = s.server.NextStop(); err != nil {
			return stops, err
		}
	}
	return stops, nil
}

// awaitStops waits for the program to stop.
func (s *Session) awaitStops(patience time.Duration) ([]reply.Stop, error) {
	const pause = 2 * time.Millisecond
	start := time.Now()
	if !s.server.NonStop {
		st, err := s.server.AwaitStop(start.Add(patience))
		if err != nil {
			return nil, err
		}
		return s.takeStops(st)
	}
	for ; !s.server.HasNotified(); time.Sleep(pause) {
		if time.Since(start) > patience {
			return nil, fmt.Errorf("the program has not stopped for %v", patience)
		}
		// Notifications arrive along with replies, so any packet will do that is answered while the program runs.
		if _, err := client.Query(s.server.Client, request.TraceStatus, request.None{}); err != nil {
			return nil, err
		}
	}
	return s.notified()
}

// pass lets the thread of a stop go on, with its signal. In all-stop mode the others go on as well.
func (s *Session) pass(st reply.Stop) error {
	a := request.Action{Verb: 'c', All: true}
	// A trap is the breakpoint's own. Everything else belongs to the program.
	if st.Number != 0 && st.Number != int(target.SignalTrap) {
		// The number goes back as it came: both ends have GDB's.
		a.Verb, a.Signal = 'C', st.Number
	}
	// A stub without threads: the whole program is meant.
	if st.Thread == nil {
		return s.server.Resume(a)
	}
	a.Thread, a.All = *st.Thread, false
	if s.server.NonStop {
		return s.server.Resume(a)
	}
	return s.server.Resume(a, everyThread)
}

// everyThread lets all threads go on.
var everyThread = request.Action{Verb: 'c', All: true}

// startPatience is how long a program may take until its own code runs.
const startPatience = 60 * time.Second

// insert and remove set a breakpoint of a trap instruction and take it away. Its kind is the length of that instruction.
func (s *Session) insert(at arch.Addr) error {
	return client.Command(s.server.Client, request.InsertBreak, request.Breakpoint{Addr: at, Length: 1})
}

func (s *Session) remove(at arch.Addr) error {
	return client.Command(s.server.Client, request.RemoveBreak, request.Breakpoint{Addr: at, Length: 1})
}

// runTo resumes a program that has just been launched until it executes the instruction at an address. A breakpoint
// at the program's entry point is reached when the dynamic linker has loaded all libraries that the program names,
// and before main.
func (s *Session) runTo(at arch.Addr) error {
	if err := s.insert(at); err != nil {
		return err
	}
	if err := s.server.Resume(everyThread); err != nil {
		return err
	}
	for {
		stops, err := s.awaitStops(startPatience)
		if err != nil {
			return err
		}
		for _, st := range stops {
			switch {
			case st.Ended():
				return errEnded
			// The only trap there is: the breakpoint at the entry point, in whichever thread.
			case st.Number == int(target.SignalTrap):
				return s.remove(at)
			}
			if err := s.pass(st); err != nil {
				return err
			}
		}
	}
}

// stepPatience is how long a single instruction may take.
const stepPatience = 10 * time.Second

// stepOver steps a thread over a breakpoint and lets it go on. Other threads may stop meanwhile: their stops are kept.
func (s *Session) stepOver(thread rsp.Thread, at arch.Addr) error {
	if err := s.remove(at); err != nil {
		return err
	}
	if err := s.server.Resume(request.Action{Verb: 's', Thread: thread}); err != nil {
		return err
	}
	for done := false; !done; {
		stops, err := s.awaitStops(stepPatience)
		if err != nil {
			return err
		}
		for _, st := range stops {
			// In all-stop mode only this thread runs; in non-stop mode the others go on and may stop for signals of theirs.
			own := st.Thread != nil && *st.Thread == thread
			done = done || own || st.Ended()
			if !own {
				s.kept = append(s.kept, st)
			}
		}
	}
	if len(s.kept) > 0 && s.kept[len(s.kept)-1].Ended() {
		return nil
	}
	if err := s.insert(at); err != nil {
		return err
	}
	if s.server.NonStop {
		return s.server.Resume(request.Action{Verb: 'c', Thread: thread})
	}
	return s.server.Resume(everyThread)
}

// interruptWith interrupts the program in all-stop mode when a context ends: nothing but a stop reply comes then, and
// the byte of an interrupt is all that the server reads. A failure to send it shows when the reply does not come.
func (s *Session) interruptWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = s.server.Interrupt()
		_ = s.server.conn.SetDeadline(time.Now().Add(replyPatience))
	})
}
