// Package fakestub has stubs of GDB's remote protocol with the habits of real ones, each by a switch of its own (Quirks), over a
// small machine that is simulated: harts of RV64IC that execute a program for real, so that steps, breakpoints and conditions act,
// and memory with flash, RAM and a device that counts who reads it. The program keeps a record of each pass of its loop in RAM,
// and Expected says what that must be, so a test can hold what a debugger collected against what the program did.
//
//	s := fakestub.New(fakestub.Config{Quirks: fakestub.OpenOCD})
//	defer s.Close()
//	address := s.Listen(t)     // or s.Serve(conn), or s.Pipe()
//
// Clients come one at a time, and come back: the machine is still there, with its breakpoints. A stub sees what its client does:
// Transcript has the packets, Breaches the bytes that a stub of this kind cannot stand, Inserted the breakpoints that were left.
// Faults go off at the Nth packet.
//
// Packets are parsed here by hand, and not by the forms of rsp/request, so that a mistake there is not made twice. Only tests import
// this package.
package fakestub

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"tracewell/internal/routine"
	shapes "tracewell/tdesc/machine"
)

// Config says what a stub is like, and its machine.
type Config struct {
	Quirks Quirks
	Harts  int    // processors, 1 to MostHarts; 0 for one
	InRAM  bool   // the program is in RAM; otherwise in flash
	Passes uint64 // after so many passes a hart stays where it is (label "end"); 0 for never
	Exits  bool   // it exits there, and so does the machine
	Faults []Fault
}

// Stub is a stub and its machine. Its methods may be called at any time by any goroutine.
type Stub struct {
	quirks      Quirks
	machine     *machine
	program     *assembler
	description []byte

	serving sync.Mutex // held while there is a client
	closing chan struct{}
	closed  sync.Once
	servers routine.Group

	mu       sync.Mutex // guards the rest
	conn     io.Closer
	listener net.Listener
	faults   []Fault
	seen     map[string]int
	packets  int
	lines    []string
	breaches []string
	answers  []string

	// Of the session only, and of the one after it:
	last     event
	current  int            // hart of Hg, and of the last stop
	reported map[int]uint64 // where harts were reported at breakpoints
	flash    []write        // of vFlashWrite, until vFlashDone
}

// write is bytes for memory.
type write struct {
	at    uint64
	bytes []byte
}

// New makes a stub. Its machine stands at the beginning of its program.
func New(c Config) *Stub {
	code := uint64(FlashAt)
	if c.InRAM {
		code = RAMAt
	}
	p := program(code, c.Exits)
	m := &machine{
		harts: make([]hart, max(1, min(c.Harts, MostHarts))),
		flash: region{FlashAt, make([]byte, FlashSize)}, ram: region{RAMAt, make([]byte, RAMSize)},
		device: region{DeviceAt, make([]byte, DeviceSize)},
		start:  p.labels["start"], passes: c.Passes,
		breakpoints: map[place]*breakpoint{}, stops: make(chan event, 1), wake: make(chan struct{}, 1),
	}
	copy(m.at(code, len(p.code)), p.code)
	copy(m.at(fileTextAt, len(FileText)), FileText)
	m.reset()
	return &Stub{
		quirks: c.Quirks, machine: m, program: p, faults: append([]Fault(nil), c.Faults...),
		description: machineXML(), closing: make(chan struct{}), seen: map[string]int{}, reported: map[int]uint64{},
		last: event{signal: trap},
	}
}

func machineXML() []byte { return shapes.RISCV{Bits: 64}.Target().XML() }

// Close ends all clients and the machine, and returns when nothing of them is left.
func (s *Stub) Close() {
	s.closed.Do(func() { close(s.closing) })
	s.mu.Lock()
	listener := s.listener
	s.mu.Unlock()
	if listener != nil {
		listener.Close()
	}
	s.Drop()
	s.servers.Wait()
	s.machine.interrupt()
	s.machine.runs.Wait()
}

// Listen has the stub accept clients on a TCP port of this computer, one at a time, until the test ends, and returns its address.
func (s *Stub) Listen(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.accept(l)
	return l.Addr().String()
}

// accept has clients of a listener served until that is closed.
func (s *Stub) accept(l net.Listener) {
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	s.servers.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = s.Serve(conn)
		}
	})
}

// Leave ends the connection, and refuses others until Return, as a stub that is started again. The machine does what it did.
func (s *Stub) Leave() {
	s.mu.Lock()
	s.listener.Close()
	s.mu.Unlock()
	s.Drop()
}

// Return undoes Leave: the stub listens where it did.
func (s *Stub) Return(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	address := s.listener.Addr().String()
	s.mu.Unlock()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s.accept(l)
}

// Pipe returns a connection to the stub that has no buffer. It is served until either end closes it.
func (s *Stub) Pipe() net.Conn {
	ours, theirs := net.Pipe()
	s.servers.Go(func() { _ = s.Serve(theirs) })
	return ours
}

// ErrClosed says that the stub was closed.
var ErrClosed = errors.New("the stub is closed")

// Serve serves a client until that goes, a fault or a packet ends the connection, or the stub is closed. Another client waits until
// then. It closes conn.
func (s *Stub) Serve(conn io.ReadWriteCloser) error {
	defer conn.Close()
	s.serving.Lock()
	defer s.serving.Unlock()
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	ss := newSession(s, conn)
	defer ss.link.reader.Wait()
	defer conn.Close()
	return ss.serve()
}

// Drop closes the connection to the present client, if there is one, as when a cable is pulled. The machine does what it did.
func (s *Stub) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
	}
}

// pauseFor waits, unless the stub is closed.
func (s *Stub) pauseFor(d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-s.closing:
	}
}
