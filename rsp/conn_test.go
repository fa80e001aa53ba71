package rsp

import "testing"

func TestConn(t *testing.T) {
	var c Conn
	expect := func(token TokenKind, want string) {
		t.Helper()
		if got := string(c.Acknowledge([]byte("before "), Token{Kind: token})); got != "before "+want {
			t.Errorf("answer to %v = %q, want %q behind what was there", token, got, want)
		}
	}
	send := func(payload, want string) {
		t.Helper()
		if got := string(c.AppendPacket([]byte("+"), []byte(payload))); got != "+"+want {
			t.Errorf("sent %q, want %q", got, "+"+want)
		}
	}

	expect(Nak, "") // nothing to send again
	expect(Ack, "") // GDB begins a connection with one
	expect(Packet, "+")
	expect(Oversized, "+")
	expect(BadChecksum, "-")
	expect(Notification, "")
	expect(Interrupt, "")

	send("OK", "$OK#9a")
	if !c.Waiting() {
		t.Error("not waiting after a packet")
	}
	expect(Nak, "$OK#9a")
	expect(Nak, "$OK#9a")
	send("g", "$g#67") // the peer went on without acknowledging
	expect(Nak, "$g#67")
	expect(Ack, "")
	if c.Waiting() {
		t.Error("waiting after the acknowledgment")
	}
	expect(Nak, "") // noise: it was acknowledged

	send("g", "$g#67")
	c.StartNoAck()
	send("OK", "$OK#9a")
	for _, kind := range []TokenKind{Packet, Oversized, BadChecksum, Nak, Ack} {
		expect(kind, "")
	}
	if c.Waiting() || !c.NoAck() {
		t.Error("waiting, or not without acknowledgments, after StartNoAck")
	}
}

func TestConnAllocations(t *testing.T) {
	var c Conn
	payload := []byte("T05thread:p1a.1b;")
	out := make([]byte, 0, 64)
	n := testing.AllocsPerRun(100, func() {
		out = c.Acknowledge(out[:0], Token{Kind: Packet})
		out = c.AppendPacket(out, payload)
		out = c.Acknowledge(out[:0], Token{Kind: Nak})
		out = c.Acknowledge(out[:0], Token{Kind: Ack})
	})
	if n != 0 {
		t.Errorf("a turn allocates %v times, want 0", n)
	}
}
