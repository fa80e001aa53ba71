package record

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/record/definition"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/trace"
	"tracewell/trace/compiled"
	"tracewell/tracepoint"
)

// Session is a run of one program. But for Feed, Pause, Change and Leave its methods are for one goroutine.
type Session struct {
	config    Config
	finder    *definition.Finder // mu guards its points
	host      Host
	target    target.Target // the host's
	layout    *tdesc.Layout
	engine    *tracepoint.Engine
	registers int // length of register blocks
	names     *threadNames
	stream    *stream // nil if nobody is given frames before the end
	ended     chan struct{}

	programs  []knownProgram
	entry     Entry            // of the first process
	going     bool             // the program was let go
	cancelled func() bool      // reports whether the context of Run was
	objects   []*symbol.Object // files that processes had loaded
	tracer    target.Tracer    // the target's own, of which each process is traced by itself

	away      map[trace.Key]bool                   // disabled, as the library that they were in is gone
	trapped   map[arch.Addr]bool                   // addresses at which the engine has traps installed
	offloaded map[arch.Addr][]*compiled.Tracepoint // what it has offloaded
	late      []lateTrap

	variables []trace.Variable // that the engine has been told of
	changes   chan change
	leaving   chan struct{}
	parted    chan struct{} // closed when the processes have been let go

	warnings []error
	result   Result
	kept     *kept // nil if the whole buffer was written

	mu        sync.Mutex // guards what follows, which Feed reads
	processes map[int]*process
	repeated  map[trace.Number]uint64 // hits that were counted in place of a frame for each
	repeats   []Repeat                // of them, those that nobody has been told of yet
	running   bool
}

// Open has the host get hold of its program and prepares the run. After it the trace file does not exist yet; a program that was
// launched stands still, with its libraries loaded and before any code of its own, and one that was attached to goes on. Errors are
// those of the plan, with the item that they are about, or say why the program cannot be had. The Session closes the host, also
// when Open fails.
func Open(host Host, c Config) (*Session, error) {
	t := host.Target()
	if t.Runner() == nil || t.Tracer() == nil {
		return nil, errors.Join(errors.New("this target cannot be traced: it has no threads that run, or no tracepoints"), host.Close())
	}
	s := &Session{
		config: c, host: host, target: t,
		ended:     make(chan struct{}, 1),
		names:     newThreadNames(host.ThreadName),
		tracer:    t.Tracer(),
		away:      make(map[trace.Key]bool),
		trapped:   make(map[arch.Addr]bool),
		offloaded: make(map[arch.Addr][]*compiled.Tracepoint),
		processes: make(map[int]*process),
		repeated:  make(map[trace.Number]uint64),
		changes:   make(chan change),
		leaving:   make(chan struct{}),
		parted:    make(chan struct{}),
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
	s.finder = definition.New(s.config.Plan, s.layout, s.target.ISA(), trace.ProcessIDName, trace.ThreadIDName,
		trace.NanosecondsName)
	s.finder.Several = s.host.Newcomers() != nil
	// No signal is an event here: the target delivers each to its thread by itself.
	if signals := s.target.Signals(); signals != nil {
		signals.PassSignals(everySignal())
		signals.ProgramSignals(everySignal())
	}
	if s.config.Follow {
		s.target.Runner().SetReports(target.Reports{Fork: true, Vfork: true})
	}
	if err := s.enter(); err != nil {
		return err
	}
	found, warnings, err := s.finder.Find(s.processes[s.entry.PID].image())
	if err != nil {
		return err
	}
	s.warnings = append(s.warnings, warnings...)
	if found, err = s.findOthers(found); err != nil {
		return err
	}
	if err := s.nowhere(); err != nil {
		return err
	}
	if other := s.otherCode(s.processes[s.entry.PID], found); other != nil {
		s.warnings = append(s.warnings, other)
	}
	return s.prepare(found)
}

// nowhere is why a location of the plan will never be found: nothing is loaded later that may have it, or that is to be waited for.
func (s *Session) nowhere() error {
	if s.hasLibraries() && !s.config.NotPending {
		return nil
	}
	for _, t := range s.finder.Points {
		switch {
		case t.Pending != nil && s.hasLibraries():
			return fmt.Errorf("%w\nwith --pending it is looked up in what is loaded or executed later", t.Pending)
		case t.Pending != nil:
			return t.Pending
		}
	}
	return nil
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
func (s *Session) enter() (err error) {
	// Before the process stops: with 100 MB of debug information the reading takes about a second.
	s.readAhead(s.host.Ahead())
	// From here on an error ends a program that was launched, see Close.
	if s.entry, err = s.host.Enter(); err != nil {
		return err
	}
	s.warnings = append(s.warnings, s.entry.Warnings...)
	if s.entry.Still {
		consistent, err := s.welcome(s.entry.PID)
		if err != nil || consistent {
			return err
		}
		return s.toLibraries()
	}
	// It goes on at once. Whatever has to stop it from here on does so for as long as that takes; events wait for the loop.
	if err := s.goOn(); err != nil {
		return err
	}
	if _, err = s.welcome(s.entry.PID); err != nil {
		return err
	}
	for _, pid := range s.entry.Others {
		if _, err := s.welcome(pid); err != nil {
			s.warnings = append(s.warnings, notTraced(pid, err))
			s.letGo(pid)
		}
	}
	return nil
}

// welcome takes a process in, with the libraries that it has. It reports whether the dynamic linker has a list of them.
func (s *Session) welcome(pid int) (linked bool, err error) {
	p, err := s.openProcess(pid)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	s.processes[pid] = p
	s.mu.Unlock()
	if err := s.watchLinker(p); err != nil {
		s.warnings = append(s.warnings, fmt.Errorf("libraries that process %d loads from now on will not be noticed: %w", pid, err))
	}
	_, linked, err = s.libraries(p)
	return linked, err
}

// toLibraries lets a program run that has just been started, until the dynamic linker has loaded its libraries. No code of
// its own has run then, nor of theirs.
func (s *Session) toLibraries() error {
	p := s.processes[s.entry.PID]
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
	if s.config.Changes {
		extent = max(extent, s.finder.UsedExtent())
	}
	if single := s.target.SingleRegisters(); single != nil && extent > single.BlockSize() {
		extent = single.BlockSize()
		s.warnings = append(s.warnings, fmt.Errorf("registers behind the first %d bytes are not recorded, since each would take a "+
			"packet at every hit: %s and what follows", extent, s.firstBehind(extent)))
	}
	s.registers = extent
	layout := tracepoint.Layout{
		Order:         s.target.ISA().Order,
		RegisterBlock: extent,
		PCOffset:      pc.Offset,
		MaxBuffer:     max(s.config.Buffer, maxFrame),
		Tolerant:      true,
		SinkOnly:      s.config.Buffer == 0,
		TrapsOnly:     s.config.TrapsOnly || s.config.Sync,
		Prompt:        s.config.Shown != nil,
		WhenFull:      s.whenFull(),
		Ended: func() {
			select {
			case s.ended <- struct{}{}:
			default:
			}
		},
	}
	layout.Cancelled = func() bool { return s.cancelled() }
	if layout.SinkOnly || s.config.Frames != nil {
		s.stream = newStream(layout.Order, extent)
		s.stream.show, s.stream.shows, s.stream.whenFull = s.config.Frames, s.config.Shown, layout.WhenFull
		s.stream.prompt, s.stream.sync = layout.Prompt, s.config.Sync
		layout.Sink = s.stream
		s.stream.names = s.names
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
	s.variables = slices.Clone(s.finder.Variables())
	for _, v := range s.variables {
		if err := s.engine.DefineVariable(v); err != nil {
			return err
		}
	}
	return s.define(found)
}

// firstBehind is the name of the first register that does not lie within so many bytes of a register block.
func (s *Session) firstBehind(size int) string {
	first := slices.IndexFunc(s.layout.Slots, func(slot tdesc.Slot) bool { return slot.Offset+slot.Size > size })
	return "$" + s.layout.Slots[first].Reg.Name
}

// whenFull is what becomes of hits when nobody takes the frames. A program that was launched is the recorder's own, and may wait as
// long as the recorder does.
func (s *Session) whenFull() target.WhenFull {
	if s.config.WhenFull == target.WaitWhileMoving && s.entry.Launched {
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

// Semaphores are the counters of the static probes that were found so far, in no order.
func (s *Session) Semaphores() (all []arch.Addr) {
	for _, list := range s.finder.Semaphores {
		all = append(all, list...)
	}
	return all
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

// Explain says how the hits of each location are collected in the run that is on: those of the tracepoints with the numbers, or of
// all if there are none.
func (s *Session) Explain(numbers ...trace.Number) []tracepoint.Explanation {
	return s.engine.Explain(numbers...)
}

// Pause prepares for this process to be stopped: what is collected without a stop of the program is not collected until resume is
// called, since a full buffer would make the program wait. It reports whether anything is. Any goroutine may call it.
func (s *Session) Pause() (resume func(), any bool) { return s.host.Pause() }

// Program returns another Program of the executable that was launched or attached to, without libraries and where its file has it.
// It stays readable if the executable is deleted. Whoever asks for it closes it.
func (s *Session) Program() *symbol.Program { return s.programs[0].program.Fork() }

// Warnings returns what Open could not do as it was asked to.
func (s *Session) Warnings() []error { return s.warnings }

// Close lets go of everything. It may be called at any time after Open, and more than once. Without Run a program that was
// launched is killed.
func (s *Session) Close() error { return s.host.Close() }
