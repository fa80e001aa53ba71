package frameview

import (
	"bytes"
	"encoding/json"
	"testing"

	"tracewell/internal/demo"
	"tracewell/internal/symtab"
	"tracewell/tfile"
)

// FuzzFrames: whatever a file holds, each of its frames is one JSON object without a line feed.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x7fTRACE0\nR 8\ntdesc <target><feature name=\"f\"><reg name=\"pc\" bitsize=\"64\"/></feature></target>\n" +
		"tp T1:10:E:0:0\ntsv 2:0:0:22\n\n\x01\x00\x16\x00\x00\x00R\x10\x00\x00\x00\x00\x00\x00\x00V\x02\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	symbols, err := symtab.Read(bytes.NewReader(demo.Program()))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, _ := tfile.OpenBytes(content)
		if file == nil {
			return
		}
		v, _ := New(file, symbols)
		if _, err := v.Columns(4); err != nil {
			t.Fatal(err)
		}
		for i := range min(file.NumFrames(), 16) {
			frame, err := v.Frame(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			text := v.AppendJSON(nil, frame)
			if !json.Valid(text) || bytes.ContainsRune(text, '\n') {
				t.Fatalf("frame %d is %q", i, text)
			}
		}
	})
}
