package proxy

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/test/fakestub"
	"tracewell/rsp/client"
	"tracewell/target/remote"
	"tracewell/trace"
)

// bench is a proxy in front of a fake stub.
type bench struct {
	*testing.T
	stub *fakestub.Stub
	p    *proxy
	err  *os.File // what the proxy prints
}

// patient is how long a stub may take that is not silent for good.
const patient = 5 * time.Second

// start connects a proxy to a stub with these habits. It listens nowhere: tests bring it their clients.
func start(t *testing.T, q fakestub.Quirks, patience time.Duration) *bench {
	t.Helper()
	b := &bench{T: t, stub: fakestub.New(fakestub.Config{Quirks: q, InRAM: true})}
	t.Cleanup(b.stub.Close)
	to := b.stub.Listen(t)
	var err error
	if b.err, err = os.Create(filepath.Join(t.TempDir(), "stderr")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.err.Close() })
	b.p = &proxy{command: &Command{To: to, Patience: patience}, streams: console.Streams{Out: b.err, Err: b.err}}
	if b.p.address, err = remote.ParseAddress(to); err != nil {
		t.Fatal(err)
	}
	b.must(b.p.prepare())
	b.must(b.p.connect())
	return b
}

// must ends the test at an error, with what the proxy has printed.
func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%v\n%s", err, b.printed())
	}
}

// printed is what the proxy has printed.
func (b *bench) printed() string {
	text, err := os.ReadFile(b.err.Name())
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// session is one client after another: it gets what there is to be served, and the session has ended when it returns.
func (b *bench) session(play func(c *client.Client, say func(packet string) string)) {
	b.Helper()
	ours, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- b.p.attend(theirs, false) }()
	c := client.New(ours)
	c.Patience = 15 * time.Second
	play(c, func(packet string) string {
		text, err := c.Exchange([]byte(packet))
		b.must(err)
		return text
	})
	ours.Close()
	select {
	case <-done:
	case <-time.After(15 * time.Second):
		b.Fatal("the session does not end")
	}
}

// inRunSurviving has a client start a trace run that goes on without it.
func (b *bench) inRunSurviving(c *client.Client, say func(packet string) string) {
	b.Helper()
	say("QTinit")
	say("QTDisconnected:1")
	b.begin(c, say)
}

// inRun has a client start a trace run, and lets the stub be lost while that is on.
func (b *bench) inRun(c *client.Client, say func(packet string) string, lose func()) {
	b.Helper()
	say("QTinit")
	b.begin(c, say)
	for passes := b.stub.Passes(0); b.stub.Passes(0) < passes+20; {
		time.Sleep(time.Millisecond)
	}
	lose()
	stop, err := c.AwaitStop(time.Now().Add(15 * time.Second))
	if err != nil || stop.Kind != 'X' {
		b.Errorf("the run ends with %+v, %v", stop, err)
	}
}

// begin begins a run, and has the program go on.
func (b *bench) begin(c *client.Client, say func(packet string) string) {
	b.Helper()
	// Frames with all registers, of each pass of the program's loop.
	b.must(c.Define(&trace.Tracepoint{
		Number: 1, Addr: arch.Addr(b.stub.Symbol("stored")), Enabled: true,
		Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}},
	}, func(string) bool { return true }))
	if got := say("QTStart"); got != "OK" {
		b.Fatalf("QTStart: %s\n%s", got, b.printed())
	}
	b.must(c.Send([]byte("c")))
}

// TestReturn has the stub leave in the middle of a trace run and come back: the frames are there meanwhile, again and again, and the
// breakpoints are removed before the next client sees the program.
func TestReturn(t *testing.T) {
	for name, q := range map[string]fakestub.Quirks{
		"plain":   fakestub.Plain,
		"shown":   {InMemory: true, Shown: true},
		"written": {Software: fakestub.Unknown, Hardware: fakestub.None},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, q, patient)
			b.session(func(c *client.Client, say func(string) string) { b.inRun(c, say, b.stub.Leave) })
			for range 2 { // the second finds that the stub is not back
				b.session(func(_ *client.Client, say func(string) string) {
					if status := say("qTStatus"); !strings.Contains(status, ";terror:") || !strings.Contains(status, "tframes:") {
						t.Errorf("the run is %s", status)
					}
					if got := say("QTFrame:3"); got != "F3T1" {
						t.Errorf("frame 3: %s", got)
					}
					say("D")
				})
			}
			if text := b.printed(); !strings.Contains(text, "trace frames are kept") || !strings.Contains(text, "cannot connect") {
				t.Errorf("printed\n%s", text)
			}
			// The program is as the stub had left it, and stops for the next client without the breakpoints.
			b.stub.Return(t)
			b.session(func(_ *client.Client, say func(string) string) {
				if got := say("?"); !strings.HasPrefix(got, "T05") {
					t.Errorf("the program stands with %s", got)
				}
				if left := b.stub.Inserted(); len(left) > 0 {
					t.Errorf("left: %q\n%s", left, b.printed())
				}
				if got := say("D"); got != "OK" {
					t.Errorf("D: %s", got)
				}
			})
			b.p.close()
			if text := b.printed(); strings.Contains(text, "left in the program") {
				t.Errorf("printed\n%s", text)
			}
		})
	}
}

// TestFaults loses the stub in several ways while a run is on. It serves one client at a time, as most do: the connection that is of no
// use any more has to end before another can begin.
func TestFaults(t *testing.T) {
	for name, kind := range map[string]fakestub.Kind{
		"silence": fakestub.Silence, "half": fakestub.Half, "reset": fakestub.Reset, "reset after": fakestub.ResetAfter,
		"console": fakestub.ConsoleOnly,
	} {
		for _, packet := range []string{"g", "vCont"} {
			t.Run(name+" "+packet, func(t *testing.T) {
				t.Parallel()
				b := start(t, fakestub.Plain, time.Second)
				b.session(func(c *client.Client, say func(string) string) {
					b.inRun(c, say, func() {
						b.stub.Inject(fakestub.Fault{Kind: kind, Packet: packet, At: 1})
						if packet == "vCont" { // a program that does not stop is not missed before somebody wants it to
							time.Sleep(100 * time.Millisecond)
							b.must(c.Interrupt())
						}
					})
				})
				b.session(func(_ *client.Client, say func(string) string) {
					if status := say("qTStatus"); !strings.Contains(status, ";terror:") {
						t.Errorf("the run is %s", status)
					}
					say("D")
				})
				b.session(func(_ *client.Client, say func(string) string) {
					if got := say("?"); !strings.HasPrefix(got, "T05") || len(b.stub.Inserted()) > 0 {
						t.Errorf("%s, %q\n%s", got, b.stub.Inserted(), b.printed())
					}
				})
				b.p.close()
			})
		}
	}
}

// TestNamed has the stub go for good: what may be in the program is named as the command ends.
func TestNamed(t *testing.T) {
	b := start(t, fakestub.Plain, patient)
	b.session(func(c *client.Client, say func(string) string) { b.inRun(c, say, b.stub.Leave) })
	b.p.close()
	if text := b.printed(); len(b.stub.Inserted()) > 0 && !strings.Contains(text, "left in the program: a software breakpoint at 0x") {
		t.Errorf("printed\n%s", text)
	}
}

// TestRefused has the stub keep a breakpoint of a client that detaches, and then give it up.
func TestRefused(t *testing.T) {
	b := start(t, fakestub.Quirks{DetachKeeps: true}, patient)
	b.session(func(_ *client.Client, say func(string) string) {
		say("?")
		say("Z0," + trimmed(b.stub.Symbol("body")) + ",2")
		b.stub.Inject(fakestub.Fault{Kind: fakestub.Bogus, Packet: "z0", At: 1})
		say("D")
	})
	b.session(func(_ *client.Client, say func(string) string) {
		say("?")
		if left := b.stub.Inserted(); len(left) > 0 {
			t.Errorf("left: %q\n%s", left, b.printed())
		}
	})
	b.p.close()
}

// TestRequests has the client do what the program wants of it, with Ctrl-C in the middle, and leave it with another request: a run
// that survives its client goes on, without files.
func TestRequests(t *testing.T) {
	q := fakestub.Plain
	q.FilesEach = 1
	b := start(t, q, patient)
	b.session(func(c *client.Client, say func(string) string) {
		say("?")
		request := func() {
			t.Helper()
			stop, err := c.AwaitStop(time.Now().Add(patient))
			if err != nil || stop.Kind != client.Requesting {
				t.Fatalf("%+v, %v", stop, err)
			}
			at := strings.Split(stop.Detail, ",")
			if got := say("m" + at[2] + "," + at[3]); got != hex.EncodeToString([]byte(fakestub.FileText)) {
				t.Errorf("the text is %s", got)
			}
			if got := say("c"); !strings.HasPrefix(got, "E") {
				t.Errorf("c in place of an answer: %s", got)
			}
		}
		if got := say("F0"); !strings.HasPrefix(got, "E") {
			t.Errorf("an answer without a request: %s", got)
		}
		b.must(c.Send([]byte("s")))
		request()
		if got := say("F17"); !strings.HasPrefix(got, "T05") {
			t.Errorf("the step ends with %s", got)
		}
		b.must(c.Send([]byte("c")))
		request()
		if got := say("F-1,4,C"); !strings.HasPrefix(got, "T02") {
			t.Errorf("the interrupted request ends with %s", got)
		}
		b.inRunSurviving(c, say)
		request()
	})
	for passes := b.stub.Passes(0); b.stub.Passes(0) < passes+20; {
		time.Sleep(time.Millisecond)
	}
	answers := b.stub.Answers()
	if rest := answers[2:]; answers[0] != "F17" || answers[1] != "F-1,4,C" || slices.ContainsFunc(rest, func(a string) bool { return a != "F-1,58" }) {
		t.Errorf("answers %q", answers)
	}
	b.session(func(_ *client.Client, say func(string) string) {
		if got := say("?"); !strings.HasPrefix(got, "T0") {
			t.Errorf("the program stands with %s", got)
		}
		if status := say("qTStatus"); !strings.HasPrefix(status, "T1;") {
			t.Errorf("the run is %s", status)
		}
		say("D")
	})
	b.p.close()
}

// TestProbe has --probe print what --profile takes, at stubs of all kinds: what is read back is the same profile, and a proxy works with it.
func TestProbe(t *testing.T) {
	system := fakestub.QEMUSystem
	system.Replies = map[string]string{"qqemu.PhyMemMode": "0", "qSupported": "PacketSize=1000;qXfer:features:read+;vContSupported+;multiprocess+"}
	description := filepath.Join(t.TempDir(), "target.xml")
	for name, q := range map[string]fakestub.Quirks{
		"qemu-system": system, "unknown": fakestub.Plain, "unknown renode": fakestub.Renode, "unknown kgdb": fakestub.KGDB,
		"unknown black magic": fakestub.BlackMagic,
		"vgdb": {
			PacketSize: 0x3fff, RunLength: true, NoVCont: true, SelectFails: true,
			Replies: map[string]string{"qSupported": "PacketSize=3fff;QStartNoAckMode+;QPassSignals+;QCatchSyscalls+;qXfer:features:read+"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakestub.New(fakestub.Config{Quirks: q, InRAM: true})
			to := s.Listen(t)
			dir := t.TempDir()
			run := func(profile string) (printed, beside []byte) {
				t.Helper()
				out, errs := filepath.Join(dir, "out"), filepath.Join(dir, "err")
				c := Command{To: to, Listen: ":0", Patience: patient, Probe: true, StubOptions: input.StubOptions{Profile: profile}}
				if q.NoFeatures || q.NoSupported {
					if err := os.WriteFile(description, s.Description(), 0o600); err != nil {
						t.Fatal(err)
					}
					c.Tdesc = description
				}
				var streams console.Streams
				for path, f := range map[string]**os.File{out: &streams.Out, errs: &streams.Err} {
					var err error
					if *f, err = os.Create(path); err != nil {
						t.Fatal(err)
					}
					defer (*f).Close()
				}
				if err := c.Run(streams); err != nil {
					t.Fatal(err)
				}
				printed, _ = os.ReadFile(out)
				beside, _ = os.ReadFile(errs)
				return printed, beside
			}
			printed, beside := run("")
			kind, _, _ := strings.Cut(name, " ")
			p, err := remote.ParseProfile(printed)
			if err != nil || p.Name != kind {
				t.Fatalf("%v:\n%s", err, printed)
			}
			for _, line := range []string{"processor    RISC-V", "registers    264 bytes", "threads      1", "a packet     "} {
				if !strings.Contains(string(beside), line) {
					t.Errorf("no %q in\n%s", line, beside)
				}
			}
			file := filepath.Join(dir, "profile.json")
			own := strings.Replace(string(printed), kind, "my own", 1)
			if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
				t.Fatal(err)
			}
			if again, _ := run(file); string(again) != own {
				t.Errorf("with the profile\n%sit is\n%s", own, again)
			}
		})
	}
}

// TestClientLost kills a client in the middle of a run that does not survive it: the run ends with that reason, its breakpoints are
// removed, and the program stands still where it was for the next client, who finds the frames and has it go on.
func TestClientLost(t *testing.T) {
	for name, q := range map[string]fakestub.Quirks{
		"plain": fakestub.Plain, "shown": {InMemory: true, Shown: true}, "written": {Software: fakestub.Unknown, Hardware: fakestub.None},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, q, patient)
			b.session(func(c *client.Client, say func(string) string) {
				say("?")
				say("QTinit")
				b.begin(c, say)
				for b.stub.Passes(0) < 20 {
					time.Sleep(time.Millisecond)
				}
			})
			passes := b.stub.Passes(0)
			if b.stub.Running() || len(b.stub.Inserted()) > 0 {
				t.Errorf("the program runs: %v; left in it: %q", b.stub.Running(), b.stub.Inserted())
			}
			b.session(func(c *client.Client, say func(string) string) {
				if got := say("?"); !strings.HasPrefix(got, "T0") || b.stub.Passes(0) != passes {
					t.Errorf("the program stands with %s, after %d passes, before %d", got, b.stub.Passes(0), passes)
				}
				if status := say("qTStatus"); !strings.HasPrefix(status, "T0;tdisconnected:") {
					t.Errorf("the run is %s", status)
				}
				if got := say("QTFrame:5"); got != "F5T1" {
					t.Errorf("frame: %s", got)
				}
				say("QTFrame:ffffffff")
				if got := say("D"); got != "OK" {
					t.Errorf("D: %s", got)
				}
			})
			for b.stub.Passes(0) < passes+20 { // it has been let go
				time.Sleep(time.Millisecond)
			}
			b.p.close()
		})
	}
}

// TestCost has the proxy say what hits have cost.
func TestCost(t *testing.T) {
	b := start(t, fakestub.Plain, patient)
	b.session(func(c *client.Client, say func(string) string) {
		said := ""
		c.Console = func(text []byte) { said += string(text) }
		say("?")
		say("QTinit")
		b.begin(c, say)
		if !strings.Contains(said, "Each hit of 1 location stops the program, for more than ") {
			t.Errorf("tstart says %q", said)
		}
		for b.stub.Passes(0) < 20 {
			time.Sleep(time.Millisecond)
		}
		b.must(c.Interrupt())
		if _, err := c.AwaitStop(time.Now().Add(patient)); err != nil {
			t.Fatal(err)
		}
		said = ""
		say("qRcmd," + hex.EncodeToString([]byte("tracewell tracepoints")))
		var hits int
		var mean string
		line := said[strings.Index(said, "\n")+1:]
		if _, err := fmt.Sscanf(line, "%d hits stopped the program, for %s each on average.\n", &hits, &mean); err != nil || hits < 20 {
			t.Errorf("%v: %q", err, said)
		}
		say("D")
	})
	b.p.close()
}

// trimmed is an address as packets have it.
func trimmed(at uint64) string { return strings.TrimPrefix(arch.Addr(at).String(), "0x") }

// TestCommandLine has what users get wrong: it is told before anything is connected to.
func TestCommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("no ELF file, and no profile either"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Command{
		"--patience: 0s":         {To: ":1"},
		"--patience: -1s":        {To: ":1", Patience: -time.Second},
		"--to: \"\" is no place": {Patience: patient},
		"is no place to listen":  {To: ":1", Listen: "nonsense:x", Patience: patient},
		"is no ELF file":         {To: ":1", Patience: patient, Exec: file},
		"this is no profile":     {To: ":1", Patience: patient, StubOptions: input.StubOptions{Profile: file}},
		"is none of unknown":     {To: ":1", Patience: patient, StubOptions: input.StubOptions{Profile: "nobody's"}},
		"is no serial device":    {To: file, Patience: patient},
	} {
		if c.Listen == "" {
			c.Listen = ":0"
		}
		if err := c.Run(console.Streams{Out: os.Stderr, Err: os.Stderr}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
