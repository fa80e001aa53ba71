package remote

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// How long a connection may take, how long a server may take to listen after its launch, and how often to try meanwhile.
const (
	dialPatience = 10 * time.Second
	startupTime  = 2 * time.Second
	retryEvery   = 50 * time.Millisecond
)

// dial connects to HOST:PORT, where HOST may be left out for this machine, or to unix:PATH. A refused connection is
// tried again for a moment, because scripts launch a server and connect to it in the next line. A host that does not
// exist will not exist later.
func dial(address string) (net.Conn, error) {
	network, at, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	for start := time.Now(); ; time.Sleep(retryEvery) {
		conn, err := net.DialTimeout(network, at, dialPatience)
		var unknown *net.DNSError
		// After startupTime the last error is returned as it is.
		if err == nil || errors.As(err, &unknown) || time.Since(start) >= startupTime {
			return conn, err
		}
	}
}

// reason is the innermost error of a failed connection, such as "connection refused". The outer ones repeat the
// address, which the caller's message has already.
func reason(err error) error {
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	// The name of the system call says nothing to a user.
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

// parseAddress splits an address into what net.Dial takes. GDB's prefixes tcp:, tcp4: and tcp6: are accepted;
// "tcp:1234" without another colon is the port of a host of that name.
func parseAddress(address string) (network, at string, err error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok && path != "" {
		return "unix", path, nil
	}
	network = "tcp"
	for _, n := range []string{"tcp4", "tcp6", "tcp"} {
		if rest, ok := strings.CutPrefix(address, n+":"); ok && strings.Contains(rest, ":") {
			network, address = n, rest
			break
		}
	}
	// The last colon: an IPv6 address has others, in brackets.
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 || address[colon+1:] == "" {
		return "", "", fmt.Errorf("%q is no place of a server: expected HOST:PORT, :PORT or unix:PATH", address)
	}
	// net.JoinHostPort puts the brackets of an IPv6 address back.
	host := strings.Trim(address[:colon], "[]")
	if host == "" {
		host = "localhost"
	}
	return network, net.JoinHostPort(host, address[colon+1:]), nil
}
