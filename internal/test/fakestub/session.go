package fakestub

import (
	"fmt"
	"io"
	"time"

	"tracewell/rsp"
)

// session is what belongs to one client.
type session struct {
	*Stub
	link *link

	running bool   // the machine runs for this client, who is owed a stop reply
	moving  bool   // it runs, but for a step
	held    []byte // what came meanwhile and waits (Waits)
	owed    *event // it has stopped, which is not noticed yet (StopNotice)
	notice  <-chan time.Time

	multiprocess bool // both sides announced it
	reasons      bool
	resumed      int // hart of Hc; allHarts, or anyHart

	resumptions int
	waiting     []order // what the harts are to do behind the answer to a request; nil without one

	listed  int // of the list of threads
	replies int
	printed int
	silent  bool   // a fault: nothing is answered any more
	ahead   string // a packet that comes before the reply
	polled  bool   // the stub has been told to look whether the machine has stopped
	spoil   Kind   // the fault of the next reply
	leaving bool   // by a packet that is answered
	over    bool   // the connection ends
}

// What a thread-id names in place of a hart: -1 and 0.
const (
	allHarts = -1
	anyHart  = -2
)

func newSession(s *Stub, conn io.ReadWriteCloser) *session {
	return &session{Stub: s, link: newLink(conn, &s.quirks), resumed: allHarts}
}

// serve serves to the end of the connection. What runs then goes on.
func (ss *session) serve() error {
	ss.settle()
	for !ss.over {
		stops := ss.machine.stops
		if !ss.running || ss.owed != nil {
			stops = nil
		}
		select {
		case <-ss.link.in.news:
			b, ended := ss.link.in.take()
			ss.receive(b)
			ss.over = ss.over || ended
		case e := <-stops:
			ss.stopped(e)
		case <-ss.notice:
			ss.report(*ss.owed)
		case <-ss.closing:
			return ErrClosed
		}
	}
	if ss.owed != nil {
		ss.record(*ss.owed)
	}
	if ss.leaving {
		ss.part()
	}
	return nil
}

// part waits for the client to close its end, as the reply is still on its way: to close first could take it back.
func (ss *session) part() {
	limit := time.After(parting)
	for {
		select {
		case <-limit:
			return
		case <-ss.closing:
			return
		case <-ss.link.in.news:
			if _, ended := ss.link.in.take(); ended {
				return
			}
		}
	}
}

// parting is how long a client may take to close its end of a connection that it has ended by a packet.
const parting = 100 * time.Millisecond

// settle stops a machine that runs for nobody, or for a client that has gone: a stub stops it when one comes.
func (ss *session) settle() {
	ss.machine.mu.Lock()
	running := ss.machine.running
	ss.machine.mu.Unlock()
	if running {
		ss.machine.interrupt()
		ss.record(<-ss.machine.stops)
		return
	}
	select {
	case e := <-ss.machine.stops:
		ss.record(e)
	default:
	}
}

// record notes a stop that is reported, to this client or the next.
func (ss *session) record(e event) {
	ss.last, ss.current = e, e.hart
	ss.reported[e.hart] = ss.machine.pcOf(e.hart)
}

// receive takes bytes in the order in which they came.
func (ss *session) receive(b []byte) {
	for _, c := range b {
		if ss.over {
			return
		}
		ss.take(c)
	}
}

// take takes a byte.
func (ss *session) take(c byte) {
	if ss.link.insists(c) {
		return
	}
	// An acknowledgment that is due stops no machine: it is looked for before anything else.
	if ss.link.waiting() && (ss.running || c == '$') {
		switch c {
		case '-':
			ss.link.write(ss.link.queue[0])
			return
		case '+':
			ss.link.queue = nil
			return
		case '$': // which says that the reply has arrived, too
			ss.link.queue = nil
		}
	}
	if ss.running && !ss.whileRunning(c) {
		return
	}
	ss.link.decoder.Feed([]byte{c})
	for {
		token, ok := ss.link.decoder.Next()
		if !ok || ss.over {
			return
		}
		ss.token(token)
	}
}

// whileRunning takes a byte that comes while the machine runs. It reports whether the byte is read as always.
func (ss *session) whileRunning(c byte) bool {
	switch {
	case ss.quirks.Running == StopsAtAnyByte:
		if c != 3 {
			ss.breach("byte %q while the machine runs, which stops it", c)
		}
		ss.stopNow()
	case c == 3:
		ss.machine.interrupt()
		if ss.owed != nil {
			ss.report(*ss.owed)
		}
	case ss.quirks.Running == Answers:
		return true
	case ss.quirks.Running == Waits:
		ss.held = append(ss.held, c)
	default:
		ss.breach("byte %q while the machine runs, which is lost", c)
	}
	return false
}

// stopNow stops the machine, and reports that or what had stopped it just before.
func (ss *session) stopNow() {
	if ss.owed == nil {
		ss.machine.interrupt()
		ss.report(<-ss.machine.stops)
		return
	}
	ss.report(*ss.owed)
}

// token takes what the decoder made of the bytes.
func (ss *session) token(token rsp.Token) {
	switch token.Kind {
	case rsp.Packet:
		ss.packet(token.Payload)
	case rsp.BadChecksum:
		if !ss.link.noAck {
			ss.link.write([]byte("-"))
		}
	case rsp.Oversized:
		ss.breach("a packet of more than %d bytes, which is lost", ss.quirks.packetSize())
	case rsp.Ack:
		ss.link.queue = nil
	case rsp.Nak:
		if ss.link.waiting() {
			ss.link.write(ss.link.queue[0])
		}
	}
}

// stopped takes the end of a run. A step is noticed at once; a stop where the machine ran when the stub looks for it.
func (ss *session) stopped(e event) {
	interval := ss.quirks.StopNotice
	if interval == 0 || !ss.moving {
		ss.report(e)
		return
	}
	ss.owed = &e
	ss.notice = time.After(interval - time.Duration(time.Now().UnixNano())%interval)
}

// look notices a stop before its time.
func (ss *session) look() {
	if ss.running && ss.owed == nil {
		select {
		case e := <-ss.machine.stops:
			ss.owed = &e
		default:
		}
	}
	if ss.owed != nil {
		ss.report(*ss.owed)
	}
}

// report sends the stop reply, and reads on where bytes were left for later.
func (ss *session) report(e event) {
	ss.running, ss.owed, ss.notice = false, nil, nil
	ss.record(e)
	ss.reply(ss.stopReply(e))
	held := ss.held
	ss.held = nil
	ss.receive(held)
}

// reply sends the reply to a packet.
func (ss *session) reply(text string) {
	ss.pauseFor(ss.quirks.Delay)
	if ss.silent {
		return
	}
	ss.replies++
	if n := ss.quirks.ConsoleEach; n > 0 && ss.replies%n == 0 {
		ss.print()
	}
	ss.note("< " + text)
	payload := rsp.AppendEscaped(nil, []byte(text))
	if kind := ss.spoil; kind != 0 {
		ss.spoil = 0
		ss.spoiled(kind, payload)
		return
	}
	ss.link.send(ss.link.frame(payload))
}

// print sends text of the console.
func (ss *session) print() { ss.link.send(ss.link.frame([]byte(ss.console()))) }

// console is a packet with such a text.
func (ss *session) console() string {
	if ss.quirks.KeepAlive {
		return "O"
	}
	ss.printed++
	return "O" + hexText(fmt.Sprintf("console text %d\n", ss.printed))
}

// hexText is text in hexadecimal.
func hexText(text string) string { return string(rsp.AppendHexBytes(nil, text)) }
