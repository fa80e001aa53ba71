package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/packed"
	"tracewell/internal/sys"
)

// pack writes a file that holds content as the suffix of its name says.
func pack(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	method, _ := packed.BySuffix(name)
	err := packed.Write(path, method, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// feed opens a pipe out of which content comes.
func feed(t testing.TB, content []byte) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	go func() {
		w.Write(content)
		w.Close()
	}()
	return r
}

// TestCompressed: show and info read compressed files as they do plain ones, whatever their names.
func TestCompressed(t *testing.T) {
	plain := []byte(content(t, basic))
	want := run(t, "show", basic).stdout
	for _, name := range []string{"run.tf.gz", "run.tf.zst"} {
		path := pack(t, name, plain)
		if got := run(t, "show", path); got.status != statusDone || got.stdout != want || got.stderr != "" {
			t.Errorf("%s: exit status %d, printed %d bytes; %s", name, got.status, len(got.stdout), got.stderr)
		}
		misnamed := filepath.Join(t.TempDir(), "run.tf")
		if err := os.Rename(path, misnamed); err != nil {
			t.Fatal(err)
		}
		if got := run(t, "info", misnamed); got.status != statusDone || !strings.Contains(got.stdout, "228980 bytes:") {
			t.Errorf("%s: exit status %d, %s\n%s", name, got.status, got.stderr, got.stdout)
		}
		if got := runWith(t, feed(t, []byte(content(t, misnamed))), "show", "-"); got.stdout != want {
			t.Errorf("%s: from a pipe: exit status %d, %s", name, got.status, got.stderr)
		}
	}
}

// TestCompressedCut: the frames that came out are shown, and both ends are told of: that of the compressed file and that of
// the trace file in it, if that is not whole.
func TestCompressedCut(t *testing.T) {
	plain := []byte(content(t, basic))
	whole := []byte(content(t, pack(t, "run.tf.gz", bytes.Repeat(plain, 4))))
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
		got := run(t, "show", path, "--json")
		if got.status != statusFailure || len(objects(t, got.stdout)) == 0 || strings.Contains(got.stderr, test.not) {
			t.Errorf("cut at %d: exit status %d, %d bytes; %s", test.cut, got.status, len(got.stdout), got.stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(got.stderr, want) {
				t.Errorf("cut at %d: the message lacks %q: %s", test.cut, want, got.stderr)
			}
		}
	}
}

// TestTexts: show and info take the text of a trace file for the file.
func TestTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.txt.gz")
	run(t, "convert", basic, path)
	if got := run(t, "show", path); got != run(t, "show", basic) {
		t.Errorf("show: exit status %d, %d bytes, %s", got.status, len(got.stdout), got.stderr)
	}
	if got := run(t, "info", path); got.status != statusDone || !strings.Contains(got.stdout, "228980 bytes") {
		t.Errorf("info: exit status %d, %s\n%s", got.status, got.stderr, got.stdout)
	}
	bad := feed(t, []byte("tracewell trace text 1\nnonsense\n"))
	if got := runWith(t, bad, "show", "-"); !strings.HasPrefix(got.stderr, "tracewell: standard input: line 2, column 1: found ") {
		t.Errorf("a bad text: exit status %d, %s", got.status, got.stderr)
	}
}

// TestFolders: a folder is no trace file, and one that is a trace in another format is known for what it is.
func TestFolders(t *testing.T) {
	folder := t.TempDir()
	if got := run(t, "show", folder); got.status != statusFailure || !strings.Contains(got.stderr, "is a directory") {
		t.Errorf("exit status %d, %s", got.status, got.stderr)
	}
	run(t, "convert", basic, folder)
	if got := run(t, "info", folder); got.status != statusFailure || !strings.Contains(got.stderr, "convert makes one of it") {
		t.Errorf("exit status %d, %s", got.status, got.stderr)
	}
	got := run(t, "check", folder)
	if want := "which show reads, and convert: tracewell convert " + folder + " run.tf\n"; !strings.HasSuffix(got.stderr, want) {
		t.Errorf("exit status %d, %s", got.status, got.stderr)
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
	var printed screen
	go io.Copy(&printed, master)
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	go func() {
		defer w.Close()
		io.WriteString(w, "\x7fTRACE0\nR 1\nnonsense\n\n\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00") // a frame, the end, and more
		for deadline := time.Now().Add(time.Minute); !printed.has("MiB/s") && time.Now().Before(deadline); {
			w.Write(make([]byte, 1<<19))
			time.Sleep(60 * time.Millisecond)
		}
	}()
	if status := Run([]string{"show", "-"}, Streams{In: in, Out: line, Err: line}); status != statusDone {
		t.Errorf("exit status %d", status)
	}
	shown := printed.shows(t, "frame")
	bar, rest, _ := strings.Cut(shown, "tracewell: standard input: warning: ")
	if !strings.HasPrefix(bar, "\rreading standard input ") || !strings.Contains(bar, "MiB/s") || !strings.HasSuffix(bar, "\r\x1b[1A\x1b[J") ||
		strings.Contains(rest, "reading") {
		t.Errorf("the terminal got %q", shown)
	}
}
