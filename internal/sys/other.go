//go:build !linux

package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
)

// ErrElsewhere says that the peer of a connection is not on this machine.
var ErrElsewhere = errors.New("the peer is on another machine")

// ListenPrivately makes a UNIX-domain socket that only this user may connect to, as soon as it is there.
func ListenPrivately(path string) (net.Listener, error) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, err
	}
	return listener, nil
}

// OwnSocket reports false: whose a socket is is found out on Linux only, and what may be another user's is not replaced.
func OwnSocket(string) bool { return false }

// HungUp reports false: the end of a connection is seen when it is read.
func HungUp(net.Conn) bool { return false }

// PeerUser returns ErrElsewhere for a peer on another machine, and otherwise that the user is not known: only Linux tells it in
// a way that this package knows.
func PeerUser(conn net.Conn) (uid int, err error) {
	if peer, ok := conn.RemoteAddr().(*net.TCPAddr); ok && !peer.IP.IsLoopback() {
		return 0, ErrElsewhere
	}
	return 0, fmt.Errorf("it is not found out on %s; --any-user serves every user", runtime.GOOS)
}

// Executable says that the program of a process is not known on this system.
func Executable(int) (string, error) { return "", fs.ErrNotExist }

// ThreadName is empty: threads have no names that this package knows.
func ThreadName(int) string { return "" }
