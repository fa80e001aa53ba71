package stub

import (
	"errors"
	"io"
	"slices"

	"tracewell/runcontrol"
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

// Notify are the functions that are told what becomes of processes, see runcontrol.
type Notify = runcontrol.Notify

// Loss is what to do with the program when a connection is lost, see runcontrol.
type Loss = runcontrol.Loss

// The choices of what becomes of the program when a connection is lost.
const (
	Hold   = runcontrol.Hold   // stop it, and keep it stopped for the next client
	Detach = runcontrol.Detach // let it go its way
	Kill   = runcontrol.Kill   // end it
)

// SignalName is the name of a signal that ends most programs, and the number of any other.
func SignalName(sig target.Signal) string { return runcontrol.SignalName(sig) }

// ErrExit is what Serve returns after a client asked the server to end, by monitor exit. The program is gone then.
var ErrExit = errors.New("the client ended the server")

// packetSize is the length of the longest packet in either direction. GDB reads trace buffers and memory by pieces of
// this size, so a small one costs round trips; the value is that of gdbserver 17.
const packetSize = 131104

// Server serves one client after another. Its methods are for one goroutine, but for State and Watch.
// What they share is guarded by the lock of the debuggee.
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
	layout     *tdesc.Layout // of the target's description, nil until needed
	markers    markers

	debuggee *runcontrol.Debuggee
	program  target.Program // what R starts, as the client has changed it
	outlives bool           // a client has chosen the extended mode: the server is there for more programs

	watchers map[*session]chan struct{} // sessions of Watch, with what is closed when they have ended
	closed   bool                       // there will be no more of them

	noLocals bool // thread-local variables are not to be found
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
		packetSize: packetSize, program: c.Program, watchers: make(map[*session]chan struct{})}
	if tracer := c.Target.Tracer(); tracer != nil && c.Engine != nil {
		s.engine, s.world, s.recorded = c.Engine, c.Engine, liveRun{c.Engine}
		tracer.SetHandler(c.Engine.NewHandler())
	} else {
		s.world, s.recorded = newWorld(c.Target), c.Target.TraceRun()
	}
	s.debuggee = runcontrol.New(runcontrol.Config{
		Target: c.Target, Engine: s.engine, Attached: c.Attached, OnLost: c.OnLost, Notify: c.Notify,
		Resumed: s.debug.resumed, Happened: s.happened, Decline: s.decline,
	})
	return s
}

// Serve serves one client until it is done with the connection, and closes it. Nil means that the client left; ErrExit that
// it ended the server; other errors are the connection's. When Serve returns the program does not run, unless a trace run
// that survives its client needs it to, commands of breakpoints do, or the client left it to such a run.
func (s *Server) Serve(conn io.ReadWriteCloser) error {
	s.debuggee.Attend()
	x := newSession(s, conn)
	err := x.serve()
	conn.Close()
	x.locked(func() {
		if left := s.debuggee.Leave(x.detached); err == nil {
			err = left
		}
	})
	return err
}

// Spent reports whether there is nothing left to serve: no process, and none to come, because neither the configuration
// nor a client in extended mode said so. What a trace run collected is still in the engine, for a server of another target
// to show. Spent may be called between two calls of Serve.
func (s *Server) Spent() bool {
	return !s.debuggee.Alive() && !s.outlives && !s.config.Multi
}

// State returns what the program does. It may be called on any goroutine, also while Serve serves.
func (s *Server) State() runcontrol.State { return s.debuggee.State() }

// Close ends what goes on without a client, and the sessions of watchers. The program is left as it is.
func (s *Server) Close() error {
	s.dismissWatchers()
	s.debuggee.Attend()
	return nil
}

// happened takes note of an event of the debuggee.
func (s *Server) happened(ev target.Event) {
	s.debug.happened(ev)
	// The new program may be for another machine (a 32-bit one), with other registers.
	if ev.Kind == target.Execed {
		s.layout, s.markers.valid = nil, false
	}
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
