package stub

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/rsp"
	"tracewell/runcontrol"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/tracepoint"
)

// toyServer makes a server over the toy program, which here has files, too.
func toyServer(t testing.TB, c Config) (*Server, *fake.Target) {
	p := toyProgram()
	p.Files = map[string]*fake.File{"/etc/motd": {Bytes: []byte("Welcome.\n"), Mode: 0o644}}
	p.Programs, p.Others = []string{"/toy"}, []target.Thread{{ID: target.ThreadID{PID: 0xa, TID: 0xa}}}
	p.Syscalls = true
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

// endAcks has the client do without acknowledgments.
func endAcks(t *testing.T, c *rsp.Client) {
	t.Helper()
	exchange(t, c, "QStartNoAckMode", "OK")
	c.NoAck()
}

func wait(t *testing.T, served <-chan error) error {
	t.Helper()
	select {
	case err := <-served:
		return err
	case <-time.After(time.Minute):
		t.Fatal("Serve did not return")
		return nil
	}
}

func TestMonitorExitEndsProgramAndServer(t *testing.T) {
	for _, attached := range []bool{false, true} {
		s, f := toyServer(t, Config{Attached: attached})
		c, conn, served := serve(s)
		endAcks(t, c) // or it would acknowledge a reply to a server that is gone
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

// TestMonitorExitOfSeveralProcesses ends those that were started and lets go those that ran before, and their children.
func TestMonitorExitOfSeveralProcesses(t *testing.T) {
	var killed, detached []int
	s, f := toyServer(t, Config{Attached: true, Notify: Notify{
		Killing:   func(pids []int) { killed = append(killed, pids...) },
		Detaching: func(pid int) { detached = append(detached, pid) },
	}})
	c, conn, served := serve(s)
	endAcks(t, c)
	if _, err := c.Exchange("qSupported:fork-events+"); err != nil {
		t.Fatal(err)
	}
	child := target.ThreadID{PID: 0x2a, TID: 0x2a}
	f.Play(fake.Step{Event: &target.Event{Kind: target.Forked, Child: child}})
	const registers = "01:0000000000000000;02:0000000000000000;03:0000000000000000;"
	exchange(t, c, "vCont;c", "T05fork:2a;"+registers+"thread:1a;core:1;")
	exchange(t, c, "vRun;2f746f79", "T05"+registers+"thread:2b;")
	exchange(t, c, "qRcmd,65786974", "OK")
	if err := wait(t, served); !errors.Is(err, ErrExit) {
		t.Errorf("Serve returned %v", err)
	}
	conn.Close()
	if !slices.Equal(killed, []int{0x2b}) || !slices.Equal(detached, []int{0x1a, 0x2a}) {
		t.Errorf("killed %#x and detached from %#x", killed, detached)
	}
}

// TestSpentNever has clients end the program in servers that are there for more.
func TestSpentNever(t *testing.T) {
	for _, test := range []struct {
		config  Config
		packets []string
	}{{Config{Multi: true}, []string{"vKill;1a"}}, {Config{}, []string{"!", "vKill;1a"}}} {
		s, f := toyServer(t, test.config)
		c, conn, served := serve(s)
		for _, p := range test.packets {
			exchange(t, c, p, "OK")
		}
		conn.Close()
		if err := wait(t, served); err != nil {
			t.Error(err)
		}
		if s.Spent() || len(f.Threads()) != 0 {
			t.Errorf("after %q: spent %v, %d threads", test.packets, s.Spent(), len(f.Threads()))
		}
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
	deadline := time.Now().Add(time.Minute)
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
	s.debuggee.SetPatience(20 * time.Millisecond)
	f.IgnoreInterrupts(true)
	c, conn, served := serve(s)
	if err := c.Send([]byte("vCont;c")); err != nil {
		t.Fatal(err)
	}
	exchange(t, c, "D;1a", "E.the program does not stop")
	exchange(t, c, "qC", "QC1a")
	conn.Close()
	if err := wait(t, served); !errors.Is(err, runcontrol.ErrNoStop) {
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
	s, f := toyServer(t, Config{Notify: Notify{Ended: func(ev target.Event) { ended = append(ended, ev) }}})
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
