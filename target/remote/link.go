package remote

import (
	"errors"
	"io"
	"sync"
	"time"

	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// link is the connection, and the queue of calls for the goroutine that owns it. Nothing but an interrupt is sent by any other.
type link struct {
	conn    io.ReadWriteCloser
	c       *client.Client
	profile Profile

	stopped  time.Time     // when the last stop came
	quickest time.Duration // from a resumption to its stop; 0 before the first

	wake   chan struct{} // there is something in the queue; closed never
	closed chan struct{} // the goroutine has ended

	mu      sync.Mutex // guards what follows
	queue   []*call
	waiting bool // for a stop, in which an interrupt can be sent
	asked   bool // it has been
	askedAt time.Time
	running bool // a resumption of the client's has not had its event
	halt    bool // the client wants the program to stop
	closing bool
	failure error // why the connection is lost
	silence silence
}

// call is something to be done by the owner.
type call struct {
	do   func() error
	done chan error
}

// Errors of calls.
var (
	errClosed = errors.New("the connection to the stub is closed")
	errDeaf   = errors.New("the program does not stop")
)

func newLink(conn io.ReadWriteCloser) link {
	return link{conn: conn, c: client.New(conn), wake: make(chan struct{}, 1), closed: make(chan struct{})}
}

// do has the owner call f while the program stands still, for which that is stopped if need be. Its own error is that of a program
// which cannot be stopped, or of a connection that is closed.
func (l *link) do(f func() error) error {
	c := &call{f, make(chan error, 1)}
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return errClosed
	}
	l.queue = append(l.queue, c)
	l.interrupt()
	l.mu.Unlock()
	l.rouse()
	for {
		select {
		case err := <-c.done:
			return err
		case <-l.closed:
			return errClosed
		case <-time.After(l.c.Patience):
		}
		if l.isDeaf() && l.withdraw(c) {
			return errDeaf
		}
	}
}

// isDeaf reports whether the program has had time enough to stop for a call. One that is not to be carried out because another
// takes long waits for it.
func (l *link) isDeaf() bool {
	limit := l.c.Patience
	if !l.profile.Deaf {
		limit *= 2 // the connection is lost before, if it has deadlines
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting && l.asked && time.Since(l.askedAt) >= limit
}

// look is do for what may be asked after Close, too: it is called all the same, when the owner has ended.
func (l *link) look(f func()) {
	err := l.do(func() error { f(); return nil })
	if errors.Is(err, errClosed) {
		<-l.closed
		f()
	}
}

// withdraw takes a call back that has not begun.
func (l *link) withdraw(c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.queue {
		if other == c {
			l.queue = append(l.queue[:i], l.queue[i+1:]...)
			return true
		}
	}
	return false
}

func (l *link) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// interrupt asks the stub to stop the program, once for each stop. mu is held.
func (l *link) interrupt() {
	if l.waiting && !l.asked {
		l.asked, l.askedAt = true, time.Now()
		if !l.profile.Deaf {
			l.silence.begin(l.conn, l.c.Patience)
		}
		_ = l.c.Interrupt() // the wait for the stop fails, too
	}
}

// next takes a call from the queue, nil if there is none.
func (l *link) next() *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil
	}
	c := l.queue[0]
	l.queue = l.queue[1:]
	return c
}

// wanted reports whether the program should stand still for a call, or for the client.
func (l *link) wanted() (calls, halt bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0, l.halt
}

// await sends a resumption, or an answer to a request of the program, and waits for the stop, for which it may be interrupted;
// asked tells whether it was. The stop may be another request.
func (l *link) await(send func() error) (stop reply.Stop, asked bool, err error) {
	if err := send(); err != nil {
		return stop, false, l.check(err)
	}
	l.mu.Lock()
	l.waiting = true
	if len(l.queue) > 0 || l.halt {
		l.interrupt()
	}
	l.mu.Unlock()
	resumed := time.Now()
	stop, err = l.c.AwaitStop(time.Time{})
	l.stopped = time.Now()
	if took := l.stopped.Sub(resumed); err == nil && stop.Kind != client.Requesting && (l.quickest == 0 || took < l.quickest) {
		l.quickest = took
	}
	if l.silence.end() && err != nil {
		err = &client.LostError{Packet: "the interrupt", Err: errDeaf}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	asked, l.waiting, l.asked = l.asked, false, false
	return stop, asked, l.checkHeld(err)
}

// check keeps the error of a connection that is lost.
func (l *link) check(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.checkHeld(err)
}

func (l *link) checkHeld(err error) error {
	if client.IsLost(err) && l.failure == nil {
		l.failure = err
	}
	return err
}

// lost is why the connection is lost, nil as long as there is one.
func (l *link) lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// close ends the owner and the connection. What is in the queue is not done any more.
func (l *link) close() error {
	l.mu.Lock()
	was := l.closing
	l.closing = true
	l.mu.Unlock()
	if was {
		return nil
	}
	err := l.conn.Close() // which ends a wait
	l.rouse()
	<-l.closed
	return err
}

// isClosing reports whether the owner is to end.
func (l *link) isClosing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

// exchange sends a request and returns whatever the reply is.
func exchange[A any](l *link, f *request.Form[A], args A) (string, error) {
	text, err := l.c.Exchange(f.Append(nil, args))
	return text, l.check(err)
}

// ask sends a call and returns what its reply means.
func ask[R any](l *link, q client.Call[R]) (R, error) {
	r, err := client.Do(l.c, q)
	return r, l.check(err)
}

// command sends a request that is answered by OK.
func command[A any](l *link, f *request.Form[A], args A) error {
	_, err := ask(l, client.OK(f, args))
	return err
}
