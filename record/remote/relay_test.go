//go:build linux && amd64

package remote

import (
	"net"
	"strings"
	"sync"
	"testing"

	"tracewell/rsp"
)

// relay is a server that asks another one, or nobody, what to answer.
type relay struct {
	// answer gives the reply to a packet, and notifications to be sent behind it.
	answer func(packet string) (reply string, notifications []string)

	mu    sync.Mutex
	asked []string
}

// listen takes clients, one after another, and returns where.
func (r *relay) listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.serve(conn)
			conn.Close()
		}
	}()
	return l.Addr().String()
}

func (r *relay) serve(conn net.Conn) {
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
				packet := string(token.Payload)
				r.mu.Lock()
				r.asked = append(r.asked, packet)
				r.mu.Unlock()
				reply, notifications := r.answer(packet)
				for _, n := range notifications {
					out = rsp.AppendNotification(out, []byte(n))
				}
				out = own.AppendPacket(out, []byte(reply))
				if packet == "QStartNoAckMode" && reply == "OK" {
					own.StartNoAck()
				}
			}
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
	}
}

// packets are what was asked so far.
func (r *relay) packets() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.asked, "\n")
}

// ahead is a relay to the server at an address, which it lets have no feature of those that are named. In all-stop mode a reply may
// be long in coming, and cannot be interrupted.
func ahead(t *testing.T, address string, without ...string) *relay {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := rsp.NewClient(conn)
	var told []string
	c.Notify = func(payload []byte) { told = append(told, string(payload)) }
	return &relay{answer: func(packet string) (string, []string) {
		told = nil
		if packet == "QStartNoAckMode" {
			return "", nil
		}
		reply, err := c.Exchange(packet)
		if err != nil {
			return "E.gone", nil
		}
		for _, name := range without {
			reply = strings.Replace(reply, ";"+name+"+", "", 1)
		}
		return reply, told
	}}
}
