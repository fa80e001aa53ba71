package ctf

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
)

// written writes a trace.
func written(t testing.TB, c tfile.Content) (metadata, stream []byte) {
	t.Helper()
	var m, s bytes.Buffer
	if err := Write(&m, &s, c); err != nil {
		t.Fatal(err)
	}
	return m.Bytes(), s.Bytes()
}

// opened opens a trace in memory.
func opened(t testing.TB, metadata, stream []byte) *Trace {
	t.Helper()
	c, err := Open(metadata, bytes.NewReader(stream), int64(len(stream)))
	if err != nil {
		t.Fatal(err)
	}
	if found := c.Findings(); len(found) > 0 {
		t.Errorf("findings %v", found)
	}
	return c
}

// sameFrames holds the frames of one against those of the other.
func sameFrames(t testing.TB, got, want tfile.Content) {
	t.Helper()
	if got.NumFrames() != want.NumFrames() {
		t.Fatalf("%d frames instead of %d", got.NumFrames(), want.NumFrames())
	}
	for i := range want.NumFrames() {
		if got.Tracepoint(i) != want.Tracepoint(i) {
			t.Errorf("frame %d: tracepoint %d instead of %d", i, got.Tracepoint(i), want.Tracepoint(i))
		}
		g, w := frameOf(t, got, i), frameOf(t, want, i)
		if !bytes.Equal(g.Bytes(), w.Bytes()) {
			t.Fatalf("frame %d: %d bytes instead of %d, or others", i, len(g.Bytes()), len(w.Bytes()))
		}
	}
}

func frameOf(t testing.TB, c tfile.Content, i int) tfile.Frame {
	t.Helper()
	f, err := c.ReadFrame(i, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestGDBsOwn reads what GDB wrote, and compares it with the trace file that GDB wrote of the same run.
func TestGDBsOwn(t *testing.T) {
	file := openTraceFile(t, "queue-basic.tf")
	got := opened(t, readFile(t, "testdata/queue-basic/metadata"), readFile(t, "testdata/queue-basic/datastream"))
	sameFrames(t, got, file)

	want := file.Header()
	status := *want.Status
	want.Status = &status
	want.Description = ""
	status.StartTime, status.StopTime, status.User, status.Notes = 0, 0, "", ""
	if diff := cmp.Diff(want, got.Header(), cmp.Comparer(sameOrder)); diff != "" {
		t.Errorf("header: -trace file +CTF:\n%s", diff)
	}
}

func sameOrder(a, b interface{ String() string }) bool { return a.String() == b.String() }

// TestRoundTrip writes and reads real trace files, the damaged one among them.
func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"queue-basic.tf", "queue-pie.tf", "queue-fast.tf"} {
		t.Run(name, func(t *testing.T) {
			file := openTraceFile(t, name)
			got := converted(t, file)
			sameFrames(t, got, file)
			if diff := cmp.Diff(file.Header(), got.Header()); diff != "" {
				t.Errorf("header:\n%s", diff)
			}
		})
	}
}

func converted(t testing.TB, c tfile.Content) *Trace {
	metadata, stream := written(t, c)
	return opened(t, metadata, stream)
}
