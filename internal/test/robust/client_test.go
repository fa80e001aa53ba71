//go:build linux

package robust

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"time"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/trace"
)

// client is a connection to the server of a subject, on which anything can be sent at any time. Packets that are in order are
// written by the grammar of requests (do, call); those that are spelled out are no client's of a right mind, or drawn at random.
type client struct {
	*subject
	conn *net.UnixConn
	*rsp.Client
}

// The bytes of a packet's reply are those of the machine, little-endian; registers go by GDB's numbers.
const (
	registerDI = 5
	registerSP = 7
	registerPC = 16
)

// dial connects, as a client that has not said anything yet.
func (s *subject) dial() *client {
	s.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: s.server.Address, Net: "unix"})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return &client{s, conn, rsp.NewClient(conn)}
}

// connect connects and goes through the beginning of a session.
func (s *subject) connect() *client {
	s.Helper()
	c := s.dial()
	c.ask("%s", request.Supported.Text(nil))
	c.endAcks()
	return c
}

// ask sends a packet and returns the reply.
func (c *client) ask(format string, args ...any) string {
	c.Helper()
	packet := fmt.Sprintf(format, args...)
	c.conn.SetDeadline(time.Now().Add(patience))
	reply, err := c.Exchange(packet)
	if err != nil {
		c.Fatalf("%.60q: %v", packet, err)
	}
	return reply
}

// do sends a packet that is to be answered by OK.
func (c *client) do(format string, args ...any) {
	c.Helper()
	if reply := c.ask(format, args...); reply != "OK" {
		c.Fatalf("reply to %q is %q, want OK", fmt.Sprintf(format, args...), reply)
	}
}

// endAcks ends acknowledgments.
func (c *client) endAcks() {
	c.Helper()
	command(c, request.StartNoAckMode)
	c.NoAck()
}

// call sends a request and returns what its reply means.
func call[A, R any](c *client, f *request.Form[A], args A, form *reply.Form[R]) R {
	c.Helper()
	packet := f.Text(args)
	text := c.ask("%s", packet)
	r, err := form.Parse(text)
	if err != nil {
		c.Fatalf("reply to %q is %q, want %s", packet, text, form.Syntax)
	}
	return r
}

// do sends a request that is to be answered by OK, and command one that has no arguments.
func do[A any](c *client, f *request.Form[A], args A) {
	c.Helper()
	call(c, f, args, reply.OK)
}

func command(c *client, f *request.Form[request.None]) {
	c.Helper()
	do(c, f, request.None{})
}

// tell sends a packet without waiting for a reply.
func (c *client) tell(format string, args ...any) {
	c.Helper()
	c.conn.SetDeadline(time.Now().Add(patience))
	if err := c.Send(fmt.Appendf(nil, format, args...)); err != nil {
		c.Fatal(err)
	}
}

// hear waits for a reply.
func (c *client) hear() string {
	c.Helper()
	c.conn.SetDeadline(time.Now().Add(patience))
	reply, err := c.Receive()
	if err != nil {
		c.Fatal(err)
	}
	return string(reply)
}

// goOn lets the program run.
func (c *client) goOn() {
	c.Helper()
	c.tell("%s", request.Resume.Text([]request.Action{{Verb: 'c', All: true}}))
}

// stepOff has the program make the first step from a breakpoint that it stands at, which as with GDB is not there meanwhile. A
// signal that comes then is lost: its handler would return to the breakpoint.
func (c *client) stepOff(addr uint64) {
	c.Helper()
	c.remove(addr)
	thread := call(c, request.CurrentThread, request.None{}, reply.Current)
	for stepped := false; !stepped; {
		stop := call(c, request.Resume, []request.Action{{Verb: 's', Thread: thread}}, reply.Stopped)
		stepped = stop.Kind == 'T' && stop.Number == 5
	}
	c.insert(addr)
}

// insert and remove set a breakpoint and take it away.
func (c *client) insert(addr uint64) {
	c.Helper()
	do(c, request.InsertBreak, request.Breakpoint{Addr: arch.Addr(addr), Length: 1})
}

func (c *client) remove(addr uint64) {
	c.Helper()
	do(c, request.RemoveBreak, request.Breakpoint{Addr: arch.Addr(addr), Length: 1})
}

// pass has signals go to the program without a stop.
func (c *client) pass(signals ...int) {
	c.Helper()
	do(c, request.PassSignals, signals)
}

// current is the selected thread, as the packets name it.
func (c *client) current() string {
	c.Helper()
	return call(c, request.CurrentThread, request.None{}, reply.Current).String()
}

// frame selects a frame of the trace run, which has to be there, and leaveFrames goes back to the program.
func (c *client) frame(q request.FrameQuery) reply.Selection {
	c.Helper()
	selected := call(c, request.SelectFrame, q, reply.Frame)
	if !selected.Found {
		c.Fatalf("there is no frame %+v", q)
	}
	return selected
}

func (c *client) leaveFrames() {
	c.Helper()
	call(c, request.SelectFrame, request.FrameQuery{Number: request.LeaveFrames}, reply.Frame)
}

// interrupt stops the program and returns the stop reply.
func (c *client) interrupt() string {
	c.Helper()
	if err := c.Interrupt(); err != nil {
		c.Fatal(err)
	}
	return c.hear()
}

// wants fails the test unless a reply begins as expected.
func (c *client) wants(reply, prefix string) {
	c.Helper()
	if !strings.HasPrefix(reply, prefix) {
		c.Fatalf("reply %.80q, want %s", reply, prefix)
	}
}

// hangUp closes the connection.
func (c *client) hangUp() { c.conn.Close() }

// register reads a register of the selected thread.
func (c *client) register(number int) uint64 {
	c.Helper()
	b := call(c, request.ReadRegister, arch.Reg(number), reply.Registers)
	if len(b.Bytes) != 8 || b.Available != nil {
		c.Fatalf("register %d is %+v, want 8 bytes", number, b)
	}
	return binary.LittleEndian.Uint64(b.Bytes)
}

// threads lists the threads, as the packets name them.
func (c *client) threads() []string {
	c.Helper()
	var found []string
	for f := request.FirstThreads; ; f = request.MoreThreads {
		part := call(c, f, request.None{}, reply.Threads)
		if len(part) == 0 {
			return found
		}
		for _, id := range part {
			found = append(found, id.String())
		}
	}
}

// runTo lets the program run to a place, to another time that it is there if it is now.
func (c *client) runTo(addr uint64) {
	c.Helper()
	if c.register(registerPC) == addr {
		c.stepOff(addr)
	} else {
		c.insert(addr)
	}
	c.goOn()
	c.wants(c.hear(), "T05")
	if pc := c.register(registerPC); pc != addr {
		c.Fatalf("the program stopped at %#x, want %#x", pc, addr)
	}
	c.remove(addr)
}

// trace begins a run with a tracepoint at each of some places, numbered from 1, that collects registers and 16 bytes of stack.
func (c *client) trace(places ...uint64) {
	c.Helper()
	command(c, request.TraceInit)
	for i, addr := range places {
		c.define(trace.Tracepoint{Number: trace.Number(i + 1), Addr: arch.Addr(addr), Enabled: true, Actions: []trace.Action{
			{Kind: trace.CollectRegisters, Mask: []byte{3, 0xff, 0xff}},
			{Kind: trace.CollectMemory, Base: registerSP, Length: 16},
		}})
	}
	do(c, request.CircularBuffer, true)
	do(c, request.BufferSize, 1<<20)
	command(c, request.TraceStart)
}

// define defines a tracepoint.
func (c *client) define(t trace.Tracepoint) {
	c.Helper()
	for _, packet := range t.Packets() {
		c.do("%s", packet)
	}
}

// hits is how often a tracepoint was hit.
func (c *client) hits(number int, addr uint64) uint64 {
	c.Helper()
	key := trace.Key{Number: trace.Number(number), Addr: arch.Addr(addr)}
	return call(c, request.TracepointCounts, key, reply.Hits).Hits
}

// wantHits fails the test unless a tracepoint was hit so often.
func (c *client) wantHits(number int, addr, want uint64) {
	c.Helper()
	if got := c.hits(number, addr); got != want {
		c.Errorf("tracepoint %d was hit %d times, want %d", number, got, want)
	}
}

// inOrder fails the test unless the server can still trace the program: a run over its functions collects frames, and every
// frame of tracepoint 1 can be looked at. The program is hammer, stopped, and goes on to be.
func (c *client) inOrder() {
	c.Helper()
	emulated, slot := c.at("tick_emulated"), c.at("tick_slot")
	c.trace(emulated, slot)
	c.goOn()
	for range 5 { // each thread may first end a round that it was stopped in, behind the tracepoints
		c.makesProgress()
	}
	c.wants(c.interrupt(), "T02")
	command(c, request.TraceStop)
	for number, addr := range []uint64{emulated, slot} {
		if c.hits(number+1, addr) == 0 {
			c.Errorf("tracepoint %d was not hit", number+1)
		}
		c.frame(request.FrameQuery{By: request.ByTracepoint, Number: uint64(number + 1)})
		if pc := c.register(registerPC); pc != addr {
			c.Errorf("frame of tracepoint %d has pc %#x, want %#x", number+1, pc, addr)
		}
		c.leaveFrames()
	}
}
