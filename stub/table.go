package stub

import "strings"

// group is a set of packets that need the same ability of the target.
type group struct {
	name    string
	needs   string // the accessors of target.Groups, with commas, or bars where one will do; "" for the core
	has     func(s *Server) bool
	packets []packet
}

// packet is one row: a packet that the server knows.
//
// The prefix is everything that names the packet, with the separator that follows; what comes behind it are its arguments.
// Among the rows whose prefix fits, the longest wins; a row without syntax takes no arguments, so it fits only alone.
type packet struct {
	prefix  string
	syntax  string // of the arguments: CAPITALS are fields, brackets are optional parts
	handler handler
	flags   flags
	tokens  string // announced by qSupported, blank-separated; see supported.go

	// The rest is for readers, see reference.go.
	about   string
	reply   string // what is replied besides E. and a text
	errors  string // why it may fail, besides its flags, arguments that are not well formed, and the lack of a process
	differs string // what gdbserver 13.1 does instead; "" for the same
	manual  string // where the letter of GDB's manual is not followed, and why; "" for nowhere
}

// handler answers a packet. Its arguments are what follows the prefix. No reply and no error is the empty reply.
type handler func(x *session, args string) ([]byte, error)

// flags say how a packet is treated before and after its handler is called.
type flags uint8

const (
	whenStopped     flags = 1 << iota // refused while the program runs
	outsideFrames                     // refused while a frame is selected
	binaryArguments                   // arguments hold binary bytes, so escapes are undone
	changesRun                        // refused where the trace run is a recording
	numericErrors                     // errors are numbers: GDB 13 takes a text for data (m), or for console output (qRcmd)
)

// name is the prefix without what separates it from the arguments.
func (p *packet) name() string { return strings.TrimRight(p.prefix, ":;,") }

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
			t.rows[p.prefix] = row{p, g}
			t.longest = max(t.longest, len(p.prefix))
		}
	}
	return t
}

// serves reports whether a packet is among those that this server and its target know.
func (s *Server) serves(g *group, p *packet) bool { return g.has(s) && !s.disabled.packet(p) }

// takes reports whether arguments may follow a row's prefix: not where there are none, and only behind the separator where
// the syntax begins with an optional one, as in "[:PID]".
func (p *packet) takes(args []byte) bool {
	if len(args) == 0 || p.syntax == "" {
		return len(args) == 0
	}
	optional := len(p.syntax) > 1 && p.syntax[0] == '[' && strings.IndexByte(":;,", p.syntax[1]) >= 0
	return !optional || args[0] == p.syntax[1]
}

// find finds the row of a packet and the packet's arguments; nil if there is none.
func (t *table) find(payload []byte) (*row, []byte) {
	for n := min(len(payload), t.longest); n > 0; n-- {
		if r, ok := t.rows[string(payload[:n])]; ok && r.packet.takes(payload[n:]) {
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
