//go:build linux

package sys

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeerUser asks for the users of real connections, of every family.
func TestPeerUser(t *testing.T) {
	for _, test := range []struct{ network, listen, dial string }{
		{"tcp4", "127.0.0.1:0", "127.0.0.1"},
		{"tcp6", "[::1]:0", "::1"},
		{"tcp", ":0", "127.0.0.1"},
		{"tcp", ":0", "::1"},
		{"unix", filepath.Join(t.TempDir(), "s"), ""},
	} {
		listener, err := net.Listen(test.network, test.listen)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		address := listener.Addr().String()
		if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
			address = netip.AddrPortFrom(netip.MustParseAddr(test.dial), uint16(tcp.Port)).String()
		}
		client, err := net.Dial(test.network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		if uid, err := PeerUser(server); err != nil || uid != os.Geteuid() {
			t.Errorf("%s %s: user %d, %v, want %d", test.network, address, uid, err, os.Geteuid())
		}
		if HungUp(server) {
			t.Errorf("%s: hung up before it was closed", address)
		}
		client.Close()
		if !HungUp(server) {
			t.Errorf("%s: not hung up after it was closed", address)
		}
		if uid, err := PeerUser(server); test.network != "unix" && err == nil {
			t.Errorf("%s: a closed socket has user %d", address, uid)
		}
	}
}

// TestElsewhere: what does not come from the loopback address is nobody's process here.
func TestElsewhere(t *testing.T) {
	if _, err := PeerUser(&net.IPConn{}); err == nil || errors.Is(err, ErrElsewhere) {
		t.Errorf("a connection of another kind: %v", err)
	}
}

// TestFindUser reads the kernel's table with a socket whose process has left, which shows user 0, in front of the others.
func TestFindUser(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0929 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1001        0 70 1 0000000000000000 20 4 30 10 -1
   1: 0100007F:D431 0100007F:0929 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:D432 0100007F:0929 01 00000000:00000000 00:00000000 00000000  1002        0 71 1 0000000000000000 20 4 30 10 -1
   3: cut off
`
	server := netip.MustParseAddrPort("127.0.0.1:2345")
	for port, want := range map[uint16]int{0xd431: -1, 0xd432: 1002, 0xd433: -1} {
		client := netip.AddrPortFrom(server.Addr(), port)
		uid, found := findUser(strings.NewReader(table), tableAddress(client, false), tableAddress(server, false))
		if found != (want >= 0) || found && uid != want {
			t.Errorf("port %x: user %d, %v, want %d", port, uid, found, want)
		}
	}
}
