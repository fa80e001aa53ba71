//go:build linux

package input

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/sys"
)

// TestCompressed: show and info read compressed files as they do plain ones, whatever their names.
func TestCompressed(t *testing.T) {
	plain := []byte(clitest.Content(t, clitest.Basic))
	want := clitest.Run(t, "show", clitest.Basic).Stdout
	for _, name := range []string{"run.tf.gz", "run.tf.zst"} {
		path := clitest.Pack(t, name, plain)
		if got := clitest.Run(t, "show", path); got.Status != console.StatusDone || got.Stdout != want || got.Stderr != "" {
			t.Errorf("%s: exit status %d, printed %d bytes; %s", name, got.Status, len(got.Stdout), got.Stderr)
		}
		misnamed := filepath.Join(t.TempDir(), "run.tf")
		if err := os.Rename(path, misnamed); err != nil {
			t.Fatal(err)
		}
		if got := clitest.Run(t, "info", misnamed); got.Status != console.StatusDone || !strings.Contains(got.Stdout, "228980 bytes:") {
			t.Errorf("%s: exit status %d, %s\n%s", name, got.Status, got.Stderr, got.Stdout)
		}
		if got := clitest.RunWith(t, clitest.Feed(t, []byte(clitest.Content(t, misnamed))), "show", "-"); got.Stdout != want {
			t.Errorf("%s: from a pipe: exit status %d, %s", name, got.Status, got.Stderr)
		}
	}
}

// TestCompressedCut: the frames that came out are shown, and both ends are told of: that of the compressed file and that of
// the trace file in it, if that is not whole.
func TestCompressedCut(t *testing.T) {
	plain := []byte(clitest.Content(t, clitest.Basic))
	whole := []byte(clitest.Content(t, clitest.Pack(t, "run.tf.gz", bytes.Repeat(plain, 4))))
	path := filepath.Join(t.TempDir(), "cut")
	for _, test := range []struct {
		cut  int
		want []string
		not  string
	}{
		{len(whole) / 8, []string{path + ": gzip data is cut off behind ", "; premature end of the trace file: offset "}, "whole"},
		{len(whole) - 4, []string{path + ": gzip data is cut off behind 915920 bytes of content: unexpected EOF\n"}, "premature"},
	} {
		if err := os.WriteFile(path, whole[:test.cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got := clitest.Run(t, "show", path, "--json")
		if got.Status != console.StatusFailure || len(clitest.Objects(t, got.Stdout)) == 0 || strings.Contains(got.Stderr, test.not) {
			t.Errorf("cut at %d: exit status %d, %d bytes; %s", test.cut, got.Status, len(got.Stdout), got.Stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(got.Stderr, want) {
				t.Errorf("cut at %d: the message lacks %q: %s", test.cut, want, got.Stderr)
			}
		}
	}
}

// TestTexts: show and info take the text of a trace file for the file.
func TestTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.txt.gz")
	clitest.Run(t, "convert", clitest.Basic, path)
	if got := clitest.Run(t, "show", path); got != clitest.Run(t, "show", clitest.Basic) {
		t.Errorf("show: exit status %d, %d bytes, %s", got.Status, len(got.Stdout), got.Stderr)
	}
	if got := clitest.Run(t, "info", path); got.Status != console.StatusDone || !strings.Contains(got.Stdout, "228980 bytes") {
		t.Errorf("info: exit status %d, %s\n%s", got.Status, got.Stderr, got.Stdout)
	}
	bad := clitest.Feed(t, []byte("tracewell trace text 1\nnonsense\n"))
	if got := clitest.RunWith(t, bad, "show", "-"); !strings.HasPrefix(got.Stderr, "tracewell: standard input: line 2, column 1: found ") {
		t.Errorf("a bad text: exit status %d, %s", got.Status, got.Stderr)
	}
}

// TestFolders: a folder is no trace file, and one that is a trace in another format is known for what it is.
func TestFolders(t *testing.T) {
	folder := t.TempDir()
	if got := clitest.Run(t, "show", folder); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "is a directory") {
		t.Errorf("exit status %d, %s", got.Status, got.Stderr)
	}
	clitest.Run(t, "convert", clitest.Basic, folder)
	if got := clitest.Run(t, "info", folder); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "convert makes one of it") {
		t.Errorf("exit status %d, %s", got.Status, got.Stderr)
	}
	got := clitest.Run(t, "check", folder)
	if want := "which show reads, and convert: tracewell convert " + folder + " run.tf\n"; !strings.HasSuffix(got.Stderr, want) {
		t.Errorf("exit status %d, %s", got.Status, got.Stderr)
	}
}

// TestReadingShowsBar: while a command waits for the rest of its input a terminal has a bar, which is gone before anything else
// is printed.
func TestReadingShowsBar(t *testing.T) {
	t.Setenv("TERM", "xterm")
	master, path, err := sys.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	line, err := sys.OpenSerial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	var printed clitest.Screen
	go io.Copy(&printed, master)
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	go func() {
		defer w.Close()
		io.WriteString(w, "\x7fTRACE0\nR 1\nnonsense\n\n\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00") // a frame, the end, and more
		for deadline := time.Now().Add(time.Minute); !printed.Has("MiB/s") && time.Now().Before(deadline); {
			w.Write(make([]byte, 1<<19))
			time.Sleep(60 * time.Millisecond)
		}
	}()
	if status := clitest.CommandLine([]string{"show", "-"}, console.Streams{In: in, Out: line, Err: line}); status != console.StatusDone {
		t.Errorf("exit status %d", status)
	}
	shown := printed.Shows(t, "frame")
	bar, rest, _ := strings.Cut(shown, "tracewell: standard input: warning: ")
	if !strings.HasPrefix(bar, "\rreading standard input ") || !strings.Contains(bar, "MiB/s") || !strings.HasSuffix(bar, "\r\x1b[1A\x1b[J") ||
		strings.Contains(rest, "reading") {
		t.Errorf("the terminal got %q", shown)
	}
}
