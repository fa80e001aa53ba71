package stub

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/rsp"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/tracepoint"
)

// toyServer makes a server over the toy program, which here has files, too.
func toyServer(t testing.TB, c Config) (*Server, *fake.Target) {
	p := toyProgram()
	p.Files = map[string]*fake.File{"/etc/motd": {Bytes: []byte("Welcome.\n"), Mode: 0o644}}
	f, err := fake.New(p)
	if err != nil {
		t.Fatal(err)
	}
	c.Target, c.Engine = f, tracepoint.New(toyLayout(t))
	s := New(c)
	t.Cleanup(func() { s.Close() })
	return s, f
}

// serve runs Serve on one end of a connection and returns a client on the other.
func serve(s *Server) (client *rsp.Client, conn net.Conn, served <-chan error) {
	near, far := net.Pipe()
	result := make(chan error, 1)
	go func() { result <- s.Serve(far) }()
	return rsp.NewClient(near), near, result
}

func exchange(t *testing.T, c *rsp.Client, packet, want string) {
	t.Helper()
	got, err := c.Exchange(packet)
	if err != nil {
		t.Fatalf("%q: %v", packet, err)
	}
	if got != want {
		t.Fatalf("%q replied %q, expected %q", packet, got, want)
	}
}

func wait(t *testing.T, served <-chan error) error {
	t.Helper()
	select {
	case err := <-served:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("Serve did not return")
		return nil
	}
}

func TestMonitorExitEndsProgramAndServer(t *testing.T) {
	for _, attached := range []bool{false, true} {
		s, f := toyServer(t, Config{Attached: attached})
		c, conn, served := serve(s)
		if err := c.StartNoAck(); err != nil { // or it would acknowledge a reply to a server that is gone
			t.Fatal(err)
		}
		exchange(t, c, "qRcmd,65786974", "OK")
		if err := wait(t, served); !errors.Is(err, ErrExit) {
			t.Errorf("Serve returned %v", err)
		}
		if n := len(f.Threads()); n != 0 {
			t.Errorf("%d threads are left", n)
		}
		conn.Close()
	}
}

// TestHalfClosed has the client close its sending side in the middle of a packet: what came before is answered, and
// Serve ends.
func TestHalfClosed(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	near, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s, _ := toyServer(t, Config{})
	if _, err := near.Write([]byte("+$qC#b4$m4040")); err != nil {
		t.Fatal(err)
	}
	if err := near.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(far); err != nil {
		t.Errorf("Serve returned %v", err)
	}
	if got, err := io.ReadAll(near); err != nil || string(got) != "+$QC1a#26" {
		t.Errorf("client read %q, %v", got, err)
	}
}

// brokenConn fails as a connection does whose peer has gone away without a word.
type brokenConn struct{ io.Reader }

var errBroken = errors.New("broken")

func (brokenConn) Write([]byte) (int, error) { return 0, errBroken }
func (brokenConn) Close() error              { return nil }

func TestBrokenConnectionIsTheError(t *testing.T) {
	s, _ := toyServer(t, Config{})
	if err := s.Serve(brokenConn{strings.NewReader("$qC#b4")}); !errors.Is(err, errBroken) {
		t.Errorf("write: Serve returned %v", err)
	}
	if err := s.Serve(brokenConn{iotestErr{}}); !errors.Is(err, errBroken) {
		t.Errorf("read: Serve returned %v", err)
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errBroken }

func TestOversizedPacket(t *testing.T) {
	s, _ := toyServer(t, Config{})
	c, conn, served := serve(s)
	exchange(t, c, "m"+strings.Repeat("0", packetSize), "E.packet of more than 131104 bytes")
	exchange(t, c, "qC", "QC1a")
	conn.Close()
	wait(t, served)
}

// TestNoGoroutineIsLeft has clients come and go in all the ways there are, and counts.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	s, _ := toyServer(t, Config{})
	for _, packets := range [][]string{
		{"qC"}, {"QTDP:1:401010:E:0:0", "QTDisconnected:1", "QTStart", "D;1a"}, {"qC"}, {"QTStop"}, {"D;1a"}, {"qfThreadInfo"},
	} {
		c, conn, served := serve(s)
		for _, p := range packets {
			if _, err := c.Exchange(p); err != nil {
				t.Fatal(err)
			}
		}
		conn.Close()
		if err := wait(t, served); err != nil {
			t.Error(err)
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// TestDeafProgram serves a program that cannot be interrupted. Serve returns all the same, and a later client finds the
// program when it has stopped.
func TestDeafProgram(t *testing.T) {
	s, f := toyServer(t, Config{OnLost: Kill})
	s.patience = 20 * time.Millisecond
	f.IgnoreInterrupts(true)
	c, conn, served := serve(s)
	if err := c.Send([]byte("vCont;c")); err != nil {
		t.Fatal(err)
	}
	exchange(t, c, "D;1a", "E.the program does not stop")
	exchange(t, c, "qC", "QC1a")
	conn.Close()
	if err := wait(t, served); !errors.Is(err, errNoStop) {
		t.Errorf("Serve returned %v", err)
	}
	f.Play(fake.Step{Event: &target.Event{Signal: target.SignalTrap}})
	c, conn, served = serve(s)
	exchange(t, c, "?", "T0501:0000000000000000;02:0000000000000000;03:0000000000000000;thread:1a;core:1;")
	conn.Close()
	if err := wait(t, served); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

// TestSpent looks for the end of what there is to serve: the end of the program, whatever its run has collected.
func TestSpent(t *testing.T) {
	var ended []target.Event
	s, f := toyServer(t, Config{Ended: func(ev target.Event) { ended = append(ended, ev) }})
	c, conn, served := serve(s)
	for _, packet := range []string{"QTDP:1:401010:E:0:0", "QTDisconnected:1", "QTStart"} {
		exchange(t, c, packet, "OK")
	}
	if s.Spent() {
		t.Error("spent with the program there")
	}
	f.Play(fake.Step{PC: 0x401010}, fake.Step{Event: &target.Event{Kind: target.Exited}})
	exchange(t, c, "vCont;c", "W00")
	conn.Close()
	if err := wait(t, served); err != nil {
		t.Error(err)
	}
	if !s.Spent() {
		t.Error("not spent after the end of the program")
	}
	if len(ended) != 1 || ended[0].Kind != target.Exited {
		t.Errorf("the end was told as %v", ended)
	}
}

// TestTable checks that rows are complete and that no row hides another.
func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	accessors := []string{"", "Runner", "Breakpoints", "Tracer", "Auxv", "ExecFile", "Libraries", "Siginfo", "Files", "ThreadLocals", "OS"}
	for _, g := range groups() {
		if g.name == "" || g.has == nil || !slices.Contains(accessors, g.needs) {
			t.Errorf("group %q is not complete", g.name)
		}
		for _, p := range g.packets {
			if p.handler == nil || p.about == "" || p.reply == "" {
				t.Errorf("packet %q is not complete", p.prefix)
			}
			if seen[p.prefix] {
				t.Errorf("packet %q has two rows", p.prefix)
			}
			seen[p.prefix] = true
			for _, token := range strings.Fields(p.tokens) {
				if !strings.HasSuffix(token, "+") {
					t.Errorf("packet %q announces %q, which says neither how", p.prefix, token)
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	s, _ := toyServer(t, Config{})
	for _, test := range []struct{ packet, prefix, args string }{
		{"qC", "qC", ""},
		{"qCRC:1,2", "qCRC:", "1,2"},
		{"qCR:1,2", "", ""},
		{"QTDP:1:2", "QTDP:", "1:2"},
		{"QTDP:-1:2", "QTDP:-", "1:2"},
		{"vCont?", "vCont?", ""},
		{"vCont;c", "vCont;", "c"},
		{"vCont", "", ""},
		{"D", "D", ""},
		{"D;1", "D", ";1"},
		{"x", "x", ""},
		{"", "", ""},
		{"qXfer:auxv:read::0,1", "", ""}, // the toy has none
		{"qXfer:threads:read::0,1", "qXfer:threads:read:", ":0,1"},
	} {
		prefix, args := "", ""
		if p, rest := s.lookup([]byte(test.packet)); p != nil {
			prefix, args = p.prefix, string(rest)
		}
		if prefix != test.prefix || args != test.args {
			t.Errorf("%q is %q with %q, expected %q with %q", test.packet, prefix, args, test.prefix, test.args)
		}
	}
}

// TestReference compares the description of all packets with the document.
func TestReference(t *testing.T) {
	const file = "../docs/packets.md"
	got := Reference()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/packets.md differs (-want +got); go generate ./stub writes it:\n%s", diff)
	}
}
