package remote

import (
	"errors"
	"fmt"
	"io"

	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// How programs end, or get lost, or are let go.

// gone tells of the end of the program.
func (t *Target) gone(stop reply.Stop) {
	ev := target.Event{Kind: target.Exited, Thread: t.current, Code: stop.Number}
	if stop.Kind == 'X' {
		ev.Kind, ev.Code, ev.Signal = target.Terminated, 0, target.Signal(stop.Number)
	}
	t.end = ev
	t.finish()
	t.tell(ev)
}

// finish forgets the program, which is gone.
func (t *Target) finish() {
	for id := range t.stepping {
		if t.handler != nil {
			t.handler.ThreadGone(int64(id.TID))
		}
	}
	t.remember()
	t.ended = true
	clear(t.places)
	clear(t.watches)
	clear(t.standing)
	clear(t.stepping)
	t.setThreads(nil)
}

// endRun ends a trace run with a reason, by hits that come to nothing. One location does, unless its condition is false whatever
// the registers are.
func (t *Target) endRun(why error) {
	if t.handler == nil {
		return
	}
	for _, p := range t.places {
		if p.location {
			s := t.snapshot(t.current)
			s.odd = why
			if t.handler.Hit(p.called, s)&target.Halt != 0 {
				return
			}
		}
	}
}

// lose gives the program up, since the connection is lost. A trace run ends with the reason.
func (t *Target) lose(err error) {
	if t.isClosing() {
		t.going = nil
		return
	}
	if t.collector != nil && t.collector.running {
		t.collector.lose(err)
	}
	t.endRun(err)
	t.end = target.Event{Kind: target.Terminated, Thread: t.current, Signal: target.SignalKill}
	t.leave()
	t.finish()
	if t.going != nil {
		t.tell(t.end)
	}
}

// refused ends a resumption that the stub has not carried out, as it says.
func (t *Target) refused(err error) {
	if client.IsLost(err) {
		t.lose(err)
		return
	}
	if isNonsense(err) || errors.As(err, new(*partialError)) { // what the program does now nobody knows
		t.endRun(err)
		t.uninstallAll()
	}
	t.say(fmt.Sprintf("The stub does not let the program go on: %v\n", err))
	t.tell(target.Event{Kind: target.Stopped, Thread: t.current})
}

// say prints for the client, or for whoever has started this.
func (t *Target) say(text string) {
	if t.c.Console != nil {
		t.c.Console([]byte(text))
	}
}

// letGo removes what is inserted and has the stub let the program go.
func (t *Target) letGo() error {
	err := errors.Join(t.conclude(), t.collector.forsake(), t.removeAll())
	d := command(&t.link, request.Detach, request.MaybeProcess{PID: t.current.PID, Given: t.tagged})
	if errors.Is(d, io.EOF) { // a stub that has nothing more to do may hang up before it says so
		d = nil
	}
	t.release()
	return errors.Join(err, d)
}

// release forgets a program that the stub has let go or killed, without an event.
func (t *Target) release() {
	t.going = nil
	t.setRunning(false)
	t.finish()
}

// Detach implements target.Runner.
func (t *Target) Detach(pid int) error {
	return t.do(func() error {
		if t.ended {
			return target.ErrNoProcess
		}
		return t.letGo()
	})
}

// Kill implements target.Runner.
func (t *Target) Kill(pid int) error {
	return t.do(func() error {
		if t.ended {
			return target.ErrNoProcess
		}
		err := t.removeAll()
		k := command(&t.link, request.KillProcess, pid)
		if client.IsUnsupported(k) {
			k = t.c.Send(request.Kill.Append(nil, request.None{})) // which has no reply
		}
		t.release()
		return errors.Join(err, t.check(k))
	})
}
