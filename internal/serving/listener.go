package serving

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"tracewell/internal/sys"
)

// Listener is where clients come in, one after another.
type Listener interface {
	// Accept says, in gdbserver's words, what tools that start one wait for, and returns the next client. Its Close makes
	// room for the client after it.
	Accept() (io.ReadWriteCloser, error)
	// Close ends an Accept that waits. The client that is being served stays.
	io.Closer
}

// Options are how a listener of any kind works.
type Options struct {
	In       *os.File  // of "stdio"
	Out      io.Writer // of "stdio"
	Messages io.Writer // where the listener reports who connects
	AnyUser  bool      // peers on this machine may be any user's
}

// Listen opens a COMM. Clients can connect from then on.
func (c Comm) Listen(o Options) (Listener, error) {
	switch c.Network {
	case "stdio":
		return standardListener{o}, nil
	case "device":
		return openDevice(c.Address, o.Messages)
	}
	listener, err := c.socket()
	if err != nil {
		return nil, err
	}
	return newSockets(listener, o), nil
}

// socket opens a COMM that is a socket.
func (c Comm) socket() (net.Listener, error) {
	var listener net.Listener
	var err error
	if c.Network == "unix" {
		listener, err = listenUnix(c.Address)
	} else {
		listener, err = net.Listen(c.Network, c.Address)
	}
	var unknown *net.DNSError
	switch {
	case errors.Is(err, sys.ErrAddressInUse):
		//lint:ignore ST1005 gdbserver's words, which test harnesses wait for
		return nil, fmt.Errorf("%s: Can't bind address: Address already in use.", c.Address)
	case errors.As(err, &unknown):
		return nil, fmt.Errorf("%s: cannot resolve name: %s", c.Address, unknown.Err)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", c.Address, err)
	}
	return listener, nil
}

// listenUnix makes a socket with mode 0600 from the beginning. It replaces a socket of this user that nobody listens on any
// more, as a server that was killed leaves it behind, and nothing else: a mistyped name costs no file.
func listenUnix(path string) (net.Listener, error) {
	abstract := strings.HasPrefix(path, "@")
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return nil, sys.ErrAddressInUse
	} else if !abstract && errors.Is(err, sys.ErrConnectionRefused) && sys.OwnSocket(path) {
		os.Remove(path)
	}
	return sys.ListenPrivately(path)
}

// standardListener lets in the one client at the other end of standard input and output.
type standardListener struct{ Options }

func (l standardListener) Accept() (io.ReadWriteCloser, error) {
	fmt.Fprintln(l.Messages, "Remote debugging using stdio")
	return standardIO{l.In, l.Out, l.In.Close}, nil
}

func (standardListener) Close() error { return nil }

// standardIO is a connection over standard input and output.
type standardIO struct {
	io.Reader
	io.Writer
	close func() error
}

// Close ends the reading side, so that a blocked read returns.
func (s standardIO) Close() error { return s.close() }
