package packed

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"tracewell/internal/test/testtool"
)

// sample is content of which half can be compressed.
func sample(size int) []byte {
	b := make([]byte, size)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		if i/64%2 == 0 {
			b[i] = byte(random.Uint32())
		}
	}
	return b
}

// packedBytes is content as a Method packs it.
func packedBytes(t *testing.T, m *Method, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	err := m.Pack(&b, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// open opens a file, through a pipe if asked.
func open(t *testing.T, packed []byte, pipe bool, progress func(int64)) (*File, error) {
	t.Helper()
	if pipe {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		go func() {
			w.Write(packed)
			w.Close()
		}()
		return Open(r, progress)
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return Open(f, progress)
}

// all reads the content of a File.
func all(t *testing.T, f *File) []byte {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		t.Fatal(err)
	}
	if mem := f.Bytes(); mem != nil && !bytes.Equal(mem, b) {
		t.Error("Bytes differs from what is read")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	return b
}

var ways = append([]*Method{nil}, methods...)

func (m *Method) title() string {
	if m == nil {
		return "plain"
	}
	return m.Name
}

// TestOpen opens files of every kind, in one piece and in several, from a file and from a pipe.
func TestOpen(t *testing.T) {
	for _, m := range ways {
		for _, size := range []int{0, 1, 3, 4, 100, 3 << 20} {
			for _, pipe := range []bool{false, true} {
				content := sample(size)
				packed := packedBytes(t, m, content[:size/2])
				packed = append(packed, packedBytes(t, m, content[size/2:])...)
				f, err := open(t, packed, pipe, nil)
				if err != nil {
					t.Fatalf("%s, %d bytes: %v", m.title(), size, err)
				}
				if f.Method != m {
					t.Errorf("%s, %d bytes: taken for %s", m.title(), size, f.Method.title())
				}
				if got := all(t, f); !bytes.Equal(got, content) {
					t.Errorf("%s, %d bytes, pipe %v: got %d bytes", m.title(), size, pipe, len(got))
				}
			}
		}
	}
}

// TestOpenSkippable: a Zstandard file may begin with a frame that is not content, as those of pzstd do.
func TestOpenSkippable(t *testing.T) {
	zstandard, _ := BySuffix("a.zst")
	packed := append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"), packedBytes(t, zstandard, []byte("content"))...)
	f, err := open(t, packed, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := all(t, f); string(got) != "content" {
		t.Errorf("got %q", got)
	}
}

// TestOpenDamaged: what came out before the damage is kept, and the error says how much that is.
func TestOpenDamaged(t *testing.T) {
	content := sample(2 << 20)
	for _, m := range methods {
		whole := packedBytes(t, m, content)
		changed := bytes.Clone(whole)
		for i := range 64 {
			changed[len(changed)*3/4+i] ^= 0x5a
		}
		for name, test := range map[string]struct {
			packed []byte
			least  int
		}{
			"cut":        {whole[:len(whole)*3/4], len(content) / 2},
			"cut end":    {whole[:len(whole)-1], len(content) - 1<<18},
			"changed":    {changed, len(content) / 2},
			"junk":       {append(bytes.Clone(whole), "junk behind it"...), len(content)},
			"only magic": {whole[:magicLength], 0},
		} {
			f, err := open(t, test.packed, false, nil)
			var damage *DamageError
			if !errors.As(err, &damage) || f == nil {
				t.Errorf("%s, %s: got %v, want a *DamageError", m.Name, name, err)
				continue
			}
			got := all(t, f)
			if int64(len(got)) != damage.Size || len(got) < test.least || len(got) > len(content) {
				t.Errorf("%s, %s: %d bytes came out, want %d at least; %v", m.Name, name, len(got), test.least, err)
			}
			if name != "changed" && !bytes.Equal(got, content[:len(got)]) {
				t.Errorf("%s, %s: what came out is not the beginning of the content", m.Name, name)
			}
		}
	}
}

// limitMemory makes content large that is over a megabyte.
func limitMemory(t *testing.T) {
	usual := inMemory
	inMemory = 1 << 20
	t.Cleanup(func() { inMemory = usual })
}

// TestOpenLarge: content beyond what is kept in memory goes to a file that has no name.
func TestOpenLarge(t *testing.T) {
	limitMemory(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	content := sample(inMemory + 12345)
	f, err := open(t, packedBytes(t, methods[1], content), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Bytes() != nil {
		t.Error("all of it is in memory")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if !bytes.Equal(all(t, f), content) {
		t.Error("the content differs")
	}
}

// TestOpenFullDisk: no room for what is unpacked is a failure and no damage.
func TestOpenFullDisk(t *testing.T) {
	limitMemory(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	f, err := open(t, packedBytes(t, methods[1], make([]byte, inMemory+1)), false, nil)
	var damage *DamageError
	if f != nil || err == nil || errors.As(err, &damage) {
		t.Errorf("got %v, %v", f, err)
	}
}

// TestProgress: progress is told for each megabyte that comes out, however little of the file that takes, and rises to the
// size of the file.
func TestProgress(t *testing.T) {
	for _, m := range ways {
		for name, content := range map[string][]byte{"dense": sample(12 << 20), "sparse": make([]byte, 12<<20)} {
			packed := packedBytes(t, m, content)
			var told []int64
			if _, err := open(t, packed, true, func(done int64) { told = append(told, done) }); err != nil {
				t.Fatal(err)
			}
			if n := len(told); n < 11 || n > 12 || !slices.IsSorted(told) || told[n-1] > int64(len(packed)) {
				t.Errorf("%s, %s: told %d of %d bytes", m.title(), name, told, len(packed))
			}
		}
	}
}

// TestGather: what a function writes can be read, however much it is, and nothing can when it fails.
func TestGather(t *testing.T) {
	limitMemory(t)
	for _, size := range []int{0, inMemory, inMemory + 1} {
		content := sample(size)
		f, err := Gather(func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := all(t, f); !bytes.Equal(got, content) {
			t.Errorf("%d bytes: got %d", size, len(got))
		}
	}
	failure := errors.New("failure")
	if f, err := Gather(func(io.Writer) error { return failure }); f != nil || !errors.Is(err, failure) {
		t.Errorf("got %v, %v", f, err)
	}
}

func TestOpenFolder(t *testing.T) {
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := Open(f, nil); err == nil {
		t.Errorf("opened a folder: %+v", got)
	}
}

// TestTools: gzip and zstd themselves read what is written here, and what they write is read here.
func TestTools(t *testing.T) {
	content := sample(1 << 20)
	for _, test := range []struct {
		method *Method
		tool   []string
	}{
		{methods[0], []string{"gzip"}},
		{methods[1], []string{"zstd", "-q"}},
		{methods[1], []string{"zstd", "-q", "-19", "--long=27"}},
	} {
		run := func(in []byte, option string) []byte {
			cmd := testtool.Command(t, test.tool[0], append(test.tool[1:], option)...)
			cmd.Stdin = bytes.NewReader(in)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %v", cmd, err)
			}
			return out
		}
		if got := run(packedBytes(t, test.method, content), "-dc"); !bytes.Equal(got, content) {
			t.Errorf("%v makes other content of it", test.tool)
		}
		f, err := open(t, run(content, "-c"), true, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := all(t, f); !bytes.Equal(got, content) {
			t.Errorf("what %v packed comes out as other content", test.tool)
		}
	}
}

func TestBySuffix(t *testing.T) {
	for name, want := range map[string]string{"a.tf": "a.tf", "a.tf.gz": "a.tf", "b/a.zst": "b/a", ".gz": "", "gz": "gz"} {
		if m, base := BySuffix(name); base != want || (m == nil) != (base == name) {
			t.Errorf("%q: %v, %q", name, m, base)
		}
	}
}

// TestWrite: a file is packed and whole, and there is none when the function fails.
func TestWrite(t *testing.T) {
	folder := t.TempDir()
	for _, m := range ways {
		name := filepath.Join(folder, "file")
		err := Write(name, m, func(w io.Writer) error {
			_, err := io.WriteString(w, "content")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, packedBytes(t, m, []byte("content"))) {
			t.Errorf("%s: got %q, %v", m.title(), got, err)
		}
		os.Remove(name)

		failure := errors.New("failure")
		err = Write(name, m, func(w io.Writer) error {
			w.Write(sample(1 << 20))
			return failure
		})
		left, listError := os.ReadDir(folder)
		if !errors.Is(err, failure) || listError != nil || len(left) > 0 {
			t.Errorf("%s: error %v, %v is left, %v", m.title(), err, left, listError)
		}
	}
}

// TestWriteToDevice: what is no regular file is written to and not replaced.
func TestWriteToDevice(t *testing.T) {
	write := func(w io.Writer) error {
		_, err := w.Write(sample(1 << 20))
		return err
	}
	for _, m := range ways {
		if err := Write("/dev/null", m, write); err != nil {
			t.Errorf("%s: %v", m.title(), err)
		}
		if err := Write("/dev/full", m, write); err == nil {
			t.Errorf("%s: no error from a full disk", m.title())
		}
	}
	if err := Write(t.TempDir(), nil, write); err == nil {
		t.Error("wrote over a folder")
	}
}

// TestStream unpacks while reading: what is whole, what is cut off, and what cannot be read.
func TestStream(t *testing.T) {
	content := sample(300_000)
	broken := errors.New("broken")
	for _, m := range append([]*Method{nil}, methods...) {
		t.Run(m.title(), func(t *testing.T) {
			packed := packedBytes(t, m, content)
			got, err := stream(bytes.NewReader(packed))
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			cut := packed[:len(packed)/2]
			if got, err = stream(io.MultiReader(bytes.NewReader(cut), iotest.ErrReader(broken))); err != broken || !bytes.HasPrefix(content, got) {
				t.Errorf("what cannot be read: %d bytes, %v", len(got), err)
			}
			var damage *DamageError
			if got, err = stream(bytes.NewReader(cut)); m != nil && (!errors.As(err, &damage) || damage.Size != int64(len(got))) {
				t.Errorf("cut off: %d bytes, %v", len(got), err)
			}
		})
	}
	for _, short := range []string{"", "a", "\x1f\x8b"} {
		if got, err := stream(strings.NewReader(short)); err != nil || string(got) != short {
			t.Errorf("%q: %q, %v", short, got, err)
		}
	}
	if _, err := stream(strings.NewReader("\x1f\x8b\x08")); err == nil || !strings.Contains(err.Error(), "cut off behind 0 bytes") {
		t.Errorf("three bytes of gzip: %v", err)
	}
}

// stream returns what comes out of a Stream, and what it ends with.
func stream(r io.Reader) ([]byte, error) {
	s, err := NewStream(r)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return io.ReadAll(s)
}

// TestStreamLive reads the beginning of what is still being written.
func TestStreamLive(t *testing.T) {
	for _, m := range methods {
		r, w := io.Pipe()
		go m.Pack(w, func(packer io.Writer) error {
			_, err := packer.Write(sample(4 << 20))
			return err // and the pipe stays open
		})
		s, err := NewStream(r)
		if err != nil {
			t.Fatal(m.Name, err)
		}
		if n, err := io.ReadFull(s, make([]byte, 1000)); err != nil {
			t.Errorf("%s: %d bytes, %v", m.Name, n, err)
		}
		r.Close()
		s.Close()
	}
}
