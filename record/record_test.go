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
