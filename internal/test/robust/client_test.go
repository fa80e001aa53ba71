//go:build linux

package robust

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"time"

	"tracewell/rsp"
)

// client is a connection to the server of a subject.
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
	if _, err := c.Supported(rsp.Features{}); err != nil {
		s.Fatal(err)
	}
	if err := c.StartNoAck(); err != nil {
		s.Fatal(err)
	}
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
	c.tell("vCont;c")
}

// stepOff has the program make the first step from a breakpoint that it stands at, which as with GDB is not there meanwhile. A
// signal that comes then is lost: its handler would return to the breakpoint.
func (c *client) stepOff(addr uint64) {
	c.Helper()
	c.do("z0,%x,1", addr)
	thread := strings.TrimPrefix(c.ask("qC"), "QC")
	reply := c.ask("vCont;s:%s", thread)
	for !strings.HasPrefix(reply, "T05") {
		reply = c.ask("vCont;s:%s", thread)
	}
	c.do("Z0,%x,1", addr)
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
	reply := c.ask("p%x", number)
	b, err := rsp.ParseHexBytes(reply)
	if err != nil || len(b) != 8 {
		c.Fatalf("reply to p%x is %q, want 8 bytes", number, reply)
	}
	return binary.LittleEndian.Uint64(b)
}

// threads lists the threads, as the packets name them.
func (c *client) threads() []string {
	c.Helper()
	var found []string
	for reply := c.ask("qfThreadInfo"); reply != "l"; reply = c.ask("qsThreadInfo") {
		c.wants(reply, "m")
		found = append(found, strings.Split(reply[1:], ",")...)
	}
	return found
}

// runTo lets the program run to a place, to another time that it is there if it is now.
func (c *client) runTo(addr uint64) {
	c.Helper()
	if c.register(registerPC) == addr {
		c.stepOff(addr)
	} else {
		c.do("Z0,%x,1", addr)
	}
	c.goOn()
	c.wants(c.hear(), "T05")
	if pc := c.register(registerPC); pc != addr {
		c.Fatalf("the program stopped at %#x, want %#x", pc, addr)
	}
	c.do("z0,%x,1", addr)
}

// trace begins a run with a tracepoint at each of some places, numbered from 1, that collects registers and 16 bytes of stack.
func (c *client) trace(places ...uint64) {
	c.Helper()
	c.do("QTinit")
	for i, addr := range places {
		c.do("QTDP:%x:%x:E:0:0-", i+1, addr)
		c.do("QTDP:-%x:%x:R03FFFFM7,0,10", i+1, addr)
	}
	c.do("QTBuffer:circular:1")
	c.do("QTBuffer:size:100000")
	c.do("QTStart")
}

// hits is how often a tracepoint was hit.
func (c *client) hits(number int, addr uint64) uint64 {
	c.Helper()
	reply := c.ask("qTP:%x:%x", number, addr)
	c.wants(reply, "V")
	in := rsp.NewScanner(reply[1:])
	n := in.HexField()
	in.Literal(':')
	if in.Err() != nil {
		c.Fatalf("reply to qTP is %q", reply)
	}
	return n
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
	c.do("QTStop")
	for number, addr := range []uint64{emulated, slot} {
		if c.hits(number+1, addr) == 0 {
			c.Errorf("tracepoint %d was not hit", number+1)
		}
		c.wants(c.ask("QTFrame:tdp:%x", number+1), "F")
		if pc := c.register(registerPC); pc != addr {
			c.Errorf("frame of tracepoint %d has pc %#x, want %#x", number+1, pc, addr)
		}
		c.do("QTFrame:ffffffff")
	}
}
