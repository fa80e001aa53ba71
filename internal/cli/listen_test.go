package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestParseComm(t *testing.T) {
	for text, want := range map[string]comm{
		"-":             {"stdio", ""},
		"stdio":         {"stdio", ""},
		":2345":         {"tcp", "localhost:2345"},
		"*:2345":        {"tcp", ":2345"},
		"10.0.0.1:1":    {"tcp", "10.0.0.1:1"},
		"::1:2345":      {"tcp", "[::1]:2345"},
		"[::1]:2345":    {"tcp", "[::1]:2345"},
		"tcp4:host:1":   {"tcp4", "host:1"},
		"tcp6:[::]:1":   {"tcp6", "[::]:1"},
		"tcp:host:1":    {"tcp", "host:1"},
		"unix:/tmp/a:b": {"unix", "/tmp/a:b"},
		"localhost:0":   {"tcp", "localhost:0"},
	} {
		if got, err := parseComm(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2345", "host:", "host:port", ":-1", "unix:", "./program"} {
		if got, err := parseComm(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func TestListenSaysWhere(t *testing.T) {
	var messages strings.Builder
	listener, err := comm{"tcp", "localhost:0"}.listen(&messages)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if !strings.HasPrefix(messages.String(), "Listening on port ") {
		t.Errorf("message %q", messages.String())
	}
	_, err = comm{"tcp", listener.Addr().String()}.listen(io.Discard)
	if err == nil || err.Error() != "Can't bind address: Address already in use." {
		t.Errorf("second listener: %v", err)
	}
}

func TestUnixSocketIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	listener, err := comm{"unix", path}.listen(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if _, err := listenUnix(path); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second listener on a live socket: %v", err)
	}
	listener.Close()

	// What a server that was killed leaves behind is replaced.
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	syscall.Close(fd)
	listener, err = listenUnix(path)
	if err != nil {
		t.Fatalf("over a dead socket: %v", err)
	}
	listener.Close()
}
