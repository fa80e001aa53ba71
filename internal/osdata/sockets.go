//go:build linux

package osdata

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"tracewell/target"
)

// socketStates are the kernel's numbers of the states of a TCP connection. What is no connection has one of them, too.
var socketStates = [...]string{
	1: "ESTABLISHED", 2: "SYN_SENT", 3: "SYN_RECV", 4: "FIN_WAIT1", 5: "FIN_WAIT2", 6: "TIME_WAIT", 7: "CLOSE", 8: "CLOSE_WAIT",
	9: "LAST_ACK", 10: "LISTEN", 11: "CLOSING",
}

func sockets(r *reading, t *target.OSTable) {
	for _, kind := range []struct{ file, family, protocol string }{
		{"net/tcp", "INET", "STREAM"}, {"net/udp", "INET", "DGRAM"}, {"net/tcp6", "INET6", "STREAM"}, {"net/udp6", "INET6", "DGRAM"},
	} {
		// Those of this process's network namespace, which /proc/net leads to.
		for _, fields := range r.rows(kind.file, 1) {
			// Number, local and remote address, state, two queues, timer, retransmissions and user.
			const local, remote, state, uid = 1, 2, 3, 7
			// UDP lines have the same columns up to here, and others behind.
			if len(fields) <= uid {
				continue
			}
			near, nearPort := endpoint(fields[local])
			far, farPort := endpoint(fields[remote])
			t.Rows = append(t.Rows, []string{
				near, nearPort, far, farPort, socketState(fields[state]), r.user(fields[uid]), kind.family, kind.protocol,
			})
		}
	}
}

// endpoint reads "ADDRESS:PORT" in hex. The address is words of 32 bits, each in network order but printed as this machine's
// number. What it cannot read stays as it is.
func endpoint(text string) (address, port string) {
	address, port, _ = strings.Cut(text, ":")
	if n, err := strconv.ParseUint(port, 16, 16); err == nil {
		port = strconv.FormatUint(n, 10)
	}
	// Eight digits of IPv4, or 32 of IPv6.
	raw, err := hex.DecodeString(address)
	if err != nil || len(raw)%4 != 0 {
		return address, port
	}
	for word := raw; len(word) > 0; word = word[4:] {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	// As inet_ntop prints it: the longest run of zeros of IPv6 as two colons.
	if ip, ok := netip.AddrFromSlice(raw); ok {
		address = ip.String()
	}
	return address, port
}

func socketState(text string) string {
	// UDP has 7 (CLOSE) for a socket that is not connected.
	if n, err := strconv.ParseUint(text, 16, 8); err == nil && n > 0 && n < uint64(len(socketStates)) {
		return socketStates[n]
	}
	return "(unknown)"
}
