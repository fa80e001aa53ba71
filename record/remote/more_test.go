//go:build linux && amd64

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tfile"
	"tracewell/trace"
)

const rich = `
tvariable $hits = 100
trace push if item->number > 2
actions
teval $hits = $hits + 1
collect item->number, item->weight, q->length, pushes, $hits
collect/s item->label
end
trace work if factor > 1
actions
collect factor, item->number
end
trace pop
passcount 1000
actions
collect pops
end
`

// contents lists what the frames of a tracepoint hold, but for registers and addresses, which differ from process to process.
func contents(t *testing.T, f *tfile.File) (all []string) {
	t.Helper()
	for i := range f.NumFrames() {
		frame, err := f.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(frame.Tracepoint())
		for b := range frame.Blocks() {
			switch b.Kind {
			case tfile.BlockMemory:
				text += fmt.Sprintf(" %x", b.Bytes)
			case tfile.BlockVariable:
				text += fmt.Sprintf(" $%d=%d", b.Number, b.Value)
			}
		}
		all = append(all, text)
	}
	return all
}

// TestAsHere records the same plan here and at servers, with the same values.
func TestAsHere(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	local := record.Config{
		Plan: script(t, rich), Program: target.Program{Path: p.Path, Args: []string{"12"}},
		Streams: linux.Streams{In: null, Out: null, Err: null}, Output: filepath.Join(t.TempDir(), "local.tf"),
	}
	s, err := record.Open(local)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := contents(t, open(t, local.Output))
	if len(want) < 20 {
		t.Fatalf("%d frames here", len(want))
	}
	servers(t, func(t *testing.T, server []string) {
		result, file := run(t, func() Config {
			c, _ := config(t, server, rich, p.Path, "12")
			return c
		})
		if got := contents(t, file); !slices.Equal(got, want) {
			t.Errorf("%d frames:\n%s\nhere %d:\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
		}
		h := file.Header()
		if len(h.Tracepoints) < 3 || len(h.Variables) != 2 || !strings.Contains(h.Description, " "+p.Path+" -->") ||
			h.Status.Frames != int64(len(want)) || h.Status.Running {
			t.Errorf("%+v, %+v, %+v", h.Tracepoints, h.Variables, h.Status)
		}
		for i, point := range result.Feed.Points {
			n := countOf(file, point.Number)
			if point.Frames != uint64(n) || point.Hits < uint64(n) || server == nil && point.Hits != uint64(n) {
				t.Errorf("tracepoint %d: feed %+v, %d frames", i, point, n)
			}
		}
		for _, d := range h.Tracepoints {
			if d.Number == 1 && (d.Source.Cond != "item->number > 2" || d.Source.At != "push" || d.Hits == 0) {
				t.Errorf("%+v", d)
			}
		}
	})
}

// TestEnds ends runs of a program that goes on: it does, and the server has let it go.
func TestEnds(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	ends := map[string]struct {
		set  func(*Config)
		plan string
		end  record.End
	}{
		"duration":   {func(c *Config) { c.Duration = 2 * time.Second }, "trace tick\n", record.TimeUp},
		"frames":     {func(c *Config) { c.MaxFrames = 3 }, "trace tick\n", record.EnoughFrames},
		"buffer":     {func(c *Config) { c.Buffer = 8 << 10 }, "trace tick\nactions\ncollect $regs\nend\n", record.BufferFull},
		"pass count": {func(*Config) {}, "trace tick\npasscount 4\n", record.PassCount},
	}
	servers(t, func(t *testing.T, server []string) {
		for name, end := range ends {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var c Config
				var s *gdbtest.Server
				result, file := run(t, func() Config {
					c, s = config(t, server, end.plan, p.Path, "1000")
					end.set(&c)
					return c
				})
				if result.End != end.end || result.ProgramEnded || file.NumFrames() == 0 || file.Header().Status.Running {
					t.Errorf("%+v with %d frames, %+v", result, file.NumFrames(), file.Header().Status)
				}
				if c.MaxFrames > 0 && int64(file.NumFrames()) != c.MaxFrames {
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

// TestLoadedLater traces what is in a library that the program loads while it runs.
func TestLoadedLater(t *testing.T) {
	p := testprog.Build(t, "plugins", testprog.Variant{})
	library := testprog.Build(t, "pluginlib", testprog.Variant{Library: true})
	servers(t, func(t *testing.T, server []string) {
		armed := 0
		result, file := run(t, func() Config {
			c, _ := config(t, server, "trace plugin_work\nactions\ncollect number\nend\n", p.Path, library.Path, "1")
			armed = 0
			c.Events = func(e record.Event) {
				if e.Kind == record.Armed {
					armed += len(e.Locations)
				}
			}
			return c
		})
		if result.End != record.ProgramEnded || result.Code != 0 || armed != 1 || file.NumFrames() != 3 || result.Feed.Points[0].Pending {
			t.Errorf("%+v, %d armed, %d frames", result, armed, file.NumFrames())
		}
		if !strings.Contains(file.Header().Description, library.Path) {
			t.Error("the file does not say where the library was")
		}
	})
}

// awaitFrames fetches a run that is on until it has so many frames.
func awaitFrames(c Config, frames int64) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if fetched, err := Fetch(c, false); err != nil || fetched.Frames >= frames {
			return err
		}
	}
	return fmt.Errorf("the run does not come to %d frames", frames)
}

// TestDisconnected leaves a run to a server and fetches it, first while it is on, then at its end.
func TestDisconnected(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	servers(t, func(t *testing.T, server []string) {
		survive(t, func() error {
			c, _ := config(t, server, "trace tick\nactions\ncollect $regs\nend\n", p.Path, "1000")
			c.Disconnected = true
			if err := leave(c); err != nil {
				return err
			}
			c.Disconnected = false
			var last int64
			for _, stop := range []bool{false, true} {
				if err := awaitFrames(c, last+1); err != nil {
					return err
				}
				fetched, err := Fetch(c, stop)
				if err != nil {
					return err
				}
				file := open(t, c.Output)
				if fetched.Unnamed != nil || fetched.Status.Running == stop || fetched.Frames <= last || int64(file.NumFrames()) != fetched.Frames {
					t.Errorf("%+v after %d, %d in the file", fetched, last, file.NumFrames())
				}
				last = fetched.Frames
				h := file.Header()
				if len(h.Tracepoints) != 1 || h.Tracepoints[0].Source.At != "tick" || !slices.Equal(h.Tracepoints[0].Source.Commands, []string{"collect $regs"}) ||
					!strings.Contains(h.Description, p.Path) {
					t.Errorf("%+v", h.Tracepoints)
				}
			}
			return nil
		})
	})
}

// leave begins a run and goes away.
func leave(c Config) error {
	s, err := Open(c)
	if err != nil {
		return err
	}
	return errors.Join(s.Leave(), s.Close())
}

// TestAllStop traces by a server that has no non-stop mode, and answers nothing while the program runs.
func TestAllStop(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	servers(t, func(t *testing.T, server []string) {
		var r *relay
		result, file := run(t, func() Config {
			c, s := config(t, server, rich, p.Path, "12")
			r = ahead(t, s.Address, "QNonStop")
			c.Address = r.listen(t)
			return c
		})
		if result.End != record.ProgramEnded || result.Code != 0 || countOf(file, 3) != 12 {
			t.Errorf("%+v, %d frames", result, file.NumFrames())
		}
		if strings.Contains(r.packets(), "QNonStop:1") {
			t.Error("non-stop mode was asked for")
		}
	})
}

// TestLacking refuses plans that a server has no means for.
func TestLacking(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	for feature, test := range map[string]struct {
		plan, says string
		set        func(*Config)
	}{
		"ConditionalTracepoints": {"trace push if pushes > 1\n", "tracepoint 1 at push: the server knows no conditions", nil},
		"tracenz":                {"trace push\nactions\ncollect/s (char *)item->label\nend\n", "the server cannot collect strings", nil},
		"QTBuffer:size":          {"trace push\n", "does not let others say how large its buffer is", func(c *Config) { c.Buffer = 1 << 20 }},
		"DisconnectedTracing":    {"trace push\n", "does not trace without a client", func(c *Config) { c.Disconnected = true }},
	} {
		t.Run(feature, func(t *testing.T) {
			c, s := config(t, nil, test.plan, p.Path, "12")
			c.Address = ahead(t, s.Address, feature).listen(t)
			if test.set != nil {
				test.set(&c)
			}
			if s, err := Open(c); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("session %v, error %v", s, err)
			}
		})
	}
}

// TestWrongFile refuses a program that is not the one that the server runs.
func TestWrongFile(t *testing.T) {
	p, other := testprog.Build(t, "queue", testprog.Variant{}), testprog.Build(t, "sleeper", testprog.Variant{})
	c, _ := config(t, nil, "trace push\n", p.Path, "12")
	c.Program.Path = other.Path
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "is not the program that the server runs") {
		t.Error(err)
	}
}

// TestCopied reads the program's files from the server, where there are others here.
func TestCopied(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	folder := t.TempDir()
	moved := filepath.Join(folder, "moved")
	content, err := os.ReadFile(p.Path)
	if err == nil {
		err = os.WriteFile(moved, content, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, s := config(t, nil, "trace push\n", moved, "12")
	upstream := ahead(t, s.Address)
	asked := upstream.answer
	upstream.answer = func(packet string) (string, []string) {
		reply, told := asked(packet)
		if strings.HasPrefix(packet, "qXfer:exec-file") {
			reply = "l/nowhere/moved"
		}
		return reply, told
	}
	asked2 := upstream.answer
	upstream.answer = func(packet string) (string, []string) {
		if rest, ok := strings.CutPrefix(packet, fmt.Sprintf("vFile:open:%x", "/nowhere/moved")); ok {
			packet = fmt.Sprintf("vFile:open:%x", moved) + rest
		}
		return asked2(packet)
	}
	c.Address = upstream.listen(t)
	if result, file := run(t, func() Config { return c }); result.End != record.ProgramEnded || countOf(file, trace.Number(1)) != 12 {
		t.Errorf("%+v, %d frames", result, file.NumFrames())
	}
}
