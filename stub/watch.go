package stub

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/runcontrol"
	"tracewell/target"
	"tracewell/tdesc"
)

// A client that connects while another one controls the program is a watcher. It may read whatever there is to read: registers,
// memory, threads, files, definitions, status, and frames, of which it has a selection of its own. What would change the debuggee,
// or what the controlling client hears of it, is refused with an error that GDB prints.
//
// A watcher is in all-stop mode, and takes the program for stopped. While it runs, its registers are unavailable and its pc is 0,
// and memory is read as it is then. GDB reads everything again when a resumption fails: so a continue that is refused shows it
// where the other client has stopped the program.

// errWatches refuses to change what another client controls.
var errWatches = errors.New("this client watches: another one controls the program")

// Watch serves a client beside the one that Serve serves, which it may be called at any time with, also on several goroutines. It
// ends when the client leaves, and at Close.
func (s *Server) Watch(conn io.ReadWriteCloser) error {
	// Not by newSession: nothing of what a client in control begins with is a watcher's to decide.
	x := &session{
		Server: s, conn: conn, watches: true,
		decoder: rsp.NewDecoder(s.packetSize), documents: make(map[string]document),
	}
	ended := make(chan struct{})
	defer close(ended)
	s.debuggee.Lock()
	if s.closed { // the connection was accepted before
		s.debuggee.Unlock()
		return conn.Close()
	}
	s.watchers[x] = ended
	s.debuggee.Unlock()
	err := x.watch()
	s.debuggee.Lock()
	delete(s.watchers, x)
	if s.closed { // by this side
		err = nil
	}
	s.debuggee.Unlock()
	conn.Close()
	return err
}

// dismissWatchers ends the sessions of all watchers, and has no others come.
func (s *Server) dismissWatchers() {
	s.debuggee.Lock()
	s.closed = true
	watchers := maps.Clone(s.watchers)
	s.debuggee.Unlock()
	// Without the lock: a session may wait for it to answer its last packet.
	for x, ended := range watchers {
		x.conn.Close()
		<-ended
	}
}

// watch handles packets until the connection ends.
func (x *session) watch() error {
	in := newInput(x.conn)
	defer in.close()
	defer x.open.closeAll()
	// There are no events to wait for: a client in all-stop mode that waits for none must not be told of one.
	for chunk := range in.chunks {
		if err := x.consume(chunk); err != nil {
			return err
		}
	}
	return in.err
}

// agrees answers a packet that has no effect: GDB sends these as it connects and leaves, whatever its user does, and would warn of
// an error, which is of no use to one who only looks on.
func agrees(*session, string) ([]byte, error) { return replyOK, nil }

// watchedAttached has GDB detach when it quits, where it would kill.
func watchedAttached(*session, string) ([]byte, error) { return reply.Attached.Append(nil, true), nil }

// watchAllStop is QNonStop of a watcher, which is always in all-stop mode.
func watchAllStop(x *session, args string) ([]byte, error) {
	if on, err := request.NonStop.Parse(args); err != nil || on {
		return nil, errors.Join(err, runcontrol.ErrNoNonStop)
	}
	return replyOK, nil
}

// openToRead is vFile:open of a watcher.
func openToRead(x *session, args string) ([]byte, error) {
	o, err := request.OpenFile.Parse(args)
	if err != nil {
		return nil, err
	}
	// Opening to write may already truncate a file, or make one.
	if how, ok := openFlags(o.Flags); !ok || how != os.O_RDONLY {
		return nil, errWatches
	}
	p, _ := x.lookup([]byte(request.OpenFile.Prefix + args))
	return p.handler(x, args)
}

// watchedStop is ? of a watcher: how the program stopped last, or in a program that runs its first thread, whose registers are
// unavailable.
func watchedStop(x *session, _ string) ([]byte, error) {
	if x.withoutProcess() {
		return nil, target.ErrNoProcess
	}
	// State and not Running: in non-stop mode some threads may run while others are stopped.
	state := x.debuggee.State()
	last := x.debuggee.LastStop()
	switch {
	case state.Running:
		threads := x.known()
		if len(threads) == 0 {
			return nil, target.ErrNoProcess
		}
		x.general = threads[0]
		return reply.Stopped.Append(nil, reply.Stop{Kind: 'T', Core: -1, Thread: x.idOf(x.general)}), nil
	case !runcontrol.Stops(last):
		return x.stopReply(last), nil
	}
	// As for the client in control, GDB takes the thread of the reply for the selected one.
	x.general = last.Thread
	// A fork or a breakpoint is the controlling client's to deal with.
	return x.stopReply(target.Event{Thread: last.Thread, Signal: last.Signal}), nil
}

// watched handles a packet of a watcher.
func (x *session) watched(p *packet, args []byte) ([]byte, error) {
	answer := p.watcher
	if answer == nil && p.flags&forWatchers != 0 {
		answer = p.handler
	}
	if answer == nil {
		if p.Prefix == request.Monitor.Prefix { // GDB prints no text of this error
			x.console(fmt.Sprintf("%v.\n", errWatches))
		}
		return nil, errWatches
	}
	plain := args
	// qSearch:memory is the one that is binary.
	if p.Binary {
		var err error
		if plain, err = rsp.Unescape(x.plain[:0], args); err != nil {
			return nil, err
		}
		x.plain = plain
	}
	// A thread that was selected may have ended since, in front of a client that thinks it stopped.
	if _, err := x.target.Thread(x.general); err != nil {
		x.general = target.ThreadID{}
	}
	// What the table says of frames and of running programs is about packets that change something; the rest is read as it is.
	return answer(x, string(plain))
}

// unknownRegisters is the register block of a thread that runs. The pc is 0, where no code is: without one GDB ends the connection.
func (x *session) unknownRegisters(layout *tdesc.Layout) reply.Block {
	size := x.blockSize(layout)
	b := reply.Block{Bytes: make([]byte, size), Available: make([]bool, size)}
	if slot := layout.ByNumber(x.target.ISA().PC); slot != nil && slot.Offset+slot.Size <= size {
		for i := range slot.Size {
			b.Available[slot.Offset+i] = true
		}
	}
	return b
}
