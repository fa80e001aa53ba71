package tracepoint

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/trace"
)

func (r *rig) wantFrames(want ...string) {
	r.Helper()
	if diff := cmp.Diff(want, r.describe()); diff != "" {
		r.Errorf("frames (-want +got):\n%s", diff)
	}
}

func (r *rig) wantEnd(reason trace.StopReason, tracepoint trace.Number, description string) {
	r.Helper()
	s := r.Status()
	if s.Running || s.Reason != reason || s.Tracepoint != tracepoint || s.Description != description {
		r.Errorf("got running %v, %s, tracepoint %d, %q; want the end of the run by %s, tracepoint %d, %q",
			s.Running, s.Reason, s.Tracepoint, s.Description, reason, tracepoint, description)
	}
}

func (r *rig) wantInstalled(want ...arch.Addr) {
	r.Helper()
	if diff := cmp.Diff(want, r.target.addresses()); diff != "" {
		r.Errorf("installed (-want +got):\n%s", diff)
	}
}

// TestStartClears: a run begins with no trace of the one before, unlike gdbserver's after a bare QTStart.
func TestStartClears(t *testing.T) {
	r := newRig(t)
	r.must(r.DefineVariable(trace.Variable{Number: 2, Initial: 7, Name: "n"}))
	r.start(tracepointAt(1, 0x10, collectExpression(t, "getv 2\n tracev 2\n const8 1\n add\n setv 2\n end")))
	r.hit(&fakeThread{pc: 0x10})
	r.hit(&fakeThread{pc: 0x10})
	r.wantFrames("1: V 2=7", "1: V 2=8")
	r.must(r.Stop(trace.ReasonStop, "enough"))

	r.must(r.Start(&r.target, 1))
	if s := r.Status(); s.Frames != 0 || s.Created != 0 || s.Free != s.Size || s.Description != "" {
		t.Errorf("status of the new run: %+v", s)
	}
	if s := r.Tallies(nil)[0]; s.Hits != 0 || s.Usage != 0 || s.Frames != 0 || s.Errors != 0 || s.LastError != nil {
		t.Errorf("%d hits, %d bytes used, %d frames, %d errors, the last %v", s.Hits, s.Usage, s.Frames, s.Errors, s.LastError)
	}
	r.hit(&fakeThread{pc: 0x10})
	r.wantFrames("1: V 2=7")
	r.must(r.Stop(trace.ReasonStop, ""))
	r.wantEnd(trace.ReasonStop, 0, "")
}

// TestStartNothingEnabled: nor is anything installed that could not do anything.
func TestStartNothingEnabled(t *testing.T) {
	r := newRig(t)
	disabled := tracepointAt(1, 0x10)
	disabled.Enabled = false
	r.start(disabled)
	r.wantInstalled()
	if !r.Status().Running {
		t.Error("not running")
	}
}

func TestStartFails(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x20))
	r.hit(&fakeThread{pc: 0x10})
	r.must(r.Stop(trace.ReasonStop, "first run"))
	before := r.Status()

	r.target.refused = map[arch.Addr]error{0x20: errors.New("no such page")}
	wantError(t, r.Start(&r.target, 1), "cannot install tracepoint 2 at 0x20: no such page")
	r.wantInstalled()
	if diff := cmp.Diff(before, r.Status()); diff != "" {
		t.Errorf("status (-before +after):\n%s", diff)
	}
	r.wantFrames("1:")
	r.target.refused = nil
	r.must(r.Start(&r.target, 1))
	r.wantInstalled(0x10, 0x20)
}

// TestStartOneLocation: an address is installed once for all its tracepoints, and the hits of threads that run while others
// are being installed do not count.
func TestStartOneLocation(t *testing.T) {
	r := newRig(t)
	installs := 0
	r.target.during = func(at arch.Addr) {
		installs++
		if v := r.Hit(at, &fakeThread{pc: at}); v != target.Continue {
			t.Errorf("verdict %d before the run, want to continue", v)
		}
	}
	r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x10), tracepointAt(3, 0x20))
	if installs != 2 || r.NumFrames() != 0 {
		t.Errorf("%d installs, want 2; %d frames, want 0", installs, r.NumFrames())
	}
}

func TestStartTwice(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10))
	r.hit(&fakeThread{pc: 0x10})
	wantError(t, r.Start(&r.target, 1), "a trace run is already on")
	r.wantFrames("1:")
	r.wantInstalled(0x10)
}

func TestStop(t *testing.T) {
	r := newRig(t)
	r.must(r.Stop(trace.ReasonStop, ""))
	r.wantEnd(trace.ReasonNotRun, 0, "")
	r.start(tracepointAt(1, 0x10))
	r.must(r.Stop(trace.ReasonStop, ""))
	r.wantInstalled()
	r.SetStopNote("lunch")
	r.wantEnd(trace.ReasonStop, 0, "lunch")
	r.must(r.Stop(trace.ReasonDisconnected, ""))
	r.wantEnd(trace.ReasonStop, 0, "lunch")

	if v := r.Hit(0x10, &fakeThread{pc: 0x10}); v != target.Halt || r.NumFrames() != 0 {
		t.Errorf("after the end: verdict %d, %d frames; want Halt and none", v, r.NumFrames())
	}
	r.must(r.Start(&r.target, 1))
	r.must(r.Stop(trace.ReasonDisconnected, ""))
	r.SetStopNote("not shown")
	r.wantEnd(trace.ReasonDisconnected, 0, "")
}

// TestTimes: in microseconds of Unix time; a run that is on has no stop time, not even that of the run before.
func TestTimes(t *testing.T) {
	r := newRig(t)
	r.clock = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	r.start()
	began := uint64(r.clock.UnixMicro())
	r.clock = r.clock.Add(time.Minute)
	if s := r.Status(); s.StartTime != began || s.StopTime != 0 {
		t.Errorf("while running: %d to %d", s.StartTime, s.StopTime)
	}
	r.must(r.Stop(trace.ReasonStop, ""))
	if s := r.Status(); s.StartTime != began || s.StopTime != began+60_000_000 {
		t.Errorf("after it: %d to %d, want %d and a minute", s.StartTime, s.StopTime, began)
	}
	r.must(r.Start(&r.target, 1))
	if s := r.Status(); s.StartTime != began+60_000_000 || s.StopTime != 0 || s.Reason != "" {
		t.Errorf("in the next run: %d to %d, %s", s.StartTime, s.StopTime, s.Reason)
	}
}

// TestEnableWhileRunning: a site is there while it has a tracepoint that is enabled.
func TestEnableWhileRunning(t *testing.T) {
	r := newRig(t)
	one, two := trace.Key{Number: 1, Addr: 0x10}, trace.Key{Number: 2, Addr: 0x10}
	r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x10))
	r.must(r.Enable(one, false))
	r.wantInstalled(0x10)
	r.hit(&fakeThread{pc: 0x10})
	r.must(r.Enable(two, false))
	r.wantInstalled()
	r.must(r.Enable(two, false))
	r.must(r.Enable(one, true))
	r.wantInstalled(0x10)
	r.hit(&fakeThread{pc: 0x10})
	r.wantFrames("2:", "1:")

	r.must(r.Stop(trace.ReasonStop, ""))
	r.must(r.Enable(two, true))
	r.wantInstalled()
	r.must(r.Start(&r.target, 1))
	r.wantInstalled(0x10)
}

// TestUninstallFails: the error names the tracepoint, and the run is over or the tracepoint disabled all the same.
func TestUninstallFails(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x20))
	r.target.stuck = errors.New("the page is gone")
	wantError(t, r.Enable(trace.Key{Number: 1, Addr: 0x10}, false), "cannot remove tracepoint 1 at 0x10: the page is gone")
	if r.Tracepoints()[0].Enabled {
		t.Error("still enabled")
	}
	wantError(t, r.Stop(trace.ReasonStop, ""), "the page is gone")
	r.wantEnd(trace.ReasonStop, 0, "")
}

// TestInstallLate: a run that ends while a further site is being installed leaves nothing behind.
func TestInstallLate(t *testing.T) {
	r := newRig(t)
	last := tracepointAt(1, 0x10)
	last.Pass = 1
	r.start(last)
	r.target.during = func(arch.Addr) {
		if v := r.hit(&fakeThread{pc: 0x10}); v != target.Halt {
			t.Fatalf("verdict %d, want Halt", v)
		}
		clear(r.target.sites) // as a target does for Halt
	}
	r.must(r.Define(tracepointAt(2, 0x20), false))
	r.wantInstalled()
	r.target.during = nil
	r.must(r.Start(&r.target, 1))
	r.wantInstalled(0x10, 0x20)
}

// TestMentionedVariable: a variable that nobody has defined reads as 0 once there was a run, and one that an expression sets or
// records comes into being, for the run and those after it.
func TestMentionedVariable(t *testing.T) {
	r := newRig(t)
	want := func(n trace.VariableNumber, value int64, known bool) {
		t.Helper()
		if got, ok := r.Variable(n); got != value || ok != known {
			t.Errorf("variable %d: %d, %v; want %d, %v", n, got, ok, value, known)
		}
	}
	want(7, 0, false)
	r.start(tracepointAt(1, 0x10, collectExpression(t, "const8 5\n setv 7\n pop\n tracev 8\n getv 9\n pop\n end")))
	want(7, 0, true)
	r.hit(&fakeThread{pc: 0x10})
	want(7, 5, true)
	want(9, 0, true)
	defined := []trace.Variable{timestamp, {Number: 7, Name: "__tsv_7"}, {Number: 8, Name: "__tsv_8"}}
	if diff := cmp.Diff(defined, r.Variables()); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	r.must(r.Stop(trace.ReasonStop, ""))
	want(7, 5, true)
	r.must(r.Start(&r.target, 1))
	want(7, 0, true)
	r.must(r.Init())
	if diff := cmp.Diff(defined[:1], r.Variables()); diff != "" {
		t.Errorf("variables after Init (-want +got):\n%s", diff)
	}
}
