package runcontrol_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"tracewell/runcontrol"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// The processes of the toy program.
var (
	leader = target.ThreadID{PID: 0x1a, TID: 0x1a}
	child  = target.ThreadID{PID: 0x2a, TID: 0x2a}
)

// toy returns the debuggee of a program of one thread with a tracepoint at 0x401010, and both its target and its engine.
func toy(t *testing.T, c runcontrol.Config) (*runcontrol.Debuggee, *fake.Target, *tracepoint.Engine) {
	t.Helper()
	f, err := fake.New(fake.Program{
		ISA: fake.Toy, Description: fake.ToyDescription(),
		Threads: []target.Thread{{ID: leader, Name: "toy", Core: 1}},
		Memory:  []fake.Region{{Start: 0x401000, Bytes: make([]byte, 256), ReadOnly: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	layout, err := tracepoint.LayoutOf(f)
	if err != nil {
		t.Fatal(err)
	}
	c.Target, c.Engine = f, tracepoint.New(layout)
	f.SetHandler(c.Engine.NewHandler())
	if err := c.Engine.Define(trace.Tracepoint{Number: 1, Addr: 0x401010, Enabled: true}, false); err != nil {
		t.Fatal(err)
	}
	d := runcontrol.New(c)
	t.Cleanup(d.Attend)
	return d, f, c.Engine
}

// resume has everything go on.
func resume(t *testing.T, d *runcontrol.Debuggee) {
	t.Helper()
	if err := d.Resume(runcontrol.EveryThread()); err != nil {
		t.Fatal(err)
	}
}

// next settles the next event and reports whether it stopped the program.
func next(t *testing.T, d *runcontrol.Debuggee, passes func(target.Event) bool) (target.Event, bool) {
	t.Helper()
	select {
	case ev := <-d.Events():
		return ev, d.Settle(ev, passes)
	case <-time.After(time.Minute):
		t.Fatal("no event came")
		return target.Event{}, false
	}
}

func TestOneEventForEachResume(t *testing.T) {
	d, f, _ := toy(t, runcontrol.Config{})
	if ev := d.LastStop(); ev.Thread != leader || ev.Signal != target.SignalTrap {
		t.Errorf("before it has run the program stopped with %+v", ev)
	}
	if d.Events() != nil {
		t.Error("events of a stopped program are waited for")
	}
	resume(t, d)
	if err := d.Resume(runcontrol.EveryThread()); !errors.Is(err, target.ErrRunning) {
		t.Errorf("another Resume returned %v", err)
	}
	f.Play(fake.Step{Event: &target.Event{Signal: 10}}, fake.Step{Event: &target.Event{Signal: 12}})
	if ev, stays := next(t, d, func(ev target.Event) bool { return ev.Signal == 10 }); stays || !d.Running() {
		t.Errorf("%+v stopped the program, although it passes", ev)
	}
	if ev, stays := next(t, d, runcontrol.NothingPasses); !stays || d.Running() || d.LastStop().Signal != 12 {
		t.Errorf("%+v did not stop the program, which stopped with %+v", ev, d.LastStop())
	}
}

func TestHaltStopsWhatRuns(t *testing.T) {
	d, f, _ := toy(t, runcontrol.Config{})
	resume(t, d)
	if err := d.Halt(); err != nil || d.Running() {
		t.Errorf("Halt returned %v, running %v", err, d.Running())
	}
	f.IgnoreInterrupts(true)
	d.SetPatience(time.Millisecond)
	resume(t, d)
	if err := d.Halt(); !errors.Is(err, runcontrol.ErrNoStop) || !d.Running() {
		t.Errorf("Halt of a deaf program returned %v, running %v", err, d.Running())
	}
}

// TestForkOfBeforeTheClientLeft is of a child that nobody has been told of any more.
func TestForkOfBeforeTheClientLeft(t *testing.T) {
	d, f, _ := toy(t, runcontrol.Config{})
	f.SetReports(target.Reports{Fork: true})
	resume(t, d)
	f.Play(fake.Step{Event: &target.Event{Kind: target.Forked, Child: child}})
	if ev, stays := next(t, d, runcontrol.PassesUnattended); stays {
		t.Errorf("%+v stopped the program", ev)
	}
	if pids := d.Processes(); !slices.Equal(pids, []int{leader.PID}) {
		t.Errorf("processes %#x are left", pids)
	}
	if err := d.Halt(); err != nil {
		t.Error(err)
	}
}

func TestRunEndsWithItsProgram(t *testing.T) {
	var ended []target.Event
	d, f, engine := toy(t, runcontrol.Config{Notify: runcontrol.Notify{
		Ended: func(ev target.Event) { ended = append(ended, ev) },
	}})
	if err := d.StartTrace(leader.PID); err != nil {
		t.Fatal(err)
	}
	resume(t, d)
	f.Play(fake.Step{PC: 0x401010}, fake.Step{Event: &target.Event{Kind: target.Exited, Code: 3}})
	if _, stays := next(t, d, runcontrol.NothingPasses); !stays || d.Alive() || d.Traced() != 0 {
		t.Errorf("alive %v, traced %v", d.Alive(), d.Traced())
	}
	status := engine.Status()
	if status.Running || status.Frames != 1 || status.Description != "the program exited with status 3" {
		t.Errorf("status of the run: %+v", status)
	}
	if len(ended) != 1 || ended[0].Code != 3 {
		t.Errorf("the end was told as %v", ended)
	}
}

// TestRunMovesToTheChild lets the parent go while parent and child of a fork are held, as GDB does to follow the child.
func TestRunMovesToTheChild(t *testing.T) {
	d, f, engine := toy(t, runcontrol.Config{})
	if err := d.StartTrace(leader.PID); err != nil {
		t.Fatal(err)
	}
	f.SetReports(target.Reports{Fork: true})
	resume(t, d)
	f.Play(fake.Step{Event: &target.Event{Kind: target.Forked, Child: child}})
	next(t, d, runcontrol.NothingPasses)
	if heir := d.Heir(leader.PID); heir != child.PID {
		t.Errorf("the heir is %#x", heir)
	}
	if err := d.LetGo(leader.PID); err != nil {
		t.Fatal(err)
	}
	if d.Traced() != child.PID || !engine.Status().Running {
		t.Errorf("traced %#x, running %v", d.Traced(), engine.Status().Running)
	}
	if err := d.LetGo(child.PID); err != nil || engine.Status().Running {
		t.Errorf("letting the child go: %v, and the run is on: %v", err, engine.Status().Running)
	}
}

// TestWithoutClient leaves a running program in each way that there is.
func TestWithoutClient(t *testing.T) {
	for name, test := range map[string]struct {
		onLost     runcontrol.Loss
		survives   bool // a trace run does
		persistent bool // commands of a breakpoint do
		alive      bool // afterwards
		runs       bool
	}{
		"hold":       {onLost: runcontrol.Hold, alive: true},
		"detach":     {onLost: runcontrol.Detach},
		"kill":       {onLost: runcontrol.Kill},
		"trace run":  {onLost: runcontrol.Kill, survives: true, alive: true, runs: true},
		"breakpoint": {onLost: runcontrol.Kill, persistent: true, alive: true, runs: true},
	} {
		t.Run(name, func(t *testing.T) {
			d, f, engine := toy(t, runcontrol.Config{OnLost: test.onLost})
			engine.SetDisconnected(test.survives)
			if err := d.StartTrace(leader.PID); err != nil {
				t.Fatal(err)
			}
			d.Inserted(runcontrol.Spot{PID: leader.PID, Addr: 0x401020}, test.persistent)
			resume(t, d)
			if err := d.Leave(false); err != nil {
				t.Fatal(err)
			}
			if d.Unattended() != test.runs || d.Alive() != test.alive || engine.Status().Running != test.survives {
				t.Errorf("under watch %v, alive %v, run on %v", d.Unattended(), d.Alive(), engine.Status().Running)
			}
			if !test.runs {
				return
			}
			// What a debugger does to the program stops it for the next client; its own signals do not.
			f.Play(fake.Step{Event: &target.Event{Signal: 10}}, fake.Step{Event: &target.Event{Signal: target.SignalTrap}})
			f.Settle()
			d.Attend()
			for d.Running() {
				next(t, d, runcontrol.PassesUnattended)
			}
			if ev := d.LastStop(); ev.Signal != target.SignalTrap {
				t.Errorf("the next client finds %+v", ev)
			}
		})
	}
}

func TestThreadsStopAlone(t *testing.T) {
	d, f, _ := toy(t, runcontrol.Config{})
	if err := d.BeginNonStop(); err != nil {
		t.Fatal(err)
	}
	if _, stopped := d.Stopped(leader); !stopped || !d.NonStop() {
		t.Fatal("the thread is not stopped as the mode begins")
	}
	if err := d.ResumeAlone([]target.Action{{Thread: leader}}); err != nil {
		t.Fatal(err)
	}
	if _, stopped := d.Stopped(leader); stopped {
		t.Error("the thread is stopped, although it was resumed")
	}
	f.Play(fake.Step{Event: &target.Event{Signal: 10}})
	select {
	case ev := <-d.Events():
		d.Learn(ev)
		d.Note(ev)
	case <-time.After(time.Minute):
		t.Fatal("no event came")
	}
	if ev, stopped := d.Stopped(leader); !stopped || ev.Signal != 10 {
		t.Errorf("stopped %v with %+v", stopped, ev)
	}
	if ran, err := d.EndNonStop(); ran || err != nil || d.NonStop() {
		t.Errorf("EndNonStop returned %v, %v", ran, err)
	}
}
