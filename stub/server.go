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
	// Engine runs the tracepoints. Without one, or with a target that has no Tracer, the server knows no tracepoints but those
	// of the target's TraceRun.
	Engine *tracepoint.Engine
	// Attached says that the processes which the target has now were running before: GDB then detaches from them when it
	// quits, where it otherwise kills. Those that a client attaches to or starts later are known for what they are.
	Attached bool
	// Multi says that there is something to serve even without a process: clients start programs, or attach to them.
	Multi bool
	// Program is what the packet R starts, and vRun with the client's arguments when that names no program; without a
	// Path there is none. Its Wrapper and RandomAddresses hold for the programs that clients name, too. Its Env is what
	// clients begin with when they change the environment, so it should be the server's own in full.
	Program target.Program
	// Notify is told what becomes of processes.
	Notify Notify
	// Save replaces a file on the server's side by what write writes, whole or not at all, for QTSave; nil for a server that
	// keeps no files. A relative name is from the server's working directory.
	Save func(name string, write func(io.Writer) error) error
	// OnLost says what becomes of the program when a connection ends without a word.
	OnLost Loss
	// Frame is where clients begin that cannot select frames, in a target that has a TraceRun.
	Frame int
	// Serial says that clients come over a line on which bytes can get lost and nobody can hang up: acknowledgments stay,
	// and a session ends when there is nothing left to serve.
	Serial bool
	// Disable names packets to do without, so that clients can be tested: vCont, qC, qfThreadInfo or any other, T for
	// stop replies with more than the signal, Tthread for the thread in them, threads for all that tells of threads.
	Disable []string
	// Debug is where the server tells of its own working; nil for nowhere.
	Debug *DebugLog
}

// Notify are the functions that are told what becomes of processes; nil ones are told nothing. They are called on the
// goroutine of Serve, or without a client on that of the watch over the program, one at a time.
type Notify struct {
	Started   func(path string, pid int) // a client had a program started (vRun, R)
	Attached  func(pid int)              // a client had a process attached to (vAttach)
	Refused   func(error)                // neither was possible; GDB 13 does not show its user the reason that is in the reply
	Detaching func(pid int)              // a client, or its loss, is about to let a process go
	Killing   func(pids []int)           // a client, or its loss, is about to end all of these (k, monitor exit)
	Ended     func(target.Event)         // a process ended by itself: Exited or Terminated
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
	config   Config
	target   target.Target
	engine   *tracepoint.Engine // nil without tracepoints that could be hit
	recorded target.TraceRun    // what there is to see of the trace run, the engine's or one of long ago; nil without tracepoints
	world    *tracepoint.Engine // of the expressions of breakpoints, the same where there are tracepoints
	debug    *DebugLog

	table      *table
	disabled   disabled
	packetSize int
	patience   time.Duration
	layout     *tdesc.Layout // of the target's description, nil until needed
	markers    markers

	running bool            // a Resume is pending; always false in non-stop mode
	actions []target.Action // of the last Resume, without the signals that it delivered
	back    bool            // it was one backwards
	last    *target.Event   // what the client was last told, nil before the first
	nonStop *nonStop        // what there is to know in non-stop mode, nil in all-stop mode

	program  target.Program // what R starts, as the client has changed it
	attached map[int]bool   // by process: it ran before it came to the server
	traced   int            // the process that the tracepoints of the run are in
	fork     *target.Event  // the last Forked or Vforked of traced, while parent and child are held; or nil
	outlives bool           // a client has chosen the extended mode: the server is there for more programs

	inserted   map[spot]bool // breakpoints that are in the program for the client
	noLocals   bool          // thread-local variables are not to be found
	persistent map[spot]bool // breakpoints whose commands go on without a client
	unattended *unattended   // watches the program while it runs without one
}

// New returns a server of c and introduces the engine to the target.
func New(c Config) *Server {
	if c.Debug == nil {
		c.Debug = NewDebugLog(io.Discard)
	}
	if c.Serial {
		c.Disable = append(slices.Clone(c.Disable), "QStartNoAckMode")
	}
	s := &Server{config: c, target: c.Target, debug: c.Debug, table: newTable(), disabled: newDisabled(c.Disable),
		packetSize: packetSize, patience: patience, program: c.Program, attached: make(map[int]bool),
		persistent: make(map[spot]bool), inserted: make(map[spot]bool)}
	for _, pid := range s.processes() {
		s.attached[pid] = c.Attached
	}
	if tracer := c.Target.Tracer(); tracer != nil && c.Engine != nil {
		s.engine, s.world, s.recorded = c.Engine, c.Engine, liveRun{c.Engine}
		tracer.SetHandler(c.Engine.NewHandler())
	} else {
		s.world, s.recorded = newWorld(c.Target), c.Target.TraceRun()
	}
	return s
}

// Serve serves one client until it is done with the connection, and closes it. Nil means that the client left; ErrExit that
// it ended the server; other errors are the connection's. When Serve returns the program does not run, unless a trace run
// that survives its client needs it to, commands of breakpoints do, or the client left it to such a run.
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

// Spent reports whether there is nothing left to serve: no process, and none to come, because neither the configuration
// nor a client in extended mode said so. What a trace run collected is still in the engine, for a server of another target
// to show. Spent may be called between two calls of Serve.
func (s *Server) Spent() bool {
	return !s.alive() && !s.outlives && !s.config.Multi
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
	s.debug.resumed(actions)
	if err := s.setGoing(actions); err != nil {
		return err
	}
	s.parts(actions)
	s.running, s.actions = true, slices.Clone(actions)
	for i := range s.actions {
		s.actions[i].Signal = target.SignalNone
	}
	return nil
}

// events is the channel to wait on for the program, nil while none is due.
func (s *Server) events() <-chan target.Event {
	if !s.running && s.nonStop == nil {
		return nil
	}
	return s.target.Runner().Events()
}

// settle takes note of an event in all-stop mode and reports whether the program is to stay stopped: after an event that
// passes every thread goes on as before, and the event's own with its signal.
func (s *Server) settle(ev target.Event, passes func(target.Event) bool) bool {
	if ev.Kind == target.Requesting { // of before the client left
		_ = s.decline()
		return false
	}
	s.running = false
	s.learn(ev)
	if passes(ev) && s.alive() {
		if ev.Kind == target.Forked || ev.Kind == target.Vforked { // of before the client left: the child is for nobody
			_ = s.end(ev.Child.PID, s.target.Runner().Detach)
		}
		if s.goOn(ev) == nil {
			return false
		}
	}
	s.last = &ev
	return true
}

// goOn resumes as the last time.
func (s *Server) goOn(ev target.Event) error {
	actions := s.actions
	if stops(ev) {
		again := target.Action{Thread: ev.Thread}
		for _, a := range s.actions {
			if a.Thread.Covers(ev.Thread) {
				again.Verb, again.Start, again.End = a.Verb, a.Start, a.End
				break
			}
		}
		if ev.Reason == target.ReasonNone && ev.Kind == target.Stopped {
			again.Signal = ev.Signal
		}
		actions = append([]target.Action{again}, actions...)
	}
	s.debug.resumed(actions)
	err := s.setGoing(actions)
	s.running = err == nil
	return err
}

// setGoing has the target resume in the direction that the client wants.
func (s *Server) setGoing(actions []target.Action) error {
	if s.back {
		return s.target.Reverser().ResumeBackwards(actions)
	}
	return s.target.Runner().Resume(actions)
}

// stops reports whether a thread is stopped with an event: not when the thread, or its process, is gone.
func stops(ev target.Event) bool {
	switch ev.Kind {
	case target.Exited, target.Terminated, target.ThreadExited, target.NoneResumed:
		return false
	}
	return true
}

// halt stops all that runs, and returns to all-stop mode.
func (s *Server) halt() error {
	if s.nonStop != nil {
		_, err := s.endNonStop()
		return err
	}
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
