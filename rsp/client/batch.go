package client

import (
	"errors"

	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// Call is a request, and how its reply is read: a value that can be sent at once (Do) or with others (Add).
type Call[R any] struct {
	name   string
	packet []byte
	read   func(text string) (R, error)
}

// Ask is the call of a request whose reply, if it is neither empty nor an error, is of a form.
func Ask[A, R any](f *request.Form[A], args A, form *reply.Form[R]) Call[R] {
	return newCall(f.Name(), f.Append(nil, args), form)
}

func newCall[R any](name string, packet []byte, form *reply.Form[R]) Call[R] {
	return Call[R]{name, packet, func(text string) (R, error) {
		r, err := form.Parse(text)
		if err != nil {
			err = &ReplyError{name, text, form.Syntax}
		}
		return r, err
	}}
}

// OK is the call of a request that is answered by OK.
func OK[A any](f *request.Form[A], args A) Call[reply.None] { return Ask(f, args, reply.OK) }

// result reads a reply.
func (q *Call[R]) result(text string) (r R, err error) {
	if err := judge(q.name, text); err != nil {
		return r, err
	}
	return q.read(text)
}

// Do sends a call and returns what its reply means.
func Do[R any](c *Client, q Call[R]) (r R, err error) {
	text, err := c.Exchange(q.packet)
	if err != nil {
		return r, err
	}
	return q.result(text)
}

// Batch is calls that are sent in one write where acknowledgments have ended (EndAcks) or are implied, which saves all but one of
// the round trips; otherwise each waits for the reply to the one before it.
//
// The stub executes them in the order in which they were added, and so the replies come in. One that it rejects does not keep those
// behind it from being executed: calls that make sense only if others have succeeded do not belong in one batch. Where the
// connection fails, the calls whose replies had come have their results, and all others that *LostError, whether or not the stub
// has executed them.
//
// A resumption in all-stop mode can only be the last: its reply is the next stop. A call during which the stub asks for copies of
// instructions (QTStart, and QTDP in a run) must be alone: what stands behind it would be read as the answer.
type Batch struct {
	c       *Client
	packets [][]byte
	take    []func(text string, err error)
}

// Result is what becomes of a call in a Batch. It is set by Run.
type Result[R any] struct {
	Value R
	Err   error
}

// Batch returns an empty batch.
func (c *Client) Batch() *Batch { return &Batch{c: c} }

// Add adds a call to a batch.
func Add[R any](b *Batch, q Call[R]) *Result[R] {
	r := new(Result[R])
	b.packets = append(b.packets, q.packet)
	b.take = append(b.take, func(text string, err error) {
		if r.Err = err; err == nil {
			r.Value, r.Err = q.result(text)
		}
	})
	return r
}

// mostAhead is how many bytes of a batch are sent before replies are read: less than any connection's buffer, so that two
// ends that write do not wait for each other.
const mostAhead = 16 << 10

// Run sends the calls and reads the replies. It leaves the batch empty. Its error is a *LostError; those of single calls are in
// their results. Patience holds for all the replies to one write together.
func (b *Batch) Run() error {
	var lost error
	for len(b.packets) > 0 {
		n := b.next()
		if lost == nil {
			lost = b.send(b.packets[:n])
		}
		for i, take := range b.take[:n] {
			text := ""
			if lost == nil {
				text, lost = b.c.receive(b.packets[i])
			}
			take(text, lost)
		}
		b.packets, b.take = b.packets[n:], b.take[n:]
	}
	return lost
}

// next is how many of the packets are sent in the next write.
func (b *Batch) next() int {
	n, size := 1, len(b.packets[0])
	for (b.c.noAck || b.c.implied) && n < len(b.packets) && size+len(b.packets[n]) <= mostAhead {
		size += len(b.packets[n])
		n++
	}
	return n
}

// send sends packets in one write.
func (b *Batch) send(packets [][]byte) error {
	if len(packets) == 1 {
		return b.c.send(packets[0])
	}
	if err := b.c.setDeadline(); err != nil {
		return err
	}
	if len(b.c.ahead) > 0 {
		if err := errors.Join(b.c.sendAhead(len(b.c.ahead)), b.c.settle()); err != nil {
			return err
		}
	}
	if err := b.c.link.SendAll(packets...); err != nil {
		return b.c.lose(nameOf(packets[0]), err)
	}
	return nil
}
