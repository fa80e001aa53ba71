package fakestub

import (
	"flag"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"tracewell/rsp"
)

var seeds = flag.Uint64("seeds", 60, "how many stubs TestRandom makes")

// careful is a client that takes nothing for granted: one packet at a time, quiet while the machine runs.
type careful struct {
	t    *testing.T
	s    *Stub
	conn net.Conn
	link *rsp.Client
	cont bool   // vCont is there
	way  string // how breakpoints are inserted: Z0, Z1, or M
	site uint64
	text string // of the instruction there, in hexadecimal
}

// connect begins as every client does.
func connect(t *testing.T, s *Stub) *careful {
	t.Helper()
	conn := s.Pipe()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	c := &careful{t: t, s: s, conn: conn, link: rsp.NewClient(conn)}
	features, _ := rsp.ParseFeatures(c.ask("qSupported:multiprocess+;swbreak+;hwbreak+"))
	if features.Has("QStartNoAckMode") && c.ask("QStartNoAckMode") == "OK" {
		c.link.NoAck()
	}
	if stop := c.ask("?"); stop == "" || stop[0] != 'T' && stop[0] != 'S' {
		t.Fatalf("? is answered by %q", stop)
	}
	c.cont = strings.Contains(c.ask("vCont?"), ";c")
	return c
}

// ask sends a packet and returns its reply, without text of the console.
func (c *careful) ask(packet string) string {
	c.t.Helper()
	if err := c.link.Send([]byte(packet)); err != nil {
		c.t.Fatalf("%s: %v\n%s", packet, err, c.tail())
	}
	return c.receive(packet)
}

func (c *careful) receive(packet string) string {
	c.t.Helper()
	for {
		b, err := c.link.Receive()
		if err != nil {
			c.t.Fatalf("reply to %s: %v\n%s", packet, err, c.tail())
		}
		text := string(b)
		if text != "OK" && strings.HasPrefix(text, "O") {
			continue
		}
		return text
	}
}

// tail is the end of the transcript.
func (c *careful) tail() string {
	lines := c.s.Transcript()
	return strings.Join(lines[max(0, len(lines)-12):], "\n") + fmt.Sprintf("\n%+v", c.s.quirks)
}

// insert inserts or removes the breakpoint.
func (c *careful) insert(on bool) {
	c.t.Helper()
	if c.way == "" {
		c.text = c.ask(fmt.Sprintf("m%x,2", c.site))
		for _, way := range []string{"Z0", "Z1"} {
			if c.ask(fmt.Sprintf("%s,%x,2", way, c.site)) == "OK" {
				c.way = way
				return
			}
		}
		c.way = "M"
	}
	packet := fmt.Sprintf("%s,%x,2", c.way, c.site)
	switch {
	case c.way == "M" && on:
		packet = fmt.Sprintf("M%x,2:0290", c.site)
	case c.way == "M":
		packet = fmt.Sprintf("M%x,2:%s", c.site, c.text)
	case !on:
		packet = "z" + packet[1:]
	}
	if got := c.ask(packet); got != "OK" {
		c.t.Fatalf("%s is answered by %q\n%s", packet, got, c.tail())
	}
}

// resume resumes all, or steps a thread, and returns the thread that has stopped.
func (c *careful) resume(step string) (thread string) {
	c.t.Helper()
	var stop string
	switch {
	case c.cont && step != "":
		stop = c.ask("vCont;s:" + step)
	case c.cont:
		stop = c.ask("vCont;c")
	case step != "":
		c.ask("Hc" + step)
		stop = c.ask("s")
	default:
		c.ask("Hc-1")
		stop = c.ask("c")
	}
	if strings.HasPrefix(stop, "Fwrite,1,") {
		stop = c.ask("F0")
	}
	if !strings.HasPrefix(stop, "T05") && stop != "S05" {
		c.t.Fatalf("stop reply %q\n%s", stop, c.tail())
	}
	if _, after, ok := strings.Cut(stop, "thread:"); ok {
		thread, _, _ = strings.Cut(after, ";")
	} else {
		thread = strings.TrimPrefix(c.ask("qC"), "QC")
	}
	c.ask("Hg" + thread)
	return thread
}

// register reads a register out of the block.
func (c *careful) register(r int) uint64 {
	c.t.Helper()
	block := c.ask("g")
	if len(block) != 16*registers {
		c.t.Fatalf("g is answered by %q", block)
	}
	v, _ := parseRegister(block[16*r:][:16])
	return v
}

// TestRandom debugs stubs of all kinds, and sees the same in each: what the program itself keeps.
func TestRandom(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			config := Random(seed)
			s := New(config)
			defer s.Close()
			c := connect(t, s)
			c.site = s.Symbol("work")
			const hits = 12
			passes := make([]uint64, config.Harts)
			c.insert(true)
			for range hits {
				thread := c.resume("")
				hart, pc := c.register(tp), c.register(pcRegister)
				if pc != c.site || hart >= uint64(config.Harts) {
					t.Fatalf("thread %s stopped at %#x as hart %d\n%s", thread, pc, hart, c.tail())
				}
				passes[hart]++
				want := Expected(int(hart), passes[hart])
				if got := (Record{c.register(a0), c.register(a1), want.Sum, c.register(sp) - 16}); got != want {
					t.Fatalf("hart %d: %+v, want %+v\n%s", hart, got, want, c.tail())
				}
				c.insert(false)
				if again := c.resume(thread); again != thread || c.register(pcRegister) != c.site+2 {
					t.Fatalf("thread %s is at %#x after the step of %s\n%s", again, c.register(pcRegister), thread, c.tail())
				}
				c.insert(true)
			}
			c.insert(false)
			if left, breaches := s.Inserted(), s.Breaches(); len(left)+len(breaches) > 0 {
				t.Errorf("left over: %v; breaches: %v", left, breaches)
			}
			for hart, n := range passes {
				for pass := uint64(1); pass < n; pass++ {
					if r, ok := s.Record(hart, pass); !ok || r != Expected(hart, pass) {
						t.Fatalf("hart %d, pass %d: %+v, %v", hart, pass, r, ok)
					}
				}
			}
			if s.DeviceReads() != 0 {
				t.Error("the device was read")
			}
		})
	}
}
