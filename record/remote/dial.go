package remote

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// How long a connection may take, and how often a server that does not answer is knocked at.
const (
	dialPatience = 10 * time.Second
	startupTime  = 2 * time.Second
	knockEvery   = 50 * time.Millisecond
)

// dial connects to HOST:PORT, where HOST may be left out for this machine, or to unix:PATH. One that does not answer may have
// been started a moment ago.
func dial(address string) (net.Conn, error) {
	network, at, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	for start := time.Now(); ; time.Sleep(knockEvery) {
		conn, err := net.DialTimeout(network, at, dialPatience)
		var unknown *net.DNSError
		if err == nil || errors.As(err, &unknown) || time.Since(start) >= startupTime {
			return conn, err
		}
	}
}

// reason is why a connection failed, without what the caller knows: "connection refused".
func reason(err error) error {
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
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
