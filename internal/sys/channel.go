//go:build linux

package sys

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Channel is one end of a pair of connected sockets that keep messages apart and carry open files.
type Channel struct{ fd int }

// NewChannel makes a pair. No child of this process inherits it.
func NewChannel() (a, b Channel, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return Channel{}, Channel{}, os.NewSyscallError("socketpair", err)
	}
	return Channel{pair[0]}, Channel{pair[1]}, nil
}

// ChannelOf is the channel that this process was started with as a file descriptor.
func ChannelOf(fd int) Channel { return Channel{fd} }

// Close closes this end. The other end receives what is under way, and then io.EOF.
func (c Channel) Close() error { return unix.Close(c.fd) }

// Send sends a message, with an open file unless that is nil. It does not wait for room.
func (c Channel) Send(message []byte, file *os.File) error {
	var rights []byte
	if file != nil {
		rights = unix.UnixRights(int(file.Fd()))
	}
	return os.NewSyscallError("sendmsg", unix.Sendmsg(c.fd, message, rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT))
}

// Receive waits for a message. fd is the file that came with it, -1 for none.
func (c Channel) Receive(buf []byte) (n, fd int, err error) {
	rights := make([]byte, unix.CmsgSpace(4))
	var length int
	for err = unix.EINTR; err == unix.EINTR; {
		n, length, _, _, err = unix.Recvmsg(c.fd, buf, rights, unix.MSG_CMSG_CLOEXEC)
	}
	switch {
	case err != nil:
		return 0, -1, os.NewSyscallError("recvmsg", err)
	case n == 0:
		return 0, -1, io.EOF
	case length == 0:
		return n, -1, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights[:length])
	if err != nil || len(messages) != 1 {
		return n, -1, fmt.Errorf("%d control messages with a message, want 1: %w", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return n, -1, fmt.Errorf("%d files with a message, want 1: %w", len(fds), err)
	}
	return n, fds[0], nil
}

// Patience limits how long Receive waits, after which it returns an error.
func (c Channel) Patience(limit time.Duration) error {
	timeout := unix.NsecToTimeval(limit.Nanoseconds())
	return os.NewSyscallError("setsockopt", unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout))
}
