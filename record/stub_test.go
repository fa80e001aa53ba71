//go:build linux && amd64

package record_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/recording"
	"tracewell/internal/test/stubs"
	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/tfile"
	"tracewell/trace"
)

// TestStubWithTracepoints records a program by a stub's own tracepoints, from its beginning to its end.
func TestStubWithTracepoints(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	stubs.Each(t, func(t *testing.T, server []string) {
		var shown int64
		result, file := stubs.Record(t, "trace push\nactions\ncollect $args\nend\n", func(c *record.Config) string {
			shown = 0
			c.Frames = func(f record.Frame) {
				if f.Index != shown {
					t.Errorf("frame %d comes as number %d", f.Index, shown)
				}
				shown++
			}
			return stubs.Start(t, server, p.Path, "10").Address
		})
		if result.End != record.ProgramEnded || !result.ProgramEnded || result.Code != 0 || result.Signal != 0 {
			t.Errorf("%+v", result)
		}
		if n := recording.Count(file, 1); n != 10 || shown != 10 || result.Feed.Frames != 10 || result.Feed.Points[0].Frames != 10 {
			t.Errorf("%d frames, %d shown, feed %+v", n, shown, result.Feed)
		}
	})
}

// TestStubExplains: whatever a stub can collect by itself it does; what it cannot is a trap, and the frames of both are in order.
func TestStubExplains(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	const script = `
		tvariable $calls = 7
		trace push if ($calls = $calls + 1) > 7
		actions
		collect $calls
		end
		trace pop
		actions
		teval $calls = $calls + 100
		collect $calls, $tid
		end
	`
	stubs.Each(t, func(t *testing.T, server []string) {
		var s *record.Session
		c := record.Config{Plan: recording.Plan(t, script), Output: filepath.Join(t.TempDir(), "run.tf")}
		explained := make(map[string]string)
		c.Events = func(e record.Event) {
			if e.Kind == record.Attached {
				for _, e := range s.Explain() {
					explained[fmt.Sprint(e.Key.Number)] = e.String()
				}
			}
		}
		s, _, err := stubs.Open(stubs.Start(t, server, p.Path, "5").Address, "", c)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		finish(t, s)
		if !strings.Contains(explained["1"], "the stub's own") || !strings.Contains(explained["2"], "trap: ") {
			t.Errorf("explained %q", explained)
		}
		// Both add to the one variable, whoever executes them.
		want := int64(7)
		f := recording.File(t, c.Output)
		for i := range f.NumFrames() {
			if want++; f.Tracepoint(i) == 2 {
				want += 99
			}
			frame, err := f.ReadFrame(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			if value, found := valueOf(f, frame, "calls"); !found || value != want {
				t.Errorf("frame %d of tracepoint %d has $calls = %d, want %d", i, f.Tracepoint(i), value, want)
			}
		}
		if f.NumFrames() != 10 {
			t.Errorf("%d frames, want 10", f.NumFrames())
		}
	})
}

// valueOf is the value of a trace state variable in a frame.
func valueOf(f *tfile.File, frame tfile.Frame, name string) (value int64, found bool) {
	at := slices.IndexFunc(f.Header().Variables, func(v trace.Variable) bool { return v.Name == name })
	for b := range frame.Blocks() {
		if at >= 0 && b.Kind == tfile.BlockVariable && b.Number == int32(f.Header().Variables[at].Number) {
			value, found = b.Value, true
		}
	}
	return value, found
}

// TestStubEnds ends runs of a program that goes on: it does, and the stub has let it go.
func TestStubEnds(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	ends := map[string]struct {
		set    func(*record.Config)
		script string
		end    record.End
	}{
		"duration":   {func(c *record.Config) { c.Duration = 3 * time.Second }, "trace tick\n", record.TimeUp},
		"frames":     {func(c *record.Config) { c.MaxFrames = 3 }, "trace tick\n", record.EnoughFrames},
		"buffer":     {func(c *record.Config) { c.Buffer = 8 << 10 }, "trace tick\nactions\ncollect $regs\nend\n", record.BufferFull},
		"pass count": {func(*record.Config) {}, "trace tick\npasscount 4\n", record.PassCount},
	}
	stubs.Each(t, func(t *testing.T, server []string) {
		for name, end := range ends {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var s *gdbtest.Server
				result, file := stubs.Record(t, end.script, func(c *record.Config) string {
					end.set(c)
					s = stubs.Start(t, server, p.Path, "1000")
					return s.Address
				})
				if result.End != end.end || result.ProgramEnded || file.NumFrames() == 0 || file.Header().Status.Running {
					t.Errorf("%+v with %d frames, %+v", result, file.NumFrames(), file.Header().Status)
				}
				if name == "frames" && file.NumFrames() != 3 || name == "pass count" && file.NumFrames() != 4 {
					t.Errorf("%d frames", file.NumFrames())
				}
				if server != nil {
					return // gdbserver stays until the program that it has let go ends
				}
				if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.InferiorPID(t))); err != nil ||
					!bytes.Contains(state, []byte("TracerPid:\t0")) {
					t.Errorf("the program is not let go: %v", err)
				}
			})
		}
	})
}

// TestStubWhileRunning: frames come while the program runs, long before it ends.
func TestStubWhileRunning(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	stubs.Each(t, func(t *testing.T, server []string) {
		var s *gdbtest.Server
		seen := 0
		result, _ := stubs.Record(t, "trace tick\n", func(c *record.Config) string {
			s = stubs.Start(t, server, p.Path, "1000")
			seen = 0
			c.Frames = func(record.Frame) {
				if seen++; seen == 100 { // nothing else ends the program
					if err := sys.Kill(s.InferiorPID(t), sys.SIGTERM); err != nil {
						t.Error(err)
					}
				}
			}
			return s.Address
		})
		if result.End != record.ProgramEnded || result.Code != 0 || seen < 100 {
			t.Errorf("%+v, %d frames seen", result, seen)
		}
	})
}

// TestStubLoadedLater traces what is in a library that the program loads while it runs.
func TestStubLoadedLater(t *testing.T) {
	p := testprog.Build(t, "plugins", testprog.Variant{})
	library := testprog.Build(t, "pluginlib", testprog.Variant{Library: true})
	stubs.Each(t, func(t *testing.T, server []string) {
		armed := 0
		result, file := stubs.Record(t, "trace plugin_work\nactions\ncollect number\nend\n", func(c *record.Config) string {
			armed = 0
			c.Events = func(e record.Event) {
				if e.Kind == record.Armed {
					armed += len(e.Locations)
				}
			}
			return stubs.Start(t, server, p.Path, library.Path, "1").Address
		})
		if result.End != record.ProgramEnded || result.Code != 0 || armed != 1 || file.NumFrames() != 3 || result.Feed.Points[0].Pending {
			t.Errorf("%+v, %d armed, %d frames", result, armed, file.NumFrames())
		}
		if !strings.Contains(file.Header().Description, library.Path) {
			t.Error("the file does not say where the library was")
		}
	})
}

// TestStubKilled: a program that is killed by a signal ends the run, which says by which.
func TestStubKilled(t *testing.T) {
	p := testprog.Build(t, "dies", testprog.Variant{})
	stubs.Each(t, func(t *testing.T, server []string) {
		result, file := stubs.Record(t, "trace step\n", func(*record.Config) string {
			return stubs.Start(t, server, p.Path, "3", "segv").Address
		})
		if result.End != record.ProgramEnded || !result.ProgramEnded || result.Signal != sys.SIGSEGV || file.NumFrames() != 3 {
			t.Errorf("%+v, %d frames", result, file.NumFrames())
		}
	})
}

// TestOtherFile refuses a program that is not the one that the stub runs.
func TestOtherFile(t *testing.T) {
	p, other := testprog.Build(t, "queue", testprog.Variant{}), testprog.Build(t, "sleeper", testprog.Variant{})
	c := record.Config{Plan: recording.Plan(t, "trace push\n")}
	_, _, err := stubs.Open(stubs.Start(t, nil, p.Path, "12").Address, other.Path, c)
	if err == nil || !strings.Contains(err.Error(), "is not the program that runs there") {
		t.Error(err)
	}
}

// TestCopied reads the program's file from the stub's machine, where there is none of its name here, and another one.
func TestCopied(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	other := testprog.Build(t, "sleeper", testprog.Variant{}).Path
	moved := filepath.Join(t.TempDir(), "moved")
	content, err := os.ReadFile(p.Path)
	if err == nil {
		err = os.WriteFile(moved, content, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, called := range map[string]string{"none here": "/nowhere/moved", "another here": other} {
		t.Run(name, func(t *testing.T) {
			result, file := stubs.Record(t, "trace push\n", func(*record.Config) string {
				r := stubs.Ahead(t, stubs.Start(t, nil, moved, "12").Address, "QTBuffer:size")
				there := r.Answer
				r.Answer = func(packet string) string {
					if strings.HasPrefix(packet, "qXfer:exec-file") {
						return "l" + called
					}
					if rest, ok := strings.CutPrefix(packet, fmt.Sprintf("vFile:open:%x", called)); ok {
						packet = fmt.Sprintf("vFile:open:%x", moved) + rest
					}
					return there(packet)
				}
				return r.Listen(t)
			})
			if result.End != record.ProgramEnded || recording.Count(file, 1) != 12 {
				t.Errorf("%+v, %d frames", result, file.NumFrames())
			}
			if !strings.Contains(file.Header().Description, " "+called+" -->") {
				t.Error("the file has not the name by which the stub calls the program")
			}
		})
	}
}

// TestStubProbes: the program is told by its semaphores that the stub traces its probes, which it prints.
func TestStubProbes(t *testing.T) {
	p := testprog.Build(t, "probes", testprog.Variant{})
	library := testprog.Build(t, "probedlib", testprog.Variant{Library: true})
	stubs.Each(t, func(t *testing.T, server []string) {
		var s *gdbtest.Server
		_, file := stubs.Record(t, "trace -probe-stap demo:item\n", func(*record.Config) string {
			s = stubs.Start(t, server, p.Path, library.Path, "3")
			return s.Address
		})
		if n := strings.Count(s.Stdout(), " item=1 kinds=0 bare=0\n"); n != 3 || file.NumFrames() != 3 {
			t.Errorf("%d frames, want 3; the program prints\n%s", file.NumFrames(), s.Stdout())
		}
	})
}

// TestStubProbesLeft: a run that comes to nothing leaves the semaphores as they were.
func TestStubProbesLeft(t *testing.T) {
	p := testprog.Build(t, "probes", testprog.Variant{})
	library := testprog.Build(t, "probedlib", testprog.Variant{Library: true})
	server := stubs.Start(t, nil, p.Path, library.Path, "3")
	c := record.Config{Plan: recording.Plan(t, "trace -probe-stap demo:item\n"), Output: filepath.Join(t.TempDir(), "no", "run.tf")}
	s, _, err := stubs.Open(server.Address, "", c)
	if err != nil {
		t.Fatal(err)
	}
	// The file cannot be made, which is found when the stub has its tracepoint.
	if _, err := s.Run(t.Context()); err == nil {
		t.Error("there is a trace file")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(server.Stdout(), "done total"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the program has printed\n%s", server.Stdout())
		}
	}
	if n := strings.Count(server.Stdout(), " item=0 kinds=0 bare=0\n"); n != 3 {
		t.Errorf("the program prints\n%s", server.Stdout())
	}
}
