package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// comm is where a client connects: the COMM of gdbserver's command line.
//
//	host:port     TCP on that address; "*" as the host is every address of the machine
//	:port         TCP on the loopback address; gdbserver would listen on every address, but the protocol knows no
//	              password, so that has to be asked for
//	unix:PATH     a UNIX-domain socket that only its owner may use
//	- or stdio    standard input and output
type comm struct {
	network string // "tcp", "unix" or "stdio"
	address string
}

// parseComm reads a COMM. The last colon parts host and port, so an IPv6 host needs no brackets.
func parseComm(s string) (comm, error) {
	if s == "-" || s == "stdio" {
		return comm{network: "stdio"}, nil
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if path == "" {
			return comm{}, errors.New("unix: needs the path of a socket")
		}
		return comm{"unix", path}, nil
	}
	network := "tcp"
	for _, prefix := range []string{"tcp:", "tcp4:", "tcp6:"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok && strings.Contains(rest, ":") {
			network, s = strings.TrimSuffix(prefix, ":"), rest
			break
		}
	}
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 {
		return comm{}, fmt.Errorf("%q is no place to listen: want HOST:PORT, :PORT, unix:PATH or stdio", s)
	}
	host, port := strings.Trim(s[:colon], "[]"), s[colon+1:]
	if strings.Trim(port, "0123456789") != "" || port == "" {
		return comm{}, fmt.Errorf("%q is no place to listen: port %q is not a number", s, port)
	}
	switch host {
	case "":
		host = "localhost"
	case "*":
		host = ""
	}
	return comm{network, net.JoinHostPort(host, port)}, nil
}

// listen opens a COMM other than stdio and says where in gdbserver's words, which tools that start one wait for.
func (c comm) listen(messages io.Writer) (net.Listener, error) {
	var listener net.Listener
	var err error
	if c.network == "unix" {
		listener, err = listenUnix(c.address)
	} else {
		listener, err = net.Listen(c.network, c.address)
	}
	var unknown *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		//lint:ignore ST1005 gdbserver's words, which test harnesses wait for
		return nil, errors.New("Can't bind address: Address already in use.")
	case errors.As(err, &unknown):
		return nil, fmt.Errorf("%s: cannot resolve name: %s", c.address, unknown.Err)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", c.address, err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
		fmt.Fprintf(messages, "Listening on port %d\n", tcp.Port)
	} else {
		fmt.Fprintf(messages, "Listening on socket %s\n", c.address)
	}
	return listener, nil
}

// listenUnix makes a socket with mode 0600 from the beginning. A socket that nobody listens on any more is replaced.
func listenUnix(path string) (net.Listener, error) {
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return nil, syscall.EADDRINUSE
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(path)
	}
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	return net.Listen("unix", path)
}

// standardIO is a connection over standard input and output.
type standardIO struct {
	io.Reader
	io.Writer
	close func() error
}

// Close ends the reading side, so that a blocked read returns.
func (s standardIO) Close() error { return s.close() }
