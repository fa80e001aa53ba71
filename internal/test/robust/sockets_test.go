//go:build linux

package robust

import (
	"fmt"
	"io"
	"testing"
	"time"

	"tracewell/rsp/request"
)

// stages are the places in a session at which a client may vanish. Each leaves the connection there.
var stages = []struct {
	name   string
	reach  func(c *client)
	unread bool // the server is left with more replies than the connection holds
}{
	{"at once", func(c *client) {}, false},
	{"after an acknowledgment", func(c *client) { c.conn.Write([]byte("+")) }, false},
	{"in the middle of a packet", func(c *client) { c.conn.Write([]byte("$qSupported:multipro")) }, false},
	{"in the middle of a checksum", func(c *client) { c.conn.Write([]byte("$g#6")) }, false},
	{"with a reply unread", func(c *client) { c.conn.Write([]byte(frame("g"))) }, false},
	{"with many replies unread", func(c *client) {
		c.conn.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		for packet := []byte("+" + frame("g")); ; {
			if _, err := c.conn.Write(packet); err != nil {
				return
			}
		}
	}, true},
	{"with a breakpoint", func(c *client) { c.insert(c.at("tick_emulated")) }, false},
	{"while the program runs", func(c *client) { c.goOn() }, false},
	{"after a Ctrl-C", func(c *client) { c.goOn(); c.Interrupt() }, false},
	{"with tracepoints defined", func(c *client) {
		c.do("QTDP:1:%x:E:0:0-", c.at("tick_slot"))
		c.tell("QTDP:-1:%x:R03-", c.at("tick_slot"))
	}, false},
	{"with a trace run, stopped", func(c *client) { c.trace(c.at("tick_slot")) }, false},
	{"with a trace run, running", func(c *client) {
		c.trace(c.at("tick_emulated"), c.at("tick_slot"), c.at("site_stepped"))
		c.goOn()
		c.makesProgress()
	}, false},
	{"with a frame selected", func(c *client) {
		c.trace(c.at("tick_emulated"))
		c.goOn()
		c.makesProgress()
		c.wants(c.interrupt(), "T02")
		c.frame(request.FrameQuery{})
	}, false},
	{"with a stepping thread", func(c *client) { c.tell("vCont;s") }, false},
	{"with a range to step in", func(c *client) { c.tell("vCont;r0,ffffffffffffffff:-1") }, false},
}

// TestClientsThatVanish has one client after another leave at every stage, by closing the connection or one half of it. The
// program is stopped then and stays so, and the next client finds it, and the server, in order.
func TestClientsThatVanish(t *testing.T) {
	t.Parallel()
	for _, half := range []bool{false, true} {
		t.Run(fmt.Sprintf("half=%v", half), func(t *testing.T) {
			t.Parallel()
			s := serveReading(t, nil, "hammer", "3")
			for _, stage := range stages {
				t.Log(stage.name)
				c := s.dial()
				stage.reach(c)
				// To a client that does not read and does not close the server owes its replies.
				if half && !stage.unread {
					c.conn.CloseWrite()
				} else {
					c.hangUp()
				}
				next := s.connect() // is served once the server is done with the one before
				next.ask("qC")
				if !allStopped(s.pid) {
					t.Errorf("%s: the program runs unattended", stage.name)
				}
				next.wants(next.ask("?"), "T")
				next.wants(next.ask("qTStatus"), "T0;")
				next.remove(s.at("tick_emulated"))
				next.inOrder()
				command(next, request.TraceInit)
				s.untouchedText()
				next.hangUp()
			}
			s.soundServer()
		})
	}
}

// TestHalfClosedClientGetsItsReplies has a client say all that it has to say and then only listen.
func TestHalfClosedClientGetsItsReplies(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "spin", "10")
	c := s.dial()
	c.conn.Write([]byte(frame("QTDisconnected:0") + "+" + frame("vMustReplyEmpty") + "+" + frame("QTStop")))
	c.conn.CloseWrite()
	all, err := io.ReadAll(c.conn)
	if want := "+" + frame("OK") + "+" + frame("") + "+" + frame("OK"); string(all) != want || err != nil {
		t.Errorf("replies %q (%v), want %q", all, err, want)
	}
}

// TestVanishingOnce is the same with --once: the server ends, and the program with it. One that has not said a word was no
// client.
func TestVanishingOnce(t *testing.T) {
	t.Parallel()
	for _, stage := range stages[1:] {
		t.Run(stage.name, func(t *testing.T) {
			t.Parallel()
			s := serveReading(t, []string{"--once"}, "hammer", "3")
			c := s.dial()
			stage.reach(c)
			c.hangUp()
			if code := s.server.Wait(t); code != 0 {
				t.Errorf("exit status %d, want 0", code)
			}
			s.noneLeft()
			s.soundServer()
		})
	}
}

// TestDisconnectedTracing has a client leave a run that is to survive it: the program goes on and is traced, the next client
// finds the frames, and once the run has ended a client that vanishes stops the program again.
func TestDisconnectedTracing(t *testing.T) {
	t.Parallel()
	for _, leave := range []string{"vanish", "detach", "detach running"} {
		t.Run(leave, func(t *testing.T) {
			t.Parallel()
			s := serveReading(t, nil, "hammer", "3")
			c := s.connect()
			do(c, request.Disconnected, true)
			c.trace(s.at("tick_emulated"), s.at("tick_slot"))
			switch leave {
			case "vanish":
				c.goOn()
				c.makesProgress()
			case "detach":
				do(c, request.Detach, request.MaybeProcess{})
			case "detach running":
				c.goOn()
				c.makesProgress()
				do(c, request.Detach, request.MaybeProcess{PID: s.pid, Given: true})
			}
			c.hangUp()
			s.makesProgress()
			c = s.connect()
			c.wants(c.ask("qTStatus"), "T1;")
			c.wants(c.ask("?"), "T00")
			if !allStopped(s.pid) {
				t.Error("the program runs after the reply to ?")
			}
			before := c.hits(1, s.at("tick_emulated"))
			c.goOn()
			c.makesProgress()
			c.wants(c.interrupt(), "T02")
			if after := c.hits(1, s.at("tick_emulated")); before == 0 || after <= before {
				t.Errorf("%d hits before and %d after", before, after)
			}
			command(c, request.TraceStop)
			c.goOn()
			c.hangUp()
			c = s.connect()
			c.wants(c.ask("qTStatus"), "T0;")
			if !allStopped(s.pid) {
				t.Error("the program runs unattended after the run")
			}
			c.inOrder()
			c.goOn()
			s.end()
			c.wants(c.hear(), "W00")
			s.rightResults()
		})
	}
}

// TestClientsInARow has many connections in quick succession, some of them at the same time: they are served one by one.
func TestClientsInARow(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "spin", "10")
	var waiting []*client
	for range 20 {
		waiting = append(waiting, s.dial())
	}
	for i, c := range waiting {
		if i%3 == 1 {
			c.hangUp()
			continue
		}
		c.wants(c.ask("qC"), fmt.Sprintf("QC%x", s.pid))
		c.hangUp()
	}
	s.soundServer()
}
