package remote

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"tracewell/internal/sys"
)

// Address is where a stub is: HOST:PORT or :PORT with tcp:, tcp4: or tcp6: in front of it, unix:PATH, a serial DEVICE, or
// "| COMMAND", whose standard input and output it is at.
type Address struct {
	network string // of package net, or "device" or "command"
	at      string
}

// ParseAddress reads an address in the form that GDB's "target remote" takes.
func ParseAddress(s string) (Address, error) {
	if command, ok := strings.CutPrefix(strings.TrimSpace(s), "|"); ok && strings.TrimSpace(command) != "" {
		return Address{"command", strings.TrimSpace(command)}, nil
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok && path != "" {
		return Address{"unix", path}, nil
	}
	if s != "" && !strings.Contains(s, ":") && !strings.HasPrefix(s, "|") {
		return Address{"device", s}, nil
	}
	network := "tcp"
	for _, n := range []string{"tcp4", "tcp6", "tcp"} {
		// "tcp:1234" without another colon is the port of a host of that name.
		if rest, ok := strings.CutPrefix(s, n+":"); ok && strings.Contains(rest, ":") {
			network, s = n, rest
			break
		}
	}
	// The last colon: an IPv6 address has others, in brackets.
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 || strings.Trim(s[colon+1:], "0123456789") != "" || s[colon+1:] == "" {
		return Address{}, fmt.Errorf("%q is no place of a stub: want HOST:PORT, :PORT, unix:PATH, a serial device or '| COMMAND'", s)
	}
	host := strings.Trim(s[:colon], "[]")
	if host == "" {
		host = "localhost"
	}
	return Address{network, net.JoinHostPort(host, s[colon+1:])}, nil
}

// String gives the address as ParseAddress reads it.
func (a Address) String() string {
	switch a.network {
	case "command":
		return "| " + a.at
	case "unix":
		return "unix:" + a.at
	}
	return a.at
}

// How long a connection may take, how long a stub may take to listen after its launch, and how often to try meanwhile.
const (
	dialPatience = 10 * time.Second
	startupTime  = 2 * time.Second
	retryEvery   = 50 * time.Millisecond
)

// Dial connects to a stub. A refused connection is tried again for a moment: scripts launch a stub and connect to it in the next
// line. A host that does not exist will not exist later.
func (a Address) Dial() (io.ReadWriteCloser, error) {
	switch a.network {
	case "device":
		return openDevice(a.at)
	case "command":
		return startCommand(a.at)
	}
	for start := time.Now(); ; time.Sleep(retryEvery) {
		conn, err := net.DialTimeout(a.network, a.at, dialPatience)
		var unknown *net.DNSError
		if err == nil {
			return conn, nil
		}
		if errors.As(err, &unknown) || time.Since(start) >= startupTime {
			return nil, fmt.Errorf("cannot connect to %s: %w", a, reason(err))
		}
	}
}

// openDevice opens a serial line. A file would be written to, and never say anything.
func openDevice(path string) (io.ReadWriteCloser, error) {
	info, err := os.Stat(path)
	if err == nil && (info.Mode().IsRegular() || info.IsDir()) {
		return nil, fmt.Errorf("%s is no serial device", path)
	}
	line, err := sys.OpenSerial(path)
	if err == nil && line.SetDeadline(time.Time{}) != nil { // some systems have none for their lines
		return struct{ io.ReadWriteCloser }{line}, nil
	}
	return line, err
}

// reason is the innermost error of a failed connection, such as "connection refused". The outer ones repeat the address.
func reason(err error) error {
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	var call *os.SyscallError // whose name says nothing to a user
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

// piped is a stub that is a command of ours.
type piped struct {
	io.Reader
	io.WriteCloser
	in  *os.File
	cmd *exec.Cmd
}

// startCommand runs a command by the shell, as GDB does.
func startCommand(command string) (io.ReadWriteCloser, error) {
	shell := []string{"/bin/sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	cmd := exec.Command(shell[0], shell[1], command)
	cmd.Stderr = os.Stderr
	sys.OwnGroup(cmd) // Ctrl-C ends what is to be removed from the program before the stub ends
	in, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.Stdout = theirs
	out, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("cannot run %q: %w", command, err)
	}
	return &piped{in, out, in, cmd}, nil
}

// SetDeadline limits reads; what is written a command takes sooner or later.
func (p *piped) SetDeadline(t time.Time) error { return p.in.SetReadDeadline(t) }

// Close hangs up and waits for the end of the command, which is killed if it takes its time.
func (p *piped) Close() error {
	err := errors.Join(p.WriteCloser.Close(), p.in.Close())
	late := time.AfterFunc(endPatience, func() { _ = sys.KillGroup(p.cmd) })
	defer late.Stop()
	_ = p.cmd.Wait() // whatever its status is: it has been hung up on
	return err
}

// endPatience is how long a command may take to end when nobody is at its other end any more.
const endPatience = 2 * time.Second
