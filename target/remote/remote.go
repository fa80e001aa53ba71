package remote

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tracewell/arch"
	"tracewell/internal/routine"
	"tracewell/rsp"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
	"tracewell/tdesc/machine"
)

// Options say what the stub does not.
type Options struct {
	// Profile is that of the stub; nil to recognise it.
	Profile *Profile
	// Description takes the place of the stub's own description of registers; nil for that.
	Description *tdesc.Target
	// Machine is what the program is for, nil if that is not known. It is needed where there is no description, and for its order.
	Machine *arch.Machine
	// Order is that of the program; nil for the usual one of the machine.
	Order arch.ByteOrder
	// Console takes what the program prints through the stub, and the stub itself at any time; nil to drop it. It is called on the
	// goroutine that owns the connection.
	Console func(text []byte)
	// Quiet says that there is to be no Advice.
	Quiet bool
	// Patience is how long the stub may take for a reply, 0 for UsualPatience. The connection has to have deadlines for it.
	Patience time.Duration
	// Processes has the target have the groups of a process of an operating system as well, as far as the stub tells of it: Auxv,
	// ExecFile, Files and Libraries. Clients of a proxy ask the stub itself.
	Processes bool

	segments []segment // of the program, see ReadProgram
}

// UsualPatience is how long a stub may take for a reply: probes take long to write flash.
const UsualPatience = 15 * time.Second

// Target is a stub as a target. What its groups lack, the stub has not.
type Target struct {
	target.Base
	link

	isa         *arch.ISA
	processes   bool // see Options.Processes
	description *tdesc.Target
	layout      *tdesc.Layout
	block       int  // bytes of the stub's own register block, which may lack the end of the layout's
	gaps        bool // it may have registers in it that are not available

	threads []target.ThreadID
	plain   bool // the stub tells of no threads: its only one is ours by name
	tagged  bool // its thread-ids have a process
	verbs   bool // it knows vCont

	current  target.ThreadID // that stopped last
	state    registers       // of one thread, as far as they are known
	selected target.ThreadID // by Hg, zero if that is not known
	chosen   string          // by Hc

	places    map[arch.Addr]*place
	watches   map[watch]*target.Breakpoint
	shows     bool // memory that the stub reads has its breakpoints in it
	shown     bool // that is known
	handler   target.Handler
	collector *collector                    // nil for a stub without tracepoints of its own
	standing  map[target.ThreadID]arch.Addr // where threads have had their hits, and go on past
	stepping  map[target.ThreadID]bool      // whose steps the handler wants
	passes    map[target.Signal]bool
	segments  []segment // what memory is the program's own
	emulation emulation

	packet  []byte          // for one that is made anew each time
	resumes []byte          // the packet of going, nil until it is made
	step    stepPacket      // the last one
	asksPC  []byte          // the packet that asks for the pc alone
	eaten   int             // steps in a row that have executed nothing
	going   []target.Action // of the client's Resume that has not had its event; nil for none
	once    []target.Action // in place of that for once; nil for none
	stray   bool            // an interrupt came too late for the stop it was for, and may cause another
	ended   bool            // there is no process any more
	end     target.Event    // how it ended
	last    lastState
	left    []Leftover
	events  chan target.Event
	request fileRequest
	costs   hitCost
	snap    snapshot          // the one that is in use
	console func(text []byte) // where text goes without a client
	quiet   bool

	attended bool // there is a client, who may answer requests of the program

	recording bool // see Recording
	backwards bool // going goes back in time
}

// stepPacket is the packet that steps a thread.
type stepPacket struct {
	id   target.ThreadID
	text []byte
}

// only is the thread of a stub that tells of none, and onlyProcess the process of one that tells of threads alone.
const onlyProcess = 1

var only = target.ThreadID{PID: onlyProcess, TID: 1}

// Open makes a target of the stub at the other end of a connection, which it owns from then on. The program stops if the stub stops
// it for a client, as all but few do.
func Open(conn io.ReadWriteCloser, o Options) (*Target, error) {
	t := &Target{
		link:     newLink(conn),
		places:   make(map[arch.Addr]*place),
		watches:  make(map[watch]*target.Breakpoint),
		standing: make(map[target.ThreadID]arch.Addr),
		stepping: make(map[target.ThreadID]bool),
		events:   make(chan target.Event, 1),
	}
	t.processes, t.segments = o.Processes, o.segments
	t.console, t.c.Console, t.quiet = o.Console, o.Console, o.Quiet
	if t.c.Patience = o.Patience; o.Patience == 0 {
		t.c.Patience = UsualPatience
	}
	if err := t.meet(o); err != nil {
		conn.Close()
		return nil, err
	}
	routine.Go(t.own)
	return t, nil
}

// meet finds out what the stub is and what it has. What it sends is what GDB sends as it connects, and in that order.
func (t *Target) meet(o Options) error {
	if err := fetch.Announce(t.c, request.SwBreak|request.HwBreak); err != nil {
		return fmt.Errorf("no stub of GDB's protocol answers: %w", err)
	}
	if err := t.recognise(o.Profile); err != nil {
		return err
	}
	if err := t.c.EndAcks(); err != nil {
		return err
	}
	t.tagged = t.c.Features().Has("multiprocess")
	if err := t.describe(o); err != nil {
		return err
	}
	if err := t.begin(); err != nil {
		return err
	}
	if err := t.measure(); err != nil {
		return err
	}
	return t.hasTracepoints()
}

// recognise chooses the profile, and has replies acknowledged as that says.
func (t *Target) recognise(given *Profile) error {
	var lost error
	if given != nil {
		t.profile = *given
	} else {
		t.profile = recognise(t.c.Features(), func(packet string) string {
			text, err := t.c.Exchange([]byte(packet))
			lost = errors.Join(lost, err)
			return text
		})
	}
	if t.profile.Acks == AcksImplied {
		t.c.ImplyAcks()
	}
	return lost
}

// describe settles what registers there are.
func (t *Target) describe(o Options) error {
	t.description = o.Description
	var why error
	if t.description == nil {
		t.description, why = fetch.Description(t.c)
	}
	if client.IsLost(why) {
		return why
	}
	if t.description == nil && o.Machine != nil {
		t.description = machine.Bare(o.Machine, false)
	}
	if t.description == nil {
		return fmt.Errorf("the stub does not say what registers there are, so they have to be given (--tdesc, or --exec with the "+
			"program): %w", why)
	}
	var err error
	if t.layout, err = t.description.Layout(); err != nil {
		return err
	}
	m := t.description.Machine()
	if m == arch.Unknown {
		if m = o.Machine; m == nil {
			m = arch.ByRegisters(func(name string) bool { return t.layout.ByName(name) != nil })
		}
	}
	order := o.Order
	if order == nil {
		order = m.Order
	}
	t.isa = t.layout.ISA(m, t.description.Architecture, order)
	if t.isa.PC == arch.NoReg {
		return errors.New("the description of the registers has no program counter")
	}
	t.emulation.prepare(t)
	return nil
}

// begin learns how the program stands. The question is asked once: with it, QEMU removes all breakpoints.
func (t *Target) begin() error {
	every := request.Selection{For: 'g', Thread: rsp.Thread{Multiprocess: t.tagged}}
	if _, err := exchange(&t.link, request.SelectThread, every); err != nil {
		return err
	}
	stop, ok, err := t.c.StopReason()
	switch {
	case err != nil:
		return err
	case !ok:
		return errors.New("the stub is in non-stop mode, and no thread stands still")
	case stop.Ended() || stop.Kind == 'N' || stop.Kind == 'w':
		t.ended = true
		return nil
	}
	verbs, err := exchange(&t.link, request.ResumeActions, request.None{})
	if err != nil {
		return err
	}
	known := strings.Split(verbs, ";")
	t.verbs = slices.Contains(known, "c") && slices.Contains(known, "s")
	if err := t.listThreads(); err != nil {
		return err
	}
	if stop.Thread == nil {
		t.current = t.threads[0]
	} else {
		t.current = t.threadOf(*stop.Thread)
	}
	if !slices.Contains(t.threads, t.current) {
		t.threads = append(t.threads, t.current)
	}
	t.note(stop)
	return nil
}

// measure finds out how long the block of registers is that the stub has.
func (t *Target) measure() error {
	if t.ended {
		t.block = t.layout.Size
		return nil
	}
	b, err := t.readBlock(t.current)
	if err != nil {
		return fmt.Errorf("the registers cannot be read: %w", err)
	}
	if t.block = min(len(b.Bytes), t.layout.Size); t.block == 0 {
		return errors.New("the stub has no registers")
	}
	t.emulation.choose()
	return nil
}

// ISA implements target.Target.
func (t *Target) ISA() *arch.ISA { return t.isa }

// Description implements target.Target.
func (t *Target) Description() *tdesc.Target { return t.description }

// Profile is what is known of the stub by now.
func (t *Target) Profile() Profile {
	var p Profile
	t.do(func() error { p = t.profile; return nil })
	return p
}

// Features are those that the stub has announced.
func (t *Target) Features() rsp.Features { return t.c.Features() }

// Close removes what is inserted and lets the program go, if the stub still has it, and ends the connection. It may be called more
// than once.
func (t *Target) Close() error {
	err := t.do(func() error {
		if t.ended {
			return nil
		}
		return t.letGo()
	})
	if errors.Is(err, errClosed) {
		return nil
	}
	return errors.Join(err, t.close())
}

// Err is why the connection is lost, nil as long as there is one.
func (t *Target) Err() error { return t.lost() }
