//go:build linux && amd64

package record_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/recording"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/record"
	"tracewell/target/remote"
	"tracewell/trace"
)

// valgrind starts a program under Valgrind, stopped before its first instruction, and returns a target of it and a function that waits
// for its end and returns what it has printed.
func valgrind(t *testing.T, command ...string) (on *remote.Target, printed func() string) {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "vgdb")
	args := []string{"--quiet", "--tool=none", "--vgdb=full", "--vgdb-error=0", "--vgdb-prefix=" + prefix}
	cmd := testtool.Command(t, "valgrind", append(args, command...)...)
	var output bytes.Buffer
	cmd.Stdout = &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // of its status the stub tells, too
		close(ended)
	}()
	printed = func() string {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		return output.String()
	}
	t.Cleanup(func() { printed() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if found, _ := filepath.Glob(prefix + "-to-vgdb-from-*"); found != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("Valgrind does not listen")
		}
	}
	vgdb := fmt.Sprintf("| %s --vgdb-prefix=%s --pid=%d 2>/dev/null", testtool.Path(t, "vgdb"), prefix, cmd.Process.Pid)
	address, err := remote.ParseAddress(vgdb)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := address.Dial()
	if err != nil {
		t.Fatal(err)
	}
	if on, err = remote.Open(conn, remote.Options{Processes: true}); err != nil {
		t.Fatal(err)
	}
	return on, printed
}

// TestProcessBehindStub records a process of an operating system behind a stub without tracepoints, from its first instruction on: a
// program that can be loaded anywhere, the C library, which is there once the dynamic linker has run, and a library that the
// program loads later, again and again.
func TestProcessBehindStub(t *testing.T) {
	p := testprog.Build(t, "plugins", testprog.Variant{})
	library := testprog.Build(t, "pluginlib", testprog.Variant{Library: true})
	on, printed := valgrind(t, p.Path, library.Path, "5")
	c := record.Config{
		Plan:   recording.Plan(t, "trace plugin_work\nactions\ncollect $args\nend\ntrace main\ntrace dlopen\n"),
		Output: filepath.Join(t.TempDir(), "run.tf"),
	}
	armed := 0
	c.Events = func(e record.Event) {
		if e.Kind == record.Armed {
			armed++
		}
	}
	s, err := record.Open(record.NewPeer(on, p.Path, on.Close), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if points := s.Points(); points[0].Pending == nil || points[1].Pending != nil || points[2].Pending != nil {
		t.Errorf("before the run: %+v", points)
	}
	result := finish(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	f := recording.File(t, c.Output)
	const rounds = 5
	for n, want := range map[trace.Number]int{1: 3 * rounds, 2: 1, 3: rounds} {
		if got := recording.Count(f, n); got != want {
			t.Errorf("tracepoint %d has %d frames, want %d", n, got, want)
		}
	}
	if !result.ProgramEnded || result.Code != 0 || armed == 0 || len(on.Threads()) > 0 {
		t.Errorf("%+v, %d times armed", result, armed)
	}
	if text := f.Header().Description; !strings.Contains(text, p.Path) || !strings.Contains(text, library.Path) {
		t.Error("the file does not say where the program and its library were")
	}
	if text := printed(); !strings.Contains(text, "calls=15 sum=210") {
		t.Errorf("the program has printed %q", text)
	}
}
