package stub

import (
	"errors"
	"slices"

	"tracewell/internal/routine"
	"tracewell/target"
	"tracewell/trace"
)

// unattended is the watch over a program that runs without a client. Between its start and its end the goroutine owns
// the Server.
type unattended struct {
	stop, done chan struct{}
}

// watch begins the watch, which keeps the event that stops the program for the next client.
func (s *Server) watch() {
	u := &unattended{stop: make(chan struct{}), done: make(chan struct{})}
	s.unattended = u
	routine.Go(func() {
		defer close(u.done)
		// An event that stops the program ends the watch by itself; the client that comes next is told of it by ?.
		for s.running {
			select {
			case <-u.stop:
				return
			case ev := <-s.events():
				s.settle(ev, passesUnattended)
			}
		}
	})
}

// attend ends the watch.
func (s *Server) attend() {
	if s.unattended == nil {
		return
	}
	close(s.unattended.stop)
	<-s.unattended.done
	s.unattended = nil
}

// leaveAlone has the target report no more of the program than it must: it gets its signals, and its children go their way.
func (s *Server) leaveAlone() {
	s.letPass(everySignal())
	if runner := s.target.Runner(); runner != nil {
		runner.SetReports(target.Reports{})
	}
	if syscalls := s.target.Syscalls(); syscalls != nil {
		for _, pid := range s.processes() {
			_ = syscalls.CatchSyscalls(pid, false, nil) // a process that is gone makes no calls
		}
	}
}

// leave does what must be done when a connection has ended. A program that the client left to the trace run stays even when
// the run is over by then: without it GDB would not show the frames.
func (s *Server) leave(detached bool) error {
	// Asked before the run is stopped, whose end does not make the program any less the run's.
	survives := s.survives()
	var err error
	if !s.tracesOn() {
		err = s.stopTracing()
	}
	switch {
	case s.target.Runner() == nil:
		return err
	case survives || detached:
		return errors.Join(err, s.carryOn())
	}
	s.leaveAlone()
	if halted := s.halt(); halted != nil {
		return errors.Join(err, halted)
	}
	s.withdraw()
	return errors.Join(err, s.endAll(s.config.OnLost))
}

// carryOn lets a program go on that runs, in all-stop mode and watched.
func (s *Server) carryOn() error {
	s.leaveAlone()
	// Non-stop mode is the connection's: without a client the program is in all-stop mode.
	ran, err := s.endNonStop()
	if ran && err == nil && s.alive() {
		err = s.resume(everyThread)
	}
	if s.running {
		s.watch()
	}
	return err
}

// endAll does with all processes what a choice says.
func (s *Server) endAll(choice Loss) error {
	pids := s.processes()
	if choice == Hold || len(pids) == 0 {
		return nil
	}
	if choice == Kill {
		return s.killAll(pids)
	}
	var errs []error
	for _, pid := range pids {
		errs = append(errs, s.letGo(pid))
	}
	return errors.Join(errs...)
}

// killAll ends processes.
func (s *Server) killAll(pids []int) error {
	// Told before it happens, as gdbserver prints it: "Killing process(es): N".
	if s.config.Notify.Killing != nil && len(pids) > 0 {
		s.config.Notify.Killing(pids)
	}
	var errs []error
	for _, pid := range pids {
		errs = append(errs, s.end(pid, s.target.Runner().Kill))
	}
	return errors.Join(errs...)
}

// letGo detaches from a process, after whose fork the trace run may go on in the child.
func (s *Server) letGo(pid int) error {
	if s.config.Notify.Detaching != nil {
		s.config.Notify.Detaching(pid)
	}
	heir := s.heir(pid)
	switch {
	case heir != 0:
		s.traced = heir // so that the end of pid is not that of the run
	case pid == s.traced:
		if err := s.stopTracing(); err != nil {
			return err
		}
	}
	err := s.end(pid, s.target.Runner().Detach)
	// The process is still ours, and so is its run.
	if err != nil && heir != 0 {
		s.traced = pid
	}
	return err
}

// end kills a process or lets it go, in all-stop mode stopping everything first. A trace run in it ends with that.
func (s *Server) end(pid int, do func(pid int) error) error {
	// In all-stop mode a target takes no detach of a process that runs.
	if s.nonStop == nil {
		if err := s.halt(); err != nil {
			return err
		}
	}
	if err := do(pid); err != nil {
		return err
	}
	if pid == s.traced {
		s.endRun(endedByClient)
	}
	s.forget(pid)
	return nil
}

// survives reports whether the program has something to do that goes on without a client.
func (s *Server) survives() bool { return s.tracesOn() || s.leftBehind(target.All) }

// tracesOn reports whether a trace run is on that goes on without a client.
func (s *Server) tracesOn() bool {
	if s.engine == nil {
		return false
	}
	status := s.engine.Status()
	return status.Running && status.Disconnected
}

// stopTracing ends a run because the client left.
func (s *Server) stopTracing() error {
	if s.engine == nil {
		return nil
	}
	return s.engine.Stop(trace.ReasonDisconnected, "")
}

// processes lists the processes, in the order of their threads.
func (s *Server) processes() []int {
	var pids []int
	for _, id := range s.target.Threads() {
		if !slices.Contains(pids, id.PID) {
			pids = append(pids, id.PID)
		}
	}
	return pids
}

// alive reports whether there is any process.
func (s *Server) alive() bool { return len(s.target.Threads()) > 0 }

// everyThread lets all threads of all processes go on.
var everyThread = []target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}
