//go:build linux

package robust

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/arch/x86/x86asm"

	"tracewell/rsp/request"
)

// instruction is one of the program's, by another decoder than the server's.
type instruction struct {
	addr uint64
	x86asm.Inst
}

// decode lists the instructions of a function, which has no tracepoints yet.
func (s *subject) decode(function string) []instruction {
	s.Helper()
	var list []instruction
	addr, size := s.at(function), s.symbols[function].Size
	for code := s.memory(addr, int(size)); len(code) > 0; {
		in, err := x86asm.Decode(code, 64)
		if err != nil {
			s.Fatalf("%s at %#x: %v", function, addr, err)
		}
		list = append(list, instruction{addr, in})
		addr, code = addr+uint64(in.Len), code[in.Len:]
	}
	return list
}

// instructions lists where the instructions of a function begin.
func (s *subject) instructions(function string) []uint64 {
	s.Helper()
	var starts []uint64
	for _, in := range s.decode(function) {
		starts = append(starts, in.addr)
	}
	return starts
}

// hammered are the functions of the program hammer that its threads are mostly in.
var hammered = []string{"tick_emulated", "tick_slot", "tick_stepped", "run"}

// honest fails the test if a thread shows a pc that the program would never have without a tracer.
type honest struct {
	*subject
	code  map[uint64]instruction
	slots []mapping
}

// watch notes where instructions begin; it is called before anything is traced.
func (s *subject) watch() *honest {
	h := &honest{subject: s, code: map[uint64]instruction{}}
	for _, function := range hammered {
		for _, in := range s.decode(function) {
			h.code[in.addr] = in
		}
	}
	return h
}

// check looks at the pc of every thread.
func (h *honest) check(c *client) {
	h.Helper()
	if h.slots == nil {
		h.slots = h.scratch()
	}
	for _, thread := range c.threads() {
		c.do("Hg%s", thread)
		h.checkPC(thread, c.register(registerPC))
	}
}

func (h *honest) checkPC(thread string, pc uint64) {
	h.Helper()
	if slices.ContainsFunc(h.slots, func(m mapping) bool { return m.holds(pc) }) {
		h.Errorf("thread %s shows pc %#x, in a slot", thread, pc)
	}
	for _, function := range hammered {
		f := h.symbols[function]
		if _, begins := h.code[pc]; f.Value <= pc && pc < f.Value+f.Size && !begins {
			h.Errorf("thread %s shows pc %#x, inside an instruction of %s", thread, pc, function)
		}
	}
}

// TestInterruptsAtRandom presses Ctrl-C at random times in a run through tracepoints of every kind, with signals arriving.
func TestInterruptsAtRandom(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	s := serveReading(t, nil, "hammer", "4", "300")
	c := s.connect()
	c.pass(14)
	h := s.watch()
	c.trace(s.at("tick_emulated"), s.at("tick_slot"), s.at("site_stepped"), s.at("tick_slot")+7, s.at("tick_emulated")+4)
	for range 200 {
		c.goOn()
		time.Sleep(time.Duration(random.IntN(2000)) * time.Microsecond)
		c.wants(c.interrupt(), "T02")
		h.check(c)
	}
	c.goOn()
	c.makesProgress()
	s.end()
	c.wants(c.hear(), "W00")
	s.rightResults()
	s.soundServer()
}

// TestStepsOfEachThread steps one thread at a time through code full of tracepoints: it moves by one instruction and no other
// thread moves.
func TestStepsOfEachThread(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "hammer", "4")
	c := s.connect()
	h := s.watch()
	c.trace(s.at("tick_emulated"), s.at("tick_slot"), s.at("tick_slot")+7)
	c.goOn()
	c.makesProgress()
	c.wants(c.interrupt(), "T02")
	threads := c.threads()
	for i := range 100 {
		chosen := threads[1+i%(len(threads)-1)] // the first one waits for input
		before := c.positions(threads)
		c.tell("vCont;s:%s", chosen)
		c.wants(c.hear(), "T05")
		after := c.positions(threads)
		for j, thread := range threads {
			if thread != chosen && before[j] != after[j] {
				t.Fatalf("thread %s moved from %#x to %#x with the step of %s", thread, before[j], after[j], chosen)
			}
			if thread == chosen && !h.follows(before[j], after[j]) {
				t.Errorf("thread %s went from %#x to %#x in one step", thread, before[j], after[j])
			}
		}
		h.check(c)
	}
	s.end()
	c.toEnd()
}

// follows reports whether one instruction can lead from one place to another, as far as both are known.
func (h *honest) follows(from, to uint64) bool {
	in, known := h.code[from]
	name := in.Op.String()
	if !known || name == "RET" || name == "CALL" || strings.HasPrefix(name, "J") {
		return true
	}
	return to == from+uint64(in.Len)
}

// positions are the pcs of threads.
func (c *client) positions(threads []string) []uint64 {
	c.Helper()
	var at []uint64
	for _, thread := range threads {
		c.do("Hg%s", thread)
		at = append(at, c.register(registerPC))
	}
	return at
}

// TestStepsThenRuns steps all threads at once, one arriving first, and lets them run: what is left of the others' steps must
// not stop the program, nor kill it when it is let go.
func TestStepsThenRuns(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "hammer", "4")
	c := s.connect()
	c.trace(s.at("tick_emulated"), s.at("tick_slot"))
	for range 40 {
		c.tell("vCont;s")
		c.wants(c.hear(), "T05")
		c.goOn()
		time.Sleep(time.Millisecond)
		c.wants(c.interrupt(), "T02")
	}
	for range 20 {
		c.tell("vCont;s")
		c.wants(c.hear(), "T05")
	}
	do(c, request.Detach, request.MaybeProcess{})
	c.hangUp()
	s.asBefore()
	s.makesProgress()
	s.end()
	s.rightResults()
}

// TestRangeSteps has each thread in turn leave a range, with tracepoints inside and the others running.
func TestRangeSteps(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "hammer", "3")
	c := s.connect()
	h := s.watch()
	emulated, slot := s.symbols["tick_emulated"], s.symbols["tick_slot"]
	c.trace(emulated.Value, slot.Value, slot.Value+7)
	for range 60 {
		c.runTo(slot.Value)
		thread := c.current()
		c.tell("vCont;r%x,%x:%s;c", slot.Value, slot.Value+slot.Size, thread)
		c.wants(c.hear(), "T05")
		if now := c.current(); now != thread {
			t.Fatalf("thread %s stopped, want %s", now, thread)
		}
		if pc := c.register(registerPC); slot.Value <= pc && pc < slot.Value+slot.Size {
			t.Errorf("the step ended at %#x, inside its range", pc)
		}
		h.check(c)
	}
	s.end()
	c.toEnd()
}

// TestBreakpointForAll has all threads run into one breakpoint, with a tracepoint at the same place and without.
func TestBreakpointForAll(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tick_emulated", "tick_slot", "site_stepped"} {
		for _, traced := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "/traced"}[traced], func(t *testing.T) {
				t.Parallel()
				interval := "1000" // of signals, whose handlers return to the breakpoint, which is then another stop of one hit
				if traced {
					interval = "0"
				}
				s := serveReading(t, nil, "hammer", "4", interval)
				c := s.connect()
				c.pass(14)
				h := s.watch()
				place := s.at(name)
				c.trace()
				if traced {
					c.trace(place)
				}
				c.insert(place)
				stops, thread := map[string]int{}, ""
				for i := range 100 {
					if i > 0 {
						c.do("Hg%s", thread) // the check has selected others
						c.stepOff(place)
					}
					c.goOn()
					reply := c.hear()
					c.wants(reply, "T05")
					thread = c.current()
					stops[thread]++
					if pc := c.register(registerPC); pc != place {
						t.Fatalf("stop at %#x, want the breakpoint at %#x: %s", pc, place, reply)
					}
					h.check(c)
				}
				if len(stops) < 2 {
					t.Errorf("all stops were of one thread: %v", stops)
				}
				if traced && c.hits(1, place) < 100 {
					t.Errorf("%d hits in 100 stops", c.hits(1, place))
				}
				c.remove(place)
				s.end()
				c.toEnd()
			})
		}
	}
}

// TestPassedSignalsAreTheProgramsOwn has every signal passed on to the program: stops that are none of its signals stay stops. A
// signal that comes to a thread which is stepped is told all the same.
func TestPassedSignalsAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "hammer", "2", "1000")
	c := s.connect()
	c.pass(1, 2, 5, 9, 14, 15, 20, 28)
	for range 20 {
		c.goOn()
		c.makesProgress()
		c.wants(c.interrupt(), "T02")
		thread := c.threads()[1]
		c.do("Hg%s", thread)
		c.tell("vCont;s:%s", thread)
		stop := c.hear()
		for strings.HasPrefix(stop, "T0e") {
			c.tell("vCont;S0e:%s", thread)
			stop = c.hear()
		}
		c.wants(stop, "T05")
		c.runTo(s.at("tick_slot"))
	}
	s.end()
	c.toEnd()
}
