package tracepoint

import (
	"runtime"
	"sync"
	"testing"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// stressTarget is a target with a goroutine of its own, which hits what is installed all the time and serves requests
// between hits: a request made with a lock held that a hit needs would never be served.
type stressTarget struct {
	engine   *Engine
	handler  target.Handler
	requests chan func()
	sites    map[arch.Addr]bool
	halts    int
}

func (s *stressTarget) do(f func()) {
	done := make(chan struct{})
	s.requests <- func() { f(); close(done) }
	<-done
}

func (s *stressTarget) SetHandler(target.Handler)   {}
func (s *stressTarget) Collector() target.Collector { return nil }

func (s *stressTarget) Install(_ int, at arch.Addr, _ []arch.Addr) error {
	s.do(func() { s.sites[at] = true })
	return nil
}

func (s *stressTarget) Uninstall(_ int, at arch.Addr) error {
	s.do(func() { delete(s.sites, at) })
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
		s.handler.ThreadGone(thread.id)
	}
	verdict := target.Continue
	for addr := range s.sites {
		thread.pc = addr
		verdict |= s.handler.Hit(addr, thread)
	}
	if verdict&target.Step != 0 && verdict&target.Halt == 0 {
		thread.pc++
		verdict |= s.handler.Stepped(thread)
	}
	if verdict&target.Halt != 0 {
		s.halts++
		clear(s.sites)
	}
}

// TestStress has a target at work and sessions that define, start, stop, search, read and save, all at once. It is for the
// race detector, and to see that nothing waits for ever.
func TestStress(t *testing.T) {
	e := New(testLayout())
	tg := &stressTarget{engine: e, handler: e.NewHandler(), requests: make(chan func()), sites: make(map[arch.Addr]bool)}
	tg.define(t)
	finished := make(chan struct{})
	go func() { tg.run(); close(finished) }()

	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	var sessions sync.WaitGroup
	for _, session := range []func(round int){tg.runs, tg.changes, tg.looks, tg.saves} {
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
	tg.do(func() {
		if len(tg.sites) > 0 || tg.halts == 0 {
			t.Errorf("%d sites left after the run; %d runs ended by themselves, want some", len(tg.sites), tg.halts)
		}
	})
	close(tg.requests)
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
	s.engine.Start(s, 1) // is refused now and then, as the others do things as well
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
