// Package remote records traces by a server of GDB's protocol that has tracepoints of its own: gdbserver, tracewell
// serve, or another. The plan is that of package record, and so is the file.
//
// The server is told tracepoints and variables by the packets that GDB sends, and what it records is fetched from its
// trace buffer (qTBuffer). Where it knows non-stop mode that goes on while the program runs; where it does not, a
// server answers nothing meanwhile, and the frames are fetched when the program stops. A server that lacks what the
// plan needs is an error: nothing is left out silently.
//
// A session goes through these steps: connect and agree on features (greet), select the mode and stop the program (takeOver), read
// the registers, files and libraries of the process (enter), find the plan's locations and compile its expressions, define the run
// (prepare), create the file, start and resume (trace), fetch frames and handle stops until the run is over (poll or wait), stop
// the run, fetch the rest and detach (finish). Whatever the plan needs and the server lacks is found before the program is
// resumed.
//
// A stop during a run is the breakpoint of the dynamic linker, a signal that the server does not pass by itself, or the end of the
// program. The trace buffer is the server's, and so are limits, pass counts and the order of frames; only the number of frames is
// counted here.
//
// The server says what the process consists of. Files are read here if they are the same as there, and are copied
// otherwise.
//
// A run can be left to the server: Session.Leave goes away while it is on, and Fetch gets later what it has recorded.
//
// Nothing that a server sends is trusted: what makes no sense is an error that says so.
package remote

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"tracewell/arch"
	"tracewell/record"
	"tracewell/record/definition"
	"tracewell/record/output"
	"tracewell/rsp/reply"
	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// Config says what is traced, and where. Of a record.Config it takes all but the program's arguments and streams, PID
// and Follow; Program.Path is the file of the program that the server runs, and may be empty if the server says which
// it is.
type Config struct {
	record.Config
	Address      string // HOST:PORT, :PORT or unix:PATH
	Disconnected bool   // the run is to be left to the server, by Leave
}

// Session is a run at a server. But for Feed its methods are for one goroutine.
type Session struct {
	config Config
	server *server
	image
	dynamic     bool // the program has a dynamic linker
	description *tdesc.Target
	layout      *tdesc.Layout
	isa         *arch.ISA // of the program there
	finder      *definition.Finder
	warnings    []error
	raised      map[arch.Addr]bool // semaphores
	result      record.Result
	frames      frames
	start, end  time.Time
	stopped     time.Time    // when the server was found to have ended the run, before anything tells why
	counted     time.Time    // when the hits were asked for
	decimal     bool         // the server gives them in decimal
	exited      bool         // the program is gone, and the server waits to be told that we know
	kept        []reply.Stop // of other threads, during a step

	mu   sync.Mutex // guards feed
	feed record.Feed
}

// Open connects to a server, finds what the plan traces in the program that it has, and defines it there. The program
// stands still after it, unless it ran on without a debugger; its libraries are loaded. The trace file does not exist
// yet.
func Open(c Config) (*Session, error) {
	conn, err := dial(c.Address)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", c.Address, reason(err))
	}
	s := &Session{config: c, server: newServer(conn)}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.Address, err), s.Close())
	}
	return s, nil
}

func (s *Session) open() error {
	if err := s.server.greet(); err != nil {
		return err
	}
	if _, _, err := s.server.TraceStatus(); err != nil {
		return fmt.Errorf("it has no tracepoints: %w", err)
	}
	if err := s.takeOver(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	s.finder = definition.New(s.config.Plan, s.layout, s.isa)
	found, warnings, err := s.finder.Find(s.seen())
	if err != nil {
		return err
	}
	s.warnings = append(s.warnings, warnings...)
	s.frames = frames{order: s.isa.Order, registers: s.layout.Size, most: s.config.MaxFrames, show: s.config.Frames,
		tallies: make(map[trace.Number]tally)}
	s.raised = make(map[arch.Addr]bool)
	s.count(true)
	return s.prepare(found)
}

// enter finds out about the program, which is led to where its own code begins if it has just been started.
func (s *Session) enter() error {
	s.sites, s.loaded = make(map[arch.Addr]bool), make(map[library]*symbol.Object)
	if err := s.describe(); err != nil {
		return err
	}
	if err := s.identify(); err != nil {
		return err
	}
	if !s.dynamic {
		return nil
	}
	debug, err := s.space.RDebug()
	if err == nil && debug == 0 {
		err = s.runTo(s.program.Main().Entry())
	}
	if err == nil {
		_, err = s.libraries()
	}
	if err != nil && !errors.Is(err, errEnded) {
		s.warnings = append(s.warnings, fmt.Errorf("nothing is traced in shared libraries: %w", err))
		return nil
	}
	return err
}

// seen is the process as places are looked for in it.
func (s *Session) seen() definition.Image {
	return definition.Image{Program: s.program, Sites: s.sites}
}

// Program reads the program's file, or the copy of it that is here until Close, without libraries; nil if that is not
// possible any more. Whoever asks for it closes it.
func (s *Session) Program() *symbol.Program {
	program, err := symbol.Open(s.program.Main().Path(), symbol.Options{})
	if err != nil {
		return nil
	}
	return program
}

// Warnings returns what Open could not do as it was asked to.
func (s *Session) Warnings() []error { return s.warnings }

// Points returns the tracepoints of the plan with the locations that were found so far.
func (s *Session) Points() []record.Point {
	var all []record.Point
	for _, t := range s.finder.Points {
		all = append(all, record.Point{Number: t.Number, At: t.Location.Value, Locations: t.Locations, Pending: t.Pending})
	}
	return all
}

// Close ends the connection. What the server makes of that is its own affair: it ends a run that was not left to it.
func (s *Session) Close() error {
	err := s.server.conn.Close()
	if s.program != nil {
		err = errors.Join(err, s.program.Close())
	}
	if s.folder != "" {
		err = errors.Join(err, os.RemoveAll(s.folder))
	}
	return err
}

// Header is what the file begins with, by what has been found so far. Config.Events may call it, too.
func (s *Session) Header() tfile.Header {
	status := s.status()
	if status.Running {
		status.Running, status.Reason = false, trace.ReasonUnknown
	}
	tracepoints := slices.Clone(s.finder.Defined)
	output.Arrange(tracepoints)
	variables := []trace.Variable{{Number: trace.Timestamp, Builtin: true, Name: trace.TimestampName}}
	return tfile.Header{
		Order:        s.isa.Order,
		RegisterSize: s.layout.Size,
		Status:       &status,
		Variables:    append(variables, s.finder.Variables()...),
		Tracepoints:  tracepoints,
		Description:  output.Describe(s.description, s.objects),
	}
}

// status is that of the server, with our own clock and words.
func (s *Session) status() trace.Status {
	st := s.result.Status
	if st.Reason == "" {
		st.Reason, st.Free, st.Size = trace.ReasonUnknown, -1, -1
	}
	st.User, st.Notes = s.config.User, s.config.Notes
	st.StartTime, st.StopTime = microseconds(s.start), microseconds(s.end)
	return st
}

func microseconds(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixMicro())
}
