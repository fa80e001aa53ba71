package remote

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/tdesc/fetch"
)

// Limits of what is waited for and accepted.
const (
	replyPatience = 15 * time.Second // for a reply
	mostObject    = 4 << 20          // bytes of an object of qXfer
	mostFile      = 1 << 30          // bytes of a file
	usualPacket   = 399              // of a server that does not say what it takes, as GDB has it
	leastPacket   = 64
	mostPacket    = 64 << 10
)

// server is the connection to a server, with what it can do.
type server struct {
	conn     net.Conn
	client   *rsp.Client
	features rsp.Features
	packet   int      // the longest that it takes
	notified []string // stops that notifications have told of
}

func newServer(conn net.Conn) *server {
	s := &server{conn: conn, client: rsp.NewClient(conn), packet: usualPacket}
	s.client.Notify = func(payload []byte) {
		if stop, ok := strings.CutPrefix(string(payload), "Stop:"); ok {
			s.notified = append(s.notified, stop)
		}
	}
	return s
}

// errUnknown is that a server knows no packet of a kind.
var errUnknown = errors.New("the server does not know it")

// errGone is that there is no use in asking a server anything more.
var errGone = errors.New("the connection to the server has failed")

// refusal is an error that the server answers with.
type refusal struct{ packet, reply string }

// Error says what was refused, and why if the server says so.
func (r *refusal) Error() string {
	if text, ok := strings.CutPrefix(r.reply, "E."); ok {
		return fmt.Sprintf("%s: the server refuses: %s", r.packet, text)
	}
	return fmt.Sprintf("%s: the server refuses with error %s", r.packet, r.reply[1:])
}

// exchange sends a packet and returns the reply to it, whatever that is. What a program prints meanwhile is passed over, and a
// server that asks for instructions to be relocated is told no, so that it steps over them.
func (s *server) exchange(packet string) (string, error) {
	if err := s.conn.SetDeadline(time.Now().Add(replyPatience)); err != nil {
		return "", err
	}
	reply, err := s.client.Exchange(packet)
	for err == nil && (isConsole(reply) || strings.HasPrefix(reply, "qRelocInsn:")) {
		if reply[0] == 'q' {
			err = s.client.Send([]byte("E01"))
		}
		var next []byte
		if err == nil {
			next, err = s.client.Receive()
		}
		reply = string(next)
	}
	if err != nil {
		return "", fmt.Errorf("%w at %s: %w", errGone, nameOf(packet), err)
	}
	return reply, nil
}

// isConsole reports whether a reply is something that a program has printed.
func isConsole(reply string) bool {
	_, err := rsp.ParseHexBytes(strings.TrimPrefix(reply, "O"))
	return len(reply) > 1 && reply[0] == 'O' && err == nil
}

// nameOf is the name of a packet, for errors.
func nameOf(packet string) string {
	end := strings.IndexAny(packet, ":;,")
	if end < 0 {
		return packet
	}
	if name := packet[:end]; name != "qXfer" && name != "QTBuffer" && name != "vFile" {
		return name
	}
	rest, _, _ := strings.Cut(packet[end+1:], ":")
	return packet[:end+1] + rest
}

// ask is exchange with a packet that the server must know and not refuse.
func (s *server) ask(packet string) (string, error) {
	reply, err := s.exchange(packet)
	switch {
	case err != nil:
		return "", err
	case reply == "":
		return "", fmt.Errorf("%s: %w", nameOf(packet), errUnknown)
	case strings.HasPrefix(reply, "E.") || len(reply) == 3 && reply[0] == 'E':
		return "", &refusal{nameOf(packet), reply}
	}
	return reply, nil
}

// tell is ask with a packet that is answered with OK.
func (s *server) tell(packet string) error {
	reply, err := s.ask(packet)
	if err == nil && reply != "OK" {
		err = fmt.Errorf("%s: the server answers %.40q, expected OK", nameOf(packet), reply)
	}
	return err
}

// greet settles how the two sides talk.
func (s *server) greet() error {
	if err := s.conn.SetDeadline(time.Now().Add(replyPatience)); err != nil {
		return err
	}
	features, err := fetch.Announce(s.client, rsp.Feature{Name: "swbreak", Mark: rsp.Supported})
	if err != nil {
		return fmt.Errorf("no server of GDB's protocol answers: %w", err)
	}
	s.features = features
	if size, err := strconv.ParseUint(features.Value("PacketSize"), 16, 31); err == nil {
		s.packet = max(leastPacket, min(int(size), mostPacket))
	}
	if s.features.Has("QStartNoAckMode") {
		_ = s.client.StartNoAck() // a server that will not is spoken to with acknowledgments
	}
	return nil
}

// transfer reads an object as a whole.
func (s *server) transfer(object, annex string) ([]byte, error) {
	var b []byte
	for len(b) < mostObject {
		reply, err := s.ask(fmt.Sprintf("qXfer:%s:read:%s:%x,%x", object, annex, len(b), s.packet-1))
		if err != nil {
			return nil, err
		}
		b = append(b, reply[1:]...)
		switch {
		case reply[0] == 'l':
			return b, nil
		case reply[0] != 'm' || len(reply) == 1:
			return nil, fmt.Errorf("qXfer:%s: the server answers %.40q", object, reply)
		}
	}
	return nil, fmt.Errorf("qXfer:%s: there is no end to it", object)
}

// memory reads n bytes of the process.
func (s *server) memory(addr arch.Addr, n int) ([]byte, error) {
	var b []byte
	for len(b) < n {
		request := fmt.Sprintf("m%x,%x", uint64(addr)+uint64(len(b)), min(n-len(b), s.packet/2))
		reply, err := s.ask(request)
		if err != nil {
			return nil, fmt.Errorf("reading memory at %s: %w", addr, err)
		}
		piece, err := hex.DecodeString(reply)
		if err != nil || len(piece) == 0 || len(piece) > n-len(b) {
			return nil, fmt.Errorf("reading memory at %s: the server answers %.40q", addr, reply)
		}
		b = append(b, piece...)
	}
	return b, nil
}
