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
//	tcp:host:port the same, and tcp4: or tcp6: for one version of the Internet protocol
//	unix:PATH     a UNIX-domain socket that only its owner may use
//	- or stdio    standard input and output
//	DEVICE        a serial line, a named pipe or another character device; anything that holds no colon
type comm struct {
	network string // "tcp", "tcp4", "tcp6", "unix", "stdio" or "device"
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
	if s == "" {
		return comm{}, errors.New("an empty name is no place to listen: want HOST:PORT, :PORT, unix:PATH, stdio or a device")
	}
	if !strings.Contains(s, ":") {
		return comm{"device", s}, nil
	}
	network, s, err := cutNetwork(s)
	if err != nil {
		return comm{}, err
	}
	colon := strings.LastIndexByte(s, ':')
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

// cutNetwork takes the name of a protocol from the front of an address. What is none is part of the host.
func cutNetwork(s string) (network, rest string, err error) {
	name, rest, _ := strings.Cut(s, ":")
	switch {
	case !strings.Contains(rest, ":"):
	case name == "tcp" || name == "tcp4" || name == "tcp6":
		return name, rest, nil
	case name == "udp" || name == "udp4" || name == "udp6":
		return "", "", fmt.Errorf("%q is no place to listen: UDP may lose what is sent, only TCP is spoken", s)
	}
	return "tcp", s, nil
}

// door is where clients come in, one after another.
type door interface {
	// next says, in gdbserver's words, what tools that start one wait for, and returns the next client.
	next() (io.ReadWriteCloser, error)
	// Close ends a next that waits. Clients that are in stay.
	io.Closer
}

// open opens a COMM. Clients can knock from then on.
func (c comm) open(streams Streams) (door, error) {
	switch c.network {
	case "stdio":
		return standardDoor{streams}, nil
	case "device":
		return openDevice(c.address, streams.Err)
	}
	listener, err := c.listen()
	if err != nil {
		return nil, err
	}
	return &listenerDoor{listener, streams.Err}, nil
}

// listen opens a COMM that is a socket.
func (c comm) listen() (net.Listener, error) {
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
		return nil, fmt.Errorf("%s: Can't bind address: Address already in use.", c.address)
	case errors.As(err, &unknown):
		return nil, fmt.Errorf("%s: cannot resolve name: %s", c.address, unknown.Err)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", c.address, err)
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

type listenerDoor struct {
	net.Listener
	messages io.Writer
}

func (d *listenerDoor) next() (io.ReadWriteCloser, error) {
	if tcp, ok := d.Addr().(*net.TCPAddr); ok {
		fmt.Fprintf(d.messages, "Listening on port %d\n", tcp.Port)
	} else {
		fmt.Fprintf(d.messages, "Listening on socket %s\n", d.Addr())
	}
	conn, err := d.Accept()
	if err != nil {
		return nil, fmt.Errorf("waiting for a client: %w", err)
	}
	if peer, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		fmt.Fprintf(d.messages, "Remote debugging from host %s, port %d\n", peer.IP, peer.Port)
	}
	return conn, nil
}

// standardDoor lets in the one client at the other end of standard input and output.
type standardDoor struct{ streams Streams }

func (d standardDoor) next() (io.ReadWriteCloser, error) {
	fmt.Fprintln(d.streams.Err, "Remote debugging using stdio")
	return standardIO{d.streams.In, d.streams.Out, d.streams.In.Close}, nil
}

func (standardDoor) Close() error { return nil }

// standardIO is a connection over standard input and output.
type standardIO struct {
	io.Reader
	io.Writer
	close func() error
}

// Close ends the reading side, so that a blocked read returns.
func (s standardIO) Close() error { return s.close() }
