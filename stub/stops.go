package stub

import (
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/request"
	"tracewell/target"
)

// status is ?. In all-stop mode a program that runs, because a run went on without a client, is stopped to answer it.
func (x *session) status(request.None) ([]byte, error) {
	switch {
	case x.nonStop != nil:
		return x.firstStop(), nil
	case x.running && x.owed:
		return nil, target.ErrRunning
	case x.running:
		x.owed, x.unsettled = true, true
		x.interrupt()
		return nil, errLater
	}
	ev := x.lastStop()
	if stops(ev) {
		x.general = ev.Thread // GDB takes the thread of the reply for the selected one
	}
	return x.stopReply(ev), nil
}

// lastStop is how the program stopped last: by what the client was told last, as far as there still is such a thread, and
// otherwise as a program does that has just begun. Without a process it is the end of the last one, or an exit, as gdbserver
// says it when there has been none: GDB must be told something.
func (s *Server) lastStop() target.Event {
	threads := s.target.Threads()
	if s.last != nil {
		known := slices.Contains(threads, s.last.Thread)
		if stops(*s.last) && known || ends(*s.last) && len(threads) == 0 {
			return *s.last
		}
	}
	if len(threads) == 0 {
		return target.Event{Kind: target.Exited}
	}
	return target.Event{Thread: threads[0], Signal: target.SignalTrap}
}

// stopped takes an event: it is the reply that the client waits for, unless the program goes on.
func (x *session) stopped(ev target.Event) {
	if x.nonStop != nil {
		x.stoppedAlone(ev)
		return
	}
	unknown := ends(ev) && !x.knows(ev)
	if !x.settle(ev, func(ev target.Event) bool { return unknown || x.passes(ev) }) {
		return
	}
	x.resuming = target.ThreadID{}
	if ev.Kind != target.Stopped || ev.Signal == target.SignalInt {
		x.asked = false
	}
	switch {
	case stops(ev):
		x.general = ev.Thread
	case ev.Thread == x.general, ends(ev):
		x.general = target.ThreadID{}
	}
	if !x.owed {
		return
	}
	if x.unsettled && ev.Kind == target.Stopped && ev.Signal == target.SignalInt {
		// The stop is of the session's own making, and GDB would report it as the program's.
		ev.Signal = target.SignalNone
		x.last = &ev
	}
	x.owed, x.unsettled = false, false
	x.send(x.stopReply(ev))
}

// stopReply is the reply that tells ev, see the GDB manual, Stop Reply Packets.
func (x *session) stopReply(ev target.Event) []byte {
	switch ev.Kind {
	case target.Exited:
		return x.appendProcess(fmt.Appendf(nil, "W%02x", uint8(ev.Code)), ev)
	case target.Terminated:
		return x.appendProcess(fmt.Appendf(nil, "X%02x", uint8(ev.Signal)), ev)
	case target.ThreadExited:
		return x.appendThread(fmt.Appendf(nil, "w%02x;", uint8(ev.Code)), ev.Thread)
	case target.NoneResumed:
		return []byte("N")
	case target.Stopped:
	default:
		ev.Signal = target.SignalTrap
	}
	if x.disabled.stopDetails() {
		return fmt.Appendf(nil, "S%02x", uint8(ev.Signal))
	}
	reply := fmt.Appendf(nil, "T%02x", uint8(ev.Signal))
	return x.appendThreadState(x.appendReason(reply, ev), ev.Thread)
}

// appendProcess appends the process that ended, which only multiprocess clients understand.
func (x *session) appendProcess(reply []byte, ev target.Event) []byte {
	if !x.client.Has(request.Multiprocess) || ev.Thread.PID == 0 {
		return reply
	}
	return rsp.AppendHex(append(reply, ";process:"...), uint64(ev.Thread.PID))
}

// watchNames are the reasons that come with an address.
var watchNames = map[target.Reason]string{
	target.ReasonWatch:       "watch",
	target.ReasonReadWatch:   "rwatch",
	target.ReasonAccessWatch: "awatch",
}

// historyEnds are the reasons of a recording that has been gone through.
var historyEnds = map[target.Reason]string{
	target.ReasonBegin: "begin",
	target.ReasonEnd:   "end",
}

// appendReason appends why the program stopped, as far as the client knows the reason.
func (x *session) appendReason(reply []byte, ev target.Event) []byte {
	switch {
	case ev.Kind != target.Stopped:
		return x.appendHappening(reply, ev)
	case ev.Reason == target.ReasonSwBreak && x.client.Has(request.SwBreak):
		return append(reply, "swbreak:;"...)
	case ev.Reason == target.ReasonHwBreak && x.client.Has(request.HwBreak):
		return append(reply, "hwbreak:;"...)
	case ev.Reason == target.ReasonLibrary:
		return append(reply, "library:;"...)
	case historyEnds[ev.Reason] != "":
		return append(append(append(reply, "replaylog:"...), historyEnds[ev.Reason]...), ';')
	case watchNames[ev.Reason] != "":
		return fmt.Appendf(reply, "%s:%x;", watchNames[ev.Reason], uint64(ev.Addr))
	}
	return reply
}

// appendHappening appends what a thread stopped for that did not stop by itself. A client that has not announced that it
// knows of such things sees SIGTRAP.
func (x *session) appendHappening(reply []byte, ev target.Event) []byte {
	switch {
	case ev.Kind == target.Execed && x.client.Has(request.ExecEvents):
		return append(rsp.AppendHexBytes(append(reply, "exec:"...), ev.Path), ';')
	case ev.Kind == target.Forked && x.client.Has(request.ForkEvents):
		return append(x.appendThread(append(reply, "fork:"...), ev.Child), ';')
	case ev.Kind == target.Vforked && x.client.Has(request.VforkEvents):
		return append(x.appendThread(append(reply, "vfork:"...), ev.Child), ';')
	case ev.Kind == target.VforkDone && x.client.Has(request.VforkEvents):
		return append(reply, "vforkdone:;"...)
	case ev.Kind == target.ThreadCreated && x.births:
		return append(reply, "create:;"...)
	case ev.Kind == target.SyscallEntry:
		return fmt.Appendf(reply, "syscall_entry:%x;", uint32(ev.Syscall))
	case ev.Kind == target.SyscallReturn:
		return fmt.Appendf(reply, "syscall_return:%x;", uint32(ev.Syscall))
	}
	return reply
}

// appendThreadState appends the registers that GDB asks for after every stop, the thread and its processor.
func (x *session) appendThreadState(reply []byte, id target.ThreadID) []byte {
	reply = x.appendExpedited(reply, id)
	if x.disabled.stopThread() {
		return reply
	}
	reply = append(x.appendThread(append(reply, "thread:"...), id), ';')
	if th, err := x.target.Thread(id); err == nil && th.Core >= 0 {
		reply = fmt.Appendf(reply, "core:%x;", th.Core)
	}
	return reply
}

// appendExpedited appends frame pointer, stack pointer and program counter, live even while a frame is selected. GDB
// can do without them, so registers that cannot be read are left out.
func (x *session) appendExpedited(reply []byte, id target.ThreadID) []byte {
	layout, err := x.registers()
	if err != nil {
		return reply
	}
	b, err := x.threadRegisters(layout, id)
	if err != nil {
		return reply
	}
	isa := x.target.ISA()
	for _, n := range [...]arch.Reg{isa.FP, isa.SP, isa.PC} {
		if slot := layout.ByNumber(n); slot != nil && b.knows(slot) {
			reply = fmt.Appendf(reply, "%02x:%x;", n, b.bytes[slot.Offset:slot.Offset+slot.Size])
		}
	}
	return reply
}
