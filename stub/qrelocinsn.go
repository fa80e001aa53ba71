package stub

import (
	"slices"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/trace"
)

// moving is a packet that waits while the client copies instructions for the tracepoints that the packet is about to install.
// The client does so with packets of its own, such as m and X, which are served as at any time: nothing waits for it but
// this packet's reply. It answers each question with a packet that begins with qRelocInsn, or with an error.
type moving struct {
	pid  int
	left []target.Relocation // the first is the one that was asked about
	then func() error        // what the packet does when there are no more
}

// relocate has the client copy what instructions at the addresses the target cannot copy, and then lets a packet do what it
// is to do. GDB (up to 18 at least) makes such copies while it waits for the reply to a packet that defines, starts or
// enables tracepoints, and at no other time. A packet that waited before this one waits no more: its client has given it up.
func (x *session) relocate(pid int, addrs []arch.Addr, then func() error) error {
	x.moving = nil
	relocator := x.target.Relocator()
	if relocator == nil || !x.client.Has(request.RelocInsn) {
		return then()
	}
	x.moving = &moving{pid, relocator.Relocations(pid, addrs), then}
	return x.askOn()
}

// askOn asks the next question, or lets the packet go on.
func (x *session) askOn() error {
	m := x.moving
	if len(m.left) == 0 {
		x.moving = nil
		return m.then()
	}
	x.send(reply.Relocation.Append(nil, reply.Copy{From: m.left[0].From, To: m.left[0].To}))
	return errLater
}

// relocated is the client's answer that it has made a copy, and of how many bytes. A copy that is not usable is as good as
// none.
func (x *session) relocated(args string) ([]byte, error) {
	if x.moving == nil {
		return nil, nil
	}
	if size, err := request.Relocated.Parse(args); err == nil {
		// The target checks the copy against the instruction: that of GDB 13.1 is wrong for some operands relative to the
		// pc.
		_ = x.target.Relocator().Relocated(x.moving.pid, x.moving.left[0], size)
	}
	return x.nextRelocation()
}

// notRelocated is the client's answer that it could not.
func (x *session) notRelocated(string) ([]byte, error) {
	if x.moving == nil {
		return nil, nil
	}
	return x.nextRelocation()
}

// nextRelocation goes on to the next question. The last answer is answered by the reply that the packet which waits is owed.
func (x *session) nextRelocation() ([]byte, error) {
	x.moving.left = x.moving.left[1:]
	return replyOK, x.askOn()
}

// install lets a packet that may install a tracepoint at addr do so, when the client has made the copy that it takes.
func (x *session) install(addr arch.Addr, then func() error) error {
	id, err := x.thread()
	if err != nil || !x.engine.Status().Running {
		return then()
	}
	return x.relocate(id.PID, []arch.Addr{addr}, then)
}

// addresses lists where tracepoints are that are in the order of their addresses.
func addresses(all []trace.Tracepoint) []arch.Addr {
	addrs := make([]arch.Addr, len(all))
	for i, t := range all {
		addrs[i] = t.Addr
	}
	return slices.Compact(addrs)
}
