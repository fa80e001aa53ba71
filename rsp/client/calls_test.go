package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/trace"
)

// tape is a connection that brings what was recorded, whatever is sent, and keeps what is.
type tape struct {
	in        *strings.Reader
	sent      bytes.Buffer
	fails     error // of writes
	deadlines []time.Time
	noLimit   error // of SetDeadline
}

func playTape(in string) (*Client, *tape) {
	p := &tape{in: strings.NewReader(in)}
	return New(p), p
}

func (p *tape) Read(b []byte) (int, error) { return p.in.Read(b) }

func (p *tape) Write(b []byte) (int, error) {
	if p.fails != nil {
		return 0, p.fails
	}
	return p.sent.Write(b)
}

func (p *tape) SetDeadline(limit time.Time) error {
	p.deadlines = append(p.deadlines, limit)
	return p.noLimit
}

// answers runs a peer that replies to packets by a table, and to those that it has not by nothing, and returns a client without
// acknowledgments.
func answers(t *testing.T, table map[string]string) (*Client, *peer) {
	t.Helper()
	p := &peer{answer: func(packet string) []string { return []string{table[packet]} }}
	c := p.connect(t)
	endAcks(t, c)
	return c, p
}

// received are the packets that a peer has got since acknowledgments ended.
func (p *peer) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.packets[1:]
}

// TestHello takes the length of packets from the stub, within bounds.
func TestHello(t *testing.T) {
	for features, want := range map[string]int{
		"": 399, "QStartNoAckMode+": 399, "PacketSize=1": 64, "PacketSize=3f": 64, "PacketSize=40": 64, "PacketSize=41": 65,
		"PacketSize=ffff": 65535, "PacketSize=10000": 65536, "PacketSize=10001": 65536, "PacketSize=7fffffff": 65536,
		"PacketSize=80000000": 399, "PacketSize=no": 399, "PacketSize+": 399,
	} {
		c := (&peer{answer: func(string) []string { return []string{features} }}).connect(t)
		if err := c.Hello(nil); err != nil || c.PacketSize() != want {
			t.Errorf("%q: packets of %d bytes, %v, want %d", features, c.PacketSize(), err, want)
		}
		if has := strings.HasPrefix(features, "QStart"); c.Features().Has("QStartNoAckMode") != has {
			t.Errorf("%q: features %v", features, c.Features())
		}
	}
	c, _ := playTape("")
	if err := c.Hello(nil); !errors.As(err, new(*LostError)) || !errors.Is(err, io.EOF) {
		t.Errorf("features of a stub that is gone: %v", err)
	}
}

// TestEndAcks asks only stubs that offer to do without acknowledgments, and goes on with them where a stub refuses.
func TestEndAcks(t *testing.T) {
	c, p := playTape("")
	if err := c.EndAcks(); err != nil || p.sent.Len() > 0 || c.noAck {
		t.Errorf("not offered: sent %q, %v", p.sent.String(), err)
	}
	for in, ended := range map[string]bool{"+$OK#9a": true, "+$#00": false, "+$E01#a6": false} {
		c, _ := playTape(in)
		c.features = rsp.Features{{Name: "QStartNoAckMode", Mark: rsp.Supported}}
		if err := c.EndAcks(); err != nil || c.noAck != ended {
			t.Errorf("%q: acknowledgments have ended: %v, %v", in, c.noAck, err)
		}
	}
	c, _ = playTape("")
	c.features = rsp.Features{{Name: "QStartNoAckMode", Mark: rsp.Supported}}
	if err := c.EndAcks(); !errors.Is(err, io.EOF) || c.noAck {
		t.Errorf("a stub that is gone: %v", err)
	}
}

// TestQuery returns replies, and those that are errors as such.
func TestQuery(t *testing.T) {
	c, _ := answers(t, map[string]string{"qC": "QC1", "qTStatus": "E01"})
	if text, err := Query(c, request.CurrentThread, request.None{}); text != "QC1" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Query(c, request.TraceStatus, request.None{}); !errors.As(err, new(*CodeError)) {
		t.Errorf("an error: %v", err)
	}
	if _, err := Query(c, request.ShortestFast, request.None{}); !errors.As(err, new(*UnsupportedError)) {
		t.Errorf("an empty reply: %v", err)
	}
}

// TestResume waits for OK in non-stop mode, and for nothing otherwise: the stop comes later, within a limit of its own.
func TestResume(t *testing.T) {
	all := request.Action{Verb: 'c', All: true}
	c, p := playTape("+$OK#9a")
	c.NonStop = true
	if err := c.Resume(all); err != nil || p.in.Len() > 0 || p.sent.String() != "$vCont;c#a8+" {
		t.Errorf("non-stop: %v, sent %q, %d bytes not read", err, p.sent.String(), p.in.Len())
	}
	c, _ = playTape("+$E01#a6")
	c.NonStop = true
	if err := c.Resume(all); !Rejected(err) {
		t.Errorf("a rejected resumption in non-stop mode: %v", err)
	}

	c, p = playTape("+$S05#b8")
	if err := c.Resume(all); err != nil || p.sent.String() != "$vCont;c#a8" || len(p.deadlines) > 0 {
		t.Errorf("all-stop: %v, sent %q, deadlines %v", err, p.sent.String(), p.deadlines)
	}
	limit := time.Unix(1000, 0)
	stop, err := c.AwaitStop(limit)
	if err != nil || stop.Kind != 'S' || stop.Number != 5 || !slices.Equal(p.deadlines, []time.Time{limit}) {
		t.Errorf("%+v, %v, deadlines %v", stop, err, p.deadlines)
	}
	for in, kind := range map[string]any{"$OK#9a": new(*ReplyError), "": new(*LostError)} {
		c, _ := playTape(in)
		if stop, err := c.AwaitStop(limit); !errors.As(err, kind) || stop.Kind != 0 || !strings.Contains(err.Error(), "vCont") {
			t.Errorf("%q: %+v, %v", in, stop, err)
		}
	}
	c, p = playTape("$S05#b8")
	p.noLimit = os.ErrNoDeadline
	if stop, err := c.AwaitStop(limit); !errors.Is(err, os.ErrNoDeadline) || stop.Kind != 0 || p.in.Len() == 0 {
		t.Errorf("without a limit: %+v, %v", stop, err)
	}
	if again := c.Resume(all); !errors.Is(again, os.ErrNoDeadline) || !strings.Contains(again.Error(), "at the next packet: ") {
		t.Errorf("after a limit that could not be set: %v", again)
	}
}

// TestPatience sets a deadline for every packet, and none without patience.
func TestPatience(t *testing.T) {
	c, p := playTape("+$OK#9a+$OK#9a")
	if err := Command(c, request.TraceStart, request.None{}); err != nil || len(p.deadlines) > 0 {
		t.Errorf("without patience: %v, deadlines %v", err, p.deadlines)
	}
	c.Patience = time.Hour
	before := time.Now().Add(time.Hour)
	err := Command(c, request.TraceStart, request.None{})
	if err != nil || len(p.deadlines) != 1 || p.deadlines[0].Before(before) || p.deadlines[0].After(time.Now().Add(time.Hour)) {
		t.Errorf("an hour of patience: %v, deadlines %v", err, p.deadlines)
	}
}

// TestInterrupt sends the byte of Ctrl-C, outside packets.
func TestInterrupt(t *testing.T) {
	c, p := playTape("")
	if err := c.Interrupt(); err != nil || p.sent.String() != "\x03" {
		t.Errorf("sent %q, %v", p.sent.String(), err)
	}
	p.fails = io.ErrClosedPipe
	if err := c.Interrupt(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a closed connection: %v", err)
	}
}

// failing is a tape whose writes fail after the first.
type failing struct{ *tape }

func (f failing) Write(b []byte) (int, error) {
	n, err := f.tape.Write(b)
	f.fails = io.ErrClosedPipe
	return n, err
}

// TestLostWhileAnswering has the connection end between a stub's question and the answer, and before a batch.
func TestLostWhileAnswering(t *testing.T) {
	_, p := playTape("$qRelocInsn:1;2#19$OK#9a")
	c := New(failing{p})
	c.link.NoAck()
	if _, err := c.Exchange([]byte("QTStart")); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "at QTStart: ") {
		t.Errorf("%v", err)
	}
	c, p = playTape("")
	c.noAck, p.fails = true, io.ErrClosedPipe
	b := c.Batch()
	first, second := Add(b, OK(request.TraceStop, request.None{})), Add(b, OK(request.TraceStart, request.None{}))
	err := b.Run()
	if !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "at QTStop: ") || first.Err != err || second.Err != err {
		t.Errorf("%v; %v, %v", err, first.Err, second.Err)
	}
	c, p = playTape("")
	c.noAck, c.Patience, p.noLimit = true, time.Hour, os.ErrNoDeadline
	b = c.Batch()
	Add(b, OK(request.TraceStop, request.None{}))
	Add(b, OK(request.TraceStart, request.None{}))
	if err := b.Run(); !errors.Is(err, os.ErrNoDeadline) || p.sent.Len() > 0 {
		t.Errorf("a batch without a limit: %v, sent %q", err, p.sent.String())
	}
}

// TestBatchSendsAgain has a single packet of a batch sent again that did not arrive whole.
func TestBatchSendsAgain(t *testing.T) {
	c, p := playTape("-+$OK#9a")
	b := c.Batch()
	Add(b, OK(request.TraceStop, request.None{}))
	if err := b.Run(); err != nil || p.sent.String() != "$QTStop#4b$QTStop#4b+" {
		t.Errorf("sent %q, %v", p.sent.String(), err)
	}
}

// TestBatchFillsWrite has packets that together are just as much as is sent ahead, or a byte more.
func TestBatchFillsWrite(t *testing.T) {
	for extra, want := range []int{3, 2} {
		p := &peer{answer: echo}
		c := p.connect(t)
		endAcks(t, c)
		b := c.Batch()
		for _, size := range []int{8 << 10, 4 << 10, 4<<10 + extra} {
			b.packets = append(b.packets, bytes.Repeat([]byte{'x'}, size))
			b.take = append(b.take, func(text string, err error) {
				if text != "OK" || err != nil {
					t.Errorf("%q, %v", text, err)
				}
			})
		}
		if err := b.Run(); err != nil || p.most() != want {
			t.Errorf("%d packets in one write, %v, want %d", p.most(), err, want)
		}
	}
}

// TestLists puts the parts of a list together, and ends where a part makes no sense.
func TestLists(t *testing.T) {
	c, p := answers(t, map[string]string{
		"qfThreadInfo": "m1,2", "qsThreadInfo": "l", "qTfV": "1:5:0:61", "qTsV": "nonsense", "qTfP": "T1:401000:E:0:5", "qTsP": "l",
	})
	threads, err := List(c, request.FirstThreads, request.MoreThreads, reply.Threads)
	if diff := cmp.Diff([]rsp.Thread{{TID: 1}, {TID: 2}}, threads); diff != "" || err != nil {
		t.Errorf("threads, %v (-want +got):\n%s", err, diff)
	}
	variables, err := List(c, request.FirstVariable, request.MoreVariables, reply.Variables)
	if err == nil || !strings.HasPrefix(err.Error(), "qTsV: ") || len(variables) != 1 || variables[0].Name != "a" {
		t.Errorf("%v, %v", variables, err)
	}
	var pieces []trace.Piece
	add := func(p trace.Piece) error {
		pieces = append(pieces, p)
		return nil
	}
	if err := c.Pieces(add); err != nil || len(pieces) != 1 || pieces[0].Key != (trace.Key{Number: 1, Addr: 0x401000}) {
		t.Errorf("%v, %v", pieces, err)
	}
	if err := c.Pieces(func(trace.Piece) error { return io.ErrNoProgress }); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a piece that is refused: %v", err)
	}
	want := words("qfThreadInfo qsThreadInfo qTfV qTsV qTfP qTsP qTfP")
	if diff := cmp.Diff(want, p.received()); diff != "" {
		t.Errorf("packets (-want +got):\n%s", diff)
	}
	c, _ = answers(t, map[string]string{"qTfP": "nonsense"})
	if err := c.Pieces(add); err == nil || len(pieces) != 1 {
		t.Errorf("a piece that makes no sense: %v, %v", pieces, err)
	}
}

// words are those of a text.
func words(text string) []string { return strings.Fields(text) }

// endless replies to every packet by the same part of a list.
type endless struct{ packets int }

func (e *endless) Write(b []byte) (int, error) {
	e.packets += bytes.Count(b, []byte{'$'})
	return len(b), nil
}

func (e *endless) Read(b []byte) (int, error) { return copy(b, "$m1#9e"), nil }

// TestEndlessList ends with a list that the stub does not.
func TestEndlessList(t *testing.T) {
	e := new(endless)
	c := New(e)
	c.link.NoAck()
	err := c.items(request.FirstThreads, request.MoreThreads, func(string) error { return nil })
	if err == nil || err.Error() != "qfThreadInfo: the stub's list has no end" || e.packets != mostItems || mostItems != 1<<20 {
		t.Errorf("%v after %d packets", err, e.packets)
	}
}

// TestTransfer reads objects around the limit, in parts around the size of packets.
func TestTransfer(t *testing.T) {
	const limit = 1000
	for _, size := range []int{0, 1, 62, 63, 64, limit - 1, limit, limit + 1, 2 * limit} {
		object := bytes.Repeat([]byte("object "), 1+size/7)[:size]
		longest := 0
		p := &peer{answer: func(packet string) []string {
			var at, n int
			fmt.Sscanf(packet, "qXfer:auxv:read::%x,%x", &at, &n)
			longest = max(longest, n)
			end := min(at+n, size)
			if end == size {
				return []string{"l" + string(object[at:])}
			}
			return []string{"m" + string(object[at:end])}
		}}
		c := p.connect(t)
		c.packet = leastPacket
		b, err := c.Transfer("auxv", "", limit)
		switch {
		case longest != leastPacket-1:
			t.Errorf("%d bytes were asked for in a packet of %d", longest, leastPacket)
		case size > limit && (err == nil || err.Error() != "qXfer:auxv:read: the stub's object has more than 1000 bytes" || b != nil):
			t.Errorf("an object of %d bytes: %d, %v", size, len(b), err)
		case size <= limit && (err != nil || !bytes.Equal(b, object)):
			t.Errorf("an object of %d bytes: %q, %v", size, b, err)
		}
	}
}

// TestTransferMore reads up to the limit what a stub says that there is more of.
func TestTransferMore(t *testing.T) {
	p := &peer{answer: func(string) []string { return []string{"m" + strings.Repeat("x", 50)} }}
	c := p.connect(t)
	if b, err := c.Transfer("auxv", "", 100); err == nil || b != nil {
		t.Errorf("%q, %v", b, err)
	}
	if got := len(p.packets); got != 3 {
		t.Errorf("%d packets for what has more than two parts", got)
	}
}

// TestFile returns the number and the bytes of a reply about files, and a failure as an error with both.
func TestFile(t *testing.T) {
	for text, want := range map[string]struct {
		result  int64
		content string
		code    int
	}{
		"F3": {3, "", 0}, "F2;ab": {2, "ab", 0}, "F-1,2": {0, "", 2}, "F0;": {0, "", 0},
	} {
		c := (&peer{answer: func(string) []string { return []string{text} }}).connect(t)
		result, content, err := File(c, request.CloseFile, 1)
		var failed *FileError
		if result != want.result || string(content) != want.content || errors.As(err, &failed) != (want.code != 0) {
			t.Errorf("%q: %d, %q, %v", text, result, content, err)
		}
		if failed != nil && (failed.Code != want.code || err.Error() != "vFile:close: error 2 of File-I/O") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTraceStatus returns the state and the reply that it is from.
func TestTraceStatus(t *testing.T) {
	const text = "T1;tnotrun:0;tframes:5"
	c, _ := answers(t, map[string]string{"qTStatus": text})
	status, plain, err := c.TraceStatus()
	if err != nil || plain != text || !status.Running || status.Frames != 5 {
		t.Errorf("%+v, %q, %v", status, plain, err)
	}
	c, _ = answers(t, map[string]string{"qTStatus": "E01"})
	if _, plain, err := c.TraceStatus(); !Rejected(err) || plain != "E01" {
		t.Errorf("%q, %v", plain, err)
	}
}

// TestDefine sends the packets of a definition that are wanted, up to one that is rejected.
func TestDefine(t *testing.T) {
	p := &trace.Tracepoint{Number: 1, Addr: 0x401000, Enabled: true, Source: trace.Source{At: "a.c:1", Cond: "x"},
		Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{1}}}}
	all := p.Packets()
	if len(all) != 4 {
		t.Fatalf("packets %q", all)
	}
	for rejected := range len(all) + 1 {
		table := map[string]string{}
		for i, packet := range all {
			if table[packet] = "OK"; i == rejected {
				table[packet] = "E01"
			}
		}
		c, stub := answers(t, table)
		err := c.Define(p, func(packet string) bool { return packet != all[1] })
		want := append(slices.Clone(all[:1]), all[2:]...)
		if rejected < 4 && rejected != 1 {
			want = want[:slices.Index(want, all[rejected])+1]
		}
		if refused := rejected < 4 && rejected != 1; Rejected(err) != refused || (err == nil) == refused {
			t.Errorf("packet %d rejected: %v", rejected, err)
		}
		if diff := cmp.Diff(want, stub.received()); diff != "" {
			t.Errorf("packet %d rejected: sent (-want +got):\n%s", rejected, diff)
		}
	}
}

// TestMemoryIsNoMore rejects a reply with more bytes than were asked for.
func TestMemoryIsNoMore(t *testing.T) {
	for text, want := range map[string]string{"00112233": "\x00\x11\x22\x33", "00": "\x00", "0011223344": ""} {
		c, _ := answers(t, map[string]string{"m1000,4": text})
		b, err := Do(c, Memory(arch.Addr(0x1000), 4))
		if more := len(text) > 8; more != errors.As(err, new(*ReplyError)) || !more && string(b) != want {
			t.Errorf("%s: % x, %v", text, b, err)
		}
	}
}
