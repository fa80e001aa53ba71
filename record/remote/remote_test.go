//go:build linux && amd64

package remote

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/record"
	"tracewell/record/plan"
	"tracewell/tfile"
	"tracewell/trace"
)

// script makes a plan of a script.
func script(t testing.TB, text string) *plan.Plan {
	t.Helper()
	var p plan.Plan
	if err := p.AddScript("test", text); err != nil {
		t.Fatal(err)
	}
	return &p
}

// servers are those that the tests drive: this tree's, and gdbserver.
func servers(t *testing.T, test func(t *testing.T, server []string)) {
	t.Helper()
	t.Run("tracewell", func(t *testing.T) { test(t, nil) })
	t.Run("gdbserver", func(t *testing.T) {
		test(t, []string{testtool.Path(t, "gdbserver")})
	})
}

// config is for a program of a server that is started for it.
func config(t *testing.T, server []string, plan string, command ...string) (Config, *gdbtest.Server) {
	t.Helper()
	s := gdbtest.Start(t, gdbtest.Config{Server: server, Comm: "localhost:0", Command: command})
	t.Cleanup(func() {
		if program, err := os.FindProcess(s.InferiorPID(t)); err == nil {
			_ = program.Kill() // it may have been let go, and the server may wait for its end; most have ended
		}
	})
	return Config{
		Config:  record.Config{Plan: script(t, plan), Output: filepath.Join(t.TempDir(), "run.tf")},
		Address: s.Address,
	}, s
}

// attempts is how often a server may die. gdbserver 13.1 does now and then, when it reads the registers of a new process, and
// when a client leaves it in the middle of a hit.
const attempts = 6

// run runs what is made to its end.
func run(t *testing.T, fresh func() Config) (result record.Result, file *tfile.File) {
	t.Helper()
	survive(t, func() error {
		c := fresh()
		var err error
		if result, err = try(c); err == nil {
			file = open(t, c.Output)
		}
		return err
	})
	return result, file
}

// survive has something done, again if its server dies.
func survive(t *testing.T, do func() error) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		err := do()
		switch {
		case err == nil:
			return
		case !isGone(err) || attempt == attempts:
			t.Fatal(err)
		}
		t.Logf("THE SERVER HAS DIED, attempt %d of %d: %v", attempt, attempts, err)
	}
}

func try(c Config) (record.Result, error) {
	s, err := Open(c)
	if err != nil {
		return record.Result{}, err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return s.Run(ctx)
}

// open opens a trace file that must be flawless.
func open(t *testing.T, path string) *tfile.File {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	if findings := f.Findings(); len(findings) > 0 {
		t.Errorf("%s: %v", path, findings)
	}
	return f
}

// countOf returns how many frames a tracepoint has.
func countOf(f *tfile.File, n trace.Number) (frames int) {
	for i := range f.NumFrames() {
		if f.Tracepoint(i) == n {
			frames++
		}
	}
	return frames
}

// TestRun traces a program of a server from its beginning to its end.
func TestRun(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	servers(t, func(t *testing.T, server []string) {
		var shown int64
		result, file := run(t, func() Config {
			c, _ := config(t, server, "trace push\nactions\ncollect $args\nend\n", p.Path, "10")
			shown = 0
			c.Frames = func(f record.Frame) {
				if f.Index != shown {
					t.Errorf("frame %d comes as number %d", f.Index, shown)
				}
				shown++
			}
			return c
		})
		if result.End != record.ProgramEnded || !result.ProgramEnded || result.Code != 0 || result.Signal != 0 {
			t.Errorf("%+v", result)
		}
		if n := countOf(file, 1); n != 10 || shown != 10 || result.Feed.Frames != 10 || result.Feed.Points[0].Frames != 10 {
			t.Errorf("%d frames, %d shown, feed %+v", n, shown, result.Feed)
		}
	})
}
