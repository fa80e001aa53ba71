package twin

import (
	"bytes"
	"os"
	"testing"

	"tracewell/tfile"
)

// textOf returns the text of a trace file.
func textOf(t testing.TB, data []byte, opts ...Option) string {
	t.Helper()
	var text bytes.Buffer
	if err := Write(&text, bytes.NewReader(data), int64(len(data)), opts...); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// bytesOf returns the trace file that a text describes.
func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	var data bytes.Buffer
	if err := Read(bytes.NewReader([]byte(text)), &data); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

var realFiles = []string{"queue-basic", "queue-fast", "queue-pie"}

func readReal(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + name + ".tf")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRealFiles makes text of files that GDB wrote, and the files of it again.
func TestRealFiles(t *testing.T) {
	for _, name := range realFiles {
		data := readReal(t, name)
		text := textOf(t, data)
		if !bytes.Equal(bytesOf(t, text), data) {
			t.Errorf("%s: other bytes come back", name)
		}
		if !Is([]byte(text)) || Is(data) {
			t.Errorf("%s: the text is not told from the file", name)
		}
	}
}

// TestContent compares the text of what a file holds with the text of the file that is written of it.
func TestContent(t *testing.T) {
	for _, name := range []string{"queue-basic", "queue-pie"} {
		f, err := tfile.OpenBytes(readReal(t, name))
		if err != nil {
			t.Fatal(err)
		}
		var got, written bytes.Buffer
		if err := WriteContent(&got, f); err != nil {
			t.Fatal(err)
		}
		if err := tfile.Write(&written, f); err != nil {
			t.Fatal(err)
		}
		if got.String() != textOf(t, written.Bytes()) {
			t.Errorf("%s: another text than that of the written file", name)
		}
	}
}
