package stub

import (
	"errors"
	"fmt"
	"strings"

	"tracewell/rsp"
	"tracewell/rsp/request"
)

// supported is qSupported: it takes note of what the client can do and replies with the tokens of all rows that the
// target has the ability for. A token with a question mark, such as "swbreak?+", is only for clients that announced it, too.
func (x *session) supported(offered rsp.Features) ([]byte, error) {
	// Each qSupported counts in full: GDB sends one for each connection, and what it leaves out it does not support.
	x.client = request.ClientOf(offered)
	x.takeCharge()
	reply := fmt.Appendf(nil, "PacketSize=%x", x.packetSize)
	for i := range x.table.groups {
		g := &x.table.groups[i]
		for j := range g.packets {
			if p := &g.packets[j]; x.serves(g, p) {
				reply = appendTokens(reply, p.tokens, offered)
			}
		}
	}
	return x.announce(reply), nil
}

// appendTokens appends those of a row's tokens that the client is to be told.
func appendTokens(reply []byte, tokens string, offered rsp.Features) []byte {
	for _, token := range strings.Fields(tokens) {
		name, echoed := strings.CutSuffix(token, "?+")
		if echoed {
			if !offered.Has(name) {
				continue
			}
			token = name + "+"
		}
		reply = append(append(reply, ';'), token...)
	}
	return reply
}

// startNoAck is QStartNoAckMode. The packet itself has been acknowledged by now.
func (x *session) startNoAck(request.None) error {
	// The OK itself is the first packet that needs none; GDB acknowledges it all the same, which Conn ignores.
	x.framing.StartNoAck()
	return nil
}

// extend is the packet "!". GDB sends it on "target extended-remote" and then keeps the connection when the program ends. As
// with gdbserver, the server is there for more programs from then on.
func (x *session) extend(request.None) error {
	x.extended, x.outlives = true, true
	return nil
}

// unknown is the answer to packets that are in the table to say that they are not there.
func (x *session) unknown(request.None) ([]byte, error) { return nil, nil }

// agent is QAgent.
func (x *session) agent(on bool) error {
	// An agent would have to be in the program (libinproctrace.so), and its breakpoints would be jumps.
	if on {
		return errors.New("there is no in-process agent")
	}
	return nil
}

// symbol is qSymbol, with which GDB offers to look symbols up.
func (x *session) symbol(string) ([]byte, error) { return replyOK, nil }
