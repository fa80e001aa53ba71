package tracepoint

import (
	"fmt"
	"testing"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// TestCondition: a hit is one whose condition holds.
func TestCondition(t *testing.T) {
	r := newRig(t)
	conditional := tracepointAt(1, 0x10, collectMemory(0x100, 1))
	conditional.Condition = expression(t, "reg 0\n const8 3\n equal\n end")
	r.start(conditional, tracepointAt(2, 0x10))
	f := &fakeThread{pc: 0x10, memory: []stretch{{0x100, []byte{9}}}}
	for i := range uint64(5) {
		f.registers[0] = i
		if v := r.hit(f); v != target.Continue {
			t.Fatalf("verdict %d", v)
		}
	}
	r.wantFrames("2:", "2:", "2:", "1: M 0x100 09", "2:", "2:")
	hits, usage, _ := r.Hits(trace.Key{Number: 1, Addr: 0x10})
	if hits != 1 || usage != 12 {
		t.Errorf("%d hits with %d bytes, want 1 with 12, which leaves out the frame header", hits, usage)
	}
}

// TestConditionRecordsNothing: a condition that traces does not leak into the frame of its own or another tracepoint.
func TestConditionRecordsNothing(t *testing.T) {
	r := newRig(t)
	conditional := tracepointAt(1, 0x10)
	conditional.Condition = expression(t, "const16 0x100\n const8 1\n trace\n tracev 1\n const8 1\n end")
	r.start(conditional, tracepointAt(2, 0x10))
	r.hit(&fakeThread{pc: 0x10, memory: []stretch{{0x100, []byte{9}}}})
	r.wantFrames("1:", "2:")
}

// TestErrors: what fails ends the run and says so, which gdbserver does not do for trap tracepoints.
func TestErrors(t *testing.T) {
	const read = "const8 0\n ref32\n end"
	const memory = "invalid memory access: ref32 at offset 2: 4 bytes at 0x0: 0 of them readable"
	condition := tracepointAt(7, 0x10, collectRegisters)
	condition.Condition = expression(t, read)
	for _, test := range []struct {
		name       string
		tracepoint trace.Tracepoint
		want       string
		frames     []string
		hits       uint64
	}{
		{"condition", condition, memory, nil, 0},
		{"action", tracepointAt(7, 0x10, collectMemory(0x100, 1), collectExpression(t, read), collectMemory(0x101, 1)),
			memory, []string{"7: M 0x100 01 M 0x101 02"}, 1},
		{"division", tracepointAt(7, 0x10, collectExpression(t, "const8 1\n const8 0\n div_signed\n end")),
			"divide by zero: div_signed at offset 4", []string{"7:"}, 1},
		{"base register", tracepointAt(7, 0x10, trace.Action{Kind: 'M', Base: 9, Offset: 8, Length: 1}),
			"memory at register 9 plus 0x8: no such register", []string{"7:"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.start(test.tracepoint)
			v := r.hit(&fakeThread{pc: 0x10, memory: []stretch{{0x100, []byte{1, 2}}}})
			if v != target.Halt {
				t.Errorf("verdict %d, want Halt", v)
			}
			r.wantEnd(trace.ReasonError, 7, test.want)
			r.wantFrames(test.frames...)
			if hits, _, _ := r.Hits(test.tracepoint.Key()); hits != test.hits {
				t.Errorf("%d hits, want %d", hits, test.hits)
			}
		})
	}
}

func TestPassCount(t *testing.T) {
	r := newRig(t)
	counted := tracepointAt(3, 0x10)
	counted.Pass = 2
	r.start(counted, tracepointAt(4, 0x10))
	if v := r.hit(&fakeThread{pc: 0x10}); v != target.Continue {
		t.Errorf("first hit: verdict %d", v)
	}
	if v := r.hit(&fakeThread{pc: 0x10}); v != target.Halt {
		t.Errorf("second hit: verdict %d, want Halt", v)
	}
	r.wantEnd(trace.ReasonPassCount, 3, "")
	r.wantFrames("3:", "4:", "3:", "4:")
}

// TestPrecedence has one hit bring about several ends, in each order.
func TestPrecedence(t *testing.T) {
	failing := tracepointAt(1, 0x10)
	failing.Condition = expression(t, "end")
	large := tracepointAt(2, 0x10, collectRegisters)
	passed := tracepointAt(3, 0x10)
	passed.Pass = 1
	for _, test := range []struct {
		tracepoints []trace.Tracepoint
		reason      trace.StopReason
		number      trace.Number
	}{
		{[]trace.Tracepoint{failing}, trace.ReasonError, 1},
		{[]trace.Tracepoint{failing, large}, trace.ReasonFull, 0},
		{[]trace.Tracepoint{large, failing}, trace.ReasonFull, 0},
		{[]trace.Tracepoint{failing, large, passed}, trace.ReasonPassCount, 3},
		{[]trace.Tracepoint{passed, large, failing}, trace.ReasonPassCount, 3},
	} {
		r := newRig(t)
		r.must(r.SetBufferSize(20))
		r.start(test.tracepoints...)
		r.hit(&fakeThread{pc: 0x10})
		s := r.Status()
		if s.Running || s.Reason != test.reason || s.Tracepoint != test.number {
			t.Errorf("%d tracepoints: %s by %d, want %s by %d", len(test.tracepoints), s.Reason, s.Tracepoint, test.reason, test.number)
		}
	}
}

// TestLinearFull: the frame that does not fit is not there, nor is any after it, and the run is over at once. gdbserver
// records empty frames and goes on.
func TestLinearFull(t *testing.T) {
	r := newRig(t)
	r.must(r.SetBufferSize(100))
	r.start(tracepointAt(1, 0x10, collectRegisters), tracepointAt(2, 0x10))
	f := &fakeThread{pc: 0x10}
	for i := range 2 {
		if v := r.hit(f); v != target.Continue {
			t.Fatalf("hit %d: verdict %d", i, v)
		}
	}
	if s := r.Status(); s.Free != 100-2*(6+25)-2*6 || s.Frames != 4 {
		t.Errorf("%d bytes free, %d frames", s.Free, s.Frames)
	}
	if v := r.hit(f); v != target.Halt {
		t.Errorf("verdict %d, want Halt", v)
	}
	r.wantEnd(trace.ReasonFull, 0, "")
	if s := r.Status(); s.Frames != 4 || s.Created != 4 {
		t.Errorf("%d frames, %d created, want 4", s.Frames, s.Created)
	}
	if hits, usage, _ := r.Hits(trace.Key{Number: 1, Addr: 0x10}); hits != 3 || usage != 50 {
		t.Errorf("%d hits, %d bytes; want 3, as they came, and 50, as they were kept", hits, usage)
	}
}

// TestCircular: the oldest frames go, the numbers shift, and a frame larger than the buffer ends the run.
func TestCircular(t *testing.T) {
	r := newRig(t)
	r.must(r.SetBufferSize(75))
	r.SetCircular(true)
	r.must(r.DefineVariable(trace.Variable{Number: 2, Name: "i"}))
	r.start(
		tracepointAt(1, 0x10, collectExpression(t, "getv 2\n const8 1\n add\n setv 2\n tracev 2\n end")),
		tracepointAt(2, 0x20, collectRegisters, collectMemory(0x100, 64)))
	for range 10 {
		if v := r.hit(&fakeThread{pc: 0x10}); v != target.Continue {
			t.Fatalf("verdict %d", v)
		}
	}
	r.wantFrames("1: V 2=8", "1: V 2=9", "1: V 2=10")
	if s := r.Status(); s.Frames != 3 || s.Created != 10 || s.Free != 75-3*19 || !s.Circular {
		t.Errorf("status %+v", s)
	}
	if v := r.hit(&fakeThread{pc: 0x20, memory: []stretch{{0x100, make([]byte, 64)}}}); v != target.Halt {
		t.Errorf("a frame larger than the buffer: verdict %d, want Halt", v)
	}
	r.wantEnd(trace.ReasonFull, 0, "")
	r.wantFrames("1: V 2=8", "1: V 2=9", "1: V 2=10")
}

// TestCircularSwitch: the mode can change at any time.
func TestCircularSwitch(t *testing.T) {
	r := newRig(t)
	r.must(r.SetBufferSize(12))
	r.SetCircular(true)
	r.start(tracepointAt(1, 0x10))
	for range 5 {
		r.hit(&fakeThread{pc: 0x10})
	}
	r.SetCircular(false)
	if v := r.hit(&fakeThread{pc: 0x10}); v != target.Halt {
		t.Errorf("verdict %d, want Halt", v)
	}
	if s := r.Status(); s.Reason != trace.ReasonFull || s.Created != 5 || s.Frames != 2 {
		t.Errorf("status %+v", s)
	}
}

// hitRig is a run for measuring: registers and 16 bytes at 0x10, a condition that never holds at 0x20, and what an
// expression can collect besides at 0x30.
func hitRig(t testing.TB, r *rig) *fakeThread {
	never := tracepointAt(2, 0x20, collectRegisters)
	never.Condition = expression(t, "reg 0\n const8 16\n add\n const16 0x100\n ref32\n ext 32\n equal\n end")
	r.SetCircular(true)
	r.must(r.DefineVariable(trace.Variable{Number: 2, Name: "n"}))
	stepping := tracepointAt(4, 0x40)
	stepping.Step = 2
	stepping.StepActions = []trace.Action{collectRegisters}
	r.start(tracepointAt(1, 0x10, collectRegisters, collectMemory(0x100, 16)), never, tracepointAt(3, 0x30,
		collectExpression(t, "getv 2\n const8 1\n add\n setv 2\n tracev 2\n tracev 1\n end"),
		collectExpression(t, "const16 0x200\n const16 1000\n tracenz\n end"),
		collectMemory(0x1f0, 32)), stepping)
	return &fakeThread{memory: []stretch{
		{0x100, make([]byte, 0x100)},
		{0x200, append(make([]byte, 0, 700), []byte(fmt.Sprintf("%0600d\x00", 1))...)},
	}}
}

// TestHitAllocatesNothing, once the buffers of the engine have grown to what the frames need.
func TestHitAllocatesNothing(t *testing.T) {
	r := newRig(t)
	f := hitRig(t, r)
	hit := func() {
		for f.pc = 0x10; f.pc <= 0x40; f.pc += 0x10 {
			if v := r.Hit(f.pc, f); v&target.Step != 0 {
				r.Stepped(f)
				r.Stepped(f)
			}
		}
	}
	for r.Status().Free > 1000 { // the index grows until the ring wraps
		hit()
	}
	if n := testing.AllocsPerRun(1000, hit); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if s := r.Status(); !s.Running {
		t.Errorf("the run ended: %s", s.Reason)
	}
}

// BenchmarkDeposit is what the engine adds to a hit whose frame a Collector has made.
func BenchmarkDeposit(b *testing.B) {
	r := newRig(b)
	c := &fakeCollector{}
	r.target.collector = c
	r.SetCircular(true)
	r.start(tracepointAt(1, 0x10))
	out := tfile.Builder{Order: r.layout.Order}
	out.Begin(nil, 1)
	out.Registers(registerBytes)
	out.Memory(0x100, 16)
	deposits := make([]target.Deposit, 256)
	for i := range deposits {
		deposits[i] = target.Deposit{Key: trace.Key{Number: 1, Addr: 0x10}, Frames: out.Finish(), Hits: 1}
	}
	for _, n := range []int{1, len(deposits)} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i += n {
				c.run.Deposit(deposits[:n])
			}
		})
	}
}

// BenchmarkHit is what the engine adds to a hit; the snapshot costs next to nothing.
func BenchmarkHit(b *testing.B) {
	for _, bench := range []struct {
		name string
		pc   arch.Addr
	}{{"registers+16bytes", 0x10}, {"false-condition", 0x20}} {
		b.Run(bench.name, func(b *testing.B) {
			r := newRig(b)
			f := hitRig(b, r)
			f.pc = bench.pc
			b.ReportAllocs()
			for b.Loop() {
				r.Hit(f.pc, f)
			}
		})
	}
}
