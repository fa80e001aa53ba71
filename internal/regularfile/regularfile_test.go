//go:build unix

package regularfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tracewell/internal/regularfile"
)

// TestOpenRefuses would hang where a FIFO is waited for.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for name, kind := range map[string]string{
		fifo: "a FIFO", link: "a device", "/dev/urandom": "a device", dir: "a directory", socket: "a socket",
	} {
		_, err := regularfile.Open(name)
		var path *fs.PathError
		if !errors.As(err, &path) || path.Path != name || !strings.Contains(err.Error(), "it is "+kind+", not a regular file") {
			t.Errorf("%s: error %v, want %s", name, err, kind)
		}
	}
	if _, err := regularfile.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: error %v", err)
	}
}

func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	content := []byte("content")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := regularfile.Read(name, int64(len(content))); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%q, %v", got, err)
	}
	_, err := regularfile.Read(name, int64(len(content))-1)
	if err == nil || err.Error() != "read "+name+": it has more than 6 bytes" {
		t.Errorf("a byte more than the limit: error %v", err)
	}
	// A regular file as its mode has it, whose size is 0, and which has gigabytes.
	if _, err := regularfile.Read("/proc/self/pagemap", 1<<20); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("pagemap: error %v", err)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "below/b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := fs.ReadFile(regularfile.Folder(dir), name); err != nil || string(got) != name {
			t.Errorf("%q, %v", got, err)
		}
	}
	for _, name := range []string{"../a", "/etc/passwd", ""} {
		if f, err := regularfile.Folder(dir).Open(name); !errors.Is(err, fs.ErrInvalid) || f != nil {
			t.Errorf("%q: %v, %v", name, f, err)
		}
	}
	if f, err := regularfile.Folder(dir).Open("below"); err == nil || f != nil {
		t.Errorf("a folder: %v", f)
	}
}
