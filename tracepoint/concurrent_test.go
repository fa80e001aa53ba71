package tracepoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// silentThread does not answer when its memory is read, until told to.
type silentThread struct {
	*fakeThread
	asked  chan bool
	answer chan bool
}

func (s *silentThread) ReadMemory(addr arch.Addr, p []byte) int {
	s.asked <- true
	<-s.answer
	return s.fakeThread.ReadMemory(addr, p)
}

func (s *silentThread) ReadBatch(reads []target.Read) {
	for i := range reads {
		reads[i].N = s.ReadMemory(reads[i].Addr, reads[i].Dst)
	}
}

// TestSilentThread: everything that a session can do, and the hits of other threads, go on while a read is not answered. The
// hit comes to nothing if its run is over by then.
func TestSilentThread(t *testing.T) {
	r := newRig(t)
	r.must(r.DefineVariable(trace.Variable{Number: 2, Name: "n"}))
	r.start(tracepointAt(1, 0x10, collectMemory(0x100, 2)), tracepointAt(2, 0x20, collectMemory(0x100, 2)))
	memory := []stretch{{0x100, []byte{1, 2}}}
	silent := &silentThread{&fakeThread{id: 5, pc: 0x10, memory: memory}, make(chan bool), make(chan bool)}
	verdict := make(chan target.Verdict)
	tracer := r.NewHandler()
	hit := func() { verdict <- tracer.Hit(0x10, silent) }

	go hit()
	<-silent.asked
	if v := r.hit(&fakeThread{id: 6, pc: 0x20, memory: memory}); v != target.Continue {
		t.Errorf("another thread: verdict %d", v)
	}
	if s := r.Status(); !s.Running || s.Frames != 1 {
		t.Errorf("status %+v", s)
	}
	r.Variables()
	r.Tallies(nil)
	r.must(r.Define(tracepointAt(3, 0x10), false))
	r.must(r.Enable(trace.Key{Number: 1, Addr: 0x10}, false))
	silent.answer <- true
	if v := <-verdict; v != target.Continue {
		t.Errorf("verdict %d", v)
	}
	r.wantFrames("2: M 0x100 0102", "1: M 0x100 0102") // it began before tracepoint 3 came and its own was disabled

	r.must(r.Enable(trace.Key{Number: 1, Addr: 0x10}, true))
	go hit()
	<-silent.asked
	r.must(r.Stop(trace.ReasonStop, ""))
	r.must(r.Start(&r.target, 1))
	silent.answer <- true
	if v := <-verdict; v != target.Continue {
		t.Errorf("a hit of a run that is over: verdict %d, want Continue: the tracepoints are those of another run", v)
	}
	r.wantFrames()

	go hit()
	<-silent.asked
	r.must(r.Init())
	silent.answer <- true
	if v := <-verdict; v != target.Halt {
		t.Errorf("a hit behind the end: verdict %d, want Halt", v)
	}
	r.wantFrames()
}

// TestLostConnection: the frame is dropped whole, and so are those of the same hit.
func TestLostConnection(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10, collectRegisters), tracepointAt(2, 0x10))
	f := &fakeThread{pc: 0x10}
	r.hit(f)
	f.lost = errors.New("the probe does not answer")
	if v := r.hit(f); v != target.Halt {
		t.Errorf("verdict %d, want Halt", v)
	}
	r.wantEnd(trace.ReasonError, 1, "the probe does not answer")
	if hits, _, _ := r.Hits(trace.Key{Number: 2, Addr: 0x10}); hits != 1 || r.NumFrames() != 2 {
		t.Errorf("%d hits, %d frames; want 1 and 2", hits, r.NumFrames())
	}
}

// TestHitsAtOnce: what expressions compute from a variable and store in it is not lost, and a pass count is exact, however many
// threads are handled at once.
func TestHitsAtOnce(t *testing.T) {
	const threads, hits, pass = 4, 500, 777
	r := newRig(t)
	r.must(r.DefineVariable(trace.Variable{Number: 2, Name: "n"}))
	counted := tracepointAt(2, 0x20, collectMemory(0x100, 1))
	counted.Pass = pass
	r.start(tracepointAt(1, 0x10, collectExpression(t, "getv 2\n const8 1\n add\n setv 2\n tracev 2\n end")))
	halts := r.atOnce(threads, hits, 0x10)
	if n, _ := r.Variable(2); n != threads*hits || r.NumFrames() != threads*hits || halts != 0 {
		t.Errorf("$n is %d, %d frames, %d halts; want %d, as many and 0", n, r.NumFrames(), halts, threads*hits)
	}
	seen := make(map[int64]bool)
	for f := range r.Frames() {
		v, _ := f.Variable(2)
		seen[v] = true
	}
	if len(seen) != threads*hits {
		t.Errorf("%d values of $n in frames, want %d", len(seen), threads*hits)
	}

	r.must(r.Init())
	r.start(counted)
	if halts := r.atOnce(threads, hits, 0x20); halts == 0 {
		t.Error("no verdict said that the run is over")
	}
	r.wantEnd(trace.ReasonPassCount, 2, "")
	if n, _, _ := r.Hits(counted.Key()); n != pass || r.NumFrames() != pass {
		t.Errorf("%d hits, %d frames; want %d", n, r.NumFrames(), pass)
	}
}

// atOnce has several threads hit an address.
func (r *rig) atOnce(threads, hits int, at arch.Addr) (halts int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for id := range threads {
		all.Go(func() {
			h := r.NewHandler()
			f := &fakeThread{id: int64(id), pc: at, memory: []stretch{{0x100, []byte{byte(id)}}}}
			for range hits {
				if v := h.Hit(at, f); v&target.Halt != 0 {
					mu.Lock()
					halts++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return halts
}

// fakeCollector takes everything but what it is to refuse, and keeps how a run began and what it was asked to do. Its variables are
// none.
type fakeCollector struct {
	run     target.Run
	calls   []string
	refused map[trace.Number]error
	tallies []target.Tally
	late    []target.Refusal // of the next Apply
	lost    error            // of Apply
}

func (c *fakeCollector) Begin(run target.Run) { c.run = run }

func (c *fakeCollector) Offload(_ int, t *compiled.Tracepoint) error {
	c.calls = append(c.calls, fmt.Sprintf("offload %d", t.Number))
	return c.refused[t.Number]
}

func (c *fakeCollector) Recall(_ int, at arch.Addr) {
	c.calls = append(c.calls, fmt.Sprintf("recall %s", at))
}

func (c *fakeCollector) Apply() ([]target.Refusal, error) {
	c.calls = append(c.calls, "apply")
	late := c.late
	c.late = nil
	return late, c.lost
}

func (c *fakeCollector) Explain(int, arch.Addr) string { return "fake" }

func (c *fakeCollector) Tallies(dst []target.Tally) []target.Tally   { return append(dst, c.tallies...) }
func (c *fakeCollector) Variables() target.VariableStore             { return c }
func (c *fakeCollector) Variable(trace.VariableNumber) (int64, bool) { return 0, false }
func (c *fakeCollector) SetVariable(n trace.VariableNumber, v int64) {
	c.calls = append(c.calls, fmt.Sprintf("$%d = %d", n, v))
}
func (c *fakeCollector) AppendVariables(dst []target.VariableValue) []target.VariableValue {
	return dst
}

// TestBadDeposits: the buffer and trace files rely on whole frames, so one that is not ends the run.
func TestBadDeposits(t *testing.T) {
	header := func(n, size int) []byte {
		b := binary.LittleEndian.AppendUint16(nil, uint16(n))
		return binary.LittleEndian.AppendUint32(b, uint32(size))
	}
	for _, test := range []struct {
		frame []byte
		want  string // in the text of the error; "" for a good frame
	}{
		{header(1, 0), ""},
		{append(header(1, 13), 'V', 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0), ""},
		{[]byte{}, "collector"},
		{header(1, 0)[:5], "collector"},
		{header(1, 4), "collector"},
		{append(header(1, 0), 0), "collector"},
		{header(2, 0), "it names tracepoint 2"},
		{append(header(1, 1), 'V'), "collector"},
		{append(header(1, 2), 'R', 0), "collector"},
		{append(header(1, 3), '?', 0, 0), "collector"},
	} {
		r := newRig(t)
		c := &fakeCollector{}
		r.target.collector = c
		r.start(tracepointAt(1, 0x10))
		key := trace.Key{Number: 1, Addr: 0x10}
		v := c.run.Deposit([]target.Deposit{{Key: key, Frames: test.frame, Hits: 1}})
		s := r.Status()
		switch {
		case test.want == "" && (v != target.Continue || r.NumFrames() != 1):
			t.Errorf("% x: verdict %d, %+v", test.frame, v, s)
		case test.want != "" && (v != target.Halt || s.Reason != trace.ReasonError || !strings.Contains(s.Description, test.want) || r.NumFrames() != 0):
			t.Errorf("% x: verdict %d, %+v; want an error about %s", test.frame, v, s, test.want)
		}
		if v := c.run.Deposit([]target.Deposit{{Key: trace.Key{Number: 9}, Frames: header(9, 0), Hits: 1}}); v&target.Step != 0 {
			t.Errorf("a deposit of an unknown tracepoint: verdict %d", v)
		}
	}
}

// TestCollectorFails: the frames of all hits are kept up to an error of the Collector itself, which ends the run.
func TestCollectorFails(t *testing.T) {
	r := newRig(t)
	c := &fakeCollector{}
	r.target.collector = c
	r.start(tracepointAt(1, 0x10))
	header := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(nil, 1), 0)
	for range 3 {
		if v := c.run.Deposit([]target.Deposit{{Key: trace.Key{Number: 1, Addr: 0x10}, Frames: header, Hits: 1}}); v != target.Continue {
			t.Errorf("verdict %d", v)
		}
	}
	if v := c.run.Deposit([]target.Deposit{{Err: errors.New("the pads are gone")}}); v != target.Halt || r.NumFrames() != 3 {
		t.Errorf("verdict %d, %d frames, want 3", v, r.NumFrames())
	}
	r.wantEnd(trace.ReasonError, 0, "the pads are gone")
}

// wantCalls fails the test unless the collector was asked for this since the last time.
func (c *fakeCollector) wantCalls(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.calls, want) {
		t.Errorf("calls of the collector %q, want %q", c.calls, want)
	}
	c.calls = nil
}

// TestOffloadOrder: tracepoints of one address have their turns at the Collector in the order of definition. One that was disabled
// when the run began and comes before another that the Collector has makes it recall all; one that comes behind does not.
func TestOffloadOrder(t *testing.T) {
	r := newRig(t)
	c := &fakeCollector{}
	r.target.collector = c
	disabled := func(n trace.Number) trace.Tracepoint {
		d := tracepointAt(n, 0x10)
		d.Enabled = false
		return d
	}
	enable := func(n trace.Number) { r.must(r.Enable(trace.Key{Number: n, Addr: 0x10}, true)) }
	r.start(disabled(1), tracepointAt(2, 0x10), disabled(3), tracepointAt(4, 0x20))
	c.wantCalls(t, "offload 2", "offload 4", "apply")
	enable(3)
	c.wantCalls(t, "offload 3", "apply")
	enable(1)
	c.wantCalls(t, "recall 0x10", "offload 1", "offload 2", "offload 3", "apply")
	r.must(r.Enable(trace.Key{Number: 2, Addr: 0x10}, false))
	c.wantCalls(t, "offload 2", "apply") // it has its place still
	enable(2)
	c.wantCalls(t, "offload 2", "apply")
	r.must(r.DefineVariable(trace.Variable{Number: 7, Initial: 9}))
	c.wantCalls(t, "$7 = 9")
	r.must(r.Stop(trace.ReasonStop, ""))
	r.must(r.DefineVariable(trace.Variable{Number: 7, Initial: 10}))
	if slices.Contains(c.calls, "$7 = 10") {
		t.Error("a variable was set at the collector after the end of the run")
	}
}

// TestRefusals: what the Collector refuses is a trap with all others of its address, and each says why.
func TestRefusals(t *testing.T) {
	r := newRig(t)
	c := &fakeCollector{refused: map[trace.Number]error{2: errors.New("no room for a jump")}}
	r.target.collector = c
	stepping := tracepointAt(4, 0x30)
	stepping.Step = 1
	r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x10), tracepointAt(3, 0x20), stepping, tracepointAt(5, 0x40, collectStatic))
	c.wantCalls(t, "offload 1", "offload 2", "recall 0x10", "offload 3", "recall 0x30", "recall 0x40", "apply")
	want := []string{"false tracepoint 2 at the same address: no room for a jump", "false no room for a jump", "true <nil>",
		"false " + errStepping.Error(), "false " + errStatic.Error()}
	for i, tally := range r.Tallies(nil) {
		if got := fmt.Sprint(tally.Elsewhere, " ", tally.Refusal); got != want[i] {
			t.Errorf("tracepoint %d: %s, want %s", i+1, got, want[i])
		}
	}
	if want := []arch.Addr{0x10, 0x30, 0x40}; !slices.Equal(r.target.addresses(), want) {
		t.Errorf("installed at %v, want at %v", r.target.addresses(), want)
	}
}

// TestLateRefusals: what the Collector finds out only when it applies the changes is a trap as well, at the start and later.
func TestLateRefusals(t *testing.T) {
	r := newRig(t)
	c := &fakeCollector{late: []target.Refusal{{Addr: 0x20, Err: errors.New("the code has changed")}}}
	r.target.collector = c
	r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x20), tracepointAt(3, 0x20), tracepointAt(4, 0x30))
	c.wantCalls(t, "offload 1", "offload 2", "offload 3", "offload 4", "apply")
	if !slices.Equal(r.target.addresses(), []arch.Addr{0x20}) {
		t.Errorf("installed at %v, want at 0x20", r.target.addresses())
	}
	c.late = []target.Refusal{{Addr: 0x30, Err: errors.New("a thread stands there")}}
	r.must(r.Define(tracepointAt(5, 0x30), false))
	c.wantCalls(t, "offload 5", "apply")
	if !slices.Equal(r.target.addresses(), []arch.Addr{0x20, 0x30}) {
		t.Errorf("installed at %v, want at 0x20 and 0x30", r.target.addresses())
	}
	want := []string{"true <nil>", "false the code has changed", "false the code has changed",
		"false a thread stands there", "false a thread stands there"}
	for i, tally := range r.Tallies(nil) {
		if got := fmt.Sprint(tally.Elsewhere, " ", tally.Refusal); got != want[i] {
			t.Errorf("%d of the tracepoints: %s, want %s", i, got, want[i])
		}
	}
	r.must(r.Stop(trace.ReasonStop, ""))
	c.wantCalls(t, "recall 0x10", "apply")
	if len(r.target.addresses()) > 0 {
		t.Errorf("%v are left", r.target.addresses())
	}
}

// TestFast: a fast tracepoint that the Collector refuses, at once or late, is an error that says why, of the start or of what makes it
// come to be; what else is at its address stays traced. Without a Collector it is an ordinary one.
func TestFast(t *testing.T) {
	fast := func(n trace.Number, at arch.Addr) trace.Tracepoint {
		d := tracepointAt(n, at)
		d.Fast = true
		return d
	}
	off := fast(4, 0x40)
	off.Enabled = false
	r := newRig(t)
	c := &fakeCollector{refused: map[trace.Number]error{2: errors.New("no room for a jump"), 4: errors.New("a jump leads there")}}
	r.target.collector = c
	r.must(r.Define(tracepointAt(1, 0x10), false))
	r.must(r.Define(fast(2, 0x20), false))
	wantError(t, r.Start(&r.target, 1),
		"cannot install tracepoint 2 at 0x20: no fast tracepoint is possible there: no room for a jump")
	if r.Status().Running || len(r.target.addresses()) > 0 || !slices.Contains(c.calls, "recall 0x10") {
		t.Errorf("running: %t, installed at %v, calls %q", r.Status().Running, r.target.addresses(), c.calls)
	}
	r.must(r.Enable(trace.Key{Number: 2, Addr: 0x20}, false))
	r.start(tracepointAt(3, 0x20), off, tracepointAt(5, 0x40))
	c.calls = nil
	wantError(t, r.Enable(trace.Key{Number: 4, Addr: 0x40}, true),
		"cannot install tracepoint 4 at 0x40: no fast tracepoint is possible there: a jump leads there")
	c.late = []target.Refusal{{Addr: 0x20, Err: errors.New("the code has changed")}}
	wantError(t, r.Define(fast(6, 0x20), false),
		"cannot install tracepoint 6 at 0x20: no fast tracepoint is possible there: the code has changed")
	var got []string
	for _, tally := range r.Tallies(nil) {
		if tally.Elsewhere {
			got = append(got, fmt.Sprint(tally.Key.Number))
		}
	}
	if want := []string{"1", "3", "5"}; !slices.Equal(got, want) || len(r.target.addresses()) > 0 {
		t.Errorf("tracepoints %v are offloaded, want %v; installed at %v", got, want, r.target.addresses())
	}

	r = newRig(t)
	r.start(fast(1, 0x10))
	if !slices.Equal(r.target.addresses(), []arch.Addr{0x10}) {
		t.Error("without a collector a fast tracepoint is not installed")
	}
}

// TestDepositsOfTheStart: hits between the first location that is in force and the start of the run do not count, in any place,
// although the Collector has counted them.
func TestDepositsOfTheStart(t *testing.T) {
	r := newRig(t)
	key := trace.Key{Number: 1, Addr: 0x10}
	c := &fakeCollector{refused: map[trace.Number]error{2: errors.New("no")}, tallies: []target.Tally{{Key: key, Hits: 1, Frames: 1}}}
	r.target.collector = c
	header := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(nil, 1), 0)
	r.target.during = func(arch.Addr) {
		if v := c.run.Deposit([]target.Deposit{{Key: key, Frames: header, Hits: 1}}); v != target.Continue {
			t.Errorf("verdict %d", v)
		}
	}
	r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x20))
	if hits, _, _ := r.Hits(key); hits != 0 || r.Status().Frames != 0 {
		t.Errorf("%d hits, %d frames, want none", hits, r.Status().Frames)
	}
}

// TestAhead: what a Collector has counted and not deposited is in every count while the run is on, and in none after it.
func TestAhead(t *testing.T) {
	r := newRig(t)
	key := trace.Key{Number: 1, Addr: 0x10}
	c := &fakeCollector{tallies: []target.Tally{{Key: key, Hits: 5, Frames: 4, Usage: 40}, {Key: trace.Key{Number: 9}, Hits: 1}}}
	r.target.collector = c
	r.start(tracepointAt(1, 0x10))
	header := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(nil, 1), 0)
	c.run.Deposit([]target.Deposit{{Key: key, Frames: header, Hits: 1}})
	free := int64(DefaultBufferSize - 6 - 40 - 3*6) // three more frames of 40 bytes in all are on their way
	if s := r.Status(); s.Frames != 4 || s.Created != 4 || s.Free != free {
		t.Errorf("%d frames, %d created, %d bytes free; want 4, 4 and %d", s.Frames, s.Created, s.Free, free)
	}
	if hits, usage, ok := r.Hits(key); hits != 5 || usage != 40 || !ok {
		t.Errorf("%d hits with %d bytes, %v, want 5 with 40", hits, usage, ok)
	}
	if hits, usage, ok := r.Hits(trace.Key{Number: 9}); hits != 0 || usage != 0 || ok {
		t.Errorf("%d hits with %d bytes, %v, of a tracepoint that there is not", hits, usage, ok)
	}
	r.must(r.Stop(trace.ReasonStop, ""))
	if s := r.Status(); s.Frames != 1 || s.Created != 1 {
		t.Errorf("after the run %d frames, %d created; want 1", s.Frames, s.Created)
	}
	if hits, _, _ := r.Hits(key); hits != 1 {
		t.Errorf("after the run %d hits, want 1", hits)
	}
}

// TestApplyFails: the run is over all the same, and the error is told.
func TestApplyFails(t *testing.T) {
	r := newRig(t)
	c := &fakeCollector{}
	r.target.collector = c
	r.start(tracepointAt(1, 0x10))
	c.lost = errors.New("no answer")
	wantError(t, r.Stop(trace.ReasonStop, ""), "no answer")
	r.wantEnd(trace.ReasonStop, 0, "")
}
