package remote

import (
	"errors"
	"fmt"
	"net"
	"time"

	"tracewell/arch"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/tdesc/fetch"
)

// Limits of what is waited for and accepted.
const (
	replyPatience = 15 * time.Second // for a reply
	mostObject    = 4 << 20          // bytes of an object of qXfer
	mostFile      = 1 << 30          // bytes of a file
)

// server is the connection to a server. A question about an instruction to be relocated is answered by no, so that the server
// steps over it; what the program prints is dropped.
type server struct {
	conn net.Conn
	*client.Client
}

func newServer(conn net.Conn) *server {
	c := client.New(conn)
	c.Patience = replyPatience
	return &server{conn, c}
}

// isGone reports whether an error says that there is no use in asking the server anything more.
func isGone(err error) bool { return errors.As(err, new(*client.LostError)) }

// greet exchanges features with the server and ends acknowledgments, which a connection of the kernel's does not need.
func (s *server) greet() error {
	if err := fetch.Announce(s.Client, request.SwBreak); err != nil {
		return fmt.Errorf("no server of GDB's protocol answers: %w", err)
	}
	return s.EndAcks()
}

// command sends a packet without arguments that is answered by OK.
func (s *server) command(f *request.Form[request.None]) error {
	return client.Command(s.Client, f, request.None{})
}

// transfer reads an object as a whole.
func (s *server) transfer(object, annex string) ([]byte, error) {
	return s.Transfer(object, annex, mostObject)
}

// memory reads n bytes of the process.
func (s *server) memory(addr arch.Addr, n int) ([]byte, error) { return s.ReadMemory(addr, n) }
