//go:build linux && amd64

package local

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kernel "tracewell/internal/sys"
	"tracewell/internal/test/recording"
	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/record/plan"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// outcome is what a run left.
type outcome struct {
	record.Result
	Config Config
	output string
	file   *tfile.File
	events []record.Event
}

// config is for a program whose output goes to a file of its own.
func config(t testing.TB, script string, command ...string) Config {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	return Config{
		Config:  record.Config{Plan: recording.Plan(t, script), Output: filepath.Join(t.TempDir(), "run.tf")},
		Program: target.Program{Path: command[0], Args: command[1:]},
		Streams: target.Streams{In: null, Out: out, Err: out},
	}
}

// run runs it to its end.
func run(t testing.TB, c Config) outcome {
	t.Helper()
	return runUntil(t, c, context.Background())
}

func runUntil(t testing.TB, c Config, ctx context.Context) (o outcome) {
	t.Helper()
	o.Config = c
	events := c.Events
	c.Events = func(e record.Event) {
		o.events = append(o.events, e)
		if events != nil {
			events(e)
		}
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if o.Result, err = s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if c.Streams.Out != nil {
		b, err := os.ReadFile(c.Streams.Out.Name())
		if err != nil {
			t.Fatal(err)
		}
		o.output = string(b)
	}
	o.file = recording.File(t, c.Output)
	return o
}

// countOf returns how many frames a tracepoint has.
func (o *outcome) countOf(n trace.Number) int { return recording.Count(o.file, n) }

// TestLaunch counts calls that the program counts, too, in every way to link it.
func TestLaunch(t *testing.T) {
	for _, v := range testprog.Linkages {
		t.Run(v.String(), func(t *testing.T) {
			p := testprog.Build(t, "queue", v)
			o := run(t, config(t, "trace push\ntrace pop\ntrace nowhere\n", p.Path, "10"))
			pushes := strings.Count(o.output, "push number=")
			if o.End != record.ProgramEnded || !o.ProgramEnded || o.Code != 0 || pushes == 0 {
				t.Fatalf("%+v, %d pushes", o.Result, pushes)
			}
			if n := o.countOf(1); n != pushes {
				t.Errorf("%d frames of %d pushes", n, pushes)
			}
			if n := o.Feed.Points[0]; n.Hits != uint64(pushes) || n.Frames != uint64(pushes) || n.Pending {
				t.Errorf("feed %+v", n)
			}
			if !o.Feed.Points[2].Pending {
				t.Errorf("a location that is nowhere is not pending")
			}
			if st := o.file.Header().Status; st.Frames != int64(o.file.NumFrames()) || st.Reason != trace.ReasonStop {
				t.Errorf("status %+v", st)
			}
			if !bytes.Contains([]byte(o.file.Header().Description), []byte(p.Path)) {
				t.Error("the file does not say where the program was")
			}
		})
	}
}

// TestLibraryLoadedLater traces what is loaded by dlopen, each time anew, from the first instruction on.
func TestLibraryLoadedLater(t *testing.T) {
	p := testprog.Build(t, "plugins", testprog.Variant{})
	library := testprog.Build(t, "pluginlib", testprog.Variant{Library: true})
	const rounds = 5
	for _, buffer := range []int64{0, 1 << 20} {
		c := config(t, "trace plugin_work\ntrace plugin_ready\n", p.Path, library.Path, "5")
		c.Buffer = buffer
		o := run(t, c)
		if o.Code != 0 || !strings.Contains(o.output, "calls=15 sum=210") {
			t.Fatalf("%+v, %q", o.Result, o.output)
		}
		if work, ready := o.countOf(1), o.countOf(2); work != 3*rounds || ready != rounds {
			t.Errorf("%d frames of plugin_work and %d of plugin_ready, want %d and %d", work, ready, 3*rounds, rounds)
		}
		if n := len(o.file.Header().Tracepoints); n < 2 {
			t.Errorf("the file has %d definitions", n)
		}
	}
}

// TestFollow counts the calls of a program and of its children.
func TestFollow(t *testing.T) {
	p := testprog.Build(t, "forks", testprog.Variant{})
	for _, follow := range []bool{false, true} {
		c := config(t, "trace step\n", p.Path, "3", "10")
		c.Follow = follow
		o := run(t, c)
		want := 20
		if follow {
			want = 50
		}
		if n := o.countOf(1); n != want || o.Code != 0 {
			t.Errorf("follow %v: %d frames, want %d; %+v", follow, n, want, o.Result)
		}
		if want := "done calls=20 before=285 after=285"; !strings.Contains(o.output, want) || strings.Contains(o.output, "signal=5") {
			t.Errorf("the program printed\n%swant %q", o.output, want)
		}
	}
}

// TestExec goes on in the program that a process executes.
func TestExec(t *testing.T) {
	p := testprog.Build(t, "execs", testprog.Variant{})
	for _, how := range []string{"leader", "thread", "again"} {
		o := run(t, config(t, "trace step\n", p.Path, "10", how))
		least := 20
		if how == "again" {
			least = 10
		}
		if n := o.countOf(1); n < least || o.Code != 0 || !strings.Contains(o.output, "wrong=0") {
			t.Errorf("%s: %d frames, want at least %d; %+v, %q", how, n, least, o.Result, o.output)
		}
	}
}

// TestEnds ends runs in each way, and expects the program to go on as if nothing had been.
func TestEnds(t *testing.T) {
	p := testprog.Build(t, "manythreads", testprog.Variant{})
	const calls = 50 * 100
	for _, test := range []struct {
		name   string
		script string
		set    func(c *Config)
		end    record.End
		frames int
	}{
		{"program", "trace step\n", func(*Config) {}, record.ProgramEnded, calls},
		{"frames", "trace step\n", func(c *Config) { c.MaxFrames = 1234 }, record.EnoughFrames, 1234},
		{"pass count", "trace step\npasscount 77\n", func(*Config) {}, record.PassCount, 77},
		{"full buffer", "trace step\n", func(c *Config) { c.Buffer = 600 }, record.BufferFull, 4},
		{"circular buffer", "trace step\n", func(c *Config) { c.Buffer, c.Circular = 600, true }, record.ProgramEnded, 4},
		{"buffer", "trace step\n", func(c *Config) { c.Buffer = 1 << 20 }, record.ProgramEnded, calls},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := config(t, test.script, p.Path, "50", "100", "50")
			test.set(&c)
			shown, disorder := int64(0), 0
			c.Frames = func(f record.Frame) {
				if f.Index != shown || f.Tracepoint() != 1 {
					disorder++
				}
				shown++
			}
			o := run(t, c)
			if o.End != test.end || o.file.NumFrames() != test.frames || !o.ProgramEnded || o.Code != 0 {
				t.Errorf("%+v with %d frames, want end %d and %d frames", o.Result, o.file.NumFrames(), test.end, test.frames)
			}
			if disorder != 0 || shown < int64(test.frames) {
				t.Errorf("%d frames were shown, %d out of order", shown, disorder)
			}
			if !strings.Contains(o.output, "done threads=50 calls=5000") {
				t.Errorf("the program printed %q", o.output)
			}
		})
	}
}

// TestEnoughAtTheEnd ends runs with the last hit of a program, which may have ended before the session has seen that.
func TestEnoughAtTheEnd(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	for range 10 {
		c := config(t, "trace pop\n", p.Path, "1")
		c.MaxFrames = 1
		if o := run(t, c); o.End != record.EnoughFrames || o.file.NumFrames() != 1 || !o.ProgramEnded {
			t.Fatalf("%+v with %d frames", o.Result, o.file.NumFrames())
		}
	}
}

// TestSmallFrames takes no more room than the registers that are asked for.
func TestSmallFrames(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{NoPIE: true})
	for _, test := range []struct {
		actions string
		most    int // bytes of a frame
		block   int // of registers
	}{
		{"collect pushes", 6 + 11 + 8, 0},
		{"collect $rdi, $rbp, pushes", 200, 17 * 8},
		{"collect $args", 200, 17 * 8},
		{"collect $xmm1", 700, 17 * 8},
	} {
		o := run(t, config(t, "trace push\nactions\n"+test.actions+"\nend\n", p.Path, "10"))
		f, err := o.file.ReadFrame(0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(f.Bytes()); n > test.most {
			t.Errorf("%s: frames of %d bytes, want at most %d", test.actions, n, test.most)
		}
		if n := len(f.Registers()); n < test.block || test.block == 0 && n > 0 {
			t.Errorf("%s: %d bytes of registers, want at least %d", test.actions, n, test.block)
		}
	}
}

// TestFaultyPlans are refused before the program has printed a word.
func TestFaultyPlans(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	for script, want := range map[string]string{
		"trace push\nactions\ncollect nothing_like_it\nend\n":           "^",
		"trace push if item->nombre > 3\n":                              "nombre",
		"trace push\nactions\ncollect *item, q->\nend\n":                "^",
		"trace push\nactions\nteval $missing = 3 +\nend\n":              "^",
		"trace push\nactions\ncollect/s item->label, zzz[3]\nend\n":     "zzz",
		"trace pop\nactions\nwhile-stepping 3\ncollect zzz\nend\nend\n": "zzz",
	} {
		var plain plan.Plan
		if plain.AddScript("test", script) != nil {
			continue // the plan itself has noticed
		}
		c := config(t, script, p.Path, "10")
		s, err := Open(c)
		if err == nil {
			s.Close()
			t.Errorf("%q is taken", script)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "^") {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
		if printed, _ := os.ReadFile(c.Streams.Out.Name()); len(printed) > 0 {
			t.Errorf("%q: the program has printed %q", script, printed)
		}
		if _, err := os.Stat(c.Output); err == nil {
			t.Errorf("%q: there is a trace file", script)
		}
	}
}

// TestFailingExpressions are counted, and the run goes on.
func TestFailingExpressions(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	o := run(t, config(t, "trace push\nactions\ncollect q->head->next->number\nend\ntrace push if q->head->next->number > 0\n", p.Path, "10"))
	first, second := o.Feed.Points[0], o.Feed.Points[1]
	if first.Errors == 0 || first.Frames != 10 || first.LastError == "" || second.Errors == 0 || o.End != record.ProgramEnded {
		t.Errorf("%+v", o.Result)
	}
}

// TestKilledProgram looks at the file while the run is on, which has all frames that were shown, and after the program was killed.
func TestKilledProgram(t *testing.T) {
	p := testprog.Build(t, "busy", testprog.Variant{})
	c := config(t, "trace tick\n", p.Path, "5")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	c.Streams.In = read
	killed, started := false, make(chan int, 1)
	c.Events = func(e record.Event) {
		if e.Kind == record.Started {
			started <- e.PID
		}
	}
	c.Frames = func(f record.Frame) {
		if f.Index < 200 || killed {
			return
		}
		if b, err := os.ReadFile(c.Output); err != nil {
			t.Error(err)
		} else if file, err := tfile.OpenBytes(b); err != nil || int64(file.NumFrames()) <= f.Index {
			t.Errorf("frame %d was shown, and the file has %d: %v", f.Index, file.NumFrames(), err)
		}
		killed = true
		kernel.Kill(<-started, kernel.SIGKILL)
	}
	o := run(t, c)
	if !o.ProgramEnded || o.Signal != kernel.SIGKILL || int64(o.file.NumFrames()) != o.Feed.Frames || o.Feed.Frames <= 200 {
		t.Errorf("%+v with %d frames", o.Result, o.file.NumFrames())
	}
}

// TestThreadLocals collects a variable of which each thread has its own, of the program and of a library that it starts with.
func TestThreadLocals(t *testing.T) {
	p := testprog.Build(t, "locals", testprog.Variant{})
	library := testprog.Build(t, "lazylocal", testprog.Variant{Library: true})
	c := config(t, "trace value_here\nactions\ncollect lazy\nend\ntrace use_libraries\nactions\ncollect counter\nend\n", p.Path, library.Path)
	c.Program.Env = append(os.Environ(), "LD_PRELOAD="+library.Path)
	o := run(t, c)
	printed := testprog.Records(o.output)
	for n, kind := range map[trace.Number]string{1: "loaded", 2: "local"} {
		at := make(map[string]bool)
		for _, r := range testprog.OfKind(printed, kind) {
			at[r.Fields["at"]] = true
		}
		frames := 0
		for i := range o.file.NumFrames() {
			f, err := o.file.ReadFrame(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			if f.Tracepoint() != n {
				continue
			}
			for b := range f.Blocks() {
				if b.Kind != tfile.BlockMemory {
					continue
				}
				if frames++; !at[b.Addr.String()] {
					t.Errorf("tracepoint %d has collected from %s, want one of %v", n, b.Addr, at)
				}
			}
		}
		if frames < 2 {
			t.Errorf("tracepoint %d has %d frames; the program printed\n%s", n, frames, o.output)
		}
	}
}
