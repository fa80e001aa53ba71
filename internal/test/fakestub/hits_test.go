package fakestub

import (
	"fmt"
	"net"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// hello connects a client of package rsp/client.
func hello(t testing.TB, conn net.Conn) *client.Client {
	t.Helper()
	c := client.New(conn)
	c.Patience = patience
	own, _ := rsp.ParseFeatures("multiprocess+;swbreak+;hwbreak+")
	if err := c.Hello(own); err != nil {
		t.Fatal(err)
	}
	if err := c.EndAcks(); err != nil {
		t.Fatal(err)
	}
	return c
}

// hit resumes to a breakpoint and steps over it, as debuggers do, and returns the first of the stops.
func hit(t testing.TB, c *client.Client, b request.Breakpoint) reply.Stop {
	t.Helper()
	var stops [2]reply.Stop
	for i, f := range []*request.Form[request.Breakpoint]{request.InsertBreak, request.RemoveBreak} {
		if err := client.Command(c, f, b); err != nil {
			t.Fatal(err)
		}
		action := request.Action{Verb: 'c', All: true}
		if i == 1 {
			action = request.Action{Verb: 's', Thread: *stops[0].Thread}
		}
		err := c.Resume(action)
		if err == nil {
			stops[i], err = c.AwaitStop(time.Now().Add(patience))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return stops[0]
}

// TestHits has a breakpoint hit again and again over TCP, by the client of the product.
func TestHits(t *testing.T) {
	s := New(Config{Quirks: Gdbserver})
	conn, err := net.Dial("tcp", s.Listen(t))
	if err != nil {
		t.Fatal(err)
	}
	c := hello(t, conn)
	b := request.Breakpoint{Addr: arch.Addr(s.Symbol("work")), Length: 2}
	const hits = 500
	for pass := range uint64(hits) {
		stop := hit(t, c, b)
		if got := s.Register(0, a0); got != pass+1 || stop.Thread == nil {
			t.Fatalf("pass %d: a0 is %d, stop %+v", pass+1, got, stop)
		}
	}
	for pass := uint64(1); pass < hits; pass++ {
		if r, ok := s.Record(0, pass); !ok || r != Expected(0, pass) {
			t.Fatalf("pass %d: %+v, %v, want %+v", pass, r, ok, Expected(0, pass))
		}
	}
	text, err := c.ReadMemory(arch.Addr(s.RecordAt(0, 7)), recorded)
	if want := s.Memory(s.RecordAt(0, 7), recorded); err != nil || string(text) != string(want) {
		t.Errorf("memory is %x, %v, want %x", text, err, want)
	}
	if s.Received("Z0") != hits || s.Received("z0") != hits {
		t.Error("packets:", s.Received("Z0"), s.Received("z0"))
	}
}

// TestPassesWrap lets the program run over its oldest records.
func TestPassesWrap(t *testing.T) {
	const passes = Kept + 1000
	s := New(Config{Passes: passes, Exits: true, Harts: MostHarts})
	c := hello(t, s.Pipe())
	defer s.Close()
	if err := c.Resume(request.Action{Verb: 'c', All: true}); err != nil {
		t.Fatal(err)
	}
	if stop, err := c.AwaitStop(time.Now().Add(patience)); err != nil {
		t.Fatal(stop, err)
	}
	for hart := range MostHarts {
		n := s.Passes(hart)
		if n < passes-1 { // the first to come to the end ends it for all
			t.Errorf("hart %d has made %d passes", hart, n)
		}
		for pass := n - Kept + 1; pass <= n; pass++ {
			if r, ok := s.Record(hart, pass); !ok || r != Expected(hart, pass) {
				t.Fatalf("hart %d, pass %d: %+v, %v", hart, pass, r, ok)
			}
		}
		if _, ok := s.Record(hart, n-Kept); ok {
			t.Error("a record is there that was overwritten")
		}
	}
}

// BenchmarkHit is what a hit costs a client: four packets, two of which resume.
func BenchmarkHit(b *testing.B) {
	for _, kind := range []string{"pipe", "tcp"} {
		b.Run(kind, func(b *testing.B) {
			s := New(Config{})
			defer s.Close()
			conn, err := net.Conn(nil), error(nil)
			if kind == "pipe" {
				conn = s.Pipe()
			} else if conn, err = net.Dial("tcp", s.Listen(b)); err != nil {
				b.Fatal(err)
			}
			c := hello(b, conn)
			at := request.Breakpoint{Addr: arch.Addr(s.Symbol("work")), Length: 2}
			for b.Loop() {
				hit(b, c, at)
			}
		})
	}
}

// BenchmarkMachine is what an instruction costs.
func BenchmarkMachine(b *testing.B) {
	m := New(Config{}).machine
	m.orders = []order{{goes: true}}
	for b.Loop() {
		if _, _, ended := m.slice(); ended {
			b.Fatal("it has stopped")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(m.executed), "ns/instruction")
}

func ExampleExpected() {
	fmt.Println(Expected(1, 3))
	// Output: {3 7 31 2148528112}
}
