package fakestub

import (
	"bytes"
	"io"
	"sync"

	"tracewell/internal/routine"
	"tracewell/rsp"
)

// inbox is what has come over a connection and was not looked at yet. It is read as fast as it comes, so that a client that writes
// never waits for a stub that writes, even where the connection has no buffer of its own.
type inbox struct {
	mu    sync.Mutex
	bytes []byte
	ended bool
	news  chan struct{}
}

// collect reads a connection to its end.
func (in *inbox) collect(conn io.Reader) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := conn.Read(buffer)
		in.mu.Lock()
		in.bytes = append(in.bytes, buffer[:n]...)
		in.ended = err != nil
		in.mu.Unlock()
		select {
		case in.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// take returns what has come since, and whether there will be more.
func (in *inbox) take() (b []byte, ended bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	b, in.bytes = in.bytes, nil
	return b, in.ended
}

// link is one connection, with its acknowledgments.
type link struct {
	conn    io.ReadWriteCloser
	in      inbox
	reader  routine.Group
	decoder *rsp.Decoder
	acks    Acks
	noAck   bool
	runs    bool     // replies are run-length coded
	queue   [][]byte // frames; the first has been sent, and is not acknowledged
	broken  bool     // a write has failed, or a fault has ended what is sent
}

func newLink(conn io.ReadWriteCloser, q *Quirks) *link {
	l := &link{conn: conn, acks: q.Acks, runs: q.RunLength, decoder: rsp.NewDecoder(max(q.packetSize(), 2*8*registers+1))}
	l.in.news = make(chan struct{}, 1)
	l.reader.Go(func() { l.in.collect(conn) })
	return l
}

// write sends bytes. The reader notices when that fails, too.
func (l *link) write(b []byte) {
	if l.broken {
		return
	}
	if _, err := l.conn.Write(b); err != nil {
		l.broken = true
	}
}

// send sends a packet, or has it wait for the acknowledgment of the one before.
func (l *link) send(frame []byte) {
	if l.noAck {
		for len(l.queue) > 1 { // those that nobody will wait for any more
			l.queue = l.queue[1:]
			l.write(l.queue[0])
		}
		l.queue = nil
		l.write(frame)
		return
	}
	if l.acks == AnyOrder {
		l.queue = nil // that has been abandoned
	}
	l.queue = append(l.queue, frame)
	if len(l.queue) == 1 {
		l.write(frame)
	}
}

// sendDamaged sends a packet with a wrong checksum. If it is asked for again, it is sound.
func (l *link) sendDamaged(frame []byte) {
	wrong := bytes.Clone(frame)
	wrong[len(wrong)-1] ^= 1
	if l.write(wrong); !l.noAck {
		l.queue = append(l.queue[:0], frame)
	}
}

// waiting says whether an acknowledgment is due.
func (l *link) waiting() bool { return !l.noAck && len(l.queue) > 0 }

// acknowledged ends the wait, and sends what waited behind it.
func (l *link) acknowledged() {
	if len(l.queue) > 0 {
		l.queue = l.queue[1:]
	}
	if len(l.queue) > 0 {
		l.write(l.queue[0])
	}
}

// insists takes a byte where the stub reads nothing but acknowledgments. It reports whether the byte is used up.
func (l *link) insists(b byte) bool {
	if !l.waiting() || l.acks == AnyOrder {
		return false
	}
	switch {
	case b == '+':
		l.acknowledged()
	case b == '-' || l.acks == Resends:
		l.write(l.queue[0])
	}
	return true
}

// frame makes a packet of a payload that has its escapes.
func (l *link) frame(payload []byte) []byte {
	if l.runs {
		payload = appendRuns(nil, payload)
	}
	var sum byte
	for _, c := range payload {
		sum += c
	}
	b := append([]byte{'$'}, payload...)
	return rsp.AppendHexPadded(append(b, '#'), uint64(sum), 2)
}

// appendRuns codes runs of a byte: the byte, a star, and how many more there are of it, plus 29. Counts that would read as a byte
// of the protocol are not used.
func appendRuns(dst, b []byte) []byte {
	const least, most, bias = 3, 97, 29
	for len(b) > 0 {
		n := 1
		for n < len(b) && n <= most && b[n] == b[0] {
			n++
		}
		more := n - 1
		for more >= least && isReserved(byte(more+bias)) {
			more--
		}
		dst = append(dst, b[0])
		if more >= least && b[0] != '}' {
			dst = append(dst, '*', byte(more+bias))
		} else {
			more = 0
		}
		b = b[1+more:]
	}
	return dst
}

func isReserved(c byte) bool { return c == '#' || c == '$' || c == '+' || c == '-' }
