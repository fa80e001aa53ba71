package stub

import (
	"errors"
	"fmt"
	"io"

	"tracewell/rsp"
	"tracewell/rsp/request"
	"tracewell/runcontrol"
	"tracewell/target"
)

// session is one connection. Embedding the Server says what it is: the Server, as one client sees it.
type session struct {
	*Server
	conn    io.ReadWriteCloser
	framing rsp.Conn
	decoder *rsp.Decoder
	out     []byte // frames to be written
	plain   []byte // the packet being handled, unescaped
	chunk   []byte // of the trace buffer, as last read
	reply   []byte // memory for replies that have a form

	client   request.Client
	general  target.ThreadID // of Hg: whose registers and memory are meant; zero to choose one
	resuming target.ThreadID // of Hc: what c and s resume, maybe all of a process; zero for everything
	pass     signalSet       // of QPassSignals
	births   bool            // of QThreadEvents: the client hears of new and ended threads

	errorStrings bool      // LLDB's form of errors
	streams      [3]string // of programs that the client starts, see target.Program

	watches bool    // another client controls the program
	notices notices // of stops in non-stop mode

	asked     bool // by Ctrl-C to stop, and has not yet
	owed      bool // the client waits for a stop reply
	unsettled bool // and has it for a ? that found the program running
	extended  bool // the client keeps the connection when the program ends
	detached  bool // the client detached from a program that the trace run keeps: it goes on, and stays the client's no more
	exit      bool // the client ended the server

	requesting bool // the program stands still for an answer of the client's

	walk      *walk               // through the frames, of a client that cannot select them; or nil
	frame     *target.Traceframe  // the selected one, a copy that stays what it is when the buffer loses it; or nil
	pieces    list                // of qTfP
	variables list                // of qTfV
	threads   list                // of qfThreadInfo
	static    list                // of qTfSTM
	moving    *moving             // asks about instructions; nil when none is asked about
	documents map[string]document // of qXfer, as they were when their reading began
	open      openFiles           // of vFile
	printed   chan []byte         // text of the program that comes through the target; nil for none
}

func newSession(s *Server, conn io.ReadWriteCloser) *session {
	s.debuggee.Lock()
	defer s.debuggee.Unlock()
	x := &session{
		Server: s, conn: conn,
		decoder:   rsp.NewDecoder(s.packetSize),
		documents: make(map[string]document),
	}
	if last := s.debuggee.Last(); last != nil && runcontrol.Stops(*last) {
		x.general = last.Thread
	}
	// The client is new: it hears of no process that is gone, and selects a thread that lives.
	s.debuggee.ForgetEnded()
	x.takeCharge()
	if hasMarkers(s) {
		s.engine.SetMarkers(x.findMarker)
	}
	return x
}

// leftAlone reports whether the program runs for the trace run, or for commands of breakpoints, that the client left it to. Events
// are for the client again when it resumes the program itself.
func (x *session) leftAlone() bool { return x.detached && x.debuggee.Running() }

// takeCharge has the target report what the client wants to hear of.
func (x *session) takeCharge() {
	if x.watches || x.leftAlone() {
		return
	}
	x.letPass(x.pass)
	if runner := x.target.Runner(); runner != nil {
		runner.SetReports(target.Reports{
			Fork: x.client.Has(request.ForkEvents), Vfork: x.client.Has(request.VforkEvents),
			Threads: x.births, NoneResumed: x.client.Has(request.NoResumed),
		})
	}
}

// serve handles packets and events until the connection ends or the client is done.
func (x *session) serve() error {
	in := newInput(x.conn)
	defer in.close()
	defer x.open.closeAll()
	defer x.listen()()
	defer x.locked(x.leaveRequest)
	for !x.over() {
		select {
		case chunk, ok := <-in.chunks:
			if !ok {
				return in.err
			}
			// A Ctrl-C that finds the program stopped already must not stop the next resumption.
			x.locked(x.catchUp)
			if err := x.consume(chunk); err != nil {
				return err
			}
		case ev := <-x.debuggee.Events():
			x.locked(func() { x.stopped(ev) })
			if err := x.flush(); err != nil {
				return err
			}
		case text := <-x.printed:
			if err := x.tellPrinted(text); err != nil {
				return err
			}
		}
	}
	if x.exit {
		return ErrExit
	}
	return nil
}

// over reports whether the session ends by itself.
func (x *session) over() bool { return x.exit || x.config.Serial && !x.owed && x.Spent() }

// catchUp takes the events that are there already, so that what comes from the client finds the program as it is. Events that pass
// may each be followed by the next at once, so there is a limit.
func (x *session) catchUp() {
	const most = 256
	for range most {
		select {
		case ev := <-x.debuggee.Events():
			x.stopped(ev)
		default:
			return
		}
	}
}

// consume handles all tokens that end in chunk and writes what there is to say.
func (x *session) consume(chunk []byte) error {
	x.decoder.Feed(chunk)
	for {
		token, ok := x.decoder.Next()
		if !ok {
			return x.flush()
		}
		x.out = x.framing.Acknowledge(x.out, token)
		x.locked(func() { x.take(token) })
		if len(x.out) >= x.packetSize { // a client may send many packets before it reads
			if err := x.flush(); err != nil {
				return err
			}
		}
	}
}

// locked does something while no other session uses the debuggee. Nothing is written to the client meanwhile: one that does not
// read holds up nobody else.
func (x *session) locked(do func()) {
	x.debuggee.Lock()
	defer x.debuggee.Unlock()
	do()
}

// take handles one token.
func (x *session) take(token rsp.Token) {
	switch token.Kind {
	case rsp.Packet:
		x.debug.received(token.Payload)
		x.packet(token.Payload)
	case rsp.Oversized:
		x.send(errorText(fmt.Errorf("packet of more than %d bytes", x.packetSize)))
	case rsp.Interrupt:
		if !x.watches {
			x.controlC()
		}
	}
}

// packet answers one packet.
func (x *session) packet(payload []byte) {
	p, args := x.lookup(payload)
	if p == nil {
		if x.watches || !x.passOn(payload) {
			x.send(nil)
		}
		return
	}
	reply, err := x.handle(p, args)
	if errors.Is(err, errLater) {
		return
	}
	if err != nil {
		reply = x.errorReply(p, err)
	}
	x.send(reply)
}

// handle checks what the table says of p and calls its handler.
func (x *session) handle(p *packet, args []byte) ([]byte, error) {
	switch {
	case x.watches:
		return x.watched(p, args)
	case p.flags&whenStopped != 0 && x.debuggee.Running():
		return nil, target.ErrRunning
	case p.flags&outsideFrames != 0 && x.frame != nil && x.walk == nil:
		return nil, errFrameSelected
	case p.flags&changesRun != 0 && x.engine == nil:
		return nil, errRecorded
	case !p.Binary:
		return p.handler(x, string(args))
	}
	plain, err := rsp.Unescape(x.plain[:0], args)
	if err != nil {
		return nil, err
	}
	x.plain = plain
	return p.handler(x, string(plain))
}

// send queues a reply.
func (x *session) send(payload []byte) {
	x.debug.sent(payload)
	x.out = x.framing.AppendPacket(x.out, payload)
}

// flush writes what is queued.
func (x *session) flush() error {
	if len(x.out) == 0 {
		return nil
	}
	_, err := x.conn.Write(x.out)
	x.out = x.out[:0]
	if err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	return nil
}

// controlC is what the client sends when its user wants the program to stop.
func (x *session) controlC() {
	x.asked = !x.debuggee.NonStop()
	x.debuggee.Interrupt()
}
