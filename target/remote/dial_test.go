//go:build linux

package remote_test

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/internal/test/fakestub"
	"tracewell/target/remote"
)

// TestDial has what users type for a stub where there is none.
func TestDial(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if b, err := os.ReadFile(file); string(b) != "as it was" {
			t.Errorf("the file is %q: %v", b, err)
		}
	})
	for text, want := range map[string]string{
		"": "is no place of a stub", "|": "is no place of a stub", ":x": "is no place of a stub", "host:": "is no place of a stub",
		":70000": "invalid port", "unix:" + file + "none": "no such file", file + "none": "no such file",
		file: "is no serial device", filepath.Dir(file): "is no serial device", "127.0.0.1:1": "connection refused",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			address, err := remote.ParseAddress(text)
			if err == nil {
				_, err = address.Dial()
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// TestNoStub has other programs at the end of the line: none is waited for longer than the patience, and the reason is told.
func TestNoStub(t *testing.T) {
	const short, long = 300 * time.Millisecond, 30 * time.Second // where nothing comes, and where something does
	for _, c := range []struct {
		command  string
		patience time.Duration
		want     []string // any of these: an answer to what came may find nobody there
	}{
		{"head -c 4 >/dev/null", long, []string{"EOF", "broken pipe"}},
		{"echo hello; head -c 4 >/dev/null", long, []string{"EOF", "broken pipe"}},
		{"cat", short, []string{"no reply in time"}},
		{"exec sleep 100", short, []string{"no reply in time"}},
		{`printf '+$E.nobody may come in#20'; cat >/dev/null`, long, []string{"nobody may come in"}},
	} {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			address, err := remote.ParseAddress("| " + c.command)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := address.Dial()
			if err != nil {
				t.Fatal(err)
			}
			_, err = remote.Open(conn, remote.Options{Patience: c.patience})
			if err == nil || !slices.ContainsFunc(c.want, func(want string) bool { return strings.Contains(err.Error(), want) }) {
				t.Errorf("%v, want one of %q", err, c.want)
			}
		})
	}
}

// TestOwnGroup has a stub that is a command not get what keys send to the group of whoever has started it, and end with all that it
// has started.
func TestOwnGroup(t *testing.T) {
	address, err := remote.ParseAddress("| cat /proc/$$/stat; sleep 1000; true")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := address.Dial()
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	own, ownErr := os.ReadFile("/proc/self/stat")
	if err != nil || ownErr != nil {
		t.Fatal(err, ownErr)
	}
	const group = 4
	if fields := strings.Fields(line); fields[group] != fields[0] || fields[group] == strings.Fields(string(own))[group] {
		t.Errorf("process %s is in group %s", fields[0], fields[group])
	}
	conn.Close()
	pid, err := strconv.Atoi(strings.Fields(line)[0])
	if err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(10 * time.Second); sys.Kill(-pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("something of the command goes on")
		}
	}
}

// TestLate has this process stand still, as by Ctrl-Z, until the time for a reply is over that has come meanwhile: it counts.
func TestLate(t *testing.T) {
	s := fakestub.New(fakestub.Config{InRAM: true})
	t.Cleanup(s.Close)
	conn := &sleepy{Conn: s.Pipe()}
	target, err := remote.Open(conn, remote.Options{Patience: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	conn.late.Store(true)
	b := make([]byte, 16)
	if n, err := target.ReadMemory(target.Threads()[0], fakestub.RAMAt, b); n != len(b) || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if conn.late.Load() {
		t.Error("nothing came late")
	}
}

// sleepy is a connection in which a reply comes, and whoever waits for it does not run before the time is over, once.
type sleepy struct {
	net.Conn
	late atomic.Bool
	come []byte
}

// Read reads.
func (s *sleepy) Read(b []byte) (int, error) {
	if len(s.come) > 0 {
		n := copy(b, s.come)
		s.come = s.come[n:]
		return n, nil
	}
	n, err := s.Conn.Read(b)
	if err == nil && s.late.CompareAndSwap(true, false) {
		s.come = bytes.Clone(b[:n])
		return 0, os.ErrDeadlineExceeded
	}
	return n, err
}
