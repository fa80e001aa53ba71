package fakestub

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/rsp"
)

// patience is how long a test waits for what comes at once, on a machine that does other things, too.
const patience = time.Minute

// dial connects to a stub that listens.
func dial(t *testing.T, s *Stub, address string) *talk {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return &talk{t, conn, rsp.NewClient(conn), s}
}

// TestFaults has each fault go off at the second g, and the stub come back for another client with all that the first has left.
func TestFaults(t *testing.T) {
	for kind, want := range map[Kind]string{
		Silence: "timeout", Nonsense: nonsense, Half: "timeout", ConsoleOnly: "O636f6e736f6c65207465787420310a", Reset: "lost",
		ResetAfter: "lost", Bogus: failed, Damage: strings.Repeat("0", 32),
	} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			t.Parallel()
			s := New(Config{Faults: []Fault{{Kind: kind, Packet: "g", At: 2}}})
			address := s.Listen(t)
			c := dial(t, s, address)
			c.say(fmt.Sprintf("Z0,%x,2", s.Symbol("stored")))
			c.say("g")
			if want == "timeout" {
				c.conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
			}
			got := "lost"
			err := c.link.Send([]byte("g"))
			var b []byte
			if err == nil {
				b, err = c.link.Receive()
			}
			var n net.Error
			switch {
			case err == nil:
				got = string(b)
			case errors.As(err, &n) && n.Timeout():
				got = "timeout"
			}
			if len(got) < len(want) || got[:len(want)] != want {
				t.Fatalf("got %q, %v, want %q", got, err, want)
			}
			c.conn.Close()
			again := dial(t, s, address)
			if stop := again.say("?"); stop != "T05thread:1;" || len(s.Inserted()) != 1 {
				t.Errorf("the next client finds %s and %v", stop, s.Inserted())
			}
		})
	}
}

// TestFaultInRun loses the connection while the machine runs, which then meets the breakpoint that was left.
func TestFaultInRun(t *testing.T) {
	for _, kind := range []Kind{Silence, ResetAfter} {
		s := New(Config{})
		address := s.Listen(t)
		c := dial(t, s, address)
		c.say(fmt.Sprintf("Z0,%x,2", s.Symbol("work")))
		s.Inject(Fault{Kind: kind, Packet: "c", At: 1})
		c.link.Send([]byte("c"))
		c.conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
		if got, err := io.ReadAll(c.conn); len(got) > 0 && string(got) != "+" {
			t.Errorf("%q comes, %v", got, err)
		}
		c.conn.Close()
		await(func() bool { return !s.Running() && s.Register(0, 10) == 1 })
		again := dial(t, s, address)
		if stop, a := again.say("?"), again.say("pa"); stop != "T05thread:1;" || a != "0100000000000000" {
			t.Errorf("%d: the next client finds %s with %s", kind, stop, a)
		}
	}
}

// await gives a machine time to come to a state: the test says what is wrong if it does not.
func await(met func() bool) {
	for end := time.Now().Add(10 * time.Second); !met() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// TestDrop pulls the cable.
func TestDrop(t *testing.T) {
	s := New(Config{})
	address := s.Listen(t)
	c := dial(t, s, address)
	c.link.Send([]byte("c"))
	await(s.Running)
	s.Drop()
	if _, err := io.ReadAll(c.conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	if !s.Running() {
		t.Error("the machine has stopped with the connection")
	}
	if stop := dial(t, s, address).say("?"); stop != "T02thread:1;" {
		t.Error(stop)
	}
}

// TestNothingIsLeft closes stubs in every state, and looks for goroutines.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, packet := range []string{"qC", "c", "s", "D", "k", "$"} {
		for _, passes := range []uint64{0, 1} {
			s := New(Config{Passes: passes, Quirks: Quirks{Delay: time.Hour}})
			conn := s.Pipe()
			go io.Copy(io.Discard, conn)
			conn.Write([]byte(frame(packet)))
			time.Sleep(2 * time.Millisecond)
			s.Close()
			if _, err := conn.Write([]byte("+")); err == nil {
				t.Error("the connection is still there after", packet)
			}
			s.Close()
		}
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines are left:\n%s", runtime.NumGoroutine()-before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// TestRunLength holds the coding of runs against the decoder of clients.
func TestRunLength(t *testing.T) {
	for n := range 700 {
		b := slices.Concat([]byte("a"), []byte(strings.Repeat("0", n)), []byte("}\x04\x04\x04\x04\x04b"))
		coded := appendRuns(nil, b)
		back, err := rsp.ExpandRuns(nil, coded)
		if err != nil || string(back) != string(b) || strings.ContainsAny(string(coded), "#$+-") {
			t.Fatalf("%d: %q, %v", n, coded, err)
		}
		if n > 3 && len(coded) > 12+n/90*3+4 {
			t.Errorf("%d zeros take %d bytes", n, len(coded))
		}
	}
}

// TestReconnects loses the connection in mid-run again and again. The machine counts on all the while.
func TestReconnects(t *testing.T) {
	s := New(Config{})
	address := s.Listen(t)
	var before uint64
	for range 50 {
		c := dial(t, s, address)
		if stop := c.say("?"); stop[:2] != "T0" {
			t.Fatal(stop)
		}
		c.link.Send([]byte("c"))
		for deadline := time.Now().Add(patience); s.Passes(0) < before+10; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the machine does not run")
			}
		}
		c.conn.Close()
		before = s.Passes(0)
	}
}

// TestLeave has a stub go away and come back.
func TestLeave(t *testing.T) {
	s := New(Config{})
	address := s.Listen(t)
	c := dial(t, s, address)
	c.say(fmt.Sprintf("Z0,%x,2", s.Symbol("work")))
	s.Leave()
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("it is still there")
	}
	s.Return(t)
	if stop := dial(t, s, address).say("c"); stop != "T05thread:1;" || len(s.Inserted()) != 1 {
		t.Error("afterwards:", stop, s.Inserted())
	}
}

// TestDevice has the program read the device, too.
func TestDevice(t *testing.T) {
	s := New(Config{InRAM: true})
	c := converse(t, s)
	load := encodeI(0x03, 2, t0, s1, 4) // lw t0,4(s1)
	c.say(fmt.Sprintf("M80000000,4:%08x", bits.ReverseBytes32(load)))
	for i, want := range []string{"00000000", "02000000"} {
		c.say("P9=fcffff0f00000000")
		c.say("P20=0000008000000000")
		c.say("s")
		if got := c.say("p5"); got != want+"00000000" {
			t.Errorf("load %d is of %s, want %s", i, got, want)
		}
		c.say("m10000000,4")
	}
	if s.DeviceReads() != 2 {
		t.Error(s.DeviceReads(), "reads by the client")
	}
}

// TestCalm has a machine run that meets nothing: it is not to take a processor for itself.
func TestCalm(t *testing.T) {
	s := New(Config{})
	c := converse(t, s)
	c.link.Send([]byte("c"))
	for s.Executed() < (calm+1)*sliceLength { // the first rush
		time.Sleep(time.Millisecond)
	}
	before, begin := s.Executed(), time.Now()
	time.Sleep(100 * time.Millisecond)
	n, took := s.Executed()-before, time.Since(begin)
	if most := uint64(took/pause+2) * sliceLength; n == 0 || n > most {
		t.Errorf("%d instructions in %v, want at most %d", n, took, most)
	}
}
