//go:build linux && amd64

package record

import (
	"errors"
	"fmt"
	"sync"

	"tracewell/arch"
	"tracewell/record/definition"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tdesc"
	"tracewell/trace"
	"tracewell/trace/compiled"
	"tracewell/tracepoint"
)

// Session is a run on this machine. But for Feed its methods are for one goroutine.
type Session struct {
	config    Config
	finder    *definition.Finder // mu guards its points
	target    *linux.Target
	layout    *tdesc.Layout
	engine    *tracepoint.Engine
	registers int     // length of register blocks
	stream    *stream // nil if nobody is given frames before the end
	ended     chan struct{}

	programs []knownProgram
	main     int              // process that was launched or attached to
	launched bool             // it was
	going    bool             // the program was let go
	objects  []*symbol.Object // files that processes had loaded
	tracer   target.Tracer    // the target's own, of which each process is traced by itself

	away      map[trace.Key]bool                   // disabled, as the library that they were in is gone
	trapped   map[arch.Addr]bool                   // addresses at which the engine has traps installed
	offloaded map[arch.Addr][]*compiled.Tracepoint // what it has offloaded
	late      []lateTrap

	warnings []error
	result   Result
	kept     *kept // nil if the whole buffer was written

	mu        sync.Mutex // guards what follows, which Feed reads
	processes map[int]*process
	running   bool
}

// Open launches the program or attaches to the process and prepares the run. After it the trace file does not exist yet; a program
// that was launched stands still, with its libraries loaded and before any code of its own, and one that was attached to goes
// on. Errors are those of the plan, with the item that they are about, or say why the process cannot be had.
func Open(c Config) (*Session, error) {
	t, err := linux.New(c.Streams)
	if err != nil {
		return nil, err
	}
	if !c.TrapsOnly {
		t.UsePads(linux.Pads{})
	}
	s := &Session{
		config: c, target: t,
		ended:     make(chan struct{}, 1),
		tracer:    t.Tracer(),
		away:      make(map[trace.Key]bool),
		trapped:   make(map[arch.Addr]bool),
		offloaded: make(map[arch.Addr][]*compiled.Tracepoint),
		processes: make(map[int]*process),
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) open() (err error) {
	if s.layout, err = s.target.Description().Layout(); err != nil {
		return err
	}
	s.config.Symbols.Layout, s.config.Symbols.TLSOffset = s.layout, s.threadLocals
	s.finder = definition.New(s.config.Plan, s.layout, s.target.ISA(), trace.ProcessIDName, trace.ThreadIDName)
	// No signal is an event here: the target delivers each to its thread by itself.
	s.target.Signals().PassSignals(everySignal())
	s.target.Signals().ProgramSignals(everySignal())
	if s.config.Follow {
		s.target.Runner().SetReports(target.Reports{Fork: true, Vfork: true})
	}
	if err := s.enter(); err != nil {
		return err
	}
	found, warnings, err := s.finder.Find(s.processes[s.main].image())
	if err != nil {
		return err
	}
	s.warnings = append(s.warnings, warnings...)
	return s.prepare(found)
}

// everySignal is all of GDB's numbers. SIGTRAP is among them: those of the tracer's are the target's own affair.
func everySignal() (all []target.Signal) {
	const highest = 150
	for n := target.Signal(1); n <= highest; n++ {
		all = append(all, n)
	}
	return all
}

// enter gets hold of the first process.
func (s *Session) enter() error {
	if pid := s.config.PID; pid != 0 {
		// Before the process stops: with 100 MB of debug information the reading takes about a second.
		s.readAhead(pid)
		if _, err := s.target.AttachAsIs(pid); err != nil {
			return err
		}
		if err := s.target.Unguarded(); err != nil {
			s.warnings = append(s.warnings, fmt.Errorf("should this recorder be killed by SIGKILL, process %d dies with its next hit: %w",
				pid, err))
		}
		s.main = pid
		// It goes on at once. Whatever has to stop it from here on does so for as long as that takes; events wait for the loop.
		if err := s.goOn(); err != nil {
			return err
		}
		return s.welcome(pid)
	}
	id, err := s.target.Start(s.config.Program)
	if err != nil {
		return launchError(s.config.Program, err)
	}
	// From here on an error ends the program, see Close.
	s.main, s.launched = id.PID, true
	if err := s.welcome(id.PID); err != nil {
		return err
	}
	return s.toLibraries()
}

// welcome takes a process in, with the libraries that it has.
func (s *Session) welcome(pid int) error {
	p, err := s.openProcess(pid)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.processes[pid] = p
	s.mu.Unlock()
	if err := s.watchLinker(p); err != nil {
		s.warnings = append(s.warnings, fmt.Errorf("libraries that process %d loads from now on will not be noticed: %w", pid, err))
	}
	_, _, err = s.libraries(p)
	return err
}

// toLibraries lets a program run that has just been started, until the dynamic linker has loaded its libraries. No code of
// its own has run then, nor of theirs.
func (s *Session) toLibraries() error {
	p := s.processes[s.main]
	if p.linker == 0 {
		return nil
	}
	for {
		if err := s.target.Runner().Resume([]target.Action{everyThread}); err != nil {
			return err
		}
		switch ev := <-s.target.Runner().Events(); ev.Kind {
		case target.Exited:
			return fmt.Errorf("the program ended before its own code could run, with exit status %d", ev.Code)
		case target.Terminated:
			return fmt.Errorf("the program was killed by signal %d before its own code could run", target.LinuxSignal(ev.Signal))
		}
		if _, consistent, err := s.libraries(p); err != nil || consistent {
			return err
		}
	}
}

// goOn lets a program go for the first time.
func (s *Session) goOn() error {
	s.going = true
	return s.target.Runner().Resume([]target.Action{everyThread})
}

// everyThread lets all go on.
var everyThread = target.Action{Thread: target.ThreadID{PID: target.All, TID: target.All}}

// prepare makes the engine, whose register blocks are no longer than what is asked for.
func (s *Session) prepare(found []trace.Tracepoint) error {
	pc := s.layout.ByNumber(s.target.ISA().PC)
	extent := max(s.finder.Complete(found), s.finder.PendingExtent(), pc.Offset+pc.Size)
	s.registers = extent
	layout := tracepoint.Layout{
		Order:         s.target.ISA().Order,
		RegisterBlock: extent,
		PCOffset:      pc.Offset,
		MaxBuffer:     max(s.config.Buffer, maxFrame),
		Tolerant:      true,
		SinkOnly:      s.config.Buffer == 0,
		TrapsOnly:     s.config.TrapsOnly,
		WhenFull:      s.whenFull(),
		Ended: func() {
			select {
			case s.ended <- struct{}{}:
			default:
			}
		},
	}
	if layout.SinkOnly || s.config.Frames != nil {
		s.stream = newStream(layout.Order, extent)
		s.stream.show, s.stream.whenFull = s.config.Frames, layout.WhenFull
		layout.Sink = s.stream
		if layout.SinkOnly {
			layout.Kept = s.stream.progress
		}
	}
	s.engine = tracepoint.New(layout)
	s.target.Tracer().SetHandler(s.engine.NewHandler())
	s.engine.SetMarkers(s.marker)
	s.engine.SetUser(s.config.User)
	s.engine.SetNotes(s.config.Notes)
	s.engine.SetCircular(s.config.Circular)
	s.engine.SetFrameLimit(s.config.MaxFrames)
	size := s.config.Buffer
	if layout.SinkOnly {
		size = maxFrame
	}
	if err := s.engine.SetBufferSize(size); err != nil {
		return err
	}
	for _, v := range s.finder.Variables() {
		if err := s.engine.DefineVariable(v); err != nil {
			return err
		}
	}
	return s.define(found)
}

// whenFull is what becomes of hits when nobody takes the frames. A program that was launched is the recorder's own, and may wait as
// long as the recorder does.
func (s *Session) whenFull() target.WhenFull {
	if s.config.WhenFull == target.WaitWhileMoving && s.launched {
		return target.AlwaysWait
	}
	return s.config.WhenFull
}

// define hands tracepoints to the engine, which during a run has them installed at once.
func (s *Session) define(found []trace.Tracepoint) error {
	errs := s.engine.DefineAll(found)
	for i, d := range found { // those that could be defined
		if errs != nil && errs[i] != nil {
			continue
		}
		if known := s.finder.Definition(d.Key()); known != nil {
			*known = d
		} else {
			s.finder.Defined = append(s.finder.Defined, d)
		}
	}
	return errors.Join(errs...)
}

// marker is a static tracepoint of the program, which learns by its semaphores that it is traced.
func (s *Session) marker(addr arch.Addr) tracepoint.Marker {
	if semaphores, ok := s.finder.Semaphores[addr]; ok {
		return marker(semaphores)
	}
	return nil
}

type marker []arch.Addr

// AppendStatic implements tracepoint.Marker.
func (marker) AppendStatic(dst []byte, _ target.Snapshot) []byte { return dst }

// Semaphores implements tracepoint.Marker.
func (m marker) Semaphores() []arch.Addr { return m }

// Points returns the tracepoints of the plan with the locations that were found so far.
func (s *Session) Points() []Point {
	var all []Point
	for _, t := range s.finder.Points {
		all = append(all, Point{t.Number, t.Location.Value, t.Locations, t.Pending})
	}
	return all
}

// Explain says how the hits of each location are collected in the run that is on.
func (s *Session) Explain() []tracepoint.Explanation { return s.engine.Explain() }

// Pause prepares for this process to be stopped: what is collected without a stop of the program is not collected until resume is
// called, since a full buffer would make the program wait. It reports whether anything is. Any goroutine may call it.
func (s *Session) Pause() (resume func(), any bool) { return s.target.PausePads() }

// Program returns another Program of the executable that was launched or attached to, without libraries and where its file has it.
// It stays readable if the executable is deleted. Whoever asks for it closes it.
func (s *Session) Program() *symbol.Program { return s.programs[0].program.Fork() }

// Warnings returns what Open could not do as it was asked to.
func (s *Session) Warnings() []error { return s.warnings }

// Close lets go of everything. It may be called at any time after Open, and more than once. Without Run a program that was
// launched is killed.
func (s *Session) Close() error {
	err := s.target.Close()
	for warning := range s.target.Warnings() { // of the processes that it has detached from
		err = errors.Join(err, warning)
	}
	return err
}
