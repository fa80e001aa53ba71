package stub

import (
	"fmt"
	"strings"

	"tracewell/rsp"
)

// supported is qSupported: it takes note of what the client can do and replies with the tokens of all rows that the
// target has the ability for. A token with a question mark, such as "swbreak?+", is only for clients that announced it, too.
func (x *session) supported(args string) ([]byte, error) {
	// Items that are none are the client's affair: GDB and gdbserver skip them, too.
	offered, _ := rsp.ParseFeatures(strings.TrimPrefix(args, ":"))
	x.client = features{
		multiprocess:  offered.Has("multiprocess"),
		swbreak:       offered.Has("swbreak"),
		hwbreak:       offered.Has("hwbreak"),
		execEvents:    offered.Has("exec-events"),
		forkEvents:    offered.Has("fork-events"),
		vforkEvents:   offered.Has("vfork-events"),
		noResumed:     offered.Has("no-resumed"),
		errorMessages: offered.Has("error-message"),
	}
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
	return reply, nil
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
func (x *session) startNoAck(string) ([]byte, error) {
	x.framing.StartNoAck()
	return replyOK, nil
}

// extend is the packet "!". GDB sends it on "target extended-remote" and then keeps the connection when the program ends. As
// with gdbserver, the server is there for more programs from then on.
func (x *session) extend(string) ([]byte, error) {
	x.extended, x.outlives = true, true
	return replyOK, nil
}

// unknown is the answer to packets that are in the table to say that they are not there.
func (x *session) unknown(string) ([]byte, error) { return nil, nil }

// agent is QAgent.
func (x *session) agent(args string) ([]byte, error) { return refuseOne(args, "in-process agent") }

// refuseOne answers a packet that switches something on or off that is always off.
func refuseOne(args, what string) ([]byte, error) {
	on, err := parseFlag(args)
	if err != nil {
		return nil, err
	}
	if on {
		return nil, fmt.Errorf("there is no %s", what)
	}
	return replyOK, nil
}

// parseFlag reads 0 or 1.
func parseFlag(args string) (bool, error) {
	in := rsp.NewScanner(args)
	on := in.Accept('1')
	if !on && !in.Accept('0') {
		in.Fail("0 or 1")
	}
	return on, in.End()
}

// symbol is qSymbol, with which GDB offers to look symbols up.
func (x *session) symbol(string) ([]byte, error) { return replyOK, nil }
