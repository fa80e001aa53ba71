package tracepoint

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
	"tracewell/trace"
)

// TestStatus gives the status as GDB gets it.
func TestStatus(t *testing.T) {
	r := newRig(t)
	r.SetUser("me")
	r.SetNotes("why")
	r.SetDisconnected(true)
	r.start(tracepointAt(1, 0x10))
	r.hit(&fakeThread{pc: 0x10})
	want := trace.Status{
		Running: true, Frames: 1, Created: 1,
		Free: DefaultBufferSize - tfile.FrameHeader, Size: DefaultBufferSize,
		Disconnected: true, User: "me", Notes: "why", StartTime: 1_000_000,
	}
	if diff := cmp.Diff(want, r.Status()); diff != "" {
		t.Errorf("while running (-want +got):\n%s", diff)
	}
	r.must(r.Stop(trace.ReasonStop, "done"))
	want.Running, want.Reason, want.Description, want.StopTime = false, trace.ReasonStop, "done", 1_000_000
	if diff := cmp.Diff(want, r.Status()); diff != "" {
		t.Errorf("after it (-want +got):\n%s", diff)
	}
}

func TestSetBufferSize(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10))
	r.hit(&fakeThread{pc: 0x10})
	wantError(t, r.SetBufferSize(1000), "the size of the trace buffer cannot change during a trace run")
	r.wantFrames("1:")
	r.must(r.Stop(trace.ReasonStop, ""))
	for _, size := range []int64{-2, math.MinInt64, DefaultMaxBuffer + 1, math.MaxInt64} {
		wantError(t, r.SetBufferSize(size), fmt.Sprintf("trace buffer size %d is not from 0 to 1073741824 bytes", size))
	}
	r.wantFrames("1:")
	r.must(r.SetBufferSize(1000))
	if s := r.Status(); s.Size != 1000 || s.Free != 1000 || s.Frames != 0 {
		t.Errorf("after a change of size: %+v", s)
	}
	r.must(r.SetBufferSize(-1))
	if s := r.Status(); s.Size != DefaultBufferSize {
		t.Errorf("default size is %d", s.Size)
	}
	r.must(r.SetBufferSize(0))
	r.must(r.Start(&r.target, 1))
	r.hit(&fakeThread{pc: 0x10})
	r.wantEnd(trace.ReasonFull, 0, "")
}

// TestSizes: the default is gdbserver's, the largest size is one that may be set, and a run whose frames only a sink has keeps none.
func TestSizes(t *testing.T) {
	if s := newRig(t).Status(); s.Size != 5242880 {
		t.Errorf("a buffer of %d bytes by default, want 5242880", s.Size)
	}
	r := newRig(t)
	layout := testLayout()
	layout.MaxBuffer, layout.SinkOnly, layout.Now = 100, true, time.Now
	r.Engine = New(layout)
	r.Handler = r.NewHandler()
	r.must(r.SetBufferSize(100))
	if err := r.SetBufferSize(101); err == nil {
		t.Error("a buffer of 101 bytes, where 100 is the most")
	}
	r.start(tracepointAt(1, 0x10))
	r.hit(&fakeThread{pc: 0x10})
	if s := r.Status(); s.Free != -1 || s.Size != -1 || s.Frames != 1 || s.Created != 1 {
		t.Errorf("%+v, want one frame, and no buffer", s)
	}
}

// TestReadOnly: the end of a range is not in it, unlike in gdbserver.
func TestReadOnly(t *testing.T) {
	r := newRig(t)
	r.SetReadOnly([]Range{{0x100, 0x200}, {0x300, 0x400}, {0xfffffffffffffff0, 0xffffffffffffffff}})
	for _, test := range []struct {
		addr Range
		want bool
	}{
		{Range{0x100, 0x200}, true},
		{Range{0x1ff, 0x200}, true},
		{Range{0x1ff, 0x201}, false},
		{Range{0x200, 0x201}, false},
		{Range{0x0ff, 0x101}, false},
		{Range{0x1f0, 0x310}, false},
		{Range{0x300, 0x301}, true},
		{Range{0x300, 0x300}, false},
		{Range{0xfffffffffffffff0, 0xfffffffffffffff8}, true},
		{Range{0xfffffffffffffff0, 8}, false},
	} {
		size := uint64(test.addr.End - test.addr.Start)
		if got := r.ReadOnly(test.addr.Start, size); got != test.want {
			t.Errorf("%d bytes at %s: %v, want %v", size, test.addr.Start, got, test.want)
		}
	}
}

func TestVariables(t *testing.T) {
	r := newRig(t)
	r.must(r.DefineVariable(trace.Variable{Number: 3, Initial: -5, Name: "my"}))
	r.must(r.DefineVariable(trace.Variable{Number: 2, Builtin: true, Name: "other"}))
	r.must(r.DefineVariable(trace.Variable{Number: 1, Builtin: true, Name: "trace_timestamp"}))
	wantError(t, r.DefineVariable(trace.Variable{Number: 1, Name: "mine"}),
		"trace state variable 1 is the built-in $trace_timestamp, it cannot become $mine")
	want := []trace.Variable{timestamp, {Number: 2, Name: "other"}, {Number: 3, Initial: -5, Name: "my"}}
	if diff := cmp.Diff(want, r.Variables()); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if v, ok := r.Variable(3); v != -5 || !ok {
		t.Errorf("variable 3 is %d, %v", v, ok)
	}
	if _, ok := r.Variable(4); ok {
		t.Error("there is a variable 4")
	}
	r.must(r.DefineVariable(trace.Variable{Number: 3, Initial: 6, Name: "renamed"}))
	if v, _ := r.Variable(3); v != 6 {
		t.Errorf("redefined, variable 3 is %d", v)
	}
}

// TestBuiltins: $pid and $tid are there under the number that they are defined with, unless they begin with a value of their own; what
// a Collector was not told of it does not get.
func TestBuiltins(t *testing.T) {
	r := newRig(t)
	c := &fakeCollector{}
	r.target.collector = c
	r.must(r.DefineVariable(trace.Variable{Number: 4, Name: "tid"}))
	r.must(r.DefineVariable(trace.Variable{Number: 5, Name: "pid", Initial: 9}))
	want := []trace.Variable{timestamp, {Number: 4, Name: "tid", Builtin: true}, {Number: 5, Name: "pid", Initial: 9}}
	if diff := cmp.Diff(want, r.Variables()); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if _, ok := r.Variable(4); ok {
		t.Error("$tid has a value without a hit")
	}
	r.start(tracepointAt(1, 0x10, collectExpression(t, "tracev 4\n tracev 5\n end")))
	if diff := cmp.Diff(map[trace.VariableNumber]trace.VariableNumber{1: 1, 4: trace.ThreadID}, c.run.Builtins); diff != "" {
		t.Errorf("what the collector is told (-want +got):\n%s", diff)
	}
	r.must(r.DefineVariable(trace.Variable{Number: 5, Name: "pid"}))
	r.must(r.Define(tracepointAt(2, 0x20, collectExpression(t, "tracev 4\n tracev 5\n end")), false))
	if got := r.Tallies(nil); !got[0].Elsewhere || got[1].Refusal == nil {
		t.Errorf("tallies %+v", got)
	}
	r.Hit(0x20, &fakeThread{id: 7, pc: 0x20})
	r.wantFrames("2: V 4=7 V 5=100")
}

// TestBufferMemory has a trace buffer in memory that is not Go's. It is asked for when a run begins, once for all of a size, and given
// back when the size changes. Where there is none no run begins.
func TestBufferMemory(t *testing.T) {
	r := newRig(t)
	layout := testLayout()
	asked, held := 0, 0
	layout.MaxBuffer, layout.Now = 1<<40, time.Now
	layout.Memory = func(size int) ([]byte, func(), error) {
		if asked++; size > 5000 {
			return nil, nil, errors.New("too much")
		}
		held += size
		return make([]byte, size), func() { held -= size }, nil
	}
	r.Engine = New(layout)
	r.Handler = r.NewHandler()
	r.must(r.SetBufferSize(1000))
	r.must(r.SetBufferSize(5000))
	r.start(tracepointAt(1, 0x10))
	for range 2 {
		r.hit(&fakeThread{pc: 0x10})
		r.wantFrames("1:")
		r.must(r.Stop(trace.ReasonStop, ""))
		if asked != 1 || held != 5000 {
			t.Errorf("asked for memory %d times, %d bytes are held, want 5000 once", asked, held)
		}
		r.must(r.Start(&r.target, 1))
	}
	r.must(r.Stop(trace.ReasonStop, ""))
	r.must(r.SetBufferSize(1 << 40))
	if held != 0 {
		t.Errorf("%d bytes are held after a change of the size", held)
	}
	wantError(t, r.Start(&r.target, 1), "no memory for a trace buffer of 1099511627776 bytes: too much")
	r.must(r.SetBufferSize(100))
	r.must(r.Start(&r.target, 1))
}
