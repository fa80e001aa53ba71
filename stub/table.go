package stub

import "strings"

// group is a set of packets that need the same ability of the target.
type group struct {
	name    string
	needs   string // the accessor of target.Groups, "" for the core
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
	when    conditions
	tokens  string // announced by qSupported, blank-separated; see supported.go
	reply   string // what is replied besides E. and a text
	about   string
}

// handler answers a packet. Its arguments are what follows the prefix. No reply and no error is the empty reply.
type handler func(x *session, args string) ([]byte, error)

// conditions are checked before, and flags looked at after a handler is called.
type conditions uint8

const (
	stopped conditions = 1 << iota // refused while the program runs
	noFrame                        // refused while a frame is selected
	binary                         // arguments hold binary bytes, so escapes are undone
	numeric                        // errors are numbers: GDB 13 takes a text for data (m), or for console output (qRcmd)
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

// lookup finds the row of a packet, nil for one that the server or its target does not know, and the packet's arguments.
func (s *Server) lookup(payload []byte) (*packet, []byte) {
	for n := min(len(payload), s.table.longest); n > 0; n-- {
		r, ok := s.table.rows[string(payload[:n])]
		if !ok || r.packet.syntax == "" && n < len(payload) {
			continue
		}
		if !r.group.has(s) {
			return nil, nil
		}
		return r.packet, payload[n:]
	}
	return nil, nil
}
