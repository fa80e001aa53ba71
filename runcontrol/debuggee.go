package runcontrol

import (
	"errors"
	"slices"
	"sync"
	"time"

	"tracewell/target"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// Config is what a Debuggee is made of.
type Config struct {
	Target target.Target
	// Engine runs the tracepoints of Target; nil if it has none that could be hit.
	Engine *tracepoint.Engine
	// Attached says that the processes which the target has now were running before.
	Attached bool
	// OnLost says what becomes of the program when a client is gone.
	OnLost Loss
	// Notify is told what becomes of processes.
	Notify Notify

	// Resumed and Happened are told what threads are told to do, and each event, before anything else is done about it; nil
	// ones are told nothing.
	Resumed  func([]target.Action)
	Happened func(target.Event)
	// Decline has a request of the program to its debugger fail (target.Requesting); needed for targets that have such.
	Decline func() error
}

// Notify are the functions that are told what becomes of processes; nil ones are told nothing. They are called on the
// goroutine that calls the Debuggee, or without a client on that of the watch over the program, one at a time.
type Notify struct {
	Started   func(path string, pid int) // a client had a program started (vRun, R)
	Attached  func(pid int)              // a client had a process attached to (vAttach)
	Refused   func(error)                // neither was possible; GDB 13 does not show its user the reason that is in the reply
	Detaching func(pid int)              // a client, or its loss, is about to let a process go
	Killing   func(pids []int)           // a client, or its loss, is about to end all of these (k, monitor exit)
	Ended     func(target.Event)         // a process ended by itself: Exited or Terminated
}

// Loss is what to do with the program when a connection is lost. A trace run that was told to survive its client
// (QTDisconnected) goes on whatever the choice, and so do commands of breakpoints of which the client said the same.
type Loss uint8

// The choices.
const (
	Hold   Loss = iota // stop it, and keep it stopped for the next client
	Detach             // let it go its way
	Kill               // end it
)

// ErrNoStop is the error of an interrupt that the program does not heed within the patience of the Debuggee.
var ErrNoStop = errors.New("the program does not stop")

// patience is how long to wait for a program to stop that has been interrupted. A program that sleeps in the kernel where nothing
// wakes it does not.
const patience = 10 * time.Second

// Debuggee is the processes of a target, as clients control them one after another.
type Debuggee struct {
	config   Config
	target   target.Target
	engine   *tracepoint.Engine
	patience time.Duration

	running bool            // a Resume is pending; always false in non-stop mode
	actions []target.Action // of the last Resume, without the signals that it delivered
	back    bool            // it was one backwards
	last    *target.Event   // what the client was last told, nil before the first
	nonStop *nonStop        // what there is to know in non-stop mode, nil in all-stop mode

	attached map[int]bool  // by process: it ran before it came to the server
	traced   int           // the process that the tracepoints of the run are in
	fork     *target.Event // the last Forked or Vforked of traced, while parent and child are held; or nil

	breakpoints map[Spot]bool // the client's, and whether their commands go on without one
	unattended  *unattended   // watches the program while it runs without a client

	mu        sync.Mutex // of Lock
	published published
}

// New returns the debuggee of a target, all of whose threads are stopped.
func New(c Config) *Debuggee {
	d := &Debuggee{config: c, target: c.Target, engine: c.Engine, patience: patience,
		attached: make(map[int]bool), breakpoints: make(map[Spot]bool)}
	for _, pid := range d.Processes() {
		d.attached[pid] = c.Attached
	}
	d.publish()
	return d
}

// Lock and Unlock are for front ends of which one controls and others watch: the methods are called with the lock held, but for
// State, which needs none, and Attend, which waits for a goroutine that takes it.
func (d *Debuggee) Lock() { d.mu.Lock() }

// Unlock ends what Lock began.
func (d *Debuggee) Unlock() { d.mu.Unlock() }

// SetPatience sets how long to wait for an interrupted program to stop, which otherwise is ten seconds.
func (d *Debuggee) SetPatience(p time.Duration) { d.patience = p }

// Running reports whether the program runs in all-stop mode. In non-stop mode it is false.
func (d *Debuggee) Running() bool { return d.running }

// SetRunning says that the program stands still without an event, or goes on without a resumption, as for a request to its
// debugger.
func (d *Debuggee) SetRunning(on bool) {
	d.running = on
	d.publish()
}

// Unattended reports whether the program runs, or ran, under a watch that Attend has to end.
func (d *Debuggee) Unattended() bool { return d.unattended != nil }

// Resume starts threads. The target's event ends what it begins. It is ErrRunning while the program runs.
func (d *Debuggee) Resume(actions []target.Action) error { return d.resume(actions, d.back) }

// ResumeIn is Resume in a direction, which Settle keeps to: backwards, which takes a target with a Reverser, or not.
func (d *Debuggee) ResumeIn(back bool, actions []target.Action) error { return d.resume(actions, back) }

func (d *Debuggee) resume(actions []target.Action, back bool) error {
	if d.running {
		return target.ErrRunning
	}
	d.back = back
	d.tellResumed(actions)
	if err := d.setGoing(actions); err != nil {
		return err
	}
	d.parts(actions)
	d.running, d.actions = true, slices.Clone(actions)
	for i := range d.actions {
		d.actions[i].Signal = target.SignalNone
	}
	d.publish()
	return nil
}

func (d *Debuggee) tellResumed(actions []target.Action) {
	if d.config.Resumed != nil {
		d.config.Resumed(actions)
	}
}

// Events is the channel to wait on for the program, nil while no event is due.
func (d *Debuggee) Events() <-chan target.Event {
	if !d.running && d.nonStop == nil {
		return nil
	}
	return d.target.Runner().Events()
}

// Settle takes note of an event in all-stop mode and reports whether the program is to stay stopped: after an event that
// passes every thread goes on as before, and the event's own with its signal.
func (d *Debuggee) Settle(ev target.Event, passes func(target.Event) bool) bool {
	if ev.Kind == target.Requesting { // of before the client left
		_ = d.config.Decline()
		return false
	}
	d.running = false
	d.Learn(ev)
	if passes(ev) && d.Alive() {
		if ev.Kind == target.Forked || ev.Kind == target.Vforked { // of before the client left: the child is for nobody
			_ = d.End(ev.Child.PID, d.target.Runner().Detach)
		}
		if d.goOn(ev) == nil {
			return false
		}
	}
	d.last = &ev
	d.publish()
	return true
}

// goOn resumes as the last time.
func (d *Debuggee) goOn(ev target.Event) error {
	actions := d.actions
	if Stops(ev) {
		again := target.Action{Thread: ev.Thread}
		for _, a := range d.actions {
			if a.Thread.Covers(ev.Thread) {
				again.Verb, again.Start, again.End = a.Verb, a.Start, a.End
				break
			}
		}
		if ev.Reason == target.ReasonNone && ev.Kind == target.Stopped {
			again.Signal = ev.Signal
		}
		actions = append([]target.Action{again}, actions...)
	}
	d.tellResumed(actions)
	err := d.setGoing(actions)
	d.running = err == nil
	return err
}

// setGoing has the target resume in the direction that the client wants.
func (d *Debuggee) setGoing(actions []target.Action) error {
	if d.back {
		return d.target.Reverser().ResumeBackwards(actions)
	}
	return d.target.Runner().Resume(actions)
}

// Interrupt stops a running program, or in non-stop mode a thread of it. A target that cannot be interrupted goes on to its
// next event.
func (d *Debuggee) Interrupt() {
	if d.running || d.nonStop != nil {
		_ = d.target.Runner().Interrupt()
	}
}

// Halt stops all that runs, and returns to all-stop mode. It is ErrNoStop if the program does not stop.
func (d *Debuggee) Halt() error {
	if d.nonStop != nil {
		_, err := d.EndNonStop()
		return err
	}
	for d.running {
		if err := d.target.Runner().Interrupt(); err != nil {
			return err
		}
		select {
		case ev := <-d.target.Runner().Events():
			d.Settle(ev, NothingPasses)
		case <-time.After(d.patience):
			return ErrNoStop
		}
	}
	return nil
}

// Last is the last event that stopped the program, whatever has become of its thread; nil before the first.
func (d *Debuggee) Last() *target.Event { return d.last }

// SetLast says how the program has stopped, where a front end knows better than the target.
func (d *Debuggee) SetLast(ev target.Event) {
	d.last = &ev
	d.publish()
}

// LastStop is how the program stopped last: by the last event, as far as there still is such a thread, and
// otherwise as a program does that has just begun. Without a process it is the end of the last one, or an exit, as gdbserver
// says it when there has been none: GDB must be told something.
func (d *Debuggee) LastStop() target.Event {
	threads := d.target.Threads()
	if d.last != nil {
		known := slices.Contains(threads, d.last.Thread)
		if Stops(*d.last) && known || Ends(*d.last) && len(threads) == 0 {
			return *d.last
		}
	}
	if len(threads) == 0 {
		// W00 is what gdbserver --multi replies before the first program.
		return target.Event{Kind: target.Exited}
	}
	return target.Event{Thread: threads[0], Signal: target.SignalTrap}
}

// StartTrace begins a trace run in a process. There is one at a time: the engine's buffer and variables have no process of their
// own.
func (d *Debuggee) StartTrace(pid int) error {
	if err := d.engine.Start(d.target.Tracer(), pid); err != nil {
		return err
	}
	d.traced, d.fork = pid, nil
	return nil
}

// Traced is the process that the trace run is in, 0 if there is none.
func (d *Debuggee) Traced() int { return d.traced }

// TracesOn reports whether a trace run is on that goes on without a client.
func (d *Debuggee) TracesOn() bool {
	if d.engine == nil {
		return false
	}
	status := d.engine.Status()
	return status.Running && status.Disconnected
}

// StopTrace ends a run because the client left.
func (d *Debuggee) StopTrace() error {
	if d.engine == nil {
		return nil
	}
	return d.engine.Stop(trace.ReasonDisconnected, "")
}

// Processes lists the processes, in the order of their threads.
func (d *Debuggee) Processes() []int {
	var pids []int
	for _, id := range d.target.Threads() {
		if !slices.Contains(pids, id.PID) {
			pids = append(pids, id.PID)
		}
	}
	return pids
}

// Alive reports whether there is any process.
func (d *Debuggee) Alive() bool { return len(d.target.Threads()) > 0 }

// EveryThread lets all threads of all processes go on.
func EveryThread() []target.Action {
	return []target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}
}

// Stops reports whether a thread is stopped with an event: not when the thread, or its process, is gone.
func Stops(ev target.Event) bool {
	switch ev.Kind {
	case target.Exited, target.Terminated, target.ThreadExited, target.NoneResumed:
		return false
	}
	return true
}

// Ends reports whether an event is the end of a process.
func Ends(ev target.Event) bool { return ev.Kind == target.Exited || ev.Kind == target.Terminated }
