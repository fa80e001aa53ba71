package stub

import (
	"errors"

	"tracewell/rsp/request"
	"tracewell/target"
)

// Starting programs and attaching to processes (GDB manual, Packets: vRun, vAttach, R).

var (
	// errOneProgram refuses to start a program where the target cannot. The empty reply would have GDB 13 restart this one by
	// the packet R, and die of an internal error when there is no program afterwards.
	errOneProgram = errors.New("this server serves the one program that it was started with")
	errNoProgram  = errors.New("no program is named, and there was none before")
)

// run is vRun. An empty path means the program that ran last, but with the arguments of the packet.
func (x *session) run(args string) ([]byte, error) {
	// Before the arguments are looked at: also a malformed vRun must not have the empty reply.
	if x.target.Launcher() == nil {
		return nil, errOneProgram
	}
	named, err := request.Run.Parse(args)
	if err != nil {
		return nil, err
	}
	// A copy: what cannot be started does not change which program ran last.
	p := x.program
	if named.Path != "" {
		p.Path = named.Path
	}
	p.Args = named.Args
	ev, err := x.launch(p)
	if err != nil {
		return nil, err
	}
	return x.stopReply(ev), nil
}

// launch starts a program, which is then the one that ran last, and selects its thread. It returns the event to tell.
func (x *session) launch(p target.Program) (target.Event, error) {
	// Without "set remote exec-file" GDB sends an empty name.
	if p.Path == "" {
		return target.Event{}, errNoProgram
	}
	p.Files = x.streams
	id, err := x.target.Launcher().Start(p)
	if err != nil {
		return target.Event{}, x.refuse(err)
	}
	x.program = p
	if x.config.Notify.Started != nil {
		x.config.Notify.Started(p.Path, id.PID)
	}
	// As after PTRACE_TRACEME and exec: SIGTRAP, which GDB expects of a program that has just been started.
	ev := target.Event{Thread: id, Signal: target.SignalTrap}
	x.welcome(ev, false)
	return ev, nil
}

// refuse has the owner told why a client does not get a process. It returns the error.
func (x *session) refuse(err error) error {
	if x.config.Notify.Refused != nil {
		x.config.Notify.Refused(err)
	}
	return err
}

// welcome takes note of a new process, whose thread stopped with ev, and selects that.
func (x *session) welcome(ev target.Event, attached bool) {
	x.debuggee.Welcome(ev, attached)
	x.general, x.resuming = ev.Thread, target.ThreadID{}
	clear(x.documents)
}

// restart is R, which has no reply: everything ends, and the program that ran last starts again. Without the extended mode
// it is not a packet.
func (x *session) restart(string) ([]byte, error) {
	if !x.extended || x.target.Launcher() == nil {
		return nil, target.ErrUnsupported
	}
	_, _ = x.kill(request.None{})
	if !x.debuggee.Running() { // as it does when nothing can stop it
		_, _ = x.launch(x.program) // without one there is no process, which ? tells
	}
	return nil, errLater
}

// attach is vAttach. In non-stop mode the process goes on at once, as with gdbserver 13.1: GDB then asks for the threads to
// stop that it wants stopped.
func (x *session) attach(pid int) ([]byte, error) {
	id, err := x.target.Launcher().Attach(pid)
	if err != nil {
		return nil, x.refuse(err)
	}
	if x.config.Notify.Attached != nil {
		x.config.Notify.Attached(pid)
	}
	ev := target.Event{Thread: id}
	// Signal 0: the process was stopped by nothing of its own, and GDB shows none. LLDB would select no thread.
	if x.errorStrings {
		ev.Signal = target.SignalStop
	}
	x.welcome(ev, true)
	if !x.debuggee.NonStop() {
		return x.stopReply(ev), nil
	}
	return replyOK, x.debuggee.SeizeAlone(pid)
}
