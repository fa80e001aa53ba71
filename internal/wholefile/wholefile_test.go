package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// text returns a function that writes s.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// holds checks what the only entry of a folder besides those named is, and holds.
func holds(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

func entries(t *testing.T, dir string, want int) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != want {
		t.Errorf("%s has %v, %v; want %d entries", dir, list, err, want)
	}
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "frames.tf")
	for _, s := range []string{"first", "the second, which is longer", ""} {
		if err := Write(name, text(s)); err != nil {
			t.Fatal(err)
		}
		holds(t, name, s)
	}
	entries(t, dir, 1)
}

func TestWriteKeepsPermissions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "frames.tf")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, text("new")); err != nil {
		t.Fatal(err)
	}
	if status, err := os.Stat(name); err != nil || status.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", status.Mode(), err)
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "frames.tf"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(name, []byte("old"), 0o600), os.Symlink("frames.tf", link)); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, name, "new")
	if status, err := os.Lstat(link); err != nil || status.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is %v, %v", status.Mode(), err)
	}
}

func TestWriteThatFails(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "frames.tf")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no more frames")
	err := Write(name, func(w io.Writer) error {
		return errors.Join(text(strings.Repeat("new", bufferSize))(w), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want the writer's", err)
	}
	holds(t, name, "old")
	entries(t, dir, 1)
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, path := range map[string]string{
		"folder":         dir,
		"device":         os.DevNull,
		"missing folder": filepath.Join(dir, "none", "frames.tf"),
		"no name":        "",
		"zero byte":      filepath.Join(dir, "a\x00b"),
	} {
		if err := Write(path, text("x")); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	entries(t, dir, 0)
}

// TestWriteTogether: either all files are new or none is, also when the one that is written last fails.
func TestWriteTogether(t *testing.T) {
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "stream"), filepath.Join(dir, "metadata")}
	both := func(s string, err error) func([]io.Writer) error {
		return func(files []io.Writer) error {
			for _, f := range files {
				if _, err := io.WriteString(f, s); err != nil {
					return err
				}
			}
			return err
		}
	}
	for _, text := range []string{"old", "new"} {
		if err := WriteTogether(names, both(text, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteTogether(names, both("newer", errors.New("no more"))); err == nil {
		t.Error("a failure is not told")
	}
	if err := os.Remove(names[1]); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(names[1], 0o700); err != nil { // which cannot be replaced
		t.Fatal(err)
	}
	if err := WriteTogether(names, both("newest", nil)); err == nil {
		t.Error("a folder was replaced")
	}
	holds(t, names[0], "new")
	entries(t, dir, 2)
}
