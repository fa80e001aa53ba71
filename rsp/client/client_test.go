package client

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// peer is a stub that says what it is told to say. Each element of a reply is a packet, with a % in front a notification.
type peer struct {
	answer func(packet string) []string
	acks   bool // acknowledgments never end

	mu      sync.Mutex
	reads   []int    // packets that arrived together
	packets []string // all that arrived
}

// connect runs the peer and returns a client of it.
func (p *peer) connect(t *testing.T) *Client {
	t.Helper()
	near, far := net.Pipe()
	var done sync.WaitGroup
	done.Go(func() { p.serve(far) })
	t.Cleanup(func() {
		near.Close()
		done.Wait()
	})
	c := New(near)
	c.Patience = 30 * time.Second
	return c
}

// serve reads all that there is before it answers any of it, so that what was sent in one write is seen to be.
func (p *peer) serve(conn net.Conn) {
	defer conn.Close()
	decoder, framing, buf := rsp.NewDecoder(1<<20), new(rsp.Conn), make([]byte, 1<<20)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		decoder.Feed(buf[:n])
		var out []byte
		packets := 0
		for {
			token, ok := decoder.Next()
			if !ok {
				break
			}
			out = framing.Acknowledge(out, token)
			if token.Kind != rsp.Packet {
				continue
			}
			packets++
			packet := string(token.Payload)
			p.mu.Lock()
			p.packets = append(p.packets, packet)
			p.mu.Unlock()
			if packet == "QStartNoAckMode" {
				if p.acks {
					out = framing.AppendPacket(out, nil)
				} else {
					out = framing.AppendPacket(out, []byte("OK"))
					framing.StartNoAck()
				}
				continue
			}
			for _, reply := range p.answer(packet) {
				if text, ok := strings.CutPrefix(reply, "%"); ok {
					out = rsp.AppendNotification(out, []byte(text))
				} else {
					out = framing.AppendPacket(out, []byte(reply))
				}
			}
		}
		p.mu.Lock()
		if packets > 0 {
			p.reads = append(p.reads, packets)
		}
		p.mu.Unlock()
		if len(out) == 0 {
			continue // an empty write to a pipe waits for a reader, too
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// most is how many packets arrived in one write.
func (p *peer) most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Max(p.reads)
}

// echo replies to m with the address as four bytes, and to all else with OK.
func echo(packet string) []string {
	var at, n uint64
	if k, _ := fmt.Sscanf(packet, "m%x,%x", &at, &n); k == 2 {
		return []string{fmt.Sprintf("%08x", at)}
	}
	return []string{"OK"}
}

// endAcks has a client do without acknowledgments.
func endAcks(t *testing.T, c *Client) {
	t.Helper()
	c.features = rsp.Features{{Name: "QStartNoAckMode", Mark: rsp.Supported}}
	if err := c.EndAcks(); err != nil {
		t.Fatal(err)
	}
}

// TestBatch sends calls together where acknowledgments have ended, and gives each the reply that is its own.
func TestBatch(t *testing.T) {
	for _, acks := range []bool{true, false} {
		p := &peer{answer: echo, acks: acks}
		c := p.connect(t)
		endAcks(t, c)
		for range 3 {
			b := c.Batch()
			var results []*Result[[]byte]
			for i := range 10 {
				results = append(results, Add(b, Memory(arch.Addr(0x1000+i), 4)))
			}
			ok := Add(b, OK(request.TraceStart, request.None{}))
			wrong := Add(b, OK(request.ReadMemory, request.Extent{Addr: 7, Length: 4}))
			last := Add(b, OK(request.TraceStart, request.None{}))
			if err := b.Run(); err != nil || ok.Err != nil || last.Err != nil {
				t.Fatalf("acks %v: %v, %v, %v", acks, err, ok.Err, last.Err)
			}
			for i, r := range results {
				if got, want := fmt.Sprintf("%x", r.Value), fmt.Sprintf("%08x", 0x1000+i); r.Err != nil || got != want {
					t.Errorf("acks %v: call %d has %s, %v, want %s", acks, i, got, r.Err, want)
				}
			}
			if !errors.As(wrong.Err, new(*ReplyError)) {
				t.Errorf("a reply that is not OK: %v", wrong.Err)
			}
		}
		want := 13
		if acks {
			want = 1
		}
		if got := p.most(); got != want {
			t.Errorf("acks %v: %d packets in one write, want %d", acks, got, want)
		}
		if err := Command(c, request.TraceStop, request.None{}); err != nil {
			t.Errorf("acks %v: after batches: %v", acks, err)
		}
	}
}

// TestAhead sends packets in one write with the next one, whatever that is, and takes no reply to them but OK.
func TestAhead(t *testing.T) {
	for _, implied := range []bool{true, false} {
		p := &peer{acks: implied, answer: func(packet string) []string {
			if packet == "P2=bad" {
				return []string{"E01"}
			}
			return echo(packet)
		}}
		c := p.connect(t)
		if implied {
			c.ImplyAcks()
		} else {
			endAcks(t, c)
		}
		read := Memory(0x11223344, 4)
		for range 2 {
			c.Ahead([]byte("P1=00"))
			c.Ahead([]byte("P2=00"))
			if b, err := Do(c, read); err != nil || hex.EncodeToString(b) != "11223344" || p.most() != 3 {
				t.Errorf("%x, %v, %d packets in a write", b, err, p.most())
			}
			if b, err := Do(c, read); err != nil || hex.EncodeToString(b) != "11223344" {
				t.Errorf("then %x, %v", b, err)
			}
		}
		c.Ahead([]byte("P1=00"))
		b := c.Batch()
		one, two := Add(b, read), Add(b, Memory(8, 4))
		if err := b.Run(); err != nil || hex.EncodeToString(one.Value) != "11223344" || hex.EncodeToString(two.Value) != "00000008" {
			t.Errorf("%x, %x, %v", one.Value, two.Value, err)
		}
		c.Ahead([]byte("P2=bad"))
		if _, err := Do(c, read); !IsLost(err) || !strings.Contains(err.Error(), "E01") {
			t.Errorf("a packet that went ahead in vain: %v", err)
		}
	}
}

// TestBatchSplitsWrites has packets that together are more than what is sent ahead.
func TestBatchSplitsWrites(t *testing.T) {
	p := &peer{answer: echo}
	c := p.connect(t)
	endAcks(t, c)
	b := c.Batch()
	for i := range 5 {
		Add(b, OK(request.WriteMemory, request.Bytes(arch.Addr(i), make([]byte, 3000))))
	}
	if err := b.Run(); err != nil || p.most() != 2 {
		t.Errorf("%d packets of 6 kB in one write, %v", p.most(), err)
	}
}

// TestErrors tells the kinds of errors apart, after each of which the client goes on.
func TestErrors(t *testing.T) {
	reply := ""
	p := &peer{answer: func(string) []string { return []string{reply} }}
	c := p.connect(t)
	for _, test := range []struct {
		reply string
		kind  any
		text  string
	}{
		{"", new(*UnsupportedError), "QTStart: the stub does not support the packet"},
		{"E01", new(*CodeError), "QTStart: the stub reports error 01"},
		{"E.no room", new(*MessageError), "QTStart: the stub reports: no room"},
		{"maybe", new(*ReplyError), `QTStart: the stub replied "maybe", expected OK`},
		{"E0123456", new(*ReplyError), `QTStart: the stub replied "E0123456", expected OK`},
	} {
		reply = test.reply
		err := Command(c, request.TraceStart, request.None{})
		if err == nil || !errors.As(err, test.kind) || err.Error() != test.text || errors.As(err, new(*LostError)) {
			t.Errorf("%q: %v (%T)", test.reply, err, err)
		}
		if _, refused := test.kind.(**CodeError); Rejected(err) != (refused || test.reply == "E.no room") {
			t.Errorf("Rejected(%v) = %v", err, Rejected(err))
		}
	}
	if reply = "OK"; Command(c, request.TraceStart, request.None{}) != nil {
		t.Error("the client does not go on after errors")
	}
}

// TestLost has the connection end, and a stub fall silent. Both are final, for calls and batches.
func TestLost(t *testing.T) {
	silent := &peer{answer: func(packet string) []string {
		if packet == "QTStop" {
			return nil
		}
		return []string{"OK"}
	}}
	c := silent.connect(t)
	endAcks(t, c)
	c.Patience = 50 * time.Millisecond
	b := c.Batch()
	first, second := Add(b, OK(request.TraceStart, request.None{})), Add(b, OK(request.TraceStop, request.None{}))
	third := Add(b, OK(request.TraceStart, request.None{}))
	err := b.Run()
	var lost *LostError
	if !errors.As(err, &lost) || lost.Packet != "QTStop" && lost.Packet != "QTStart" || first.Err != nil || third.Err == nil && second.Err == nil {
		t.Errorf("%v; %v, %v, %v", err, first.Err, second.Err, third.Err)
	}
	c = silent.connect(t)
	c.Patience = 50 * time.Millisecond
	if err := Command(c, request.TraceStop, request.None{}); !errors.As(err, &lost) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent stub: %v", err)
	}
	if again := Command(c, request.TraceStart, request.None{}); again != error(lost) {
		t.Errorf("after a lost connection: %v", again)
	}
	near, far := net.Pipe()
	far.Close()
	if err := Command(New(near), request.TraceStart, request.None{}); !errors.As(err, &lost) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a closed connection: %v", err)
	}
}

// TestBetween has a stub print, ask for an instruction to be relocated and notify before it replies.
func TestBetween(t *testing.T) {
	var step, asked int
	p := &peer{answer: func(packet string) []string {
		switch {
		case packet == "QTStart":
			asked++
			return []string{"O6869", "%Stop:T05thread:p1.2;", "qRelocInsn:401000;700000"}
		case packet == "E01" && asked == 1:
			asked++
			return []string{"qRelocInsn:bad"}
		case packet == "vStopped" && step == 0:
			step++
			return []string{"W03;process:1"}
		}
		return []string{"OK"}
	}}
	c := p.connect(t)
	printed := ""
	c.Console = func(text []byte) { printed += string(text) }
	if err := Command(c, request.TraceStart, request.None{}); err != nil || printed != "hi" || asked != 2 {
		t.Errorf("printed %q, %d questions, %v", printed, asked, err)
	}
	st, ok, err := c.Notified()
	if err != nil || !ok || st.Kind != 'T' || *st.Thread != (rsp.Thread{PID: 1, TID: 2, Multiprocess: true}) || c.HasNotified() {
		t.Errorf("%+v, %v, %v", st, ok, err)
	}
	if st, ok, err = c.NextStop(); err != nil || !ok || !st.Ended() || st.Number != 3 || st.PID != 1 {
		t.Errorf("%+v, %v, %v", st, ok, err)
	}
	if _, ok, err = c.NextStop(); err != nil || ok {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestReadMemory reads in parts, more than one at a time, from a stub that now and then replies with fewer bytes.
func TestReadMemory(t *testing.T) {
	image := make([]byte, 5000)
	for i := range image {
		image[i] = byte(i * 7)
	}
	for _, acks := range []bool{true, false} {
		for _, most := range []int{1, 50, 1 << 20} {
			p := &peer{acks: acks, answer: func(packet string) []string {
				var at, n int
				fmt.Sscanf(packet, "m%x,%x", &at, &n)
				if n > 64 {
					t.Errorf("%d bytes were asked for in a packet of 128", n)
				}
				if at >= len(image) {
					return []string{"E01"}
				}
				return []string{fmt.Sprintf("%x", image[at:min(at+min(n, most), len(image))])}
			}}
			c := p.connect(t)
			endAcks(t, c)
			c.packet = 128
			for _, n := range []int{1, 63, 64, 65, 300, 2000} {
				if b, err := c.ReadMemory(11, n); err != nil || string(b) != string(image[11:11+n]) {
					t.Errorf("acks %v, at most %d: %d bytes of %d, %v", acks, most, len(b), n, err)
				}
			}
			if _, err := c.ReadMemory(4990, 20); !errors.As(err, new(*CodeError)) {
				t.Errorf("behind the end: %v", err)
			}
		}
	}
}

// TestNonsense has a stub reply with anything: every call returns, with an error where the reply makes no sense.
func TestNonsense(t *testing.T) {
	for _, text := range []string{"m", "l", "OK", "T0", "TXX", "T05;", "T05thread:;", "T05thread", "QC", "QCz", "F", "F-1", "F-1,2", "Fz;", "V", "mz", "m1,",
		"xx", "x", "0", "N", "w00", "\x00", "W", "T1;tstop", "E", "EE"} {
		p := &peer{answer: func(string) []string { return []string{text} }}
		c := p.connect(t)
		calls := map[string]func() error{
			"memory":   func() error { _, err := c.ReadMemory(1, 4); return err },
			"register": func() error { _, err := Do(c, Ask(request.ReadRegister, 1, reply.Registers)); return err },
			"current":  func() error { _, err := Do(c, Ask(request.CurrentThread, request.None{}, reply.Current)); return err },
			"reason":   func() error { _, _, err := c.StopReason(); return err },
			"status":   func() error { _, _, err := c.TraceStatus(); return err },
			"buffer":   func() error { _, err := c.TraceBuffer(0, 4); return err },
			"object":   func() error { _, err := c.Transfer("auxv", "", 100); return err },
			"file":     func() error { _, _, err := File(c, request.CloseFile, 1); return err },
			"threads":  func() error { _, err := List(c, request.FirstThreads, request.MoreThreads, reply.Threads); return err },
			"variables": func() error {
				_, err := List(c, request.FirstVariable, request.MoreVariables, reply.Variables)
				return err
			},
		}
		sound := map[string]string{
			"buffer": "l EE", "object": "l", "threads": "l", "variables": "l", "register": "xx EE", "reason": "OK N",
			"status": "T0", "memory": "EE",
		}
		for name, call := range calls {
			err := call()
			fine := slices.Contains(strings.Fields(sound[name]), text) || text == "l" && name == "object"
			if (err == nil) != fine || errors.As(err, new(*LostError)) {
				t.Errorf("%s answered by %q: %v", name, text, err)
			}
		}
	}
}
