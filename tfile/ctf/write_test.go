package ctf

import (
	"bytes"
	"os"
	"testing"

	"tracewell/tfile"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func openTraceFile(t testing.TB, name string) *tfile.File {
	t.Helper()
	f, err := tfile.OpenBytes(readFile(t, "../testdata/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAsGDB holds what is written of a run against what GDB wrote of the same run: all bytes of the stream are the same, and
// the metadata but for what is added at its end.
func TestAsGDB(t *testing.T) {
	var metadata, stream bytes.Buffer
	if err := Write(&metadata, &stream, openTraceFile(t, "queue-basic.tf")); err != nil {
		t.Fatal(err)
	}
	want := readFile(t, "testdata/queue-basic/datastream")
	if got := stream.Bytes(); !bytes.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("stream of %d bytes instead of %d, different from offset %d on", len(got), len(want), at)
	}
	if want := readFile(t, "testdata/queue-basic/metadata"); !bytes.HasPrefix(metadata.Bytes(), want) {
		t.Errorf("metadata begins otherwise than GDB's:\n%s", metadata.Bytes()[:len(want)])
	}
}
