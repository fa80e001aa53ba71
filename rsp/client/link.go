package client

import (
	"errors"
	"fmt"
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
	if err != nil {
		return s, &ReplyError{name, text, reply.Stopped.Syntax}
	}
	return s, nil
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
	if err := c.link.Send(packet); err != nil {
		return c.lose(nameOf(packet), err)
	}
	return nil
}

// receive waits for the reply to a packet. What is no reply is dealt with on the way.
func (c *Client) receive(packet []byte) (string, error) {
	for {
		b, err := c.link.Receive()
		if err != nil {
			return "", c.lose(nameOf(packet), err)
		}
		text := string(b)
		// Text is never the reply OK: K is no digit.
		if printed, err := reply.Console.Parse(text); err == nil && printed != "" {
			if c.Console != nil {
				c.Console([]byte(printed))
			}
			continue
		}
		if !strings.HasPrefix(text, "qRelocInsn:") {
			return text, nil
		}
		if err := c.link.Send(c.relocate(text)); err != nil {
			return "", c.lose(nameOf(packet), err)
		}
	}
}

// relocate answers the question whether an instruction can be copied. One that makes no sense is answered, too: the stub waits.
func (c *Client) relocate(question string) []byte {
	if asked, err := reply.Relocation.Parse(question); err == nil && c.Relocate != nil {
		if size, ok := c.Relocate(asked.From, asked.To); ok {
			return request.Relocated.Append(nil, size)
		}
	}
	return request.NotRelocated.Append(nil, "01")
}
