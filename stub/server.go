package stub

import (
	"errors"
	"io"
	"slices"
	"time"

	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tracepoint"
)

// Config is what a Server serves.
type Config struct {
	Target target.Target
	// Engine runs the tracepoints. Without one, or with a target that has no Tracer, the server knows no tracepoints.
	Engine *tracepoint.Engine
	// Attached says that the program was running before: GDB then detaches from it when it quits, where it otherwise kills.
	Attached bool
	// Ended is told how the program ended, if it did so by itself; nil for nobody.
	Ended func(target.Event)
	// OnLost says what becomes of the program when a connection ends without a word.
	OnLost Loss
	// Disable names packets to do without, so that clients can be tested: vCont, qC, qfThreadInfo or any other, T for
	// stop replies with more than the signal, Tthread for the thread in them, threads for all that tells of threads.
	Disable []string
}

// Loss is what to do with the program when a connection is lost. A trace run that was told to survive its client
// (QTDisconnected) goes on whatever the choice, and so do commands of breakpoints of which the client said the same.
type Loss uint8

// The choices.
const (
	Hold   Loss = iota // stop it, and keep it stopped for the next client
	Detach             // let it go its way
	Kill               // end it
)

// ErrExit is what Serve returns after a client asked the server to end, by monitor exit. The program is gone then.
var ErrExit = errors.New("the client ended the server")

// packetSize is the length of the longest packet in either direction. GDB reads trace buffers and memory by pieces of
// this size, so a small one costs round trips; the value is that of gdbserver 17.
const packetSize = 131104

// patience is how long the server waits for a program to stop that it has interrupted. A program that sleeps in the kernel
// where nothing wakes it does not.
const patience = 10 * time.Second

// errNoStop says that it waited in vain.
var errNoStop = errors.New("the program does not stop")

// Server serves one client after another. Its methods are for one goroutine.
type Server struct {
	config Config
	target target.Target
	engine *tracepoint.Engine // nil without tracepoints
	world  *tracepoint.Engine // of the expressions of breakpoints, the same where there are tracepoints

	table      *table
	disabled   disabled
	packetSize int
	patience   time.Duration
	layout     *tdesc.Layout // of the target's description, nil until needed
	markers    markers

	running bool            // a Resume is pending
	actions []target.Action // of the last Resume, without the signals that it delivered
	last    *target.Event   // what ended it, nil before the first

	persistent map[spot]bool // breakpoints whose commands go on without a client
	unattended *unattended   // watches the program while it runs without one
}

// New returns a server of c and introduces the engine to the target.
func New(c Config) *Server {
	s := &Server{config: c, target: c.Target, table: newTable(), disabled: newDisabled(c.Disable),
		packetSize: packetSize, patience: patience, persistent: make(map[spot]bool)}
	if tracer := c.Target.Tracer(); tracer != nil && c.Engine != nil {
		s.engine, s.world = c.Engine, c.Engine
		tracer.SetEngine(c.Engine)
	} else {
		s.world = newWorld(c.Target)
	}
	return s
}

// Serve serves one client until it is done with the connection, and closes it. Nil means that the client left; ErrExit that
// it ended the server; other errors are the connection's. When Serve returns the program does not run, unless a trace run
// that survives its client needs it to, or commands of breakpoints do.
func (s *Server) Serve(conn io.ReadWriteCloser) error {
	s.attend()
	x := newSession(s, conn)
	err := x.serve()
	conn.Close()
	if left := s.leave(x.detached); err == nil {
		err = left
	}
	return err
}

// Spent reports whether the program is gone, by its own end or the client's hand. What its trace run collected is still in
// the engine, for a server of another target to show. Spent may be called between two calls of Serve.
func (s *Server) Spent() bool {
	_, alive := s.process()
	return !alive
}

// Close ends what goes on without a client. The program is left as it is.
func (s *Server) Close() error {
	s.attend()
	return nil
}

// registers returns the layout of a register block.
func (s *Server) registers() (*tdesc.Layout, error) {
	if s.layout == nil {
		layout, err := s.target.Description().Layout()
		if err != nil {
			return nil, err
		}
		s.layout = layout
	}
	return s.layout, nil
}

// resume starts threads. The target's event ends what it begins.
func (s *Server) resume(actions []target.Action) error {
	if s.running {
		return target.ErrRunning
	}
	if err := s.target.Runner().Resume(actions); err != nil {
		return err
	}
	s.running, s.actions = true, slices.Clone(actions)
	for i := range s.actions {
		s.actions[i].Signal = target.SignalNone
	}
	return nil
}

// events is the channel to wait on for the program, nil while none is due.
func (s *Server) events() <-chan target.Event {
	if !s.running {
		return nil
	}
	return s.target.Runner().Events()
}

// settle takes note of an event and reports whether the program is to stay stopped: after an event that passes every
// thread goes on as before, and the event's own with its signal.
func (s *Server) settle(ev target.Event, passes func(target.Event) bool) bool {
	s.running = false
	if ev.Kind == target.Execed {
		s.layout, s.markers.valid = nil, false
	}
	if why := endOfRun(ev); why != "" {
		s.endRun(why)
	}
	alive := ev.Kind == target.Stopped || ev.Kind == target.Execed
	if !alive || ev.Kind == target.Execed {
		s.forget(ev.Thread.PID)
	}
	if !alive && s.config.Ended != nil {
		s.config.Ended(ev)
	}
	if alive && passes(ev) && s.goOn(ev) == nil {
		return false
	}
	s.last = &ev
	return true
}

// goOn resumes as the last time.
func (s *Server) goOn(ev target.Event) error {
	again := target.Action{Thread: ev.Thread}
	for _, a := range s.actions {
		if a.Thread.Covers(ev.Thread) {
			again.Verb, again.Start, again.End = a.Verb, a.Start, a.End
			break
		}
	}
	if ev.Reason == target.ReasonNone {
		again.Signal = ev.Signal
	}
	err := s.target.Runner().Resume(append([]target.Action{again}, s.actions...))
	s.running = err == nil
	return err
}

// halt stops a running program.
func (s *Server) halt() error {
	for s.running {
		if err := s.target.Runner().Interrupt(); err != nil {
			return err
		}
		select {
		case ev := <-s.target.Runner().Events():
			s.settle(ev, nothingPasses)
		case <-time.After(s.patience):
			return errNoStop
		}
	}
	return nil
}
