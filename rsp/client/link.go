package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// UnsupportedError is the empty reply.
type UnsupportedError struct{ Packet string }

// CodeError is the reply E and two digits, which mean little: every stub has its own.
type CodeError struct{ Packet, Code string }

// MessageError is the reply "E." and a text.
type MessageError struct{ Packet, Message string }

// ReplyError is a reply that is not what the packet is answered by.
type ReplyError struct{ Packet, Reply, Expected string }

// LostError says that the connection is of no more use.
type LostError struct {
	Packet string // that was under way
	Err    error
}

// Error gives the packet's name, and what the stub made of it.
func (e *UnsupportedError) Error() string { return e.Packet + ": the stub does not support the packet" }

// Error gives the packet's name and the number.
func (e *CodeError) Error() string {
	return fmt.Sprintf("%s: the stub reports error %s", e.Packet, e.Code)
}

// Error gives the packet's name and the stub's own words.
func (e *MessageError) Error() string {
	return fmt.Sprintf("%s: the stub reports: %s", e.Packet, e.Message)
}

// Error gives the packet's name, the beginning of the reply, and what was expected.
func (e *ReplyError) Error() string {
	return fmt.Sprintf("%s: the stub replied %.40q, expected %s", e.Packet, e.Reply, e.Expected)
}

// Error gives the packet's name and why the connection failed.
func (e *LostError) Error() string {
	return fmt.Sprintf("the connection to the stub failed at %s: %v", e.Packet, e.Err)
}

// Unwrap returns why the connection failed.
func (e *LostError) Unwrap() error { return e.Err }

// Rejected reports whether an error is a stub's own: it knows the packet, and does not do what that says.
func Rejected(err error) bool {
	return errors.As(err, new(*CodeError)) || errors.As(err, new(*MessageError))
}

// IsLost reports whether an error says that the connection is of no more use.
func IsLost(err error) bool { return err != nil && errors.As(err, new(*LostError)) }

// IsUnsupported reports whether an error says that the stub does not know the packet.
func IsUnsupported(err error) bool { return err != nil && errors.As(err, new(*UnsupportedError)) }

// judge is the error that a reply is, if it is one. A reply of three bytes that begins with E is: data in hexadecimal has an
// even number of digits.
func judge(name, text string) error {
	switch {
	case text == "":
		return &UnsupportedError{name}
	case strings.HasPrefix(text, "E."):
		return &MessageError{name, text[2:]}
	case len(text) == 3 && text[0] == 'E':
		return &CodeError{name, text[1:]}
	}
	return nil
}

func parseStop(name, text string) (reply.Stop, error) {
	s, err := reply.Stopped.Parse(text)
	if err == nil {
		return s, nil
	}
	if stated := judge(name, text); stated != nil {
		return s, stated
	}
	return s, &ReplyError{name, text, reply.Stopped.Syntax}
}

// nameOf is the name of a packet, for errors.
func nameOf(packet []byte) string {
	if f, _ := request.Find(packet); f != nil {
		return f.Describe().Name()
	}
	name, _, _ := strings.Cut(string(packet), ":")
	return name
}

// fatal is the error that ended the connection, or nil.
func (c *Client) fatal() error {
	if c.lost == nil {
		return nil
	}
	return c.lost
}

func (c *Client) lose(packet string, err error) error {
	c.lost = &LostError{packet, err}
	return c.lost
}

// setDeadline begins the wait for a reply, or for those to all packets of one write.
func (c *Client) setDeadline() error {
	if c.Patience == 0 {
		return c.fatal() // the deadline is the owner's of the connection
	}
	return c.deadline(time.Now().Add(c.Patience))
}

// deadline limits what the connection waits for, if it has deadlines.
func (c *Client) deadline(limit time.Time) error {
	if err := c.fatal(); err != nil {
		return err
	}
	if conn, ok := c.rw.(interface{ SetDeadline(time.Time) error }); ok {
		if err := conn.SetDeadline(limit); err != nil {
			return c.lose("the next packet", err)
		}
	}
	return nil
}

// send sends a packet without waiting for a reply.
func (c *Client) send(packet []byte) error {
	if err := c.setDeadline(); err != nil {
		return err
	}
	if len(c.ahead) == 0 {
		if err := c.link.Send(packet); err != nil {
			return c.lose(nameOf(packet), err)
		}
		return nil
	}
	c.Ahead(packet)
	return c.sendAhead(len(c.ahead) - 1)
}

// sendAhead sends what is to go ahead. So many replies to that are owed, beside one to the packet that may be behind.
func (c *Client) sendAhead(owed int) error {
	if err := c.link.SendAll(c.ahead...); err != nil {
		return c.lose(nameOf(c.ahead[0]), err)
	}
	c.owed, c.ahead = owed, c.ahead[:0]
	return nil
}

// settle receives the replies to packets that went ahead.
func (c *Client) settle() error {
	for c.owed > 0 {
		b, err := c.next(wentAhead)
		if err != nil {
			return err
		}
		if c.owed--; string(b) != "OK" {
			return c.lose(string(wentAhead), fmt.Errorf("the stub replied %.40q to it, with others behind it", b))
		}
	}
	return nil
}

// wentAhead stands for the packets that went ahead, in errors.
var wentAhead = []byte("a packet sent ahead")

// receive waits for the reply to a packet. What is no reply is dealt with on the way.
func (c *Client) receive(packet []byte) (string, error) {
	b, err := c.receiveBytes(packet)
	return string(b), err
}

// errSilent is the error of a stub that has not replied when the time for it was over.
var errSilent = fmt.Errorf("no reply in time: %w", os.ErrDeadlineExceeded)

// secondLook is for what had come when the time was over: this process may have been stopped meanwhile (Ctrl-Z).
const secondLook = 50 * time.Millisecond

// patiently reads for a client, and looks once more when the time is over.
type patiently struct {
	io.ReadWriter
	c *Client
}

// Read implements io.Reader.
func (p patiently) Read(b []byte) (int, error) {
	n, err := p.ReadWriter.Read(b)
	if n > 0 || p.c.Patience == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	if err := p.c.deadline(time.Now().Add(secondLook)); err != nil {
		return 0, err
	}
	if n, err = p.ReadWriter.Read(b); errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSilent
	}
	return n, err
}

// receiveBytes is receive for those who look at the reply at once: it is valid until the next packet.
func (c *Client) receiveBytes(packet []byte) ([]byte, error) {
	if err := c.settle(); err != nil {
		return nil, err
	}
	return c.next(packet)
}

// next is receiveBytes of whatever packet is next.
func (c *Client) next(packet []byte) ([]byte, error) {
	for {
		b, err := c.link.Receive()
		if err != nil {
			return nil, c.lose(nameOf(packet), err)
		}
		switch {
		case len(b) > 0 && b[0] == 'O' && string(b) != "OK": // which is no text, as K is no digit
			// OpenOCD sends text of no length, to show that it lives.
			printed, err := reply.Console.Parse(string(b))
			if err != nil {
				return b, nil
			}
			if c.Console != nil && printed != "" {
				c.Console([]byte(printed))
			}
		case bytes.HasPrefix(b, question):
			if err := c.link.Send(request.NotRelocated.Append(nil, "01")); err != nil {
				return nil, c.lose(nameOf(packet), err)
			}
		default:
			return b, nil
		}
	}
}

// question begins the question whether an instruction can be copied.
var question = []byte("qRelocInsn:")
