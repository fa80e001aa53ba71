package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// queue is a listener whose clients connect when the test says so. After the last it fails.
type queue struct {
	clients chan io.ReadWriteCloser
	failure error // of Accept when clients has been closed
	close   sync.Once
	closed  chan struct{}
}

func newQueue(clients ...io.ReadWriteCloser) *queue {
	q := &queue{clients: make(chan io.ReadWriteCloser, len(clients)), failure: errors.New("no more clients"), closed: make(chan struct{})}
	for _, c := range clients {
		q.clients <- c
	}
	return q
}

func (q *queue) Accept() (io.ReadWriteCloser, error) {
	select {
	case c, ok := <-q.clients:
		if !ok {
			return nil, q.failure
		}
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.close.Do(func() { close(q.closed) })
	return nil
}

// peer is one end of a connection whose other end knows that it has been closed.
type peer struct {
	io.ReadWriteCloser
	closed chan struct{}
	close  sync.Once
}

func newPeer() *peer {
	near, _ := net.Pipe()
	return &peer{ReadWriteCloser: near, closed: make(chan struct{})}
}

func (p *peer) Close() error {
	p.close.Do(func() { close(p.closed) })
	return p.ReadWriteCloser.Close()
}

func (p *peer) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

var errExit = errors.New("the client wants that")

// runEnds runs a server and returns its error, or fails when it does not end.
func runEnds(t *testing.T, ctx context.Context, s *Server) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-time.After(limit):
		t.Fatal("the server does not end")
		return nil
	}
}

// served is a server whose sessions end with these errors, and what it did.
type served struct {
	*Server
	m        *messages
	sessions []io.ReadWriteCloser
}

func serverOf(l Listener, ends ...error) *served {
	s := &served{m: &messages{}}
	s.Server = &Server{Listener: l, Messages: s.m, Exit: errExit}
	s.Begin = func() (Session, error) {
		n := len(s.sessions)
		return func(conn io.ReadWriteCloser) error {
			s.sessions = append(s.sessions, conn)
			conn.Close()
			return ends[n]
		}, nil
	}
	return s
}

const reopen = "Remote side has terminated connection.  GDBserver will reopen the connection.\n"

// TestRunEnds: what each end of a session, of the listener and of what there is to serve makes of the server.
func TestRunEnds(t *testing.T) {
	broken := errors.New("broken pipe")
	for name, test := range map[string]struct {
		ends     []error // of the sessions
		more     int     // sessions until there is nothing left to serve, 0 for no end
		once     bool
		want     error
		sessions int
		messages string
	}{
		"several clients": {ends: []error{nil, nil, nil}, more: 3, sessions: 3, messages: reopen + reopen},
		"one client":      {ends: []error{nil, nil}, more: 1, sessions: 1},
		"connection breaks": {ends: []error{nil, broken, nil}, more: 3, sessions: 3,
			messages: reopen + "tracewell: connection: broken pipe\n" + reopen},
		"last connection breaks":  {ends: []error{broken, nil}, more: 1, sessions: 1, messages: "tracewell: connection: broken pipe\n"},
		"exit":                    {ends: []error{nil, errExit, nil}, want: errExit, sessions: 2, messages: reopen},
		"exit by another name":    {ends: []error{fmt.Errorf("monitor: %w", errExit), nil}, want: errExit, sessions: 1},
		"once":                    {ends: []error{nil, nil}, once: true, sessions: 1},
		"once, connection breaks": {ends: []error{broken, nil}, once: true, sessions: 1, messages: "tracewell: connection: broken pipe\n"},
		"once, exit":              {ends: []error{errExit, nil}, once: true, want: errExit, sessions: 1},
		"listener fails":          {ends: []error{nil, nil}, want: errNone, sessions: 2, messages: reopen + reopen},
		"listener fails at once":  {want: errNone},
	} {
		t.Run(name, func(t *testing.T) {
			var clients []io.ReadWriteCloser
			for range test.ends {
				clients = append(clients, newPeer())
			}
			q := newQueue(clients...)
			q.failure = errNone
			close(q.clients)
			s := serverOf(q, test.ends...)
			s.Once = test.once
			if test.more > 0 {
				s.More = func() bool { return len(s.sessions) < test.more }
			}
			if err := runEnds(t, t.Context(), s.Server); !errors.Is(err, test.want) {
				t.Errorf("it ended with %v, want %v", err, test.want)
			}
			if !slices.Equal(s.sessions, clients[:test.sessions]) {
				t.Errorf("%d of %d clients were served, want %d", len(s.sessions), len(clients), test.sessions)
			}
			if got := s.m.take(); got != test.messages {
				t.Errorf("messages %q, want %q", got, test.messages)
			}
			select {
			case <-q.closed:
				if !test.once {
					t.Error("the listener was closed by a server that is there for more")
				}
			default:
				if test.once {
					t.Error("others can still connect")
				}
			}
		})
	}
}

// errNone is what a listener ends with that has no more clients.
var errNone = errors.New("too many open files")

// TestRunNothingToServe: an error of Begin ends the server, and its client is not left waiting.
func TestRunNothingToServe(t *testing.T) {
	client := newPeer()
	gone := errors.New("run.log: no such file or directory")
	s := &Server{Listener: newQueue(client), Messages: io.Discard, Exit: errExit, Begin: func() (Session, error) { return nil, gone }}
	if err := runEnds(t, t.Context(), s); !errors.Is(err, gone) {
		t.Errorf("it ended with %v", err)
	}
	if !client.isClosed() {
		t.Error("the connection is open")
	}
}

// TestRunCancelled cancels a server that waits for a client, one whose client says nothing, one whose session does not end with its
// connection, and one whose client connects in the same moment.
func TestRunCancelled(t *testing.T) {
	for name, session := range map[string]Session{
		"waiting": nil,
		"silent client": func(conn io.ReadWriteCloser) error {
			_, err := conn.Read(make([]byte, 1))
			return err
		},
		"stuck session": func(io.ReadWriteCloser) error { select {} },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client, q, m := newPeer(), newQueue(), &messages{}
			if session != nil {
				q = newQueue(client)
			}
			s := &Server{Listener: q, Messages: m, Exit: errExit, Begin: func() (Session, error) {
				return func(conn io.ReadWriteCloser) error {
					cancel()
					return session(conn)
				}, nil
			}}
			if session == nil {
				time.AfterFunc(10*time.Millisecond, cancel)
			}
			if err := runEnds(t, ctx, s); err != nil {
				t.Error(err)
			}
			if session != nil && !client.isClosed() {
				t.Error("the connection is open")
			}
			if got := m.take(); got != "" {
				t.Errorf("messages %q", got)
			}
			select {
			case <-q.closed:
			case <-time.After(limit):
				t.Error("the listener is open")
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := newPeer()
	q := newQueue(client)
	late := Server{Listener: alwaysAccepts{q}, Messages: io.Discard, Exit: errExit, Begin: func() (Session, error) {
		t.Error("a client is served after the end")
		return nil, errNone
	}}
	if err := runEnds(t, ctx, &late); err != nil || !client.isClosed() {
		t.Errorf("it ended with %v, its client disconnected %v", err, client.isClosed())
	}
}

// alwaysAccepts has clients even when it is closed.
type alwaysAccepts struct{ *queue }

func (l alwaysAccepts) Accept() (io.ReadWriteCloser, error) { return <-l.clients, nil }

// TestRunSockets serves clients that connect one after the other, over real sockets; with once the second is turned away.
func TestRunSockets(t *testing.T) {
	for _, once := range []bool{false, true} {
		l, m := listen(t, "127.0.0.1:0", Options{})
		s := &Server{Listener: l, Messages: m, Once: once, Exit: errExit, Begin: func() (Session, error) {
			return func(conn io.ReadWriteCloser) error {
				defer conn.Close()
				_, err := io.Copy(conn, conn)
				return err
			}, nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		for i := range 3 {
			if once && i > 0 {
				if conn, err := net.Dial(l.Addr().Network(), l.Addr().String()); err == nil {
					t.Errorf("client %d can connect", i)
					conn.Close()
				}
				continue
			}
			conn := connect(t, l)
			word := fmt.Sprintf("+%d", i)
			send(t, conn, word)
			back := make([]byte, len(word))
			if _, err := io.ReadFull(conn, back); err != nil || string(back) != word {
				t.Errorf("client %d got %q, %v", i, back, err)
			}
			conn.Close()
		}
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(limit):
			t.Fatal("the server does not end")
		}
		if got := m.take(); strings.Contains(got, "tracewell:") {
			t.Errorf("messages %q", got)
		}
	}
}
