package replay

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"tracewell/target/fake"
	"tracewell/tfile"
)

// FuzzTraceFile serves whatever can be opened: nothing panics, a frame that is found is as looked for, and the stream of frames
// ends and is the same however it is read.
func FuzzTraceFile(f *testing.F) {
	f.Add(toyFile(f, some...))
	f.Add(toyFile(f))
	f.Add(toyFile(f, some...)[:900])
	f.Fuzz(func(t *testing.T, data []byte) {
		content, _ := tfile.OpenBytes(data)
		if content == nil || content.NumFrames() > 1000 {
			return
		}
		file, _, err := NewTraceFile(content, TraceFileOptions{Description: fake.ToyDescription()})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []tfile.Query{
			{Kind: tfile.ByTracepoint, Tracepoint: 1}, {Kind: tfile.ByPC, Low: 0x1000},
			{Kind: tfile.ByRange, High: 0x2000}, {Kind: tfile.ByOutside, High: 0x2000},
		} {
			for from := 0; ; {
				n, ok, err := file.Find(q, from)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				frame, there, err := file.Frame(n)
				if err != nil || !there || !q.Match(frame.Tracepoint(), frame.PC) {
					t.Fatalf("%+v finds frame %d, of %d at %v, %v, %v", q, n, frame.Tracepoint(), frame.PC, there, err)
				}
				from = n + 1
			}
		}
		if small, large := stream(t, file, 13), stream(t, file, 1<<16); !bytes.Equal(small, large) {
			t.Errorf("in small pieces the frames are %x, in large ones %x", small, large)
		}
		var refused *tfile.LineError
		if err := file.Save(io.Discard, ""); err != nil && !errors.As(err, &refused) {
			t.Logf("not saved: %v", err)
		}
	})
}

// stream reads all frames in pieces.
func stream(t *testing.T, f *TraceFile, size int) []byte {
	var all []byte
	for b := make([]byte, size); ; {
		n, err := f.ReadBuffer(int64(len(all)), b)
		all = append(all, b[:n]...)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil || n == 0 {
			t.Fatalf("at %d: %d bytes, %v", len(all), n, err)
		}
	}
}
