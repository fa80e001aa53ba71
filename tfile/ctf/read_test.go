package ctf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
	"tracewell/trace"
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

// TestExtremes takes everything that frames can be made of there and back.
func TestExtremes(t *testing.T) {
	for name, order := range orders {
		for _, size := range []int{1, 16, 412, 11000} {
			t.Run(fmt.Sprintf("%s %d", name, size), func(t *testing.T) {
				c := extremes(t, order, size)
				got := converted(t, c)
				sameFrames(t, got, c)
				if diff := cmp.Diff(c.header, got.Header()); diff != "" {
					t.Errorf("header:\n%s", diff)
				}
			})
		}
	}
}

// TestDefinitionsInTheStream reads a header from the stream alone: what an int has room for is there, the rest is the largest.
func TestDefinitionsInTheStream(t *testing.T) {
	for name, order := range orders {
		c := extremes(t, order, 16)
		metadata, stream := written(t, c)
		metadata, _, _ = bytes.Cut(metadata, []byte("env {"))
		got := opened(t, metadata, stream)
		sameFrames(t, got, c)
		want := c.header
		want.Status = &trace.Status{Reason: trace.ReasonError, Tracepoint: 7, Frames: 3, Created: math.MaxInt32,
			Free: 500, Size: math.MaxInt32, Circular: true, Disconnected: true}
		want.Tracepoints[0].Pass, want.Tracepoints[0].Hits, want.Tracepoints[0].FastLength = math.MaxInt32, math.MaxInt32, 0
		want.Description, want.Other = "", nil
		if diff := cmp.Diff(want, got.Header()); diff != "" {
			t.Errorf("%s: header:\n%s", name, diff)
		}
	}
}

// TestBareHeader takes a header there and back that tells next to nothing.
func TestBareHeader(t *testing.T) {
	c := &made{header: tfile.Header{Order: binary.BigEndian, RegisterSize: 8}}
	if diff := cmp.Diff(c.header, converted(t, c).Header()); diff != "" {
		t.Errorf("header:\n%s", diff)
	}
}

// TestSeveralReaders reads frames from several goroutines at once.
func TestSeveralReaders(t *testing.T) {
	file := openTraceFile(t, "queue-basic.tf")
	c := converted(t, file)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range file.NumFrames() {
				got, err := c.ReadFrame(i, nil)
				want, wantErr := file.ReadFrame(i, nil)
				if err != nil || wantErr != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("frame %d: %v, %v", i, err, wantErr)
				}
			}
		})
	}
	all.Wait()
}
