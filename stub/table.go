package stub

import (
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// group is a set of packets that need the same abilities of the target, all of them.
type group struct {
	name    string
	needs   []ability
	packets []packet
}

// ability is something that not every target has: an accessor of target.Groups, or several of which one will do, with bars
// between them. One without a name is an ability of the server itself.
type ability struct {
	name string
	has  func(s *Server) bool
}

// ofTarget is the ability that an accessor returns.
func ofTarget[A any](name string, accessor func(target.Target) A) ability {
	return ability{name, func(s *Server) bool { return any(accessor(s.target)) != nil }}
}

// has reports whether a server offers the packets of the group.
func (g *group) has(s *Server) bool {
	for _, a := range g.needs {
		if !a.has(s) {
			return false
		}
	}
	return true
}

// packet is one row: a packet that the server supports. Among the rows whose prefix fits, the longest wins.
type packet struct {
	call
	flags   flags
	watcher handler // answers watchers, where that is not the call's handler or a refusal
	tokens  string  // announced by qSupported, blank-separated; see supported.go

	// The rest is for readers, see reference.go.
	about   string
	errors  string // why it may fail, besides its kind, its flags, malformed arguments, and the lack of a process
	differs string // what gdbserver 13.1 does instead; "" for the same
	manual  string // where the letter of GDB's manual is not followed, and why; "" for nowhere
}

// call is a packet's grammar and what answers it.
type call struct {
	*request.Grammar
	reply   string // what is replied besides E. and a text, for readers
	always  string // why any packet of its kind may fail, for readers
	handler handler
}

// handler answers a packet. Its arguments are what follows the prefix. No reply and no error is the empty reply. What it returns is
// sent before another handler is called.
type handler func(x *session, args string) ([]byte, error)

// on answers a packet by a function of its parsed arguments, which returns the content of a reply. Arguments that do not parse are
// rejected before that.
func on[A, R any](f *request.Form[A], form *reply.Form[R], answer func(*session, A) (R, error)) call {
	return raw(f, form.Syntax, func(x *session, a A) ([]byte, error) {
		r, err := answer(x, a)
		if err != nil {
			return nil, err
		}
		x.reply = form.Append(x.reply[:0], r)
		return x.reply, nil
	})
}

// does answers a packet by OK when a function of its parsed arguments has succeeded.
func does[A any](f *request.Form[A], do func(*session, A) error) call {
	return on(f, reply.OK, func(x *session, a A) (none reply.None, err error) { return none, do(x, a) })
}

// raw answers a packet by a function of its parsed arguments that returns the bytes of the reply: for stop replies, which come with
// events, too, and for replies that have no form.
func raw[A any](f *request.Form[A], replies string, answer func(*session, A) ([]byte, error)) call {
	return unparsed(f, replies, func(x *session, args string) ([]byte, error) {
		a, err := f.Parse(args)
		if err != nil {
			return nil, err
		}
		return answer(x, a)
	})
}

// unparsed answers a packet by a function that takes the arguments as they came: because it does not look at them, or because
// something else is to be rejected before what is malformed.
func unparsed[A any](f *request.Form[A], replies string, answer handler) call {
	return call{Grammar: &f.Grammar, reply: replies, handler: answer}
}

// flags say how a packet is treated before and after its handler is called.
type flags uint8

const (
	whenStopped   flags = 1 << iota // refused while the program runs
	outsideFrames                   // refused while a frame is selected
	changesRun                      // refused where the trace run is a recording
	forWatchers                     // a watcher gets the same answer: the packet reads, or its session alone takes note of it
	numericErrors                   // errors are numbers: GDB 13 takes a text for data (m), or for console output (qRcmd)
)

// table is the rows by prefix.
type table struct {
	groups  []group
	rows    map[string]row
	longest int // prefix
}

// row is a packet and the group that it is in.
type row struct {
	packet *packet
	group  *group
}

// newTable indexes all groups.
func newTable() *table {
	t := &table{groups: groups(), rows: make(map[string]row)}
	for i := range t.groups {
		g := &t.groups[i]
		for j := range g.packets {
			p := &g.packets[j]
			t.rows[p.Prefix] = row{p, g}
			t.longest = max(t.longest, len(p.Prefix))
		}
	}
	return t
}

// serves reports whether a packet is among those that this server and its target know.
func (s *Server) serves(g *group, p *packet) bool { return g.has(s) && !s.disabled.packet(p) }

// find finds the row of a packet and the packet's arguments; nil if there is none.
func (t *table) find(payload []byte) (*row, []byte) {
	for n := min(len(payload), t.longest); n > 0; n-- {
		if r, ok := t.rows[string(payload[:n])]; ok && r.packet.Takes(payload[n:]) {
			return &r, payload[n:]
		}
	}
	return nil, nil
}

// lookup finds a packet and its arguments; nil for one that the server or its target does not know.
func (s *Server) lookup(payload []byte) (*packet, []byte) {
	r, args := s.table.find(payload)
	if r == nil || !s.serves(r.group, r.packet) {
		return nil, nil
	}
	return r.packet, args
}
