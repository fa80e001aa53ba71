package serving

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/sys"
)

func TestParseComm(t *testing.T) {
	for text, want := range map[string]Comm{
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
		if got, err := ParseComm(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "host:", "host:port", ":-1", "unix:", "udp:host:1", "udp4::1", "udp6:::1:1"} {
		if got, err := ParseComm(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

// TestListenSaysWhere waits for the words that harnesses wait for, for each client anew, and lets clients in.
func TestListenSaysWhere(t *testing.T) {
	l, messages := listen(t, "localhost:0", Options{})
	port := l.Addr().(*net.TCPAddr).Port
	_, err := Comm{"tcp", l.Addr().String()}.socket()
	if err == nil || !strings.HasSuffix(err.Error(), "Can't bind address: Address already in use.") {
		t.Errorf("second listener: %v", err)
	}
	for range 2 {
		client := connect(t, l)
		send(t, client, "+")
		conn := accept(t, l)
		conn.Close()
		want := fmt.Sprintf("Listening on port %d\nRemote debugging from host 127.0.0.1, port %d\n", port,
			client.LocalAddr().(*net.TCPAddr).Port)
		if got := messages.take(); got != want {
			t.Errorf("messages %q, want %q", got, want)
		}
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
		"comm.go":            "could not open remote device: comm.go is no device",
		"unix:no/such/place": "cannot listen on no/such/place: ",
	} {
		place, err := ParseComm(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if _, err := place.Listen(Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestUnixSocketIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	listener, err := Comm{"unix", path}.socket()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if _, err := listenUnix(path); !errors.Is(err, sys.ErrAddressInUse) {
		t.Errorf("a second listener on a live socket: %v", err)
	}
	listener.Close()

	// What a server that was killed leaves behind is replaced.
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	listener, err = listenUnix(path)
	if err != nil {
		t.Fatalf("over a dead socket: %v", err)
	}
	listener.Close()
}

// TestUnixReplacesNothingElse: a name that is taken by anything but a dead socket of the same user stays as it is.
func TestUnixReplacesNothingElse(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		_, err := Comm{"unix", path}.socket()
		if err == nil || !strings.HasSuffix(err.Error(), "Address already in use.") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got, err := os.ReadFile(link); string(got) != "precious" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
