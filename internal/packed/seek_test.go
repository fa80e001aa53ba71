package packed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"tracewell/internal/test/testtool"
)

// seekAll has files of any size unpacked piece by piece.
func seekAll(t testing.TB) {
	usual := seekSize
	seekSize = 1
	t.Cleanup(func() { seekSize = usual })
}

// sized packs content in frames of a size, with a table.
func sized(t testing.TB, content []byte, size int) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var packed []byte
	ends := table{{}}
	for at := 0; at < len(content); at += size {
		end := min(at+size, len(content))
		packed = encoder.EncodeAll(content[at:end], packed)
		ends = append(ends, extent{int64(len(packed)), int64(end)})
	}
	return ends.append(packed)
}

// TestSeek reads a seekable file in pieces of all kinds, by several goroutines, and has no file for it.
func TestSeek(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	content := sample(20<<20 + 1234)
	for name, packed := range map[string][]byte{"own": packedBytes(t, methods[1], content), "small": sized(t, content, 100_000)} {
		f, err := open(t, packed, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.seek == nil || f.Method != methods[1] || f.Size() != int64(len(content)) {
			t.Fatalf("%s: seeker %v, %d bytes", name, f.seek, f.Size())
		}
		var all sync.WaitGroup
		for seed := range uint64(4) {
			all.Go(func() {
				random := rand.New(rand.NewPCG(seed, 0))
				buffer := make([]byte, 3<<20)
				for range 20 {
					at, size := random.IntN(len(content)), random.IntN(len(buffer))
					n, err := f.ReadAt(buffer[:size], int64(at))
					want := content[at:min(at+size, len(content))]
					if !bytes.Equal(buffer[:n], want) || (n < size) != (err == io.EOF) || err != nil && err != io.EOF {
						t.Errorf("%s: %d of %d bytes at %d, %v", name, n, size, at, err)
					}
				}
			})
		}
		all.Wait()
		if f.seek.kept > cachedContent+(mostAhead+4)*frameSize {
			t.Errorf("%s: %d bytes are kept", name, f.seek.kept)
		}
		from, size := frameSize-1000, 2000 // around the end of a frame
		if err := iotest.TestReader(io.NewSectionReader(f, int64(from), int64(size)), content[from:from+size]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := f.ReadAt(make([]byte, 1), -1); err == nil {
			t.Errorf("%s: read in front of the content", name)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSeekTable: a table that is not as it has to be is none, and the file is unpacked from its beginning.
func TestSeekTable(t *testing.T) {
	seekAll(t)
	content := sample(300_000)
	whole := sized(t, content, 100_000)
	footer := len(whole) - tableFooter
	first := footer - 3*tableEntry
	change := func(at int, b ...byte) []byte {
		changed := bytes.Clone(whole)
		copy(changed[at:], b)
		return changed
	}
	summed := func() []byte { // entries with a checksum each
		b := bytes.Clone(whole[:first-tableHeader])
		b = binary.LittleEndian.AppendUint32(b, tableMagic)
		b = binary.LittleEndian.AppendUint32(b, 3*(tableEntry+entrySum)+tableFooter)
		for i := range 3 {
			b = append(b, whole[first+i*tableEntry:][:tableEntry]...)
			b = append(b, 1, 2, 3, 4)
		}
		return append(b, 3, 0, 0, 0, withSums, 0xb1, 0xea, 0x92, 0x8f)
	}
	for name, test := range map[string]struct {
		packed []byte
		seek   bool
	}{
		"as written":     {whole, true},
		"checksums":      {summed(), true},
		"unused bits":    {change(footer+4, 3), true},
		"reserved bits":  {change(footer+4, 4), false},
		"no magic":       {change(len(whole)-1, 0), false},
		"more frames":    {change(footer, 4), false},
		"fewer frames":   {change(footer, 2), false},
		"no frames":      {change(footer, 0), false},
		"many frames":    {change(footer, 0xff, 0xff, 0xff, 0xff), false},
		"wrong length":   {change(first-4, 1), false},
		"short packed":   {change(first, 1, 0, 0, 0), false},
		"long packed":    {change(first, 0xff, 0xff, 0xff, 0xff), false},
		"long content":   {change(first+4, 0xff, 0xff, 0xff, 0xff), false},
		"two files":      {append(bytes.Clone(whole), whole...), false},
		"another behind": {append(bytes.Clone(whole), packedBytes(t, methods[0], content)...), false},
	} {
		f, err := open(t, test.packed, false, nil)
		if name == "another behind" {
			if damage := new(DamageError); !errors.As(err, &damage) || f == nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			if damage := new(DamageError); !errors.As(err, &damage) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		want := content
		if name == "two files" {
			want = append(bytes.Clone(content), content...)
		}
		if (f.seek != nil) != test.seek {
			t.Errorf("%s: table %v, want %v", name, f.seek != nil, test.seek)
		}
		if got := all(t, f); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes come out", name, len(got))
		}
	}
}

// TestSeekDamage: what lies, or is damaged, is found when it is read, and does not keep the rest from being read.
func TestSeekDamage(t *testing.T) {
	seekAll(t)
	content := sample(300_000)
	whole := sized(t, content, 100_000)
	first := len(whole) - tableFooter - 3*tableEntry
	lie := func(entry, field int, by int32) []byte {
		b := bytes.Clone(whole)
		at := b[first+entry*tableEntry+field:]
		binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)+uint32(by))
		return b
	}
	packed := lie(0, 0, 10) // and the second less, so that the sum is true
	binary.LittleEndian.PutUint32(packed[first+tableEntry:], binary.LittleEndian.Uint32(packed[first+tableEntry:])-10)
	changed := bytes.Clone(whole)
	changed[len(whole)/2] ^= 0x5a
	for name, test := range map[string]struct {
		packed []byte
		good   int // a byte that can be read
	}{
		"content longer":  {lie(1, 4, 1), 0},
		"content shorter": {lie(1, 4, -1), 0},
		"frames overlap":  {packed, 250_000},
		"changed":         {changed, 0},
	} {
		f, err := open(t, test.packed, false, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		one := make([]byte, 1)
		if _, err := f.ReadAt(one, int64(test.good)); err != nil || one[0] != content[test.good] {
			t.Errorf("%s: byte %d is %d, %v", name, test.good, one[0], err)
		}
		_, err = io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		var damage *DamageError
		if !errors.As(err, &damage) || damage.Size > 100_000 {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}

	// A file that gets shorter while it is open.
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(name, 10); err != nil {
		t.Fatal(err)
	}
	_, err = f.ReadAt(make([]byte, 1), 0)
	if damage := new(DamageError); !errors.As(err, &damage) {
		t.Errorf("a file that was cut off: %v", err)
	}
}

// TestSeekTool: zstd itself tests and unpacks what is written here, of every size that begins or ends a frame.
func TestSeekTool(t *testing.T) {
	content := sample(3*frameSize + 1)
	for _, size := range []int{0, 1, frameSize - 1, frameSize, frameSize + 1, len(content)} {
		cmd := testtool.Command(t, "zstd", "-q", "-dc")
		packed := packedBytes(t, methods[1], content[:size])
		cmd.Stdin = bytes.NewReader(packed)
		got, err := cmd.Output()
		if err != nil || !bytes.Equal(got, content[:size]) {
			t.Errorf("%d bytes: zstd makes %d of them, %v", size, len(got), stderr(err))
		}
		if table := readTable(bytes.NewReader(packed), int64(len(packed))); table == nil || table.size() != int64(size) ||
			table.frames() != max(1, (size+frameSize-1)/frameSize) {
			t.Errorf("%d bytes: the table is %v", size, table)
		}
	}
}

// stderr is an error of a program with what it has written.
func stderr(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

// TestWriteFails: a writer that fails ends the writing, and is left alone when Pack has returned.
func TestWriteFails(t *testing.T) {
	broken := errors.New("broken")
	to := &failing{after: 2, err: broken}
	err := methods[1].Pack(to, func(w io.Writer) error {
		piece := sample(1 << 18)
		for range 1000 {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	})
	if err != broken || to.writes != 3 {
		t.Errorf("%v behind %d writes", err, to.writes)
	}
}

// failing fails after some writes.
type failing struct {
	writes, after int
	err           error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.writes++; f.writes > f.after {
		return 0, f.err
	}
	return len(p), nil
}

// FuzzSeek: a file whose pieces can all be read has the content that it has when it is unpacked from its beginning, whatever its
// frames and its table are. Of the table three frames are made up, which end at packed bytes a and b and at content x and y.
func FuzzSeek(f *testing.F) {
	one := sized(f, sample(900), 300)
	frames := one[:len(one)-tableHeader-3*tableEntry-tableFooter]
	own := readTable(bytes.NewReader(one), int64(len(one)))
	f.Add(frames, uint16(own[1].packed), uint16(own[2].packed), uint16(300), uint16(600), uint16(900))
	f.Add(frames, uint16(own[1].packed), uint16(own[1].packed), uint16(300), uint16(300), uint16(900))
	f.Add(frames, uint16(0), uint16(0), uint16(0), uint16(0), uint16(900))
	f.Add(frames, uint16(own[1].packed), uint16(own[2].packed), uint16(299), uint16(601), uint16(900))
	f.Fuzz(func(t *testing.T, packed []byte, a, b, x, y, z uint16) {
		ends := table{{}, {int64(a), int64(x)}, {int64(b), int64(y)}, {int64(len(packed)), int64(z)}}
		packed = ends.append(packed)
		table := readTable(bytes.NewReader(packed), int64(len(packed)))
		if table == nil {
			return
		}
		s, err := newSeeker(bytes.NewReader(packed), methods[1], table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		got, err := io.ReadAll(io.NewSectionReader(s, 0, table.size()))
		if err != nil {
			if damage := new(DamageError); !errors.As(err, &damage) {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		if want, err := stream(bytes.NewReader(packed)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, want %d, %v", len(got), len(want), err)
		}
	})
}
