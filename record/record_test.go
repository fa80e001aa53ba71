//go:build amd64

package record

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/testprog"
	"tracewell/record/plan"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tfile"
	"tracewell/trace"
)

// items makes a plan of the items of a command line: "--at push --collect $args".
func items(t testing.TB, script string) *plan.Plan {
	t.Helper()
	var p plan.Plan
	if err := p.AddScript("test", script); err != nil {
		t.Fatal(err)
	}
	return &p
}

// outcome is what a run left.
type outcome struct {
	Result
	Config Config
	output string
	file   *tfile.File
	events []Event
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
		Plan:    items(t, script),
		Program: target.Program{Path: command[0], Args: command[1:]},
		Streams: linux.Streams{In: null, Out: out, Err: out},
		Output:  filepath.Join(t.TempDir(), "run.tf"),
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
	c.Events = func(e Event) { o.events = append(o.events, e) }
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
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
	o.file = open(t, c.Output)
	return o
}

// open opens a trace file that must be flawless.
func open(t testing.TB, path string) *tfile.File {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// countOf returns how many frames a tracepoint has.
func (o *outcome) countOf(n trace.Number) (frames int) {
	for i := range o.file.NumFrames() {
		if o.file.Tracepoint(i) == n {
			frames++
		}
	}
	return frames
}

// TestLaunch counts calls that the program counts, too, in every way to link it.
func TestLaunch(t *testing.T) {
	for _, v := range testprog.Linkages {
		t.Run(v.String(), func(t *testing.T) {
			p := testprog.Build(t, "queue", v)
			o := run(t, config(t, "trace push\ntrace pop\ntrace nowhere\n", p.Path, "10"))
			pushes := strings.Count(o.output, "push number=")
			if o.End != ProgramEnded || !o.ProgramEnded || o.Code != 0 || pushes == 0 {
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
		end    End
		frames int
	}{
		{"program", "trace step\n", func(*Config) {}, ProgramEnded, calls},
		{"frames", "trace step\n", func(c *Config) { c.MaxFrames = 1234 }, EnoughFrames, 1234},
		{"pass count", "trace step\npasscount 77\n", func(*Config) {}, PassCount, 77},
		{"full buffer", "trace step\n", func(c *Config) { c.Buffer = 600 }, BufferFull, 4},
		{"circular buffer", "trace step\n", func(c *Config) { c.Buffer, c.Circular = 600, true }, ProgramEnded, 4},
		{"buffer", "trace step\n", func(c *Config) { c.Buffer = 1 << 20 }, ProgramEnded, calls},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := config(t, test.script, p.Path, "50", "100", "50")
			test.set(&c)
			shown, disorder := int64(0), 0
			c.Frames = func(f Frame) {
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
