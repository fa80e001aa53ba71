//go:build amd64

package record

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/gdbtest"
	"tracewell/internal/testprog"
)

// servers are those that the tests of remote runs drive.
func servers(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{"tracewell": nil}
	path, err := exec.LookPath("gdbserver")
	if err != nil {
		t.Fatalf("gdbserver is not installed: %v", err)
	}
	all["gdbserver"] = []string{path}
	return all
}

// TestRemote traces a program of a server, from its beginning to its end.
func TestRemote(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			s := gdbtest.Start(t, gdbtest.Config{Server: server, Comm: "localhost:0", Command: []string{p.Path, "10"}})
			shown := 0
			c := Config{
				Plan: items(t, collected), Remote: s.Address, Output: filepath.Join(t.TempDir(), "run.tf"),
				Frames: func(Frame) { shown++ }, Buffer: 20 << 20,
			}
			r, err := OpenRemote(c)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			result, err := r.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			file := open(t, c.Output)
			if result.End != ProgramEnded || result.Code != 0 || file.NumFrames() < 10 || shown != file.NumFrames() {
				t.Errorf("%+v, %d frames, %d shown", result, file.NumFrames(), shown)
			}
			pushes := 0
			for i := range file.NumFrames() {
				if file.Tracepoint(i) == 1 {
					pushes++
				}
			}
			// gdbserver 13.1 counts some hits more than once where threads are stepped.
			if feed := result.Feed.Points[0]; pushes != 10 || feed.Frames != 10 || feed.Hits < 10 || server == nil && feed.Hits != 10 {
				t.Errorf("%d frames of 10 pushes, %d hits", pushes, result.Feed.Points[0].Hits)
			}
			if len(file.Header().Tracepoints) < 3 || !strings.Contains(file.Header().Description, p.Path) {
				t.Errorf("%+v", file.Header())
			}
		})
	}
}

// TestRemoteLeaves a program to run on, when there are frames enough and when the time is up.
func TestRemoteLeaves(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			s := gdbtest.Start(t, gdbtest.Config{Server: server, Comm: "localhost:0", Command: []string{p.Path, "1000"}})
			c := Config{Plan: items(t, "trace tick\n"), Remote: s.Address, Output: filepath.Join(t.TempDir(), "run.tf"), Duration: 400 * time.Millisecond}
			r, err := OpenRemote(c)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			result, err := r.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if n := open(t, c.Output).NumFrames(); result.End != TimeUp || n == 0 || result.ProgramEnded {
				t.Errorf("%+v with %d frames", result, n)
			}
		})
	}
}
