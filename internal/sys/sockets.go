//go:build linux

package sys

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Errors of sockets, for errors.Is.
const (
	ErrAddressInUse      = unix.EADDRINUSE
	ErrConnectionRefused = unix.ECONNREFUSED
)

// ListenPrivately makes a UNIX-domain socket that only this user may connect to, from its beginning.
func ListenPrivately(path string) (net.Listener, error) {
	old := unix.Umask(0o177)
	defer unix.Umask(old)
	return net.Listen("unix", path)
}

// OwnSocket reports whether path itself, not what it may link to, is a socket of this process's user.
func OwnSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0 && int(FileStatusOf(info).Uid) == os.Geteuid()
}

// HungUp reports whether the peer of a connection has ended its side: nothing will be read beyond what has arrived.
func HungUp(conn net.Conn) bool {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return true
	}
	hungUp := true
	raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		_, err := unix.Poll(fds, 0)
		hungUp = err == nil && fds[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return hungUp
}

// PeerUser returns the user whose process is at the other end of a connection of this machine: of a UNIX-domain socket, or of
// TCP with a loopback address as the peer's. For TCP from elsewhere it returns ErrElsewhere.
func PeerUser(conn net.Conn) (uid int, err error) {
	switch conn := conn.(type) {
	case *net.UnixConn:
		return unixPeerUser(conn)
	case *net.TCPConn:
		peer := conn.RemoteAddr().(*net.TCPAddr).AddrPort()
		if !peer.Addr().Unmap().IsLoopback() {
			return 0, ErrElsewhere
		}
		return tcpUser(peer, conn.LocalAddr().(*net.TCPAddr).AddrPort())
	}
	return 0, fmt.Errorf("no user is known for the peer of a %T", conn)
}

// ErrElsewhere says that the peer of a connection is not on this machine.
var ErrElsewhere = errors.New("the peer is on another machine")

func unixPeerUser(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	if control := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); control != nil {
		return 0, control
	}
	if err != nil {
		return 0, err
	}
	return int(peer.Uid), nil
}

// tcpUser finds the socket with these ends in the kernel's tables. An IPv4 peer may have an IPv6 socket with a mapped address, so
// both tables are read.
func tcpUser(local, remote netip.AddrPort) (uid int, err error) {
	for _, table := range []struct {
		name   string
		mapped bool
	}{{"/proc/net/tcp", false}, {"/proc/net/tcp6", true}} {
		if !table.mapped && !local.Addr().Unmap().Is4() {
			continue
		}
		f, err := os.Open(table.name)
		if errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
			continue
		}
		if err != nil {
			return 0, err
		}
		uid, found := findUser(f, tableAddress(local, table.mapped), tableAddress(remote, table.mapped))
		f.Close()
		if found {
			return uid, nil
		}
	}
	return 0, errors.New("the peer has left already")
}

// tableAddress is an end of a connection as /proc/net/tcp, or wide as tcp6, writes it: words of four bytes in the byte order of
// the machine, in hexadecimal, a colon and the port.
func tableAddress(a netip.AddrPort, wide bool) string {
	var bytes []byte
	if short := a.Addr().Unmap(); short.Is4() && !wide {
		four := short.As4()
		bytes = four[:]
	} else {
		sixteen := a.Addr().As16()
		bytes = sixteen[:]
	}
	var s strings.Builder
	for ; len(bytes) > 0; bytes = bytes[4:] {
		fmt.Fprintf(&s, "%08X", binary.NativeEndian.Uint32(bytes))
	}
	fmt.Fprintf(&s, ":%04X", a.Port())
	return s.String()
}

// The columns of /proc/net/tcp that tell whose a socket is.
const (
	columnLocal, columnRemote = 1, 2
	columnUser, columnInode   = 7, 9
)

// findUser looks for a socket in a table as the kernel writes it. A socket that its process has closed has no inode, and user 0,
// whoever that was: it does not count.
func findUser(table io.Reader, local, remote string) (uid int, found bool) {
	for lines := bufio.NewScanner(table); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) <= columnInode || words[columnLocal] != local || words[columnRemote] != remote || words[columnInode] == "0" {
			continue
		}
		uid, err := strconv.Atoi(words[columnUser])
		return uid, err == nil
	}
	return 0, false
}
