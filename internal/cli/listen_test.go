package cli

import (
	"errors"
	"fmt"
	"net"
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
		"tcp:::1:1":     {"tcp", "[::1]:1"},
		"tcp:2345":      {"tcp", "tcp:2345"},
		"/dev/ttyS0":    {"device", "/dev/ttyS0"},
	} {
		if got, err := parseComm(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "host:", "host:port", ":-1", "unix:", "udp:host:1", "udp4::1", "udp6:::1:1"} {
		if got, err := parseComm(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

// TestListenSaysWhere waits for the words that harnesses wait for, for each client anew, and lets clients in.
func TestListenSaysWhere(t *testing.T) {
	listener, err := comm{"tcp", "localhost:0"}.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	_, err = comm{"tcp", listener.Addr().String()}.listen()
	if err == nil || err.Error() != listener.Addr().String()+": Can't bind address: Address already in use." {
		t.Errorf("second listener: %v", err)
	}

	var messages strings.Builder
	entrance := &listenerDoor{listener, &messages}
	for range 2 {
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		conn, err := entrance.next()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		want := fmt.Sprintf("Listening on port %d\nRemote debugging from host 127.0.0.1, port %d\n", port,
			client.LocalAddr().(*net.TCPAddr).Port)
		if messages.String() != want {
			t.Errorf("messages %q, want %q", messages.String(), want)
		}
		messages.Reset()
	}
}

// TestNoSuchPlace: what cannot be listened on says so in gdbserver's words.
func TestNoSuchPlace(t *testing.T) {
	for text, want := range map[string]string{
		"garbage:1234:2345":  ": cannot resolve name: ",
		"tcp8:123:2345":      ": cannot resolve name: ",
		"udp123::::2345":     ": cannot resolve name: ",
		"nosuch.invalid:1":   ": cannot resolve name: ",
		"2345":               "could not open remote device: 2345 is no device (a port to listen on has a colon, as in :2345)",
		"listen.go":          "could not open remote device: listen.go is no device",
		"unix:no/such/place": "cannot listen on no/such/place: ",
	} {
		place, err := parseComm(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if _, err := place.open(Streams{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestUnixSocketIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	listener, err := comm{"unix", path}.listen()
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
