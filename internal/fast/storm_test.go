//go:build linux && amd64

package fast

import (
	"encoding/binary"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tracewell/arch"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/test/native"
)

// storm is some threads that hit one site at once, in this process.
type storm struct {
	memory  native.Memory
	reader  *Reader
	control Control
	threads int
}

const (
	stormTick    = 0x100
	stormPad     = 0x1000
	stormLoops   = 0x4000 // one for each thread, a page apart
	stormData    = 0x9000 // a cache line for each thread: its number, and the number of its hit
	stormControl = 0x10000
	stormRing    = stormControl + ControlSize
)

// newStorm makes the loops and the pad. All slots must have a size that divides the ring's, as it is mapped once only.
func newStorm(t *testing.T, threads, hits int, sleep bool, tracepoints ...Tracepoint) *storm {
	t.Helper()
	m := native.Map(t, stormRing+2*MinRing)
	original := []byte{0x48, 0xc7, 0xc0, 0x2a, 0, 0, 0} // mov $42, %rax
	put := func(at int, a *asm.Assembler) {
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		copy(m.Bytes[at:], code)
	}
	tick := asm.New(m.Addr(stormTick))
	tick.JmpTo(m.Addr(stormPad))
	tick.Nop(2)
	tick.Ret()
	put(stormTick, tick)
	for i := range threads {
		loop := asm.New(m.Addr(stormLoops + i<<12))
		loop.Push(asm.RBX)
		loop.MovImm(asm.RBX, int64(hits))
		loop.MovImm(asm.RSI, int64(m.Addr(stormData+i<<6)))
		loop.StoreImm(8, asm.At(asm.RSI, 0), int32(i))
		again := loop.Here()
		loop.Inc(8, asm.At(asm.RSI, 8))
		loop.CallTo(m.Addr(stormTick))
		loop.Dec(8, asm.RBX)
		loop.Jcc(asm.CondNE, again)
		loop.Pop(asm.RBX)
		loop.Ret()
		put(stormLoops+i<<12, loop)
	}
	arena := &Arena{Control: m.Addr(stormControl), Ring: m.Addr(stormRing), RingSize: MinRing, Key: 0x9e3779b97f4a7c15}
	control, err := NewControl(wordsOf(m.Bytes[stormControl:stormRing]), arena)
	if err != nil {
		t.Fatal(err)
	}
	pad, err := Build(&Site{Arena: arena, Index: 1, Addr: m.Addr(stormTick), Pad: m.Addr(stormPad), Tracepoints: tracepoints,
		Next: m.Addr(stormTick + 7), Displace: func(arch.Addr) ([]byte, error) { return original, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if MinRing%pad.Slots.size != 0 {
		t.Fatalf("slots of %d bytes", pad.Slots.size)
	}
	copy(m.Bytes[stormPad:], pad.Code)
	reader, err := NewReader(arena, control, m.Bytes[stormRing:])
	if err != nil {
		t.Fatal(err)
	}
	reader.Define(pad.Slots)
	for i := range tracepoints {
		control.Enable(tracepoints[i].Index, true)
	}
	control.store(OwnerAt, 1)
	control.store(NapAt+8, uint64(20*time.Microsecond))
	control.SetPatience(0)
	if sleep {
		reader.LetSleep(AllWaits)
	}
	return &storm{m, reader, control, threads}
}

// run lets all threads go and calls take with the number of the thread, that of its hit and the value of the variable. Code that is
// not Go's cannot be stopped for the garbage collector, and waits for the reader: so there is no collection meanwhile.
func (s *storm) run(t *testing.T, take func(thread int, hit uint64, variable int64)) {
	t.Helper()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(s.threads + 2))
	var all sync.WaitGroup
	for i := range s.threads {
		all.Go(func() { s.memory.Call(stormLoops + i<<12) })
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	for last := false; ; {
		n, err := s.reader.Drain(MinRing, each(func(r *Record) {
			data := r.Frames[frameHeader+memoryHeader:]
			word := func(at int) uint64 { return binary.LittleEndian.Uint64(data[at:]) }
			take(int(word(0)), word(8), int64(word(16+5))) // the V block follows
		}))
		if err != nil {
			t.Fatal(err)
		}
		if last && n == 0 {
			break
		}
		select {
		case <-over:
			last = true
		default:
			runtime.Gosched()
		}
	}
	if n := s.reader.Outstanding(); n != 0 {
		t.Errorf("%d bytes are outstanding", n)
	}
}

// Every hit of every thread makes one frame, in the order of its thread, through a ring that is full most of the time.
func TestStorm(t *testing.T) {
	for _, sleep := range []bool{false, true} {
		const threads = 4
		hits := uint64(30_000)
		if !sleep { // threads that wait take the processor from the reader
			hits = 1000
		}
		s := newStorm(t, threads, int(hits), sleep, tracepoint(t, 1, "", "M 4 0 16", "tracev 7"))
		var last [threads]uint64
		s.run(t, func(thread int, hit uint64, _ int64) {
			if hit != last[thread]+1 {
				t.Fatalf("hit %d of thread %d after %d", hit, thread, last[thread])
			}
			last[thread] = hit
		})
		for i, n := range last {
			if n != hits {
				t.Errorf("%d hits of thread %d", n, i)
			}
		}
		t.Logf("sleep %v: %d waits", sleep, s.control.Waits())
	}
}

// A variable that all threads increment loses no increment, and the frames come in the order of its values.
func TestStormOfVariables(t *testing.T) {
	for _, sleep := range []bool{false, true} {
		const threads, hits, each = 4, 20_000, 8
		s := newStorm(t, threads, hits, sleep,
			tracepoint(t, 1, "getv 7\nconst8 1\nadd\nsetv 7\nconst8 7\nbit_and\nlog_not", "M 4 0 16", "tracev 7"))
		next := int64(0)
		s.run(t, func(_ int, _ uint64, value int64) {
			if next += each; value != next {
				t.Fatalf("value %d, want %d", value, next)
			}
		})
		if got := s.control.Variable(7); got != threads*hits || next != threads*hits {
			t.Errorf("the variable is %d, the last value %d, want %d", got, next, threads*hits)
		}
	}
}

// What the tracer does under the lock and what pads do is each done as one.
func TestStormBesideTracer(t *testing.T) {
	const threads, hits, own = 3, 20_000, 20_000
	s := newStorm(t, threads, hits, false, tracepoint(t, 1, "getv 7\nconst8 1\nadd\nsetv 7\nconst8 0", "M 4 0 16", "tracev 7"))
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range own {
			for !s.control.TryLock() {
				runtime.Gosched()
			}
			s.control.SetVariable(7, s.control.Variable(7)+1)
			s.control.Unlock()
		}
	}()
	s.run(t, func(int, uint64, int64) { t.Error("a frame, though the condition is false") })
	<-over
	if got := s.control.Variable(7); got != threads*hits+own {
		t.Errorf("the variable is %d, want %d", got, threads*hits+own)
	}
}

// A thread that waits for a tracer to give the lock back goes on when the tracer is dead, and pads are off from then on.
func TestLockOfDeadTracer(t *testing.T) {
	s := newStorm(t, 1, 1000, false, tracepoint(t, 1, "getv 7\nconst8 1\nadd\nsetv 7\nconst8 0", "M 4 0 16", "tracev 7"))
	if !s.control.TryLock() || s.control.TryLock() {
		t.Fatal("the lock is not free, or was taken twice")
	}
	var before atomic.Int64
	time.AfterFunc(20*time.Millisecond, func() {
		before.Store(s.control.Variable(7))
		s.control.store(OwnerAt, ownerDied)
	})
	s.run(t, func(int, uint64, int64) { t.Error("a frame, though the condition is false") })
	if after := s.control.Variable(7); before.Load() != 0 || after != 1 {
		t.Errorf("the variable was %d under the lock of a tracer, and is %d after 1000 hits, want 0 and 1", before.Load(), after)
	}
}

// BenchmarkBuild measures how long a pad takes to be made.
func BenchmarkBuild(b *testing.B) {
	registers := coreRegisters(b)
	tp := tracepoint(b, 1, "reg 4\nref64\nconst8 11\nequal", "R", "M 4 0 16")
	arena := &Arena{Control: 0x20000000, Ring: 0x30000000, RingSize: 1 << 20}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(&Site{Arena: arena, Addr: siteAddr, Pad: 0x11000000, Tracepoints: []Tracepoint{tp}, Registers: registers,
			Next: siteAddr + 5, Displace: func(arch.Addr) ([]byte, error) { return []byte{0x90}, nil }}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDrain measures what the reader takes for a frame of registers and 16 bytes, and asserts that it allocates nothing.
func BenchmarkDrain(b *testing.B) {
	a, control, ring := ringOf(b)
	s := hostileSlots(b, a)[0]
	r, err := NewReader(a, control, ring)
	if err != nil {
		b.Fatal(err)
	}
	r.Define(s)
	f := &s.frames[0]
	fill := func(tail uint64) (n int) {
		for at := 0; at+s.size <= MinRing; at += s.size {
			slot := ring[at:][:s.size]
			binary.LittleEndian.PutUint64(slot, (tail+uint64(at))^a.Key)
			binary.LittleEndian.PutUint16(slot[slotUnits:], uint16(s.size/slotAlign))
			binary.LittleEndian.PutUint32(slot[slotSite:], uint32(s.site))
			slot[slotPresent] = 1
			binary.LittleEndian.PutUint16(slot[f.at:], uint16(f.key.Number))
			binary.LittleEndian.PutUint32(slot[f.at+2:], uint32(f.end-f.at-frameHeader))
			slot[f.blocks[0].at], slot[f.blocks[1].at] = 'R', 'M'
			binary.LittleEndian.PutUint16(slot[f.blocks[1].at+9:], 16)
			n++
		}
		return n
	}
	frames, took := 0, time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		r.tail.Store(0)
		frames += fill(0)
		start := time.Now()
		if _, err := r.Drain(MinRing, func([]Record) {}); err != nil {
			b.Fatal(err)
		}
		took += time.Since(start)
	}
	b.ReportMetric(float64(took)/float64(frames), "ns/frame")
}
