//go:build amd64

package linux

import (
	"fmt"

	"tracewell/internal/linux"
	"tracewell/target"
)

// Events implements target.Runner.
func (t *Target) Events() <-chan target.Event { return t.events }

// Resume implements target.Runner.
func (t *Target) Resume(actions []target.Action) error {
	err := target.ErrNoProcess
	t.do(func() {
		switch {
		case t.active:
			err = target.ErrRunning
		case t.finished != nil:
			t.active, err = true, nil
		case t.proc != nil:
			err = t.start(actions)
		}
	})
	return err
}

// start sets every covered task going.
func (t *Target) start(actions []target.Action) error {
	t.remember()
	t.active, t.actions = true, actions
	signals := make(map[*task]int)
	resumed := 0
	for _, k := range t.order {
		k.resumed = false
		for _, a := range actions {
			if a.Thread.Covers(k.id()) {
				k.resumed, k.verb, k.rangeStart, k.rangeEnd = true, a.Verb, a.Start, a.End
				signals[k] = kernelSignal(a.Signal)
				resumed++
				break
			}
		}
	}
	if resumed == 0 {
		t.active = false
		return fmt.Errorf("%w: nothing to resume", target.ErrNoThread)
	}
	for _, k := range append([]*task(nil), t.order...) {
		if !t.active {
			break
		}
		if k.resumed && k.state == stopped && !k.waiting {
			t.proceed(k, signals[k])
		}
	}
	return nil
}

// Interrupt implements target.Runner.
func (t *Target) Interrupt() error {
	t.do(func() {
		if !t.active || t.proc == nil {
			return
		}
		for _, k := range t.order {
			if k.state != zombie {
				t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalInt})
				return
			}
		}
	})
	return nil
}

// Kill implements target.Runner.
func (t *Target) Kill(pid int) error {
	return t.onProcess(pid, func(*process) error {
		t.kill()
		return nil
	})
}

// kill ends the process and waits until the kernel has said so of every task.
func (t *Target) kill() {
	p := t.proc
	t.last = nil
	linux.Kill(p.pid, linux.SIGKILL)
	for t.proc == p {
		tid, s, err := linux.Wait(-1)
		if err == linux.ErrInterrupted {
			continue
		}
		if err != nil {
			t.vanish()
			break
		}
		switch k, s := t.arrive(tid, s); {
		case k == nil:
		case k.guest:
			t.act(k, s)
		case !t.ended(k, s):
			linux.Cont(tid, 0) // a stop on the way out
		}
	}
	t.letGuestsGo()
}

// letGuestsGo detaches vfork children that are left without a parent under trace.
func (t *Target) letGuestsGo() {
	for tid, k := range t.tasks {
		if !k.guest {
			continue
		}
		if linux.Interrupt(tid) == nil {
			if _, s, err := linux.Wait(tid); err == nil {
				t.arrive(tid, s)
				k.flush()
				sig := 0
				if k.atSignal {
					sig, _ = s.Stopped()
				}
				linux.Detach(tid, sig)
			}
		}
		delete(t.tasks, tid)
	}
	t.guests = 0
}

// Detach implements target.Runner.
func (t *Target) Detach(pid int) error {
	return t.onProcess(pid, func(*process) error {
		t.hold(nil)
		if t.proc != nil {
			t.detach()
		}
		return nil
	})
}

// detach leaves the stopped process as if it had never been traced.
func (t *Target) detach() {
	p := t.proc
	t.letGuestsGo()
	for _, tr := range p.traps {
		if tr.site != nil {
			lower(p.mem, tr.site.Semaphores)
		}
		tr.lift(p)
	}
	clear(p.traps)
	p.span()
	t.active = false
	t.unmapScratch()
	p.debug = debugRegisters{generation: p.debug.generation + 1}
	for _, k := range t.order {
		p.debug.load(k)
		k.flush()
		linux.Detach(k.tid, k.parting())
		for _, d := range k.deferred {
			linux.KillThread(p.pid, k.tid, d.signal)
		}
		delete(t.tasks, k.tid)
		k.close()
	}
	t.order, t.parked, t.active = nil, 0, false
	p.close()
	t.proc = nil
}

// parting is the signal that a task takes with it when it is let go: the one it was stopped with, unless that was only
// meant for the debugger.
func (k *task) parting() int {
	signal := k.signal
	if k.waiting && k.status.Event() == 0 {
		signal, _ = k.status.Stopped()
	}
	if signal == linux.SIGTRAP || signal == linux.SIGINT {
		return 0
	}
	return signal
}

// PassSignals sets the signals that threads get without the session being told.
func (t *Target) PassSignals(signals []target.Signal) {
	t.do(func() {
		clear(t.passing[:])
		for _, s := range signals {
			t.passing[kernelSignal(s)] = true
		}
	})
}

// ProgramSignals sets the signals that a thread may take with it when it is let go.
func (t *Target) ProgramSignals([]target.Signal) {}

// Stop implements target.Runner.
func (t *Target) Stop(target.ThreadID) error { return target.ErrUnsupported }

// SetNonStop implements target.Runner.
func (t *Target) SetNonStop(on bool) error {
	if on {
		return target.ErrUnsupported
	}
	return nil
}

// SetReports implements target.Runner.
func (t *Target) SetReports(target.Reports) {}
