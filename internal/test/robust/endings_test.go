//go:build linux

package robust

import (
	"strings"
	"testing"

	"tracewell/rsp/request"
)

// The kernel's numbers of the signals that end a server.
const (
	hangup    = 1
	interrupt = 2
	quit      = 3
	kill      = 9
	terminate = 15
)

// endings are the ways in which a server, or its hold on the program, comes to its end.
var endings = []struct {
	name     string
	how      func(s *subject, c *client)
	status   int  // the server's exit status; -1 for a signal
	survives bool // the program goes on
}{
	{"SIGINT", func(s *subject, c *client) { s.server.Signal(s, interrupt) }, 0, false},
	{"SIGTERM", func(s *subject, c *client) { s.server.Signal(s, terminate) }, 0, false},
	{"SIGHUP", func(s *subject, c *client) { s.server.Signal(s, hangup) }, 0, false},
	{"SIGKILL", func(s *subject, c *client) { s.server.Signal(s, kill) }, -1, false},
	{"k", func(s *subject, c *client) { c.tell("k"); c.hangUp() }, 0, false},
	{"vKill", func(s *subject, c *client) { do(c, request.KillProcess, s.pid); c.hangUp() }, 0, false},
	{"D", func(s *subject, c *client) { do(c, request.Detach, request.MaybeProcess{}); c.hangUp() }, 0, true},
	{"D;pid", func(s *subject, c *client) {
		do(c, request.Detach, request.MaybeProcess{PID: s.pid, Given: true})
		c.hangUp()
	}, 0, true},
	{"lost connection", func(s *subject, c *client) { c.hangUp() }, 0, false},
}

// states are what the program is doing when the end comes; all have tracepoints installed, on instructions of each kind.
var states = []struct {
	name     string
	interval string // of signals that arrive, in microseconds
	reach    func(c *client)
}{
	{"stopped", "0", func(c *client) {
		c.goOn()
		c.makesProgress()
		c.wants(c.interrupt(), "T02")
	}},
	{"not begun", "0", func(c *client) {}},
	{"running", "0", func(c *client) {
		c.goOn()
		c.makesProgress()
	}},
	{"running with signals", "150", func(c *client) {
		c.pass(14)
		c.goOn()
		c.makesProgress()
	}},
	{"stopped by a signal", "2000", func(c *client) {
		c.goOn()
		c.wants(c.hear(), "T0e")
	}},
	{"stopped after a step", "0", func(c *client) {
		c.goOn()
		c.makesProgress()
		c.wants(c.interrupt(), "T02")
		c.tell("vCont;s")
		c.wants(c.hear(), "T05")
	}},
}

// TestEndings goes through all ends in all states: no process is left that should not be, and a program that goes on is what
// it was before.
func TestEndings(t *testing.T) {
	t.Parallel()
	for _, ending := range endings {
		for _, state := range states {
			t.Run(ending.name+"/"+state.name, func(t *testing.T) {
				t.Parallel()
				s := serveReading(t, []string{"--once"}, "hammer", "4", state.interval)
				c := s.connect()
				c.trace(s.at("tick_emulated"), s.at("tick_slot"), s.at("site_stepped"), s.at("tick_slot")+7)
				if len(s.scratch()) == 0 {
					t.Fatal("no slots: there is nothing to clean up")
				}
				state.reach(c)
				ending.how(s, c)
				if ending.survives {
					s.asBefore()
					s.makesProgress()
					s.end()
					s.rightResults()
				}
				if code := s.server.Wait(t); code != ending.status {
					t.Errorf("exit status %d, want %d", code, ending.status)
				}
				s.noneLeft()
				s.soundServer()
			})
		}
	}
}

// asBefore fails the test unless the program is free of its tracer and of all traces of it.
func (s *subject) asBefore() {
	s.Helper()
	if !alive(s.pid) {
		s.Fatal("the program has died")
	}
	if tracer := s.tracer(); tracer != 0 {
		s.Errorf("the program is traced by %d", tracer)
	}
	s.untouchedText()
	if left := s.scratch(); len(left) > 0 {
		s.Errorf("mappings left behind: %#x", left)
	}
	for _, task := range tasks(s.pid) {
		if strings.ContainsRune("tT", rune(task.state)) {
			s.Errorf("thread %d is stopped (%c)", task.pid, task.state)
		}
	}
}

// TestDetachAgainAndAgain detaches from a program in the middle of hits many times over, so that each place where a thread can
// be caught has its turn.
func TestDetachAgainAndAgain(t *testing.T) {
	t.Parallel()
	for range 12 {
		s := serveReading(t, nil, "hammer", "6", "100")
		c := s.connect()
		c.pass(14)
		c.trace(s.at("tick_emulated"), s.at("tick_slot"), s.at("site_stepped"))
		c.goOn()
		c.makesProgress()
		do(c, request.Detach, request.MaybeProcess{})
		c.hangUp()
		s.asBefore()
		s.makesProgress()
		s.end()
		s.rightResults()
		s.noneLeft()
	}
}

// TestServerWithoutClient ends a server that nobody has connected to.
func TestServerWithoutClient(t *testing.T) {
	t.Parallel()
	for _, ending := range endings[:3] {
		s := serveReading(t, nil, "hammer", "2")
		ending.how(s, nil)
		if code := s.server.Wait(t); code != 0 {
			t.Errorf("exit status %d after %s, want 0", code, ending.name)
		}
		s.noneLeft()
	}
}

// TestServerEndsUnattendedRun ends a server while a run goes on without a client.
func TestServerEndsUnattendedRun(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "hammer", "4", "200")
	c := s.connect()
	do(c, request.Disconnected, true)
	c.trace(s.at("tick_emulated"), s.at("tick_slot"))
	do(c, request.Detach, request.MaybeProcess{})
	c.hangUp()
	s.makesProgress()
	s.server.Signal(t, terminate)
	if code := s.server.Wait(t); code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
	s.noneLeft()
	s.soundServer()
}
