package client

import "tracewell/rsp/request"

// Call is a request, and how its reply is read: a value that can be sent at once (Do) or with others (Add).
type Call[R any] struct {
	name   string
	packet []byte
	read   func(text string) (R, error)
}

// NewCall returns the call of a request whose reply, if it is neither empty nor an error, is read by a function.
func NewCall[A, R any](f *request.Form[A], args A, read func(text string) (R, error)) Call[R] {
	return Call[R]{f.Name(), f.Append(nil, args), read}
}

// OK is the call of a request that is answered by OK.
func OK[A any](f *request.Form[A], args A) Call[struct{}] {
	return NewCall(f, args, func(text string) (none struct{}, err error) {
		if text != "OK" {
			err = &ReplyError{f.Name(), text, "OK"}
		}
		return none, err
	})
}

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

// Batch is calls that are sent together, which saves all but one of the round trips. They are executed in order, and one that
// fails does not keep those behind it from being executed.
//
// A resumption in all-stop mode can only be the last: its reply is the next stop.
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

// Run sends the calls, as many at a time as Client.Depth allows, and reads the replies. It leaves the batch empty. Its error is
// a *LostError, which the calls that have no reply then have, too.
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

// next is how many of the packets are sent together.
func (b *Batch) next() int {
	n, size := 1, len(b.packets[0])
	for n < min(b.c.Depth, len(b.packets)) && size+len(b.packets[n]) <= mostAhead {
		size += len(b.packets[n])
		n++
	}
	return n
}

// send sends packets in one write. A single one is acknowledged as usual, and so may be sent again.
func (b *Batch) send(packets [][]byte) error {
	if len(packets) == 1 {
		return b.c.send(packets[0])
	}
	if err := b.c.setDeadline(); err != nil {
		return err
	}
	if err := b.c.link.SendAll(packets...); err != nil {
		return b.c.lose(nameOf(packets[0]), err)
	}
	return nil
}
