package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOpenAll takes joined files apart, read in pieces shorter than anything in them.
func TestOpenAll(t *testing.T) {
	little := write(t, smallHeader(binary.LittleEndian), smallFrames(binary.LittleEndian)...)
	big := write(t, smallHeader(binary.BigEndian), smallFrames(binary.BigEndian)[:2]...)
	at := int64(len(little))
	tests := []struct {
		name   string
		data   []byte
		starts []int64
		frames []int
		whole  []bool
	}{
		{"one", little, []int64{0}, []int{4}, []bool{true}},
		{"two of different byte orders", slices.Concat(little, big), []int64{0, at}, []int{4, 2}, []bool{true, true}},
		{"three", slices.Concat(little, little, little), []int64{0, at, 2 * at}, []int{4, 4, 4}, []bool{true, true, true}},
		{"short end marker", slices.Concat(little[:at-2], big), []int64{0, at - 2}, []int{4, 2}, []bool{true, true}},
		{"something between", slices.Concat(little, []byte("between"), big), []int64{0, at + 7}, []int{4, 2}, []bool{true, true}},
		{"damaged frame", slices.Concat(little[:at-4], []byte("damage"), big), []int64{0, at + 2}, []int{4, 2}, []bool{false, true}},
		{"cut in a line", slices.Concat([]byte(Magic+"R 4"), little), []int64{0}, []int{4}, []bool{true}},
		{"last one cut", slices.Concat(little, big[:len(big)-20]), []int64{0, at}, []int{4, 0}, []bool{true, false}},
	}
	for _, test := range tests {
		var starts []int64
		var frames []int
		var whole []bool
		for f, err := range OpenAll(bytes.NewReader(test.data), int64(len(test.data)), func(o *options) { o.window = 5 }) {
			if err != nil && !errors.Is(err, ErrTruncated) {
				t.Fatalf("%s: %v", test.name, err)
			}
			starts = append(starts, f.Definitions()[0].Offset-int64(len(Magic)))
			frames = append(frames, f.NumFrames())
			whole = append(whole, err == nil)
			for i := range f.NumFrames() {
				frame := frameOf(t, f, i)
				if frame.Check() != nil || !bytes.Equal(frame.Bytes(), smallFrames(f.Header().Order)[i]) {
					t.Errorf("%s: frame %d at %d is not what was written", test.name, i, frame.Offset())
				}
			}
		}
		if !cmp.Equal(starts, test.starts) || !cmp.Equal(frames, test.frames) || !cmp.Equal(whole, test.whole) {
			t.Errorf("%s: begin at %v with %v frames, whole %v; want %v, %v, %v",
				test.name, starts, frames, whole, test.starts, test.frames, test.whole)
		}
	}
}

func TestOpenAllStops(t *testing.T) {
	little := write(t, smallHeader(binary.LittleEndian))
	for range OpenAll(bytes.NewReader(slices.Concat(little, little)), int64(2*len(little))) {
		break
	}
	n := 0
	for f, err := range OpenAll(strings.NewReader("no trace file"), 13) {
		if n++; f != nil || !errors.Is(err, ErrNotTraceFile) {
			t.Errorf("%v, %v", f, err)
		}
	}
	if n != 1 {
		t.Errorf("%d files in something else", n)
	}
	failing := failingReader{bytes.NewReader(append(little, make([]byte, 1000)...)), int64(len(little)) + 100}
	var last error
	for _, last = range OpenAll(failing, int64(len(little))+1000, func(o *options) { o.window = 50 }) {
	}
	if last == nil {
		t.Error("a reader that fails behind the first file went unnoticed")
	}
}

func TestConcatenatedIsFound(t *testing.T) {
	little := write(t, appendHeader(binary.LittleEndian))
	f, err := OpenBytes(slices.Concat(little, little))
	want := []Finding{{int64(len(little)), RuleConcatenated, f.Findings()[0].Text}}
	if diff := cmp.Diff(want, f.Findings()); diff != "" || err != nil || f.End() != int64(len(little)) {
		t.Errorf("%v, end %d (-want +got):\n%s", err, f.End(), diff)
	}
}
