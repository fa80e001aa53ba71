package rsp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Errors of a Client besides those of its connection.
var (
	// ErrNotAcknowledged says that the stub refused a packet each time it was sent.
	ErrNotAcknowledged = errors.New("packet not acknowledged")
	// ErrDamaged says that a reply arrived with a wrong checksum each time it was sent.
	ErrDamaged = errors.New("reply damaged")
	// ErrOversized says that a reply was longer than MaxReply.
	ErrOversized = errors.New("reply too long")
)

const (
	// MaxReply is the longest payload, before runs are expanded, that a Client accepts.
	MaxReply = 1 << 20
	// attempts is how often a Client sends a packet, or has a reply sent, before it gives up. GDB asks for a damaged
	// reply as often.
	attempts = 3
	readSize = 16 << 10
)

// Client speaks GDB's side of a connection: it sends packets and receives replies. It takes payloads plain and returns
// them plain: what it sends is escaped, what it received has runs expanded and escapes undone. It does not look into
// them, so a caller that sends vCont or qRcmd, or a trace command that needs qRelocInsn, receives until it has the reply
// that it wants; console output (O and hexadecimal text) in between is a reply like any other.
//
// A Client waits as long as its connection does: a caller that wants a timeout sets a deadline there. After an error
// from the connection the Client is of no more use.
type Client struct {
	// Notify is called with each notification, plain, when one arrives between other packets. The bytes are valid until
	// it returns. If nil, notifications are skipped.
	Notify func(payload []byte)

	rw    io.ReadWriter
	conn  Conn
	dec   *Decoder
	in    []byte // lent to dec
	out   []byte // being sent
	plain []byte // last payload that differs from how it was sent
}

// NewClient returns a client with acknowledgments on, as every connection begins. It sends nothing by itself.
func NewClient(rw io.ReadWriter) *Client {
	return &Client{rw: rw, dec: NewDecoder(MaxReply), in: make([]byte, readSize)}
}

// Exchange sends a packet and returns the reply, "" if the stub does not know the packet.
func (c *Client) Exchange(packet string) (string, error) {
	if err := c.Send([]byte(packet)); err != nil {
		return "", err
	}
	reply, err := c.Receive()
	return string(reply), err
}

// Send sends a packet and, with acknowledgments on, waits until the stub has it.
func (c *Client) Send(payload []byte) error {
	if err := c.write(c.conn.AppendPacket(c.out[:0], payload)); err != nil {
		return err
	}
	for refused := 0; c.conn.Waiting(); {
		t, err := c.token()
		if err != nil {
			return err
		}
		if t.Kind == Nak {
			refused++
		}
		if refused == attempts {
			return fmt.Errorf("send %s: %w", quote(payload), ErrNotAcknowledged)
		}
		// A packet that comes instead is one whose acknowledgment the stub missed. As GDB does, acknowledge and drop it.
		if err := c.acknowledge(t); err != nil {
			return err
		}
	}
	return nil
}

// SendAll sends packets in one write and waits for nothing: their replies are received in order afterwards. Acknowledgments
// must have ended: gdbserver 13.1 drops what arrives where it waits for a +, and what is damaged could not be sent again,
// because the stub may have executed the packets behind it.
func (c *Client) SendAll(payloads ...[]byte) error {
	out := c.out[:0]
	for _, p := range payloads {
		out = AppendPacket(out, p)
	}
	return c.write(out)
}

// Receive waits for the next packet from the stub and returns its payload, which is valid until the next call of a
// method other than Interrupt.
func (c *Client) Receive() ([]byte, error) {
	for damaged := 0; ; {
		t, err := c.token()
		if err != nil {
			return nil, err
		}
		if err := c.acknowledge(t); err != nil {
			return nil, err
		}
		switch t.Kind {
		case Packet:
			return c.decode(t.Payload)
		case Oversized:
			return nil, ErrOversized
		case BadChecksum:
			// GDB does not check what cannot be sent again, and some stubs send #00 then.
			if c.conn.NoAck() {
				return c.decode(t.Payload)
			}
			if damaged++; damaged == attempts {
				return nil, fmt.Errorf("%s: %w", quote(t.Payload), ErrDamaged)
			}
		}
	}
}

// Interrupt asks a running stub to stop its program, as Ctrl-C does. The stop reply is what Receive returns next. It may
// be called while another goroutine waits in Receive, if the connection can be written and read at the same time.
func (c *Client) Interrupt() error {
	_, err := c.rw.Write([]byte{0x03})
	return err
}

// NoAck ends acknowledgments on this side. It is for a caller that has sent QStartNoAckMode and got OK.
func (c *Client) NoAck() { c.conn.StartNoAck() }

// ImplyAcks has replies acknowledged by the packets that follow them, see Conn.
func (c *Client) ImplyAcks() { c.conn.ImplyAcks() }

// token returns the next token that is no notification.
func (c *Client) token() (Token, error) {
	for {
		t, ok := c.dec.Next()
		if !ok {
			n, err := c.rw.Read(c.in)
			c.dec.Feed(c.in[:n])
			if n == 0 && err != nil {
				return Token{}, fmt.Errorf("receive: %w", err)
			}
			continue
		}
		if t.Kind != Notification {
			return t, nil
		}
		if c.Notify == nil {
			continue
		}
		payload, err := c.decode(t.Payload)
		if err != nil {
			return Token{}, err
		}
		c.Notify(payload)
	}
}

func (c *Client) acknowledge(t Token) error {
	out := c.conn.Acknowledge(c.out[:0], t)
	if len(out) == 0 {
		return nil
	}
	return c.write(out)
}

// write sends out, which is c.out grown.
func (c *Client) write(out []byte) error {
	c.out = out
	if _, err := c.rw.Write(out); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// decode returns the payload plain, in place if it is that already.
func (c *Client) decode(payload []byte) ([]byte, error) {
	if bytes.IndexByte(payload, run) < 0 && bytes.IndexByte(payload, escape) < 0 {
		return payload, nil
	}
	expanded, err := ExpandRuns(c.plain[:0], payload)
	c.plain = expanded
	if err != nil {
		return nil, fmt.Errorf("run in reply: %w", err)
	}
	plain, err := Unescape(expanded[:0], expanded)
	if err != nil {
		return nil, fmt.Errorf("escape in reply: %w", err)
	}
	return plain, nil
}

// quote shortens a payload for an error.
func quote(payload []byte) string {
	if len(payload) > excerpt {
		return fmt.Sprintf("%q…", payload[:excerpt])
	}
	return fmt.Sprintf("%q", payload)
}
