package remote

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"
)

// How long a connection may take, and how often a server that is just starting is knocked at.
const (
	dialPatience = 10 * time.Second
	startupTime  = 2 * time.Second
	knockEvery   = 50 * time.Millisecond
)

// dial connects to HOST:PORT, where HOST may be left out for this machine, or to unix:PATH. A server that refuses may have been
// started a moment ago.
func dial(address string) (net.Conn, error) {
	network, at, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	for start := time.Now(); ; time.Sleep(knockEvery) {
		conn, err := net.DialTimeout(network, at, dialPatience)
		absent := errors.Is(err, syscall.ECONNREFUSED) || network == "unix" && errors.Is(err, syscall.ENOENT)
		switch {
		case err == nil:
			return conn, nil
		case !absent:
			return nil, fmt.Errorf("cannot connect: %w", err)
		case time.Since(start) >= startupTime:
			return nil, fmt.Errorf("cannot connect: no server listens there: %w", err)
		}
	}
}

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
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 || address[colon+1:] == "" {
		return "", "", fmt.Errorf("%q is no place of a server: expected HOST:PORT, :PORT or unix:PATH", address)
	}
	host := strings.Trim(address[:colon], "[]")
	if host == "" {
		host = "localhost"
	}
	return network, net.JoinHostPort(host, address[colon+1:]), nil
}
