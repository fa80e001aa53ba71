package stubs

import (
	"net"
	"strings"
	"sync"
	"testing"

	"tracewell/internal/routine"
	"tracewell/rsp"
)

// Relay is a stub that asks another one, or nobody, what to answer.
type Relay struct {
	// Answer gives the reply to a packet.
	Answer func(packet string) (reply string)

	mu    sync.Mutex
	asked []string
}

// Listen takes clients, one after another, and returns where.
func (r *Relay) Listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	routine.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.serve(conn)
			conn.Close()
		}
	})
	return l.Addr().String()
}

func (r *Relay) serve(conn net.Conn) {
	decoder, own, in := rsp.NewDecoder(1<<20), new(rsp.Conn), make([]byte, 64<<10)
	for {
		n, err := conn.Read(in)
		if err != nil {
			return
		}
		decoder.Feed(in[:n])
		for {
			token, ok := decoder.Next()
			if !ok {
				break
			}
			out := own.Acknowledge(nil, token)
			if token.Kind == rsp.Packet {
				out = r.answer(out, own, string(token.Payload))
			}
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
	}
}

// answer appends the reply to a packet.
func (r *Relay) answer(out []byte, own *rsp.Conn, packet string) []byte {
	r.mu.Lock()
	r.asked = append(r.asked, packet)
	r.mu.Unlock()
	reply := r.Answer(packet)
	out = own.AppendPacket(out, []byte(reply))
	if packet == "QStartNoAckMode" && reply == "OK" {
		own.StartNoAck()
	}
	return out
}

// Asked reports whether a packet with this beginning has come.
func (r *Relay) Asked(prefix string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, packet := range r.asked {
		if strings.HasPrefix(packet, prefix) {
			return true
		}
	}
	return false
}

// Ahead is a Relay to the stub at an address, which it lets have no feature of those that are named. While it waits for a reply it
// passes no interrupt on.
func Ahead(t *testing.T, address string, without ...string) *Relay {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := rsp.NewClient(conn)
	return &Relay{Answer: func(packet string) string {
		if packet == "QStartNoAckMode" { // which is between the client and the relay
			return "OK"
		}
		reply, err := c.Exchange(packet)
		if err != nil {
			return "E.gone"
		}
		for _, name := range without {
			reply = strings.Replace(reply, ";"+name+"+", "", 1)
		}
		return reply
	}}
}
