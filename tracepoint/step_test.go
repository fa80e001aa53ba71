package tracepoint

import (
	"testing"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/trace"
)

// steppingAt is a tracepoint whose stepping frames tell the memory at 0x100.
func steppingAt(number trace.Number, addr arch.Addr, steps uint64) trace.Tracepoint {
	t := tracepointAt(number, addr)
	t.Step = steps
	t.StepActions = []trace.Action{collectMemory(0x100, 1)}
	return t
}

// at returns a thread whose memory at 0x100 is mark.
func at(thread int64, pc arch.Addr, mark byte) *fakeThread {
	return &fakeThread{id: thread, pc: pc, memory: []stretch{{0x100, []byte{mark}}}}
}

func wantVerdict(t *testing.T, what string, got, want target.Verdict) {
	t.Helper()
	if got != want {
		t.Errorf("%s: verdict %d, want %d", what, got, want)
	}
}

func TestStepping(t *testing.T) {
	r := newRig(t)
	r.start(steppingAt(1, 0x10, 2))
	wantVerdict(t, "hit", r.hit(at(5, 0x10, 0)), target.Step)
	wantVerdict(t, "first step", r.Stepped(at(5, 0x11, 1)), target.Step)
	wantVerdict(t, "a step of another thread", r.Stepped(at(6, 0x11, 9)), target.Continue)
	wantVerdict(t, "second step", r.Stepped(at(5, 0x12, 2)), target.Continue)
	wantVerdict(t, "third step", r.Stepped(at(5, 0x13, 9)), target.Continue)
	r.wantFrames("1:", "1: M 0x100 01", "1: M 0x100 02")
	for i, want := range []target.Traceframe{{PC: 0x10}, {PC: 0x11, Stepped: true}, {PC: 0x12, Stepped: true}} {
		if f, _ := r.Frame(i); f.PC != want.PC || f.Stepped != want.Stepped {
			t.Errorf("frame %d: pc %s, stepped %v; want %s, %v", i, f.PC, f.Stepped, want.PC, want.Stepped)
		}
	}
	if hits, usage, _ := r.Hits(trace.Key{Number: 1, Addr: 0x10}); hits != 1 || usage != 24 {
		t.Errorf("%d hits, %d bytes; want 1, as steps are none, and 24", hits, usage)
	}
}

// TestSteppingOverlaps: a thread that steps into tracepoints has several sessions, the latest of which goes first; other
// threads have their own.
func TestSteppingOverlaps(t *testing.T) {
	r := newRig(t)
	r.start(steppingAt(1, 0x10, 3), steppingAt(2, 0x11, 1))
	wantVerdict(t, "hit 1", r.hit(at(5, 0x10, 0)), target.Step)
	wantVerdict(t, "step", r.Stepped(at(5, 0x11, 1)), target.Step)
	wantVerdict(t, "hit 2", r.hit(at(5, 0x11, 0)), target.Step)
	wantVerdict(t, "hit 1 of thread 6", r.hit(at(6, 0x10, 0)), target.Step)
	wantVerdict(t, "step of both", r.Stepped(at(5, 0x12, 2)), target.Step)
	wantVerdict(t, "last step", r.Stepped(at(5, 0x13, 3)), target.Continue)
	wantVerdict(t, "step of thread 6", r.Stepped(at(6, 0x20, 7)), target.Step)
	r.wantFrames("1:", "1: M 0x100 01", "2:", "1:",
		"2: M 0x100 02", "1: M 0x100 02", "1: M 0x100 03", "1: M 0x100 07")
}

// TestSteppingHitOfOther: a hit that starts nothing leaves a thread stepping that is.
func TestSteppingHitOfOther(t *testing.T) {
	r := newRig(t)
	r.start(steppingAt(1, 0x10, 2), tracepointAt(2, 0x11))
	r.hit(at(5, 0x10, 0))
	r.Stepped(at(5, 0x11, 1))
	wantVerdict(t, "hit 2", r.hit(at(5, 0x11, 0)), target.Step)
	wantVerdict(t, "hit 2 of another thread", r.hit(at(6, 0x11, 0)), target.Continue)
}

// TestSteppingCondition: no steps without a hit. gdbserver steps all the same.
func TestSteppingCondition(t *testing.T) {
	r := newRig(t)
	never := steppingAt(1, 0x10, 2)
	never.Condition = expression(t, "const8 0\n end")
	r.start(never)
	wantVerdict(t, "hit", r.hit(at(5, 0x10, 0)), target.Continue)
	wantVerdict(t, "step", r.Stepped(at(5, 0x11, 1)), target.Continue)
	r.wantFrames()
}

// TestSteppingPassCount: the last hit's steps are made before the run ends.
func TestSteppingPassCount(t *testing.T) {
	r := newRig(t)
	counted := steppingAt(1, 0x10, 2)
	counted.Pass = 1
	r.start(counted)
	wantVerdict(t, "hit", r.hit(at(5, 0x10, 0)), target.Step)
	wantVerdict(t, "first step", r.Stepped(at(5, 0x11, 1)), target.Step)
	wantVerdict(t, "last step", r.Stepped(at(5, 0x12, 2)), target.Halt)
	r.wantEnd(trace.ReasonPassCount, 1, "")
	r.wantFrames("1:", "1: M 0x100 01", "1: M 0x100 02")
}

func TestThreadGone(t *testing.T) {
	r := newRig(t)
	r.start(steppingAt(1, 0x10, 2))
	r.hit(at(5, 0x10, 0))
	r.hit(at(6, 0x10, 0))
	wantVerdict(t, "thread 5 gone", r.ThreadGone(5), target.Continue)
	wantVerdict(t, "a new thread 5", r.Stepped(at(5, 0x11, 1)), target.Continue)
	wantVerdict(t, "thread 6", r.Stepped(at(6, 0x11, 1)), target.Step)
	r.must(r.Stop(trace.ReasonStop, ""))
	wantVerdict(t, "gone after the run", r.ThreadGone(6), target.Continue)
}

// TestThreadGonePassCount: the steps that the pass count waited for will not come.
func TestThreadGonePassCount(t *testing.T) {
	r := newRig(t)
	counted := steppingAt(1, 0x10, 2)
	counted.Pass = 1
	r.start(counted)
	r.hit(at(5, 0x10, 0))
	wantVerdict(t, "gone", r.ThreadGone(5), target.Halt)
	r.wantEnd(trace.ReasonPassCount, 1, "")
}

// TestStopReleasesSessions: nothing of a run is left in the next.
func TestStopReleasesSessions(t *testing.T) {
	r := newRig(t)
	r.start(steppingAt(1, 0x10, 2))
	r.hit(at(5, 0x10, 0))
	r.must(r.Stop(trace.ReasonStop, ""))
	wantVerdict(t, "step after the run", r.Stepped(at(5, 0x11, 1)), target.Halt)
	r.must(r.Start(&r.target, 1))
	wantVerdict(t, "step in the next run", r.Stepped(at(5, 0x11, 1)), target.Continue)
	r.wantFrames()
}

// TestSteppingErrors: a stepping action that fails, and a buffer that gets full, end the run as at a hit.
func TestSteppingErrors(t *testing.T) {
	r := newRig(t)
	failing := steppingAt(1, 0x10, 2)
	failing.StepActions = append(failing.StepActions, collectExpression(t, "const8 0\n ref8\n end"))
	r.start(failing)
	r.hit(at(5, 0x10, 0))
	wantVerdict(t, "step", r.Stepped(at(5, 0x11, 1)), target.Halt)
	r.wantEnd(trace.ReasonError, 1, "invalid memory access: ref8 at offset 2: 1 bytes at 0x0: 0 of them readable")
	r.wantFrames("1:", "1: M 0x100 01")

	r = newRig(t)
	r.must(r.SetBufferSize(10))
	r.start(steppingAt(1, 0x10, 2))
	r.hit(at(5, 0x10, 0))
	wantVerdict(t, "step", r.Stepped(at(5, 0x11, 1)), target.Halt)
	r.wantEnd(trace.ReasonFull, 0, "")
	r.wantFrames("1:")
}
