package tracepoint

import (
	"runtime"
	"sync"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// stressTarget is a target with a goroutine of its own, which hits what is installed all the time and serves requests
// between hits: a request made with a lock held that a hit needs would never be served.
type stressTarget struct {
	engine   *Engine
	requests chan func()
	sites    map[arch.Addr]*Site
	halts    int
}

func (s *stressTarget) do(f func()) {
	done := make(chan struct{})
	s.requests <- func() { f(); close(done) }
	<-done
}

func (s *stressTarget) Install(site *Site) error {
	s.do(func() { s.sites[site.Addr] = site })
	return nil
}

func (s *stressTarget) Uninstall(site *Site) error {
	s.do(func() { delete(s.sites, site.Addr) })
	return nil
}

func (s *stressTarget) run() {
	thread := &fakeThread{memory: []stretch{{0x100, []byte{1, 2, 3, 4}}}}
	for i := 0; ; i++ {
		select {
		case f, ok := <-s.requests:
			if !ok {
				return
			}
			f()
		default:
			s.turn(thread, i)
			runtime.Gosched()
		}
	}
}

// turn lets one of three threads reach each site.
func (s *stressTarget) turn(thread *fakeThread, i int) {
	thread.id = int64(i % 3)
	if i%50 == 0 {
		s.engine.ThreadGone(thread.id)
	}
	verdict := Continue
	for addr, site := range s.sites {
		thread.pc = addr
		verdict |= site.Hit(thread)
	}
	if verdict&Step != 0 && verdict&Halt == 0 {
		thread.pc++
		verdict |= s.engine.Stepped(thread)
	}
	if verdict&Halt != 0 {
		s.halts++
		clear(s.sites)
	}
}

// TestStress has a target at work and sessions that define, start, stop, search, read and save, all at once. It is for the
// race detector, and to see that nothing waits for ever.
func TestStress(t *testing.T) {
	e := New(testLayout())
	target := &stressTarget{engine: e, requests: make(chan func()), sites: make(map[arch.Addr]*Site)}
	target.define(t)
	finished := make(chan struct{})
	go func() { target.run(); close(finished) }()

	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	var sessions sync.WaitGroup
	for _, session := range []func(round int){target.runs, target.changes, target.looks, target.saves} {
		sessions.Go(func() {
			for round := range rounds {
				session(round)
			}
		})
	}
	sessions.Wait()
	if err := e.Stop(trace.ReasonStop, ""); err != nil {
		t.Error(err)
	}
	target.do(func() {
		if len(target.sites) > 0 || target.halts == 0 {
			t.Errorf("%d sites left after the run; %d runs ended by themselves, want some", len(target.sites), target.halts)
		}
	})
	close(target.requests)
	<-finished
	if e.Status().Running || len(e.sessions) > 0 {
		t.Errorf("after it all: %+v, %d sessions", e.Status(), len(e.sessions))
	}
}

func (s *stressTarget) define(t *testing.T) {
	passing := steppingAt(3, 0x30, 2)
	passing.Pass = 40
	for _, tracepoint := range []trace.Tracepoint{
		tracepointAt(1, 0x10, collectRegisters, collectMemory(0x100, 4)), steppingAt(2, 0x20, 5), passing,
	} {
		if err := s.engine.Define(tracepoint, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.engine.SetBufferSize(2000); err != nil {
		t.Fatal(err)
	}
}

// runs starts and stops.
func (s *stressTarget) runs(round int) {
	s.engine.SetCircular(round%4 != 0)
	s.engine.Start(s) // is refused now and then, as the others do things as well
	s.engine.SetStopNote("a note")
	for range 50 {
		runtime.Gosched()
	}
	if round%3 == 0 {
		s.engine.Stop(trace.ReasonStop, "")
	}
	if round%10 == 0 {
		s.engine.SetBufferSize(int64(1000 + round))
	}
}

// changes defines, enables and disables.
func (s *stressTarget) changes(round int) {
	s.engine.Enable(trace.Key{Number: 1, Addr: 0x10}, round%2 == 0)
	added := tracepointAt(4, 0x1000+arch.Addr(round%20), collectMemory(0x101, 3))
	s.engine.Define(added, true)
	s.engine.AddActions(added.Key(), false, nil, false)
	s.engine.Enable(added.Key(), round%3 != 0)
	s.engine.DefineVariable(trace.Variable{Number: trace.VariableNumber(2 + round%5), Name: "v"})
}

// looks does what GDB does to look at frames.
func (s *stressTarget) looks(round int) {
	e := s.engine
	n, _ := e.Find(tfile.Query{Kind: tfile.ByOutside, Low: 0x10, High: 0x20}, round%5)
	if f, ok := e.Frame(n); ok && len(f.Bytes()) < tfile.FrameHeader {
		panic("a frame without a header")
	}
	e.Status()
	e.Hits(trace.Key{Number: 1, Addr: 0x10})
	e.Tracepoints()
	e.Variables()
	e.Variable(trace.Timestamp)
	e.ReadOnly(0x10, 1)
}

// saves reads the buffer in both ways.
func (s *stressTarget) saves(round int) {
	dst := make([]byte, 300)
	for offset := int64(0); ; {
		n, err := s.engine.ReadBuffer(offset, dst)
		if err != nil {
			break
		}
		offset += int64(n)
	}
	for f := range s.engine.Frames() {
		if size := s.engine.layout.Order.Uint32(f.Bytes()[2:]); int(size) != len(f.Bytes())-tfile.FrameHeader {
			panic("a frame that is not whole")
		}
	}
}
