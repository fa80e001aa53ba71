package sources

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes a file, with the folders that it lies in.
func write(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOnlyAllowedFiles: files are shown if they lie below the program's folder or one that the user named, are regular, text
// and not too large; whatever the debugging information calls them.
func TestOnlyAllowedFiles(t *testing.T) {
	root := t.TempDir()
	program := write(t, filepath.Join(root, "build", "server"), nil)
	code := []byte("int main() {\r\n\treturn 0;\n}\n")
	inside := write(t, filepath.Join(root, "build", "src", "main.c"), code)
	secret := write(t, filepath.Join(root, "secret", "key"), []byte("key"))
	elsewhere := write(t, filepath.Join(root, "checkout", "lib", "queue.c"), code)
	if err := os.Symlink(secret, filepath.Join(root, "build", "link.c")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(inside, filepath.Join(root, "build", "alias.c")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "build", "large.c"), bytes.Repeat([]byte{'\n'}, MaxSize+1))
	write(t, filepath.Join(root, "build", "full.c"), bytes.Repeat([]byte{'\n'}, MaxSize))
	write(t, filepath.Join(root, "build", "object.o"), []byte("\x7fELF\x00"))

	s, err := New(program, []string{filepath.Join(root, "checkout")})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		shown bool
	}{
		{inside, true},
		{"src/main.c", true},
		{"../build/src/main.c", true},
		{filepath.Join(root, "build", "alias.c"), true},
		{filepath.Join(root, "build", "full.c"), true},
		{elsewhere, true},
		{"/home/somebody/project/lib/queue.c", true}, // built elsewhere, found below the folder that was named
		{"lib/queue.c", true},

		{secret, false},
		{"../secret/key", false},
		{filepath.Join(root, "build", "link.c"), false},
		{filepath.Join(root, "build"), false},
		{filepath.Join(root, "build", "large.c"), false},
		{filepath.Join(root, "build", "object.o"), false},
		{"/etc/passwd", false},
		{"/proc/self/environ", false},
		{"", false},
		{"no/such/file.c", false},
		{"src/main.c\x00", false},
	} {
		n := s.Offer(test.name)
		got, err := s.Read(n)
		if err != nil || (got.Lines != nil) != test.shown || (got.Error == "") != test.shown || got.Name != test.name {
			t.Errorf("%q: shown %v, error %q, %v", test.name, got.Lines != nil, got.Error, err)
		}
		if again := s.Offer(test.name); again != n {
			t.Errorf("%q is number %d and %d", test.name, n, again)
		}
		if test.shown && !strings.Contains(test.name, "full") && !slices.Equal(got.Lines, []string{"int main() {", "\treturn 0;", "}"}) {
			t.Errorf("%q: lines %q", test.name, got.Lines)
		}
	}
	for _, n := range []int{-1, len(s.files), 1 << 40} {
		if _, err := s.Read(n); err == nil {
			t.Errorf("there is a file %d", n)
		}
	}
	for _, name := range s.Names() {
		if name.Path != "" && !strings.HasPrefix(name.Path, filepath.Join(root, "build")) && !strings.HasPrefix(name.Path, filepath.Join(root, "checkout")) {
			t.Errorf("%q is listed at %s", name.Name, name.Path)
		}
	}
}

func TestNoFolders(t *testing.T) {
	s, err := New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(s.Offer("sources_test.go")); err != nil || got.Lines != nil {
		t.Errorf("without a program a file of the current folder is shown: %v", err)
	}
	if _, err := New("", []string{"no/such/folder"}); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
