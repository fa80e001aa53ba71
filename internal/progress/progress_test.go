//go:build linux

package progress

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/internal/sys"
)

// screen gathers what is printed on a terminal.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String returns what has been printed so far.
func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits for a text.
func (s *screen) shows(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(s.String(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the terminal lacks %q: %q", want, s.String())
		}
	}
}

// terminal opens one and what is printed there.
func terminal(t *testing.T) (*os.File, *screen) {
	t.Helper()
	t.Setenv("TERM", "xterm")
	master, path, err := sys.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	line, err := sys.OpenSerial(path)
	if err != nil {
		t.Fatal(err)
	}
	printed := new(screen)
	go io.Copy(printed, master)
	t.Cleanup(func() { line.Close(); master.Close() })
	return line, printed
}

// erase is what takes the one line of a bar away: to the start of the line, one line up, and clear from there on.
const erase = "\r\x1b[1A\x1b[J"

// TestBar: a bar appears, goes on, and is gone when the work is done.
func TestBar(t *testing.T) {
	for name, test := range map[string]struct {
		work Work
		want []string
	}{
		"known total": {Work{"reading run.tf", 1000 << 20, Bytes}, []string{"reading run.tf 25%", "250.0 MiB", "MiB/s", "s left"}},
		"no total":    {Work{"reading standard input", 0, Bytes}, []string{"reading standard input 250.0 MiB, ", "MiB/s"}},
		"frames":      {Work{"writing out.tf", 1000 << 20, Frames}, []string{"writing out.tf 25%", "262144000 frames, ", "/s"}},
	} {
		line, printed := terminal(t)
		bar := Start(line, test.work)
		bar.patience, bar.start = 0, bar.start.Add(-10*time.Second)
		bar.Set(250 << 20)
		for _, want := range test.want {
			printed.shows(t, want)
		}
		bar.Set(1001 << 20)
		bar.Done()
		bar.Set(1002 << 20)
		bar.Done()
		io.WriteString(line, "the end")
		printed.shows(t, "the end")
		if got := printed.String(); !strings.HasSuffix(got, erase+"the end") {
			t.Errorf("%s: the terminal got %q", name, got)
		}
	}
}

// TestQuick: there is no bar for work that is done soon, and none for work that is done before it is first told of.
func TestQuick(t *testing.T) {
	line, printed := terminal(t)
	bar := Start(line, Work{Name: "reading", Total: 10})
	bar.Set(1)
	bar.Set(10)
	bar.Done()
	io.WriteString(line, "the end")
	printed.shows(t, "the end")
	if got := printed.String(); got != "the end" {
		t.Errorf("the terminal got %q", got)
	}
}

// TestNoTerminal: nothing is shown where there is no terminal, or one that cannot erase.
func TestNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	bar := Start(w, Work{Name: "reading", Total: 10})
	if bar != nil {
		t.Error("a bar in a pipe")
	}
	bar.Set(5)
	bar.Done()
	w.Close()
	if got, err := io.ReadAll(r); len(got) > 0 || err != nil {
		t.Errorf("the pipe got %q, %v", got, err)
	}
	line, _ := terminal(t)
	t.Setenv("TERM", "dumb")
	if Start(line, Work{Name: "reading"}) != nil {
		t.Error("a bar on a dumb terminal")
	}
}

func TestRemaining(t *testing.T) {
	for _, test := range []struct {
		elapsed     time.Duration
		done, total int64
		want        string
	}{
		{time.Second, 0, 10, ""},
		{time.Second, 1, 10, ", 9s left"},
		{2 * time.Minute, 1, 2, ", 2m0s left"},
		{time.Minute, 10, 10, ", 0s left"},
	} {
		if got := remaining(test.elapsed, test.done, test.total); got != test.want {
			t.Errorf("%v for %d of %d: %q, want %q", test.elapsed, test.done, test.total, got, test.want)
		}
	}
}
