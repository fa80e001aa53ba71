package serving

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
	"tracewell/rsp"
)

// sockets admits clients over TCP or a UNIX-domain socket. One goroutine accepts connections and one for each looks at how it
// begins, so a connection that says nothing is in nobody's way.
type sockets struct {
	net.Listener
	Options
	admitted chan *client  // holds the client that Accept is to return
	ended    chan struct{} // closed by Close

	mu      sync.Mutex
	watch   Session // of clients beside the current one; nil if they are refused
	current *client // admitted and not closed; nil if there is none
	waiting int     // connections that have not been admitted or refused
	refused int     // reports of refusals since the last client
}

// client is an admitted connection.
type client struct {
	net.Conn
	unread []byte        // what was read of it before it was admitted
	left   chan struct{} // closed when it has been served
	leave  func()
}

const (
	// silence is how long a connection may stay without a byte before it is closed.
	silence = time.Minute
	// grace is how long a second client waits for the first to leave.
	grace = time.Second
	// crowd is how many connections may wait to be looked at.
	crowd = 64
	// farewell is how long a refused peer may take to read why.
	farewell = time.Second
	// manyRefusals is how many refusals in a row are reported, so that nobody fills a log.
	manyRefusals = 20
)

// beginnings are the bytes with which the protocol begins: acknowledgments, packets, notifications and Ctrl-C.
var beginnings = []byte{'+', '-', '$', '%', 0x03}

func newSockets(listener net.Listener, o Options) *sockets {
	s := &sockets{Listener: listener, Options: o, admitted: make(chan *client, 1), ended: make(chan struct{})}
	routine.Go(s.run)
	return s
}

// Accept implements Listener.
func (s *sockets) Accept() (io.ReadWriteCloser, error) {
	if tcp, ok := s.Addr().(*net.TCPAddr); ok {
		fmt.Fprintf(s.Messages, "Listening on port %d\n", tcp.Port)
	} else {
		fmt.Fprintf(s.Messages, "Listening on socket %s\n", s.Addr())
	}
	select {
	case c := <-s.admitted:
		if peer, ok := c.RemoteAddr().(*net.TCPAddr); ok {
			fmt.Fprintf(s.Messages, "Remote debugging from host %s, port %d\n", peer.IP, peer.Port)
		}
		return c, nil
	case <-s.ended:
		return nil, fmt.Errorf("waiting for a client: %w", net.ErrClosed)
	}
}

// Close implements Listener. A client that was admitted for an Accept that does not come is disconnected.
func (s *sockets) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ended:
		return nil
	default:
	}
	close(s.ended)
	select {
	case c := <-s.admitted:
		c.Conn.Close()
	default:
	}
	return s.Listener.Close()
}

// run accepts connections until the listener is closed. An error does not end it, since the usual one, too many open files, passes.
func (s *sockets) run() {
	for {
		conn, err := s.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(farewell / 10)
		case !s.enter():
			conn.Close()
		default:
			routine.Go(func() { s.examine(conn) })
		}
	}
}

// watchBy says how clients are served that connect while another one is served; nil has them refused.
func (s *sockets) watchBy(session Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = session
}

// watcher is what serves such clients.
func (s *sockets) watcher() Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watch
}

// enter counts a connection in, if there are not too many.
func (s *sockets) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting >= crowd {
		return false
	}
	s.waiting++
	return true
}

// examine admits a connection or refuses it.
func (s *sockets) examine(conn net.Conn) {
	first, err := s.look(conn)
	if err == nil {
		err = s.admit(conn, first)
	}
	if watch := s.watcher(); errors.Is(err, errBusy) && watch != nil {
		s.leave(conn, nil)
		fmt.Fprintf(s.Messages, "tracewell: another client%s watches\n", from(conn))
		if err := watch(&client{Conn: conn, unread: first, leave: func() {}}); err != nil {
			fmt.Fprintf(s.Messages, "tracewell: connection%s: %v\n", from(conn), err)
		}
		return
	}
	s.leave(conn, err)
	if err != nil {
		dismiss(conn, err)
	}
}

// leave counts a connection out again, and reports why it was refused, if it was and somebody can learn from that.
func (s *sockets) leave(conn net.Conn, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	var refusal refusal
	if !errors.As(why, &refusal) {
		return
	}
	switch s.refused++; {
	case s.refused < manyRefusals:
		fmt.Fprintf(s.Messages, "tracewell: connection%s refused: %v\n", from(conn), why)
	case s.refused == manyRefusals:
		fmt.Fprintf(s.Messages, "tracewell: connection%s refused: %v; more are not reported until the next client\n", from(conn), why)
	}
}

// from names the peer of a TCP connection.
func from(conn net.Conn) string {
	if peer, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return fmt.Sprintf(" from host %s, port %d,", peer.IP, peer.Port)
	}
	return ""
}

// refusal is why a connection is not admitted.
type refusal struct {
	why   string
	reply bool // the peer speaks the protocol, or may: it is told, too
}

func (r refusal) Error() string { return r.why }

// dismiss closes a connection. A peer that is told why gets an acknowledgment first, since GDB takes no packet before that of its
// own first one; and the connection is closed when it has read that or left, for closing one with unread input
// would take the reply away from it.
func dismiss(conn net.Conn, why error) {
	defer conn.Close()
	var refusal refusal
	if !errors.As(why, &refusal) || !refusal.reply {
		return
	}
	conn.SetDeadline(time.Now().Add(farewell))
	if _, err := conn.Write(rsp.AppendPacket([]byte{'+'}, []byte("E."+refusal.why))); err != nil {
		return
	}
	conn.(interface{ CloseWrite() error }).CloseWrite()
	io.Copy(io.Discard, conn)
}

// look decides by the peer and its first bytes, and returns these.
func (s *sockets) look(conn net.Conn) (first []byte, err error) {
	if !s.AnyUser {
		if err := knownUser(conn); err != nil {
			return nil, err
		}
	}
	conn.SetReadDeadline(time.Now().Add(silence))
	defer conn.SetReadDeadline(time.Time{})
	var buffer [16]byte
	n, err := conn.Read(buffer[:])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refusal{why: fmt.Sprintf("it has sent nothing for %v", silence)}
	case n == 0:
		return nil, errSilent
	case !bytes.Contains(beginnings, buffer[:1]):
		return nil, refusal{why: fmt.Sprintf("it does not begin as the remote protocol does, but with %q", buffer[:n])}
	}
	return buffer[:n], nil
}

// errSilent is a connection that was closed without a byte, as by a tool that only looks whether somebody listens.
var errSilent = errors.New("the peer has left")

// knownUser returns an error unless the peer is on another machine, or a process of one of the users that the package comment
// names.
func knownUser(conn net.Conn) error {
	uid, err := sys.PeerUser(conn)
	switch {
	case errors.Is(err, sys.ErrElsewhere):
		return nil
	case err != nil:
		return refusal{"the user of this connection is not known: " + err.Error(), true}
	}
	if behind, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil && os.Geteuid() == 0 && uid == behind {
		return nil
	}
	if uid != 0 && uid != os.Geteuid() {
		return refusal{fmt.Sprintf("this server serves user %d and root only, not user %d, unless it is started with --any-user",
			os.Geteuid(), uid), true}
	}
	return nil
}

// errBusy is what a second client is told.
var errBusy = refusal{"another client is being served; this server serves one at a time", true}

// admit makes a connection the current client, waiting for the session of the one before it if that has hung up.
func (s *sockets) admit(conn net.Conn, first []byte) error {
	for {
		before, err := s.offer(conn, first)
		if before == nil || err != nil {
			return err
		}
		if !before.hangsUp() {
			return errBusy
		}
		select {
		case <-before.left:
		case <-s.ended:
			return net.ErrClosed
		}
	}
}

// hangsUp reports whether the peer has hung up or does so within the grace: a client that connects again may be faster than the
// end of its old connection.
func (c *client) hangsUp() bool {
	for end := time.Now().Add(grace); !sys.HungUp(c.Conn); {
		select {
		case <-c.left:
			return true
		case <-time.After(grace / 20):
		}
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// offer hands a connection to Accept, unless there is a client already, which it returns.
func (s *sockets) offer(conn net.Conn, first []byte) (before *client, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ended:
		return nil, net.ErrClosed
	default:
	}
	if s.current != nil {
		return s.current, nil
	}
	c := &client{Conn: conn, unread: first, left: make(chan struct{})}
	c.leave = sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.current = nil
		close(c.left)
	})
	s.current, s.refused = c, 0
	s.admitted <- c
	return nil, nil
}

// Read returns first what was read before the client was admitted.
func (c *client) Read(p []byte) (int, error) {
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// Close makes room for the next client.
func (c *client) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}
