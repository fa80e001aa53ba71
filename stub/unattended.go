package stub

import (
	"errors"

	"tracewell/target"
	"tracewell/trace"
)

// unattended is the watch over a program that runs without a client. Between its start and its end the goroutine owns
// the Server.
type unattended struct {
	stop, done chan struct{}
}

// watch begins the watch: it lets the program have its signals and keeps the event that stops it for the next client.
func (s *Server) watch() {
	s.letPass(everySignal())
	u := &unattended{stop: make(chan struct{}), done: make(chan struct{})}
	s.unattended = u
	go func() {
		defer close(u.done)
		for s.running {
			select {
			case <-u.stop:
				return
			case ev := <-s.events():
				s.settle(ev, passesUnattended)
			}
		}
	}()
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

// leave does what must be done when a connection has ended. After a detach the client has said what it wants.
func (s *Server) leave(detached bool) error {
	var stopped error
	if !s.tracesOn() {
		stopped = s.stopTracing()
	}
	if s.survives() {
		if s.running {
			s.watch()
		}
		return stopped
	}
	runner := s.target.Runner()
	if detached || runner == nil {
		return stopped
	}
	return errors.Join(stopped, s.lose(runner))
}

// lose does what the configuration says of a lost connection.
func (s *Server) lose(runner target.Runner) error {
	if err := s.halt(); err != nil {
		return err
	}
	pid, ok := s.process()
	switch {
	case ok && s.config.OnLost == Detach:
		return s.end(pid, runner.Detach)
	case ok && s.config.OnLost == Kill:
		return s.end(pid, runner.Kill)
	}
	return nil
}

// end stops the program, should it run, and kills it or lets it go. A trace run that is still on ends with that.
func (s *Server) end(pid int, do func(pid int) error) error {
	if err := s.halt(); err != nil {
		return err
	}
	if err := do(pid); err != nil {
		return err
	}
	s.endRun(endedByClient)
	s.forget(pid)
	s.last = nil
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

// process returns the number of the first process.
func (s *Server) process() (pid int, ok bool) {
	threads := s.target.Threads()
	if len(threads) == 0 {
		return 0, false
	}
	return threads[0].ID.PID, true
}

// everyThread lets all threads of all processes go on.
var everyThread = []target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}
