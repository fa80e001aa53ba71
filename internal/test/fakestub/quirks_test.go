package fakestub

import (
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"tracewell/rsp"
)

// talk is a client that sends what it is given.
type talk struct {
	t    *testing.T
	conn net.Conn
	link *rsp.Client
	s    *Stub
}

func converse(t *testing.T, s *Stub) *talk {
	t.Helper()
	t.Cleanup(s.Close)
	conn := s.Pipe()
	conn.SetDeadline(time.Now().Add(patience))
	return &talk{t, conn, rsp.NewClient(conn), s}
}

// say sends a packet, and returns the first that comes back.
func (c *talk) say(packet string) string {
	c.t.Helper()
	if err := c.link.Send([]byte(packet)); err != nil {
		c.t.Fatalf("%s: %v", packet, err)
	}
	return c.hear()
}

func (c *talk) hear() string {
	c.t.Helper()
	b, err := c.link.Receive()
	if err != nil {
		c.t.Fatalf("%v\n%s", err, strings.Join(c.s.Transcript(), "\n"))
	}
	return string(b)
}

// raw writes bytes, and reads as many as are expected.
func (c *talk) raw(send, want string) {
	c.t.Helper()
	go io.WriteString(c.conn, send)
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c.conn, got); err != nil || string(got) != want {
		c.t.Fatalf("%q is answered by %q (%v), want %q", send, got[:n], err, want)
	}
}

// silent reports whether nothing comes for a while.
func (c *talk) silent(d time.Duration) bool {
	c.conn.SetReadDeadline(time.Now().Add(d))
	defer c.conn.SetReadDeadline(time.Now().Add(patience))
	_, err := c.conn.Read(make([]byte, 1))
	return os.IsTimeout(err)
}

// condition is bytecode of the condition $a0 == n.
func condition(n byte) string { return fmt.Sprintf("X7,26000a22%02x1327", n) }

// rows say of each quirk what packets are answered by with it, as regular expressions. W, L and S stand for the addresses of work, loop
// and stored, D for the device's, R for that of the RAM.
var rows = []struct {
	name   string
	config Config
	talk   string // lines of PACKET => REPLY; "=> REPLY" is another packet that comes
}{
	{"plain", Config{Harts: 2, Passes: 3, Exits: true}, `
		qSupported => PacketSize=1000;QStartNoAckMode\+;.*
		? => T05thread:1;
		qC => QC1
		qfThreadInfo => m1
		qsThreadInfo => m2
		qsThreadInfo => l
		qThreadExtraInfo,2 => 686172742031
		vMustReplyEmpty =>
		Hg2 => OK
		Hg3 => E22
		T2 => OK
		T3 => E01
		p4 => 0100000000000000
		P5=efcdab8967452301 => OK
		p5 => efcdab8967452301
		p21 => E01
		MR,2:1234 => OK
		mR,2 => 1234
		XR,1:a => OK
		mR,2 => 6134
		m0,1 => E01
		MW,1:00 => E01
		vFlashErase:20000400,400 => OK
		vFlashWrite:20000400:abc => OK
		vFlashDone => OK
		m20000400,4 => 616263ff
		qCRC:20000400,3 => C9b73448c
		!=> OK
		vCont? => vCont;c;C;s;S
		Z0,W,2 => OK
		vCont;c => T05thread:1;
		vCont;c:1 => T05thread:1;
		vCont;s:1 => T05thread:1;
		c => T05thread:2;
		z0,W,2 => OK
		z0,W,2 => E01
		Z2,81000000,8 => OK
		z2,81000000,8 => OK
		vCont;c => W00
		c => W00
		qRcmd,6869 => O68690a
		=> OK
		`},
	{"watch", Config{}, `
		Z2,80010000,8 => OK
		c => T05watch:80010000;thread:1;
		p20 => 5a00002000000000
		z2,80010000,8 => OK
		Z4,80010000,8 => OK
		c => T05awatch:80010000;thread:1;`},
	{"KeepsAcks", Config{Quirks: Quirks{KeepsAcks: true}}, `
		qSupported => PacketSize=1000;qXfer:features.*
		QStartNoAckMode => `},
	{"NoSupported", Config{Quirks: Quirks{NoSupported: true}}, `
		qSupported =>
		QStartNoAckMode => `},
	{"PacketSize", Config{Quirks: Quirks{PacketSize: 256, LongReadFails: true}}, `
		qSupported => PacketSize=100;.*
		mR,80 => 0.*
		mR,81 => E22
		qXfer:features:read:target.xml:0,fff => m.{255}`},
	{"DecimalSize", Config{Quirks: Quirks{PacketSize: 1024, DecimalSize: true}}, `
		qSupported => PacketSize=1024;.*
		mR,400 => 0{1000}0{24}`},
	{"ConsoleEach", Config{Quirks: Quirks{ConsoleEach: 2}}, `
		qC => QC1
		qC => O636f6e736f6c65207465787420310a
		=> QC1`},
	{"ConsoleOnRun and KeepAlive", Config{Quirks: Quirks{ConsoleOnRun: true, KeepAlive: true}}, `
		s => O
		=> T05.*`},
	{"InRAM", Config{Quirks: Quirks{Software: InRAM}}, `
		Z0,W,2 => E01
		Z0,R,2 => OK`},
	{"Refused", Config{Quirks: Quirks{Software: Refused}}, `
		Z0,W,2 => E01
		Z1,W,2 => OK`},
	{"Unknown", Config{Quirks: Quirks{Software: Unknown}, InRAM: true}, `
		Z0,W,2 =>
		z0,W,2 =>
		MW,2:0290 => OK
		c => T05thread:1;
		p20 => 1e00008000000000`},
	{"InMemory", Config{Quirks: Quirks{InMemory: true}}, `
		Z0,W,2 => OK
		mW,4 => 411106e4
		c => T05.*
		s => T05.*
		p20 => 2000002000000000`},
	{"Shown", Config{Quirks: Quirks{InMemory: true, Shown: true}}, `
		Z0,W,2 => OK
		mW,4 => 029006e4
		z0,W,2 => OK
		mW,4 => 411106e4`},
	{"Hardware", Config{Quirks: Quirks{Hardware: 2, Watchpoints: 1}}, `
		Z1,W,2 => OK
		Z1,W,2 => OK
		Z1,L,2 => OK
		Z1,S,4 => E0E
		Z2,R,4 => OK
		Z3,R,4 => E0E
		z1,L,2 => OK
		Z1,S,4 => OK
		c => T05.*`},
	{"None", Config{Quirks: Quirks{Hardware: None, Watchpoints: None}}, `
		Z1,W,2 =>
		z1,W,2 =>
		Z2,R,4 => `},
	{"Ignored", Config{}, `
		Z0,W,2;` + condition(3) + ` => OK
		c => T05.*
		pa => 0100000000000000`},
	{"Obeyed", Config{Quirks: Quirks{Conditions: Obeyed}}, `
		qSupported => .*;ConditionalBreakpoints\+
		Z0,W,2;` + condition(3) + condition(5) + ` => OK
		c => T05.*
		pa => 0300000000000000
		s => T05.*
		c => T05.*
		pa => 0500000000000000
		Z0,W,2;Xzz => E01`},
	{"Obeyed in memory", Config{Quirks: Quirks{Conditions: Obeyed, InMemory: true}}, `
		Z0,W,2;` + condition(90) + ` => OK
		c => T05.*
		pa => 5a00000000000000`},
	{"Rejected", Config{Quirks: Quirks{Conditions: Rejected}}, `
		Z0,W,2;` + condition(3) + ` => E01
		Z0,W,2 => OK`},
	{"QueryClears", Config{Quirks: Quirks{QueryClears: true}, Passes: 5, Exits: true}, `
		Z0,W,2 => OK
		? => T05.*
		c => W00`},
	{"StepStays", Config{Quirks: Quirks{StepStays: true}}, `
		Z0,W,2 => OK
		c => T05.*
		s => T05.*
		p20 => 1e00002000000000
		z0,W,2 => OK
		s => T05.*
		p20 => 2000002000000000`},
	{"ContinuePasses", Config{Quirks: Quirks{ContinuePasses: true}}, `
		Z0,W,2 => OK
		c => T05.*
		c => T05.*
		pa => 0200000000000000`},
	{"NoVCont", Config{Quirks: Quirks{NoVCont: true}, Harts: 2}, `
		vCont? =>
		vCont;c =>
		Hc2 => OK
		s => T05thread:2;
		s => T05thread:2;`},
	{"ActsAsOne", Config{Quirks: Quirks{ActsAsOne: true}, Harts: 2}, `
		Z0,W,2 => OK
		vCont;c:2 => T05thread:1;
		vCont;s:1;c => T05thread:1;`},
	{"OtherFails", Config{Quirks: Quirks{OtherFails: true}, Harts: 2}, `
		Hc2 => OK
		s => E01
		Hg2 => OK
		s => T05thread:2;`},
	{"RangeSteps", Config{Quirks: Quirks{RangeSteps: true}}, `
		vCont? => vCont;c;C;s;S;r
		vCont;r20000000,20000008:1 => T05.*
		p20 => 0a00002000000000`},
	{"BareT", Config{Quirks: Quirks{Stop: BareT}}, `s => T05`},
	{"BareS", Config{Quirks: Quirks{Stop: BareS}}, `s => S05`},
	{"Reasons", Config{Quirks: Quirks{Reasons: true}}, `
		qSupported:swbreak+;hwbreak+ => .*;swbreak\+;hwbreak\+
		Z0,W,2 => OK
		c => T05swbreak:;thread:1;
		z0,W,2 => OK
		Z1,W,2 => OK
		c => T05hwbreak:;thread:1;`},
	{"FilesEach", Config{Quirks: Quirks{FilesEach: 2}}, `
		s => T05thread:1;
		s => Fwrite,1,2000ff00,17
		s => E01
		m2000ff00,7 => 7772697474656e
		F17 => T05thread:1;
		s => T05thread:1;
		c => Fwrite,1,2000ff00,17
		F-1,4,C => T02thread:1;
		F0 => `},
	{"ResetClears", Config{Quirks: Quirks{ResetClears: true}}, `
		Z0,W,2 => OK
		qRcmd,7265736574 => O72657365740a
		=> OK
		z0,W,2 => E01`},
	{"Expedites", Config{Quirks: Quirks{Expedites: true}}, `
		s => T0502:0000108000000000;08:0000000000000000;20:0200002000000000;thread:1;`},
	{"Multiprocess", Config{Quirks: Quirks{Multiprocess: true, ThreadDigits: 2}}, `
		qSupported:multiprocess+ => .*;multiprocess\+
		s => T05thread:p01.01;
		Hgp1.1 => OK
		vCont;s:p1.-1 => T05thread:p01.01;
		D;1 => OK`},
	{"Multiprocess is of both sides", Config{Quirks: Quirks{Multiprocess: true}}, `
		qSupported => .*;multiprocess\+
		s => T05thread:1;`},
	{"ThreadDigits", Config{Quirks: Quirks{ThreadDigits: 16}}, `qC => QC0000000000000001`},
	{"SelectFails", Config{Quirks: Quirks{SelectFails: true}}, `
		Hg0 => E01
		Hc-1 => E01
		Hg1 => OK`},
	{"NoThreads", Config{Quirks: Quirks{NoThreads: true}}, `
		qC => QC0
		qfThreadInfo => l
		qXfer:threads:read::0,100 => l<[^t]*<threads>\n</threads>\n
		vCont;s:0;c:0 => T05thread:0;`},
	{"lists of threads", Config{Quirks: Quirks{NoThreadList: true, NoThreadXfer: true}}, `
		qfThreadInfo =>
		qXfer:threads:read::0,100 => `},
	{"ThreadsAtOnce", Config{Quirks: Quirks{ThreadsAtOnce: true}, Harts: 3}, `
		qfThreadInfo => m1,2,3
		qsThreadInfo => l`},
	{"registers", Config{Quirks: Quirks{NoRegister: true, NoWriteRegister: true}}, `
		p1 =>
		P1=0000000000000000 =>
		g => [0-9a-f]{528}`},
	{"MemoryLimit", Config{Quirks: Quirks{MemoryLimit: 16}}, `mR,20 => 0{32}`},
	{"binary", Config{Quirks: Quirks{NoBinaryWrite: true, BinaryRead: true}}, `
		XR,1:a =>
		MR,2:2a7d => OK
		xR,2 => b\*}`},
	{"objects", Config{Quirks: Quirks{NoFeatures: true, NoMemoryMap: true, NoFlash: true, NoMonitor: true, NoChecksum: true, NoRestart: true}}, `
		qSupported => PacketSize=1000;QStartNoAckMode\+;qXfer:threads:read\+;vContSupported\+
		qXfer:features:read:target.xml:0,10 =>
		qXfer:memory-map:read::0,10 =>
		vFlashDone =>
		qRcmd,6869 =>
		qCRC:20000000,1 =>
		! => `},
	{"own replies", Config{Quirks: Quirks{NoSymbols: true, Features: "Some+", Replies: map[string]string{"q": "one", "qAttached": "two"}}}, `
		qSymbol:: => one
		qAttached:1 => two
		c0 => T0b.*`},
	{"without symbols", Config{Quirks: Quirks{NoSymbols: true, Features: "Some+;x-"}}, `
		qSupported => .*;Some\+;x-
		qSymbol:: => `},
	{"MonitorInReply", Config{Quirks: Quirks{MonitorInReply: true}}, `qRcmd,6869 => 68690a`},
	{"device", Config{}, `
		mD,4 => 00000000
		mD,4 => 01000000
		mD,4 => 02000000`},
	{"RunLength", Config{Quirks: Quirks{RunLength: true}}, `
		mR,8 => 0{16}
		mR,800 => 0{1000}0{1000}0{1000}0{1000}0{96}
		xR,1 =>`},
	{"not in the table", Config{Quirks: Quirks{Acks: Drops, Running: Swallows, Delay: 1, SlowBlock: 1, StopNotice: 1, UnknownZDrops: true,
		DetachKeeps: true, KillResumes: true}}, `qC => QC1`}, // these have tests of their own below
}

// TestQuirks has the talks of the table, and sees to it that no quirk is without one.
func TestQuirks(t *testing.T) {
	shown := make(map[string]bool)
	for _, row := range rows {
		q := reflect.ValueOf(row.config.Quirks)
		for i := range q.NumField() {
			shown[q.Type().Field(i).Name] = shown[q.Type().Field(i).Name] || !q.Field(i).IsZero()
		}
		t.Run(row.name, func(t *testing.T) {
			converse(t, New(row.config)).follow(row.talk)
		})
	}
	for name, ok := range shown {
		if !ok {
			t.Errorf("no talk shows %s", name)
		}
	}
}

// follow has a talk in the form of rows.
func (c *talk) follow(text string) {
	c.t.Helper()
	symbol := func(before, name string) string { return fmt.Sprintf("%s%x", before, c.s.Symbol(name)) }
	places := strings.NewReplacer(",W", symbol(",", "work"), ",L", symbol(",", "loop"), ",S", symbol(",", "stored"),
		"mW", symbol("m", "work"), "MW", symbol("M", "work"), "XW", symbol("X", "work"),
		"mR", "m80080000", "MR", "M80080000", "XR", "X80080000", "xR", "x80080000", ",R", ",80080000", "mD", "m10000000")
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		packet, want, _ := strings.Cut(strings.TrimSpace(line), "=>")
		packet, want = places.Replace(strings.TrimSpace(packet)), strings.TrimSpace(want)
		got := ""
		if packet == "" {
			got = c.hear()
		} else {
			got = c.say(packet)
		}
		if packet == "QStartNoAckMode" && got == "OK" {
			c.link.NoAck()
		}
		if ok, err := regexp.MatchString("^(?s:"+want+")$", got); err != nil || !ok {
			c.t.Fatalf("%s is answered by %q, want %s (%v)", packet, got, want, err)
		}
	}
}

// frame is a packet on the wire.
func frame(payload string) string { return string(rsp.AppendPacket(nil, []byte(payload))) }

// TestAcks has stubs take packets for acknowledgments, or nothing for one.
func TestAcks(t *testing.T) {
	reply := frame("QC1")
	t.Run("AnyOrder", func(t *testing.T) {
		c := converse(t, New(Config{}))
		c.raw(reply[:0]+frame("qC")+frame("qC"), "+"+reply+"+"+reply)
		c.raw("-", reply)
		c.raw("++$qC#00", "-")
	})
	t.Run("Resends", func(t *testing.T) {
		c := converse(t, New(Config{Quirks: Quirks{Acks: Resends}}))
		c.raw(frame("qC")+"$q", "+"+reply+reply+reply)
		c.raw("+"+frame("qC"), "+"+reply)
	})
	t.Run("Drops", func(t *testing.T) {
		c := converse(t, New(Config{Quirks: Quirks{Acks: Drops}}))
		c.raw(frame("qC")+frame("?")+"-", "+"+reply+reply)
		c.raw("+"+frame("qC"), "+"+reply)
	})
	t.Run("ended", func(t *testing.T) {
		c := converse(t, New(Config{Quirks: Quirks{Acks: Resends}}))
		c.raw(frame("QStartNoAckMode"), "+"+frame("OK"))
		c.raw("+"+frame("qC")+frame("qC"), reply+reply)
	})
}

// TestRunning sends packets while the machine runs.
func TestRunning(t *testing.T) {
	start := func(t *testing.T, q Quirks) *talk {
		c := converse(t, New(Config{Quirks: q}))
		c.say("QStartNoAckMode")
		c.link.NoAck()
		c.link.Send([]byte("c"))
		return c
	}
	t.Run("Waits", func(t *testing.T) {
		c := start(t, Quirks{})
		go c.link.Send([]byte("qC"))
		if !c.silent(20 * time.Millisecond) {
			t.Error("it answers")
		}
		go c.link.Interrupt()
		if stop, next := c.hear(), c.hear(); stop != "T02thread:1;" || next != "QC1" {
			t.Errorf("then come %s and %s", stop, next)
		}
	})
	t.Run("Answers", func(t *testing.T) {
		c := start(t, Quirks{Running: Answers})
		if memory, block := c.say("m80010000,8"), c.say("g"); len(memory) != 16 || block != failed {
			t.Errorf("memory is %s, registers are %s", memory, block)
		}
		go c.link.Interrupt()
		if stop := c.hear(); stop != "T02thread:1;" {
			t.Error(stop)
		}
	})
	t.Run("StopsAtAnyByte", func(t *testing.T) {
		c := start(t, Quirks{Running: StopsAtAnyByte})
		c.raw("+", frame("T02thread:1;"))
		if c.s.Running() || len(c.s.Breaches()) != 1 {
			t.Error("running, or no breach:", c.s.Breaches())
		}
		c.link.Send([]byte("c"))
		c.raw(frame("qC"), frame("T02thread:1;")) // the $ is lost, and so is the packet
		if !c.silent(10 * time.Millisecond) {
			t.Error("it answers a packet without a beginning")
		}
	})
	t.Run("StopsAtAnyByte with acknowledgments", func(t *testing.T) {
		c := converse(t, New(Config{Quirks: Quirks{Running: StopsAtAnyByte}}))
		c.raw(frame("qC"), "+"+frame("QC1"))
		c.raw(frame("c"), "+") // acknowledges the reply by its $
		c.raw("+", frame("T02thread:1;"))
	})
	t.Run("Swallows", func(t *testing.T) {
		c := start(t, Quirks{Running: Swallows})
		c.link.Send([]byte("qC"))
		go c.link.Interrupt()
		if stop := c.hear(); stop != "T02thread:1;" {
			t.Error(stop)
		}
		if !c.silent(10*time.Millisecond) || len(c.s.Breaches()) != 6 {
			t.Error("it answers, or no breaches:", c.s.Breaches())
		}
	})
}

// TestTiming has what takes time take it.
func TestTiming(t *testing.T) {
	took := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	const d = 60 * time.Millisecond
	c := converse(t, New(Config{Quirks: Quirks{Delay: d}}))
	if n := took(func() { c.say("qC") }); n < d {
		t.Error("Delay:", n)
	}
	c = converse(t, New(Config{Quirks: Quirks{SlowBlock: d}}))
	if n, p := took(func() { c.say("g") }), took(func() { c.say("p1") }); n < d || p > d {
		t.Error("SlowBlock:", n, p)
	}

	s := New(Config{Quirks: Quirks{StopNotice: time.Hour, Running: Answers}})
	c = converse(t, s)
	if stop := c.say("s"); stop != "T05thread:1;" {
		t.Error("a step is answered by", stop)
	}
	c.say(fmt.Sprintf("Z0,%x,2", s.Symbol("work")))
	c.link.Send([]byte("c"))
	stopped := func() bool { return s.Register(0, pcRegister) == s.Symbol("work") && !s.Running() }
	for deadline := time.Now().Add(patience); !stopped() && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	if stop, ok := c.say("qRcmd,706f6c6c"), c.hear(); stop != "T05thread:1;" || ok != "OK" {
		t.Error("monitor poll is answered by", stop, ok)
	}
}

// TestEndings ends connections in each way, and has another client look at what is left.
func TestEndings(t *testing.T) {
	for _, test := range []struct {
		name    string
		quirks  Quirks
		packet  string
		left    int  // breakpoints
		running bool // afterwards, for a moment at least
		query   string
	}{
		{"detach", Quirks{}, "D", 0, true, "T02thread:1;"},
		{"DetachKeeps", Quirks{DetachKeeps: true}, "D", 1, true, "T0.thread:1;"},
		{"kill", Quirks{}, "k", 1, false, "W00"},
		{"KillResumes", Quirks{KillResumes: true}, "k", 1, true, "T0.thread:1;"},
		{"UnknownZDrops", Quirks{UnknownZDrops: true}, "Z5,0,0", 1, false, "T05thread:1;"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New(Config{Quirks: test.quirks})
			c := converse(t, s)
			c.say(fmt.Sprintf("Z0,%x,2", s.Symbol("end")))
			c.link.Send([]byte(test.packet))
			if _, err := io.ReadAll(c.conn); err != nil {
				t.Error("the connection did not end:", err)
			}
			if got := s.Inserted(); len(got) != test.left {
				t.Error("left over:", got)
			}
			if s.Running() != test.running {
				t.Error("running:", s.Running())
			}
			if got := converse(t, s).say("?"); !regexp.MustCompile("^" + test.query + "$").MatchString(got) {
				t.Errorf("the next client finds %s, want %s", got, test.query)
			}
		})
	}
}
