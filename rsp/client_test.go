package rsp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// transcript plays the stub. Its lines, in order, are "> " and what the client must write in one call, or "< " and what
// the client then reads in one call. Behind the last line the connection has ended.
type transcript struct {
	t     *testing.T
	lines []string
}

func play(t *testing.T, lines ...string) *Client {
	p := &transcript{t, lines}
	t.Cleanup(func() {
		if len(p.lines) > 0 {
			t.Errorf("the client stopped before %q", p.lines)
		}
	})
	return NewClient(p)
}

func (p *transcript) Write(b []byte) (int, error) {
	p.t.Helper()
	if len(p.lines) == 0 || p.lines[0] != "> "+string(b) {
		p.t.Fatalf("the client wrote %q, want one of %q", b, p.lines)
	}
	p.lines = p.lines[1:]
	return len(b), nil
}

func (p *transcript) Read(b []byte) (int, error) {
	if len(p.lines) == 0 {
		return 0, io.EOF
	}
	text, ok := strings.CutPrefix(p.lines[0], "< ")
	if !ok {
		p.t.Fatalf("the client reads, want it to write one of %q", p.lines)
	}
	p.lines = p.lines[1:]
	return copy(b, text), nil
}

// exchange is an Exchange that must succeed.
func exchange(t *testing.T, c *Client, packet, want string) {
	t.Helper()
	if got, err := c.Exchange(packet); got != want || err != nil {
		t.Errorf("Exchange(%q) = %q, %v, want %q", packet, got, err, want)
	}
}

func TestClientAcknowledges(t *testing.T) {
	c := play(t,
		"> $qTStatus#49", "< +$T0#84", "> +",
		"> $g#67", "< +", "< $00#6", "< 0", "> +")
	exchange(t, c, "qTStatus", "T0")
	exchange(t, c, "g", "00")
}

func TestClientSendsAgain(t *testing.T) {
	c := play(t, "> $g#67", "< -", "> $g#67", "< -", "> $g#67", "< +$00#60", "> +")
	exchange(t, c, "g", "00")
}

func TestClientHasReplySentAgain(t *testing.T) {
	c := play(t, "> $g#67", "< +$00#61", "> -", "< $00#", "< $00#60", "> -", "> +")
	exchange(t, c, "g", "00")
}

func TestClientDropsStalePacket(t *testing.T) {
	c := play(t, "> $g#67", "< $OK#9a", "> +", "< +$00#60", "> +")
	exchange(t, c, "g", "00")
}

func TestClientWithoutAcknowledgments(t *testing.T) {
	c := play(t,
		"> $QStartNoAckMode#b0", "< +$OK#9a", "> +",
		"> $g#67", "< $00#60",
		"> $g#67", "< $01#00") // as GDB, not checked
	exchange(t, c, "QStartNoAckMode", "OK")
	c.NoAck()
	exchange(t, c, "g", "00")
	exchange(t, c, "g", "01")
}

// TestClientSendsAll sends packets in one write, and reads their replies one after another, also where they arrive together.
func TestClientSendsAll(t *testing.T) {
	c := play(t, "> $g#67$X1:}\x03#43$p#70", "< $00#60$OK", "< #9a$01#61")
	c.NoAck()
	if err := c.SendAll([]byte("g"), []byte("X1:#"), []byte("p")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"00", "OK", "01"} {
		if got, err := c.Receive(); string(got) != want || err != nil {
			t.Errorf("%q, %v, want %s", got, err, want)
		}
	}
}

func TestClientPlainPayloads(t *testing.T) {
	c := play(t,
		"> $X10,3:}\x03}\x0a}]#33", "< +$OK#9a", "> +",
		"> $g#67", "< +$x*~0* }\x0a}\x03#a1", "> +")
	exchange(t, c, "X10,3:#*}", "OK")
	exchange(t, c, "g", strings.Repeat("x", 98)+"0000*#")
}

func TestClientNotifications(t *testing.T) {
	var got []string
	c := play(t, "> $g#67", "< %Stop:T05#99", "< +%a* #ab$00#60", "> +", "< %skipped#f0$OK#9a", "> +")
	c.Notify = func(payload []byte) { got = append(got, string(payload)) }
	exchange(t, c, "g", "00")
	if diff := cmp.Diff([]string{"Stop:T05", "aaaa"}, got); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
	c.Notify = nil
	if reply, err := c.Receive(); string(reply) != "OK" || err != nil {
		t.Errorf("Receive() = %q, %v, want OK", reply, err)
	}
}

func TestClientConsoleOutput(t *testing.T) {
	c := play(t, "> $qRcmd,68#91", "< +$O6869#2c$OK#9a", "> +", "> +")
	exchange(t, c, "qRcmd,68", "O6869")
	if reply, err := c.Receive(); string(reply) != "OK" || err != nil {
		t.Errorf("Receive() = %q, %v, want OK", reply, err)
	}
}

func TestClientErrors(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		is    error
		text  string
	}{
		{"end before the acknowledgment", []string{"> $g#67"}, io.EOF, "receive: EOF"},
		{"end before the reply", []string{"> $g#67", "< +$0"}, io.EOF, "receive: EOF"},
		{"refused", []string{"> $g#67", "< -", "> $g#67", "< -", "> $g#67", "< -"}, ErrNotAcknowledged,
			`send "g": packet not acknowledged`},
		{"damaged", []string{"> $g#67", "< +$0#00", "> -", "< $1#00", "> -", "< $2#00", "> -"}, ErrDamaged, `"2": reply damaged`},
		{"run of nothing", []string{"> $g#67", "< +$* #4a", "> +"}, nil,
			`run in reply: offset 0: found "* ", expected a byte to repeat`},
		{"open escape", []string{"> $g#67", "< +$a}#de", "> +"}, nil,
			"escape in reply: offset 2: found the end, expected an escaped byte"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := play(t, tt.lines...).Exchange("g")
			if errorText(err) != tt.text || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %q, want %q", errorText(err), tt.text)
			}
		})
	}
}

// closing is a connection that brings what it is told to, and is closed for writes then.
type closing struct{ strings.Reader }

func (c *closing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestClientCannotAcknowledge has a reply, and the request to send it again, that cannot be answered.
func TestClientCannotAcknowledge(t *testing.T) {
	for _, text := range []string{"$00#60", "$00#00"} {
		if reply, err := NewClient(&closing{*strings.NewReader(text)}).Receive(); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%q: %q, %v", text, reply, err)
		}
	}
}

// TestClientDamagedNotification has a notification whose checksum is right and whose escape is open.
func TestClientDamagedNotification(t *testing.T) {
	c := play(t, "< %a}#de$OK#9a")
	c.Notify = func(payload []byte) { t.Errorf("notified of %q", payload) }
	reply, err := c.Receive()
	if want := "escape in reply: offset 2: found the end, expected an escaped byte"; errorText(err) != want {
		t.Errorf("%q, %v, want %s", reply, err, want)
	}
}

func TestClientOversizedReply(t *testing.T) {
	c := NewClient(&echo{dec: NewDecoder(2 * MaxReply)})
	if _, err := c.Exchange(strings.Repeat("0", MaxReply+1)); err != ErrOversized {
		t.Errorf("error %v, want %v", err, ErrOversized)
	}
	exchange(t, c, "g", "g") // the session goes on
}

func TestClientInterruptWhileReceiving(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	c := NewClient(near)
	c.conn.StartNoAck()
	go func() { // the stub: its program runs until the interrupt
		var b [1]byte
		if _, err := far.Read(b[:]); err == nil && b[0] == 0x03 {
			far.Write(AppendPacket(nil, []byte("T02")))
		}
		far.Close()
	}()
	go c.Interrupt()
	if reply, err := c.Receive(); string(reply) != "T02" || err != nil {
		t.Errorf("Receive() = %q, %v, want T02", reply, err)
	}
}

// echo answers each packet with itself over a Conn, as a stub would.
type echo struct {
	conn Conn
	dec  *Decoder
	out  []byte
}

func (e *echo) Write(b []byte) (int, error) {
	e.dec.Feed(b)
	e.out = e.out[:0]
	for t, ok := e.dec.Next(); ok; t, ok = e.dec.Next() {
		e.out = e.conn.Acknowledge(e.out, t)
		if t.Kind == Packet {
			e.out = e.conn.AppendPacket(e.out, t.Payload)
		}
	}
	return len(b), nil
}

func (e *echo) Read(b []byte) (int, error) {
	if len(e.out) == 0 {
		return 0, fmt.Errorf("deadlock: both ends read")
	}
	n := copy(b, e.out)
	e.out = e.out[:copy(e.out, e.out[n:])]
	return n, nil
}

func TestClientMeetsConn(t *testing.T) {
	c := NewClient(&echo{dec: NewDecoder(1 << 16)})
	for _, payload := range []string{"", "g", "QStartNoAckMode", strings.Repeat("long ", 10000)} {
		exchange(t, c, payload, payload)
	}
}

func TestClientAllocations(t *testing.T) {
	c := NewClient(&echo{dec: NewDecoder(1 << 16)})
	payload := []byte("m401131,40")
	n := testing.AllocsPerRun(100, func() {
		if err := c.Send(payload); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Receive(); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("Send and Receive allocate %v times, want 0", n)
	}
}

func BenchmarkClientExchange(b *testing.B) {
	c := NewClient(&echo{dec: NewDecoder(1 << 16)})
	payload := []byte("m401131,40")
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Send(payload); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Receive(); err != nil {
			b.Fatal(err)
		}
	}
}
