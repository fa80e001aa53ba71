package rsp

// Conn is what one end of a connection must remember to acknowledge packets, in either direction. It moves no bytes: it
// appends what is to be sent. The zero Conn is a connection as it begins, with acknowledgments on.
//
// At any time at most one packet is unacknowledged, since the protocol takes turns: it is kept for retransmission until
// the peer acknowledges it or the next one is sent. A stub's loop is
//
//	out = conn.Acknowledge(out, token)
//	if token.Kind == rsp.Packet {
//		out = conn.AppendPacket(out, answer(token.Payload))
//	}
//
// and on QStartNoAckMode it calls StartNoAck before it answers OK; the packet itself has been acknowledged by then, and
// the acknowledgment that GDB still sends for the OK is ignored.
type Conn struct {
	noAck   bool
	implied bool
	last    []byte // frame that the peer has not acknowledged, empty if there is none
}

// StartNoAck ends acknowledgments, in both directions and for good.
func (c *Conn) StartNoAck() {
	c.noAck = true
	c.last = nil
}

// ImplyAcks has packets of the peer acknowledged by the next packet alone. It is for stubs that take the $ of that for the
// acknowledgment, and to which any byte while the program runs means that it is to stop (QEMU). What is damaged is still asked for
// again.
func (c *Conn) ImplyAcks() { c.implied = true }

// NoAck reports whether acknowledgments have ended.
func (c *Conn) NoAck() bool { return c.noAck }

// Waiting reports whether the packet sent last is not yet acknowledged.
func (c *Conn) Waiting() bool { return len(c.last) > 0 }

// Acknowledge appends what must be sent at once in response to a token: + for a packet, also for an oversized one, which
// would not fit the second time either; - for a damaged one; and for a - the packet sent last, if it still waits.
func (c *Conn) Acknowledge(dst []byte, t Token) []byte {
	if c.noAck {
		return dst
	}
	switch t.Kind {
	case Packet, Oversized:
		if c.implied {
			return dst
		}
		return append(dst, '+')
	case BadChecksum:
		return append(dst, '-')
	case Nak:
		return append(dst, c.last...)
	case Ack:
		c.last = c.last[:0]
	}
	return dst
}

// AppendPacket appends the frame of a packet as the function of that name does, and keeps it as long as it may have to be
// sent again. Notifications are never sent again, so they need no Conn.
func (c *Conn) AppendPacket(dst, payload []byte) []byte {
	start := len(dst)
	dst = AppendPacket(dst, payload)
	if !c.noAck {
		c.last = append(c.last[:0], dst[start:]...)
	}
	return dst
}
