package runcontrol

import (
	"errors"

	"tracewell/internal/routine"
	"tracewell/target"
)

// unattended is the watch over a program that runs without a client. Between its start and its end the goroutine owns
// the Debuggee.
type unattended struct {
	stop, done chan struct{}
}

// watch begins the watch, which keeps the event that stops the program for the next client.
func (d *Debuggee) watch() {
	u := &unattended{stop: make(chan struct{}), done: make(chan struct{})}
	d.unattended = u
	routine.Go(func() {
		defer close(u.done)
		// An event that stops the program ends the watch by itself; the client that comes next is told of it.
		events := d.target.Runner().Events()
		for running := true; running; {
			select {
			case <-u.stop:
				return
			case ev := <-events:
				d.mu.Lock()
				d.Settle(ev, PassesUnattended)
				running = d.running
				d.mu.Unlock()
			}
		}
	})
}

// Attend ends the watch over a program that runs without a client, because another client is there or nobody is to watch.
// The program stays as it is.
func (d *Debuggee) Attend() {
	if d.unattended == nil {
		return
	}
	close(d.unattended.stop)
	<-d.unattended.done
	d.unattended = nil
}

// LeaveAlone has the target report no more of the program than it must: it gets its signals, and its children go their way.
func (d *Debuggee) LeaveAlone() {
	if signals := d.target.Signals(); signals != nil {
		signals.PassSignals(everySignal())
	}
	if runner := d.target.Runner(); runner != nil {
		runner.SetReports(target.Reports{})
	}
	if syscalls := d.target.Syscalls(); syscalls != nil {
		for _, pid := range d.Processes() {
			_ = syscalls.CatchSyscalls(pid, false, nil) // a process that is gone makes no calls
		}
	}
}

// Leave does what must be done when a client is gone. A program that the client left to the trace run, as detached says, stays even
// when the run is over by then: without it GDB would not show the frames.
func (d *Debuggee) Leave(detached bool) error {
	// Asked before the run is stopped, whose end does not make the program any less the run's.
	survives := d.Survives()
	var err error
	if !d.TracesOn() {
		err = d.StopTrace()
	}
	switch {
	case d.target.Runner() == nil:
		return err
	case survives || detached:
		return errors.Join(err, d.carryOn())
	}
	d.LeaveAlone()
	if halted := d.Halt(); halted != nil {
		return errors.Join(err, halted)
	}
	d.withdraw()
	return errors.Join(err, d.endAll(d.config.OnLost))
}

// carryOn lets a program go on that runs, in all-stop mode and watched.
func (d *Debuggee) carryOn() error {
	d.LeaveAlone()
	// Non-stop mode is the connection's: without a client the program is in all-stop mode.
	ran, err := d.EndNonStop()
	if ran && err == nil && d.Alive() {
		err = d.Resume(EveryThread())
	}
	if d.running {
		d.watch()
	}
	return err
}

// Entrust leaves the program to the run that keeps it, while the client stays. As with gdbserver, everything goes on.
func (d *Debuggee) Entrust() error {
	d.LeaveAlone()
	if _, err := d.EndNonStop(); err != nil {
		return err
	}
	if d.running {
		return nil
	}
	return d.Resume(EveryThread())
}

// endAll does with all processes what a choice says.
func (d *Debuggee) endAll(choice Loss) error {
	pids := d.Processes()
	if choice == Hold || len(pids) == 0 {
		return nil
	}
	if choice == Kill {
		return d.KillAll(pids)
	}
	var errs []error
	for _, pid := range pids {
		errs = append(errs, d.LetGo(pid))
	}
	return errors.Join(errs...)
}

// KillAll ends processes.
func (d *Debuggee) KillAll(pids []int) error {
	// Told before it happens, as gdbserver prints it: "Killing process(es): N".
	if d.config.Notify.Killing != nil && len(pids) > 0 {
		d.config.Notify.Killing(pids)
	}
	var errs []error
	for _, pid := range pids {
		errs = append(errs, d.End(pid, d.target.Runner().Kill))
	}
	return errors.Join(errs...)
}

// LetGo detaches from a process, after whose fork the trace run may go on in the child.
func (d *Debuggee) LetGo(pid int) error {
	if d.config.Notify.Detaching != nil {
		d.config.Notify.Detaching(pid)
	}
	heir := d.Heir(pid)
	switch {
	case heir != 0:
		d.traced = heir // so that the end of pid is not that of the run
	case pid == d.traced:
		if err := d.StopTrace(); err != nil {
			return err
		}
	}
	err := d.End(pid, d.target.Runner().Detach)
	// The process is still ours, and so is its run.
	if err != nil && heir != 0 {
		d.traced = pid
	}
	return err
}

// End kills a process or lets it go, in all-stop mode stopping everything first. A trace run in it ends with that.
func (d *Debuggee) End(pid int, do func(pid int) error) error {
	// In all-stop mode a target takes no detach of a process that runs.
	if d.nonStop == nil {
		if err := d.Halt(); err != nil {
			return err
		}
	}
	if err := do(pid); err != nil {
		return err
	}
	if pid == d.traced {
		d.endRun(endedByClient)
	}
	d.forget(pid)
	return nil
}

// Survives reports whether the program has something to do that goes on without a client.
func (d *Debuggee) Survives() bool { return d.TracesOn() || d.LeftBehind(target.All) }

// NothingPasses is for the stop that a client, or the server itself, asked for.
func NothingPasses(target.Event) bool { return false }

// PassesUnattended lets a program without a client have its signals, and processes come and go. Only what a debugger does to
// it stops it: a breakpoint that the client left in, a step that was under way, an interrupt.
func PassesUnattended(ev target.Event) bool {
	switch {
	case ev.Kind != target.Stopped, ev.Reason == target.ReasonLibrary:
		return true
	case ev.Reason == target.ReasonNone:
		return ev.Signal != target.SignalTrap && ev.Signal != target.SignalInt
	}
	return false
}

// mostSignal is above the number of every signal of GDB, which has fewer than 160.
const mostSignal = 256

// everySignal lists what needs no event while there is no client.
func everySignal() []target.Signal {
	list := make([]target.Signal, mostSignal)
	for i := range list {
		list[i] = target.Signal(i)
	}
	return list
}
