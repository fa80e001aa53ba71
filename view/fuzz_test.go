package view

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"tracewell/internal/demo"
	"tracewell/tfile"
)

// FuzzFrames: whatever a file holds, each of its frames is one JSON object without a line feed, and so is what was collected
// by name.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x7fTRACE0\nR 8\ntdesc <target><feature name=\"f\"><reg name=\"pc\" bitsize=\"64\"/></feature></target>\n" +
		"tp T1:10:E:0:0\ntsv 2:0:0:22\n\n\x01\x00\x16\x00\x00\x00R\x10\x00\x00\x00\x00\x00\x00\x00V\x02\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	queueBasic, err := os.ReadFile(queueFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(queueBasic[:30_000])
	f.Add([]byte("\x7fTRACE0\nR 8\ntdesc <target><feature name=\"f\"><reg name=\"pc\" bitsize=\"64\"/></feature></target>\n" +
		"tp T1:10:E:0:0\ntp A1:10:R01M-1,1000,4M0,8,2M63,8,2X0000000C,2600002208022204011727\ntp Z1:10:cmd:0:13:636f6c6c656374202a782c20246172677300\n" +
		"tsv 2:0:0:68697473\n\n\x01\x00\x16\x00\x00\x00R\x10\x00\x00\x00\x00\x00\x00\x00V\x02\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	program := openProgram(f, demo.Program())
	f.Fuzz(func(t *testing.T, content []byte) {
		file, _ := tfile.OpenBytes(content)
		if file == nil {
			return
		}
		v, _ := New(file, program)
		if _, err := v.Columns(4); err != nil {
			t.Fatal(err)
		}
		r := v.NewReader()
		condition, err := v.Condition("*(int *)0x1000 == 3 || *(long *)$pc > 5 && $frame || &queue")
		if err != nil {
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
			r.Set(frame)
			condition.Match(r)
			if text := r.AppendCollected(nil); !json.Valid(text) || bytes.ContainsRune(text, '\n') {
				t.Fatalf("frame %d has %q", i, text)
			}
		}
	})
}
