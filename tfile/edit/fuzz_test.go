package edit

import (
	"bytes"
	"os"
	"testing"

	"tracewell/tfile"
)

// FuzzMerge merges and cuts any two files: nothing panics, no frame is lost or changes its length, the files are left as they
// were, and what can be written can be read again.
func FuzzMerge(f *testing.F) {
	for _, name := range []string{"queue-basic.tf", "queue-fast.tf"} {
		real, err := os.ReadFile("../testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		short := real[:min(len(real), 30_000)]
		f.Add(short, bytes.ReplaceAll(short, []byte("tsv 2:"), []byte("tsv 4:")))
	}
	f.Add([]byte("\x7fTRACE0\nR 1\ntsv 1:0:0:78\ntp T1:1:E:0:0:X4,2c000127\n\n\x01\x00\x0d\x00\x00\x00V\x01\x00\x00\x00abcdefgh\x00\x00"),
		[]byte("\x7fTRACE0\nR 1\ntsv 1:0:0:79\ntp T1:2:E:0:0:X4,2c000127\n\n\x01\x00\x0d\x00\x00\x00V\x01\x00\x00\x00abcdefgh\x00\x00"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		keptA, keptB := bytes.Clone(a), bytes.Clone(b)
		fileA, _ := tfile.OpenBytes(a)
		fileB, _ := tfile.OpenBytes(b)
		if fileA == nil || fileB == nil {
			return
		}
		for _, order := range []Order{ByFile, ByTime} {
			c, _, err := Merge(parts(fileA, fileB), order, nil)
			if err != nil {
				continue
			}
			checkMerged(t, c, fileA, fileB, order)
			cut, err := Select(c, Choice{First: 1, Tracepoints: numbers(c)})
			if err == nil && cut.NumFrames() != max(0, c.NumFrames()-1) {
				t.Errorf("%d frames of %d are left", cut.NumFrames(), c.NumFrames())
			}
		}
		if !bytes.Equal(a, keptA) || !bytes.Equal(b, keptB) {
			t.Error("a file was changed")
		}
	})
}

// checkMerged compares the frames of c with those of its parts.
func checkMerged(t *testing.T, c tfile.Content, a, b *tfile.File, order Order) {
	t.Helper()
	if c.NumFrames() != a.NumFrames()+b.NumFrames() {
		t.Fatalf("%d frames of %d and %d", c.NumFrames(), a.NumFrames(), b.NumFrames())
	}
	var frame tfile.Frame
	for i := range c.NumFrames() {
		var err error
		if frame, err = c.ReadFrame(i, frame.Bytes()); err != nil {
			t.Fatal(err)
		}
		if frame.Tracepoint() != c.Tracepoint(i) {
			t.Errorf("frame %d is of tracepoint %d, not %d", i, frame.Tracepoint(), c.Tracepoint(i))
		}
		if order != ByFile {
			continue
		}
		part, n := a, i
		if i >= a.NumFrames() {
			part, n = b, i-a.NumFrames()
		}
		original, err := part.Frame(n)
		if err != nil || original.Len() != frame.Len() || (original.Check() == nil) != (frame.Check() == nil) {
			t.Errorf("frame %d has %d bytes, %v; it had %d, %v", i, frame.Len(), frame.Check(), original.Len(), original.Check())
		}
	}
	var written bytes.Buffer
	if tfile.Write(&written, c, tfile.KeepUnknownLines(), tfile.KeepStatic(), tfile.KeepDamaged()) != nil {
		return
	}
	again, err := tfile.OpenBytes(written.Bytes(), tfile.WithOrder(c.Header().Order))
	if err != nil || again.NumFrames() != c.NumFrames() {
		t.Errorf("what was written is read as %v, %v", again, err)
	}
}
