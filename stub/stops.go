package stub

import (
	"encoding/hex"
	"fmt"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/runcontrol"
	"tracewell/target"
)

// status is ?. In all-stop mode a program that runs, because a run went on without a client, is stopped to answer it.
func (x *session) status(request.None) ([]byte, error) {
	switch {
	case x.debuggee.NonStop():
		return x.firstStop(), nil
	case x.withoutProcess():
		return nil, target.ErrNoProcess
	// The stop that is due is the answer to another packet; GDB never asks then.
	case x.debuggee.Running() && x.owed:
		return nil, target.ErrRunning
	case x.debuggee.Running():
		// Ctrl-C of the server's own: the stop reply goes out when the event comes.
		x.owed, x.unsettled = true, true
		x.debuggee.Interrupt()
		return nil, errLater
	}
	ev := x.debuggee.LastStop()
	if runcontrol.Stops(ev) {
		x.general = ev.Thread // GDB takes the thread of the reply for the selected one
	}
	return x.stopReply(ev), nil
}

// stopped takes an event: it is the reply that the client waits for, unless the program goes on.
func (x *session) stopped(ev target.Event) {
	switch {
	case ev.Kind == target.Requesting:
		x.requested(ev)
		return
	case x.debuggee.NonStop():
		x.stoppedAlone(ev)
		return
	}
	// A child that the client has let go before it was told of it may still report its end.
	unknown := runcontrol.Ends(ev) && !x.debuggee.Knows(ev)
	if !x.debuggee.Settle(ev, func(ev target.Event) bool { return unknown || x.passes(ev) }) {
		return
	}
	// Hc holds for one resumption.
	x.resuming = target.ThreadID{}
	// Any other signal may have come just before the interrupt, which then is still on its way.
	if ev.Kind != target.Stopped || ev.Signal == target.SignalInt {
		x.asked = false
	}
	switch {
	case runcontrol.Stops(ev):
		x.general = ev.Thread
	case ev.Thread == x.general, runcontrol.Ends(ev):
		x.general = target.ThreadID{}
	}
	if !x.owed {
		return
	}
	if x.unsettled && ev.Kind == target.Stopped && ev.Signal == target.SignalInt {
		// The stop is of the session's own making, and GDB would report it as the program's.
		ev.Signal = target.SignalNone
		x.debuggee.SetLast(ev)
	}
	x.owed, x.unsettled = false, false
	x.send(x.stopReply(ev))
}

// stopReply is the reply that tells ev, see the GDB manual, Stop Reply Packets.
func (x *session) stopReply(ev target.Event) []byte {
	s := reply.Stop{Kind: 'T', Number: int(uint8(ev.Signal)), Core: -1}
	switch ev.Kind {
	case target.Exited, target.Terminated:
		s.Kind = 'X'
		if ev.Kind == target.Exited {
			s.Kind, s.Number = 'W', int(uint8(ev.Code))
		}
		if x.client.Has(request.Multiprocess) { // only such clients understand it
			s.PID = ev.Thread.PID
		}
		return reply.Stopped.Append(nil, s)
	case target.ThreadExited:
		s.Kind, s.Number, s.Thread = 'w', int(uint8(ev.Code)), x.idOf(ev.Thread)
		return reply.Stopped.Append(nil, s)
	case target.NoneResumed:
		s.Kind = 'N'
		return reply.Stopped.Append(nil, s)
	case target.Stopped:
	default:
		// Forks, execs, system calls and so on are reported with SIGTRAP and their reason, see the GDB manual, Stop Reply
		// Packets.
		s.Number = int(target.SignalTrap)
	}
	// Without the T packet there is no way to tell the thread either.
	if x.disabled.stopDetails() {
		s.Kind = 'S'
		return reply.Stopped.Append(nil, s)
	}
	s.Reason, s.Detail = x.reason(ev)
	if reason, text := x.walkReason(); reason != "" {
		s.Reason, s.Detail, s.Description = "reason", reason, hex.EncodeToString([]byte(text))
	}
	s.Registers = x.expedited(ev.Thread)
	if !x.disabled.stopThread() {
		s.Thread = x.idOf(ev.Thread)
		if th, err := x.target.Thread(ev.Thread); err == nil {
			s.Core = th.Core
		}
	}
	return reply.Stopped.Append(nil, s)
}

// watchNames are the reasons that come with an address.
var watchNames = map[target.Reason]string{
	target.ReasonWatch:       "watch",
	target.ReasonReadWatch:   "rwatch",
	target.ReasonAccessWatch: "awatch",
}

// historyEnds are the reasons of a recording that was executed to its end, or back to its beginning.
var historyEnds = map[target.Reason]string{
	target.ReasonBegin: "begin",
	target.ReasonEnd:   "end",
}

// reason is why a thread stopped, as far as the client supports the reason: one that it has not announced shows as SIGTRAP.
func (x *session) reason(ev target.Event) (name, detail string) {
	switch {
	case ev.Kind != target.Stopped:
		return x.happening(ev)
	case ev.Reason == target.ReasonSwBreak && x.client.Has(request.SwBreak):
		return "swbreak", ""
	case ev.Reason == target.ReasonHwBreak && x.client.Has(request.HwBreak):
		return "hwbreak", ""
	case ev.Reason == target.ReasonLibrary:
		// GDB reads the list of libraries again at this.
		return "library", ""
	case historyEnds[ev.Reason] != "":
		return "replaylog", historyEnds[ev.Reason]
	case watchNames[ev.Reason] != "":
		return watchNames[ev.Reason], fmt.Sprintf("%x", uint64(ev.Addr))
	}
	return "", ""
}

// happening is the reason of a thread that something other than a signal stopped.
func (x *session) happening(ev target.Event) (name, detail string) {
	switch {
	case ev.Kind == target.Execed && x.errorStrings:
		// LLDB does not announce that it knows of this, and has it by another name.
		return "reason", "exec"
	case ev.Kind == target.Execed && x.client.Has(request.ExecEvents):
		// The path is text in hexadecimal; addresses and numbers of system calls are numbers.
		return "exec", fmt.Sprintf("%x", ev.Path)
	case ev.Kind == target.Forked && x.client.Has(request.ForkEvents):
		return "fork", x.idOf(ev.Child).String()
	case ev.Kind == target.Vforked && x.client.Has(request.VforkEvents):
		return "vfork", x.idOf(ev.Child).String()
	case ev.Kind == target.VforkDone && x.client.Has(request.VforkEvents):
		return "vforkdone", ""
	case ev.Kind == target.ThreadCreated && x.births:
		return "create", ""
	// Only a client that sent QCatchSyscalls gets these.
	case ev.Kind == target.SyscallEntry:
		return "syscall_entry", fmt.Sprintf("%x", uint32(ev.Syscall))
	case ev.Kind == target.SyscallReturn:
		return "syscall_return", fmt.Sprintf("%x", uint32(ev.Syscall))
	}
	return "", ""
}

// expedited is frame pointer, stack pointer and program counter, which GDB would ask for after every stop: live even while a
// frame is selected. GDB can do without them, so registers that cannot be read are left out.
func (x *session) expedited(id target.ThreadID) (list []reply.Register) {
	layout, err := x.registers()
	if err != nil {
		return nil
	}
	b, err := x.threadRegisters(layout, id)
	if x.walk != nil { // the frame is the stop
		b, err = x.registerBlock()
	}
	if err != nil {
		return nil
	}
	isa := x.target.ISA()
	for _, n := range [...]arch.Reg{isa.FP, isa.SP, isa.PC} {
		if slot := layout.ByNumber(n); slot != nil && b.Has(slot.Offset, slot.Size) {
			hex := string(reply.Registers.Append(nil, b.Part(slot.Offset, slot.Size)))
			list = append(list, reply.Register{Number: n, Hex: hex})
		}
	}
	return list
}
