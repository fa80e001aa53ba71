//go:build linux

package robust

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/rsp/request"
)

// toEnd lets the program run to its end and looks at its results.
func (c *client) toEnd() {
	c.Helper()
	c.goOn()
	c.wants(c.hear(), "W00")
	c.rightResults()
}

// TestSignalsInSlots has signals arrive at a high rate while a program runs through tracepoints of all kinds, in the code
// that is interrupted and in the handler.
func TestSignalsInSlots(t *testing.T) {
	t.Parallel()
	for _, passed := range []bool{true, false} {
		t.Run(fmt.Sprintf("passed=%v", passed), func(t *testing.T) {
			t.Parallel()
			// Signals that stop the program must leave it time to get on in between.
			interval := map[bool]string{true: "200", false: "10000"}[passed]
			s := serve(t, nil, "signals", "200", interval)
			c := s.connect()
			step := s.at("step")
			// Every instruction of the function is a place, of the handler the first.
			places := append(s.instructions("step"), s.at("handled_step"))
			c.trace(places...)
			if passed {
				c.pass(14)
				c.toEnd()
			} else {
				c.goOn()
				for strings.HasPrefix(c.hear(), "T0e") {
					if pc := c.register(registerPC); s.inScratch(pc) {
						t.Fatalf("a signal stopped the program at %#x, in a slot", pc)
					}
					c.tell("vCont;C0e:%s;c", c.current())
				}
			}
			done := s.rightResults()
			c.wantHits(1, step, 200)
			if done.Int(t, "handled_wrong") != 0 {
				t.Errorf("the handler got wrong results: %v", done.Fields)
			}
			c.wantHits(len(places), s.at("handled_step"), uint64(done.Int(t, "handled")))
		})
	}
}

// TestCodeThatChanges traces code that is rewritten, unmapped, protected and unloaded under its tracepoint.
func TestCodeThatChanges(t *testing.T) {
	t.Parallel()
	const rounds = 60
	for _, test := range []struct {
		how   string
		every bool // each call is a hit; else the first one or more
	}{
		{"rewrite", false}, {"unmap", false}, {"protect", true}, {"dlclose", false},
	} {
		t.Run(test.how, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil, "pages", test.how, strconv.Itoa(rounds))
			c := s.connect()
			c.runTo(s.at("ready"))
			code := c.register(registerDI)
			c.trace(code, code+4)
			c.runTo(s.at("ready"))
			hits := c.hits(1, code)
			if test.every && hits != rounds || hits == 0 || hits > rounds {
				t.Errorf("%d hits in %d rounds", hits, rounds)
			}
			command(c, request.TraceStop)
			c.frame(request.FrameQuery{})
			c.leaveFrames()
			if test.how == "rewrite" || test.how == "protect" {
				s.wantMemory(c, code, map[string]string{"rewrite": "4889f84883c003c3", "protect": "488d4702c3"}[test.how])
			}
			c.ask("QTStart") // where no code is any more it fails
			c.toEnd()
			s.soundServer()
		})
	}
}

// wantMemory fails the test unless there are certain bytes at addr, both for the client and in the program.
func (s *subject) wantMemory(c *client, addr uint64, want string) {
	s.Helper()
	s.wantShown(c, addr, want)
	if got := fmt.Sprintf("%x", s.memory(addr, len(want)/2)); got != want {
		s.Errorf("memory at %#x is %s, want %s", addr, got, want)
	}
}

// TestCodeThatOnlyExecutes begins a run while the code cannot be read by the program itself.
func TestCodeThatOnlyExecutes(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "pages", "protect", "9")
	c := s.connect()
	c.runTo(s.at("ready"))
	code := c.register(registerDI)
	// The second call is made with the page executable only: stop on its way, and trace from there.
	c.runTo(code)
	c.runTo(code)
	c.runTo(code)
	c.trace(code, code+4)
	c.toEnd()
	c.wantHits(2, code+4, 7)
}

// TestCodeThatIsSealed has a run end by a pass count in a program that has made the code under the tracepoint unwritable, to the tracer,
// too. The server warns that what it has written stays there: a breakpoint, by which the program is stopped with SIGTRAP, or a jump, whose
// pad stays as well.
func TestCodeThatIsSealed(t *testing.T) {
	t.Parallel()
	for _, way := range []struct{ flag, calls, then string }{
		{"--no-pads", "9", "T05"},
		{"--pads", "100000000", "W00"}, // some tenths of a second, in which the server notices that the run has ended
	} {
		t.Run(way.flag, func(t *testing.T) {
			t.Parallel()
			s := serve(t, []string{way.flag}, "sealed", way.calls)
			c := s.connect()
			command(c, request.TraceInit)
			c.do("QTDP:1:%x:E:0:3", s.at("sealed_add"))
			command(c, request.TraceStart)
			c.runTo(s.at("ready"))
			c.goOn()
			c.wants(c.hear(), way.then)
			c.wantHits(1, s.at("sealed_add"), 3)
			want := fmt.Sprintf("tracewell: warning: process %d: cannot put back the program's own code at %#x: ", s.pid, s.at("sealed_add"))
			s.await("the server's warning", func() bool { return strings.Contains(s.server.Stderr(), want) })
		})
	}
}

// TestSeccomp traces a program that its own filter kills when it calls mmap or munmap: no slot may be made then, nor one
// taken away that was made before.
func TestSeccomp(t *testing.T) {
	t.Parallel()
	const calls = 200
	for _, place := range []string{"ready", "filtered"} {
		for _, end := range []string{"exit", "detach"} {
			t.Run(place+"/"+end, func(t *testing.T) {
				t.Parallel()
				s := serve(t, nil, "filtered", strconv.Itoa(calls))
				c := s.connect()
				c.runTo(s.at(place))
				c.trace(s.at("step"))
				if end == "exit" {
					c.toEnd()
					c.wantHits(1, s.at("step"), calls)
					return
				}
				c.runTo(s.at("step") + 7)
				c.wantHits(1, s.at("step"), 1)
				do(c, request.Detach, request.MaybeProcess{})
				c.hangUp()
				s.rightResults()
			})
		}
	}
}

// TestProcessesStarted traces threads that start processes all at the same time, in each way: children run without
// tracepoints, and the hits of the threads are all there.
func TestProcessesStarted(t *testing.T) {
	t.Parallel()
	const threads, rounds = 4, 25
	for _, how := range []string{"fork", "vfork"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil, "forkstorm", strconv.Itoa(threads), strconv.Itoa(rounds), how)
			c := s.connect()
			c.pass(20) // SIGCHLD
			c.trace(s.at("step"), s.at("add_base"))
			c.toEnd()
			c.wantHits(1, s.at("step"), 2*threads*rounds)
			c.wantHits(2, s.at("add_base"), 2*threads*rounds)
			if left := inGroups(s.pid); len(left) > 0 {
				t.Errorf("processes left behind: %v", left)
			}
		})
	}
}

// TestInterruptedWhileProcessesStart stops a program again and again while its threads start processes: also when a thread
// waits for its vfork child, which must be led past the tracepoints for the thread to stop at all.
func TestInterruptedWhileProcessesStart(t *testing.T) {
	t.Parallel()
	const threads, rounds = 4, 60
	for _, how := range []string{"fork", "vfork"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil, "forkstorm", strconv.Itoa(threads), strconv.Itoa(rounds), how)
			c := s.connect()
			c.pass(20) // SIGCHLD
			c.trace(s.at("step"), s.at("add_base"))
			for reply := "T02"; reply != "W00"; {
				c.wants(reply, "T02")
				c.goOn()
				time.Sleep(3 * time.Millisecond)
				reply = c.interrupt()
			}
			s.rightResults()
			c.wantHits(1, s.at("step"), 2*threads*rounds)
			c.wantHits(2, s.at("add_base"), 2*threads*rounds)
		})
	}
}

// TestProgramReplacesItself traces a program that executes another while threads run through tracepoints. The frames stay, and
// the new program is untouched until it is traced itself.
func TestProgramReplacesItself(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"leader", "thread"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil, "execs", "50", how)
			c := s.connect()
			step := s.at("step")
			c.ask("qSupported:exec-events+")
			c.trace(step)
			c.goOn()
			reply := c.hear()
			if c.wants(reply, "T05"); !strings.Contains(reply, "exec:") {
				t.Errorf("stop reply %q, want one that tells of the exec", reply)
			}
			s.untouchedText()
			if n := len(c.threads()); n != 1 {
				t.Errorf("%d threads after exec, want 1", n)
			}
			if c.hits(1, step) < 50 {
				t.Errorf("%d hits before exec, want 50 or more", c.hits(1, step))
			}
			command(c, request.TraceStop)
			c.frame(request.FrameQuery{})
			c.leaveFrames()
			c.trace(step)
			c.toEnd()
			c.wantHits(1, step, 50)
			s.soundServer()
		})
	}
}

// TestStackOverflow runs over the end of the stack in instructions that a tracer emulates: they fault as they do without one. A pad
// needs stack of its own, so there a thread faults earlier.
func TestStackOverflow(t *testing.T) {
	t.Parallel()
	s := serve(t, []string{"--no-pads"}, "overflow", "4")
	c := s.connect()
	c.pass(11)
	c.trace(s.at("descend"), s.at("site_call"))
	c.toEnd()
	done, _ := s.line("done")
	if done.Fields["push"] != "2" || done.Fields["call"] != "2" {
		t.Errorf("faults: %v, want 2 of each", done.Fields)
	}
	if pushes, calls := c.hits(1, s.at("descend")), c.hits(2, s.at("site_call")); pushes != calls+2 {
		t.Errorf("%d hits on the push and %d on the call behind it, want two fewer", pushes, calls)
	}
}

// TestThreadsThatEnd has hundreds of threads come, be hit a few times, and go.
func TestThreadsThatEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "manythreads", "600", "3", "16")
	c := s.connect()
	step := s.at("step")
	c.trace(s.instructions("step")...)
	c.goOn()
	c.wants(c.hear(), "W00")
	c.wantHits(1, step, 600*3)
	s.soundServer()
}

// TestManyThreads has a hundred and more threads run through tracepoints at the same time, stops them, and goes on.
func TestManyThreads(t *testing.T) {
	t.Parallel()
	const threads = 130
	s := serveReading(t, nil, "hammer", strconv.Itoa(threads), "1000")
	c := s.connect()
	c.pass(14)
	c.trace(s.at("tick_emulated"), s.at("tick_slot"), s.at("site_stepped"))
	for range 5 {
		c.goOn()
		c.makesProgress()
		c.wants(c.interrupt(), "T02")
		if n := len(c.threads()); n != threads+1 {
			t.Errorf("%d threads, want %d", n, threads+1)
		}
	}
	s.end()
	c.toEnd()
	s.soundServer()
}

// TestBlockingSystemCall has one thread wait in a system call that has a tracepoint on it, and another thread do what ends the
// wait: it must not be held meanwhile.
func TestBlockingSystemCall(t *testing.T) {
	t.Parallel()
	const rounds = 40
	s := serve(t, nil, "blocked", strconv.Itoa(rounds))
	c := s.connect()
	c.trace(s.at("site_read"), s.at("site_read")+2, s.at("step"))
	c.toEnd()
	c.wantHits(1, s.at("site_read"), rounds)
	c.wantHits(2, s.at("site_read")+2, rounds)
	c.wantHits(3, s.at("step"), 100*rounds)
}
