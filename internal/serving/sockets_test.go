package serving

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
)

// limit is how long a test waits for what has to happen.
const limit = 30 * time.Second

// messages collects what a listener reports.
type messages struct {
	mu   sync.Mutex
	text strings.Builder
}

func (m *messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.Write(p)
}

// take returns the messages since the last call.
func (m *messages) take() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.text.Reset()
	return m.text.String()
}

// listen listens until the test ends.
func listen(t *testing.T, address string, o Options) (*sockets, *messages) {
	t.Helper()
	place, err := ParseComm(address)
	if err != nil {
		t.Fatal(err)
	}
	m := &messages{}
	o.Messages = m
	l, err := place.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*sockets), m
}

func connect(t *testing.T, l *sockets) net.Conn {
	t.Helper()
	conn, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(limit))
	return conn
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func accept(t *testing.T, l *sockets) io.ReadWriteCloser {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// answer is all that a connection still brings.
func answer(t *testing.T, conn net.Conn) string {
	t.Helper()
	got, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "reset") { // closed before it was read: there is no answer
		t.Fatal(err)
	}
	return string(got)
}

// TestFirstByte tries every byte that a connection can begin with: those of the protocol reach the session, with all that is
// behind them, and no other does.
func TestFirstByte(t *testing.T) {
	for b := range 256 {
		l, m := listen(t, "unix:"+filepath.Join(t.TempDir(), "s"), Options{})
		text := string([]byte{byte(b)}) + "$vRun;2f62#d1" + strings.Repeat("x", 100)
		refused := connect(t, l)
		send(t, refused, text)
		if !strings.ContainsRune("+-$%\x03", rune(b)) {
			if got := answer(t, refused); got != "" {
				t.Errorf("%#x: answered by %q", b, got)
			}
			send(t, connect(t, l), "+good")
			text = "+good"
		}
		conn := accept(t, l)
		got := make([]byte, len(text))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != text {
			t.Errorf("%#x: the session reads %q, %v, want %q; %s", b, got, err, text, m.take())
		}
		conn.Close()
		l.Close()
	}
}

// TestHTTP: a request that a web page can send carries packets in its body, which are not obeyed.
func TestHTTP(t *testing.T) {
	l, m := listen(t, "localhost:0", Options{})
	conn := connect(t, l)
	send(t, conn, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 15\r\n\r\n+$vRun;2f62#d1")
	if got := answer(t, conn); got != "" {
		t.Errorf("answered by %q", got)
	}
	send(t, connect(t, l), "+")
	accept(t, l)
	if got := m.take(); !strings.Contains(got, `does not begin as the remote protocol does, but with "POST / HTTP/1.1\r"`) {
		t.Error(got)
	}
}

// TestSilentConnection is in nobody's way.
func TestSilentConnection(t *testing.T) {
	l, _ := listen(t, "localhost:0", Options{})
	for range 3 {
		connect(t, l)
	}
	send(t, connect(t, l), "+spoken")
	got := make([]byte, 7)
	if _, err := io.ReadFull(accept(t, l), got); string(got) != "+spoken" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestCrowd: connections beyond the limit are closed, and leave the listener working when they go.
func TestCrowd(t *testing.T) {
	l, _ := listen(t, "localhost:0", Options{})
	var silent []net.Conn
	for range crowd {
		silent = append(silent, connect(t, l))
	}
	if got := answer(t, connect(t, l)); got != "" { // the last one to be accepted
		t.Errorf("%q", got)
	}
	for _, conn := range silent {
		conn.Close()
	}
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); { // until one has been heard to go
		conn := connect(t, l)
		if _, err := io.WriteString(conn, "+"); err != nil {
			continue
		}
		select {
		case c := <-l.admitted:
			c.Close()
			return
		case <-time.After(time.Second / 10):
			conn.Close()
		}
	}
	t.Error("nobody is admitted any more")
}

// TestSecondClient: while one is served another is told so, and served when the first has left, even if it comes before the
// session of that has ended.
func TestSecondClient(t *testing.T) {
	for _, address := range []string{"localhost:0", "unix:" + filepath.Join(t.TempDir(), "s")} {
		l, m := listen(t, address, Options{})
		first := connect(t, l)
		send(t, first, "+")
		session := accept(t, l)
		for range 3 {
			second := connect(t, l)
			send(t, second, "+$qSupported:multiprocess+#c6")
			if got := answer(t, second); !strings.HasPrefix(got, "+$E.another client is being served") {
				t.Errorf("the second client is told %q", got)
			}
		}
		first.Close()
		third := connect(t, l)
		send(t, third, "+third")
		session.Close()
		got := make([]byte, 6)
		if _, err := io.ReadFull(accept(t, l), got); string(got) != "+third" {
			t.Errorf("the session reads %q, %v; %s", got, err, m.take())
		}
	}
}

// TestCloseEndsAccept, with and without a client that nobody has accepted.
func TestCloseEndsAccept(t *testing.T) {
	l, _ := listen(t, "localhost:0", Options{})
	conn := connect(t, l)
	send(t, conn, "+")
	for deadline := time.Now().Add(limit); len(l.admitted) == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	l.Close()
	answer(t, conn) // returns, since it has been closed
	if _, err := l.Accept(); err == nil {
		t.Error("a closed listener has a client")
	}
}

// TestOtherUser connects as a user who is neither the server's, nor root, nor behind sudo.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	for _, test := range []struct {
		name, address, sudo string
		any                 bool
		served              bool
	}{
		{"IPv4", "tcp4:127.0.0.1:0", "", false, false},
		{"IPv6", "tcp6:::1:0", "", false, false},
		{"mapped", "*:0", "", false, false},
		{"any user", "tcp4:127.0.0.1:0", "", true, true},
		{"behind sudo", "tcp4:127.0.0.1:0", "65534", false, true},
		{"behind no sudo", "tcp4:127.0.0.1:0", "65533", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("SUDO_UID", test.sudo)
			l, m := listen(t, test.address, Options{AnyUser: test.any})
			addr := l.Addr().(*net.TCPAddr)
			host := "127.0.0.1"
			if strings.HasPrefix(test.address, "tcp6") {
				host = "::1"
			}
			script := fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s; printf + >&3; cat <&3`, host, strconv.Itoa(addr.Port))
			stranger := testtool.Command(t, "setpriv", "--reuid=65534", "--clear-groups", testtool.Path(t, "bash"), "-c", script)
			var out, errs bytes.Buffer
			stranger.Stdout, stranger.Stderr = &out, &errs
			if err := stranger.Start(); err != nil {
				t.Fatal(err)
			}
			if test.served {
				accept(t, l).Close()
			}
			stranger.Wait()
			if got := out.String(); test.served != (got == "") || !test.served && !strings.Contains(got, "not user 65534") {
				t.Errorf("told %q, %s; %s", got, errs.String(), m.take())
			}
		})
	}
}
