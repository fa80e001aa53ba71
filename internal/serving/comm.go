package serving

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// Comm is where a client connects: the COMM of gdbserver's command line.
//
//	host:port     TCP on that address; "*" as the host is every address of the machine
//	:port         TCP on the loopback address; gdbserver would listen on every address, but the protocol knows no
//	              password, so that has to be asked for
//	tcp:host:port the same, and tcp4: or tcp6: for one version of the Internet protocol
//	unix:PATH     a UNIX-domain socket that only its owner may use
//	- or stdio    standard input and output
//	DEVICE        a serial line, a named pipe or another character device; anything that holds no colon
type Comm struct {
	Network string // "tcp", "tcp4", "tcp6", "unix", "stdio" or "device"
	Address string // as package net has it for a socket; the path of a device
}

// ParseComm reads a COMM. The last colon parts host and port, so an IPv6 host needs no brackets.
func ParseComm(s string) (Comm, error) {
	if s == "-" || s == "stdio" {
		return Comm{Network: "stdio"}, nil
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if path == "" {
			return Comm{}, errors.New("unix: needs the path of a socket")
		}
		return Comm{"unix", path}, nil
	}
	if s == "" {
		return Comm{}, errors.New("an empty name is no place to listen: want HOST:PORT, :PORT, unix:PATH, stdio or a device")
	}
	if !strings.Contains(s, ":") {
		return Comm{"device", s}, nil
	}
	network, s, err := cutNetwork(s)
	if err != nil {
		return Comm{}, err
	}
	colon := strings.LastIndexByte(s, ':')
	host, port := strings.Trim(s[:colon], "[]"), s[colon+1:]
	if strings.Trim(port, "0123456789") != "" || port == "" {
		return Comm{}, fmt.Errorf("%q is no place to listen: port %q is not a number", s, port)
	}
	switch host {
	case "":
		host = "localhost"
	case "*":
		host = ""
	}
	return Comm{network, net.JoinHostPort(host, port)}, nil
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
