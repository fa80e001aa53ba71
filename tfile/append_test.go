package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/trace"
)

// disk is a file in memory.
type disk struct {
	data   []byte
	before func(p []byte, at int64) error // called ahead of each write
}

func (d *disk) WriteAt(p []byte, at int64) (int, error) {
	if d.before != nil {
		if err := d.before(p, at); err != nil {
			return 0, err
		}
	}
	d.put(p, at)
	return len(p), nil
}

func (d *disk) put(p []byte, at int64) {
	if missing := int(at) + len(p) - len(d.data); missing > 0 {
		d.data = append(d.data, make([]byte, missing)...)
	}
	copy(d.data[at:], p)
}

// appendHeader is a header that GDB takes without a warning.
func appendHeader(order arch.ByteOrder) Header {
	h := Header{
		Order:        order,
		RegisterSize: 16,
		Status:       &trace.Status{Reason: trace.ReasonUnknown, Free: -1, Size: -1, User: "ada", Notes: "appended"},
		Variables:    []trace.Variable{{Number: 2, Name: "count"}},
	}
	for n := trace.Number(1); n <= 3; n++ {
		addr := 0x401000 + 0x10*arch.Addr(n)
		h.Tracepoints = append(h.Tracepoints, trace.Tracepoint{Number: n, Addr: addr, Enabled: true,
			Source: trace.Source{At: fmt.Sprintf("*%#x", uint64(addr))}})
	}
	return h
}

// numbered returns the frame that is the i-th in every test: of up to 1 kB and, now and then, of 100 kB.
func numbered(buf []byte, order arch.ByteOrder, i int) []byte {
	b := Builder{Order: order}
	b.Begin(buf, numberedTracepoint(i))
	b.Variable(2, int64(i))
	size := i * 37 % 1000
	if i%256 == 31 {
		size = 100_000
	}
	for at := 0; at < size; at += MaxBlock {
		p := b.Memory(arch.Addr(0x1000+at), size-at)
		for j := range p {
			p[j] = byte(i + j/8)
		}
	}
	return b.Finish()
}

// numberedTracepoint is one of appendHeader's.
func numberedTracepoint(i int) trace.Number { return trace.Number(1 + i%3) }

// holdsNumbered fails unless the frames of f are the first ones, at least as many as promised.
func holdsNumbered(t testing.TB, f *File, promised int) {
	t.Helper()
	if f.NumFrames() < promised {
		t.Fatalf("%d frames, of which %d were acknowledged", f.NumFrames(), promised)
	}
	var frame, want []byte
	for i := range f.NumFrames() {
		got, err := f.ReadFrame(i, frame)
		if err != nil {
			t.Fatal(err)
		}
		frame, want = got.Bytes(), numbered(want[:0], f.Header().Order, i)
		if !bytes.Equal(frame, want) {
			t.Fatalf("frame %d of %d is not what was appended", i, f.NumFrames())
		}
	}
}

// TestAppenderIsWholeAtAnyTime cuts every write at every byte, or at many, and opens what is there then.
func TestAppenderIsWholeAtAnyTime(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			var d disk
			promised, cuts := 0, 0
			d.before = func(p []byte, at int64) error {
				if at == 0 {
					return nil // the definitions, which were not promised yet
				}
				for cut := 0; cut <= len(p); cut += 1 + cut/64 {
					torn := disk{data: slices.Clone(d.data)}
					torn.put(p[:cut], at)
					f, err := OpenBytes(torn.data, WithOrder(order))
					if err != nil {
						t.Fatalf("%d of %d bytes at %d: %v", cut, len(p), at, err)
					}
					holdsNumbered(t, f, promised)
					cuts++
				}
				return nil
			}
			a, err := NewAppender(&d, appendHeader(order))
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < 12; i += 1 + i%2 {
				batch := numbered(nil, order, i)
				if i%2 == 1 {
					batch = numbered(batch, order, i+1)
				}
				if err := a.Append(batch); err != nil {
					t.Fatal(err)
				}
				promised = int(a.Frames())
			}
			if err := a.Update(trace.Status{Reason: trace.ReasonStop, Description: "done"}, nil); err != nil {
				t.Fatal(err)
			}
			if cuts < 1000 || int64(len(d.data)) != a.End() {
				t.Errorf("%d cuts were looked at; the file has %d bytes, End is %d", cuts, len(d.data), a.End())
			}
			f, err := OpenBytes(d.data)
			if err != nil || len(f.Findings()) > 0 || f.NumFrames() != promised {
				t.Errorf("%d frames, %v, %v", f.NumFrames(), f.Findings(), err)
			}
		})
	}
}

func TestAppenderUpdate(t *testing.T) {
	var d disk
	h := appendHeader(binary.LittleEndian)
	a, err := NewAppender(&d, h)
	if err != nil {
		t.Fatal(err)
	}
	read := func() Header {
		t.Helper()
		f, err := OpenBytes(d.data)
		if err != nil || len(f.Findings()) > 0 {
			t.Fatal(f.Findings(), err)
		}
		return f.Header()
	}
	want := *h.Status
	want.Frames, want.Created = 0, 0
	if diff := cmp.Diff(&want, read().Status); diff != "" {
		t.Errorf("status at first (-want +got):\n%s", diff)
	}
	for i := range 20 {
		if err := a.Append(numbered(nil, h.Order, i)); err != nil {
			t.Fatal(err)
		}
		want.Frames, want.Created = int64(i+1), int64(i+1)
		if diff := cmp.Diff(&want, read().Status); diff != "" {
			t.Errorf("status after frame %d (-want +got):\n%s", i, diff)
		}
	}
	want = trace.Status{Reason: trace.ReasonError, Description: "divide by zero", Tracepoint: 2, Frames: 99, Created: 40,
		Free: 5, Size: 1 << 40, Circular: true, StartTime: 1 << 50, StopTime: 1<<64 - 1, User: "ada", Notes: "appended"}
	hits := slices.Clone(h.Tracepoints)
	hits[0].Hits, hits[0].Usage, hits[2].Hits = 1<<64-1, 1<<63, 7
	if err := a.Update(want, hits); err != nil {
		t.Fatal(err)
	}
	want.Frames = 20
	got := read()
	if diff := cmp.Diff(&want, got.Status); diff != "" {
		t.Errorf("status at last (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(hits, got.Tracepoints); diff != "" {
		t.Errorf("tracepoints (-want +got):\n%s", diff)
	}
	want.Description = strings.Repeat("long ", 300)
	if err := a.Update(want, nil); err != nil {
		t.Fatal(err)
	}
	if got := read().Status; len(got.Description) < 100 || !strings.HasPrefix(want.Description, got.Description) || got.User != "ada" {
		t.Errorf("a long description became %q of %+v", got.Description, got)
	}
	want.Notes = strings.Repeat("long ", 300)
	if err := a.Update(want, []trace.Tracepoint{{Number: 9}}); !errors.As(err, new(*LineError)) || strings.Count(err.Error(), "a place of") != 2 {
		t.Errorf("notes without room and a tracepoint without a place: %v", err)
	}
	read()
}

// TestOpenAppender goes on with files of several origins and conditions.
func TestOpenAppender(t *testing.T) {
	appended := func(order arch.ByteOrder, n int) []byte {
		var d disk
		a, err := NewAppender(&d, appendHeader(order))
		for i := range n {
			err = errors.Join(err, a.Append(numbered(nil, order, i)))
		}
		if err != nil {
			t.Fatal(err)
		}
		return d.data
	}
	written := func(n int, room int64) []byte {
		h := appendHeader(binary.LittleEndian)
		h.Status.Frames, h.Status.Free, h.Status.Size = int64(n), room, room
		var frames [][]byte
		for i := range n {
			frames = append(frames, numbered(nil, h.Order, i))
		}
		return write(t, h, frames...)
	}
	little := appended(binary.LittleEndian, 5)
	tests := []struct {
		name string
		data []byte
		opts []Option
		have int
		says int64
	}{
		{"whole", little, nil, 5, 300},
		{"big endian", appended(binary.BigEndian, 5), nil, 5, 300},
		{"no frames", appended(binary.BigEndian, 0), []Option{WithOrder(binary.BigEndian)}, 0, 300},
		{"torn frame", little[:len(little)-20], nil, 4, 300},
		{"torn end marker", little[:len(little)-3], nil, 5, 300},
		{"short end marker", little[:len(little)-2], nil, 5, 300},
		{"torn header", little[:len(little)-4-4*37-24-4], nil, 4, 300},
		{"something behind", append(slices.Clone(little), "behind"...), nil, 5, 300},
		{"of a Writer", written(3, 100), nil, 3, 300},
		{"of a Writer, cut", written(3, 100)[:len(written(3, 100))-30], nil, 2, 300},
		{"of a Writer, no room in the status", written(3, -1), nil, 3, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _ := OpenBytes(slices.Clone(test.data), test.opts...)
			d := disk{data: test.data}
			a, err := OpenAppender(f, &d)
			if err != nil {
				t.Fatal(err)
			}
			if a.Frames() != int64(test.have) {
				t.Fatalf("%d frames to begin with, want %d", a.Frames(), test.have)
			}
			d.data = d.data[:a.End()]
			for i := test.have; i < 300; i++ {
				if err := a.Append(numbered(nil, f.Header().Order, i)); err != nil {
					t.Fatal(err)
				}
			}
			again, err := OpenBytes(d.data)
			if err != nil || len(again.Findings()) > 0 {
				t.Fatal(again.Findings(), err)
			}
			holdsNumbered(t, again, 300)
			if st := again.Header().Status; st.Frames != test.says || st.User != "ada" || st.Notes != "appended" {
				t.Errorf("status %+v", st)
			}
		})
	}
}

func TestOpenAppenderRefuses(t *testing.T) {
	const head = Magic + "R 10\ntp T1:10:E:0:0\n"
	frame := string(numbered(nil, binary.LittleEndian, 0))
	tests := map[string]struct {
		data string
		opts []Option
	}{
		"definitions":   {head, nil},
		"damage":        {head + "\n" + frame + "damage" + frame + "\x00\x00", []Option{WithRecovery()}},
		"another one":   {head + "\n" + frame + "\x00\x00\x00\x00" + Magic, nil},
		"byte order":    {head + "\n\x00\x00", nil},
		"register size": {Magic + "\n" + frame + "\x00\x00", nil},
	}
	for want, test := range tests {
		f, _ := OpenBytes([]byte(test.data), test.opts...)
		d := disk{data: []byte(test.data)}
		if _, err := OpenAppender(f, &d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error that speaks of %s", test.data, err, want)
		}
		if string(d.data) != test.data {
			t.Errorf("%q was written to", test.data)
		}
	}
}

func TestAppenderErrors(t *testing.T) {
	full := errors.New("disk full")
	var d disk
	writes, failAt := 0, -1
	d.before = func([]byte, int64) error {
		if writes++; writes == failAt {
			return full
		}
		return nil
	}
	h := appendHeader(binary.LittleEndian)
	syncs := 0
	a, err := NewAppender(&d, h, SyncEach(func() error { syncs++; return nil }))
	if err != nil {
		t.Fatal(err)
	}
	frame := numbered(nil, h.Order, 0)
	for _, bad := range []string{"x", "\x01\x00\x05\x00\x00\x00ab", "\x00\x00\x00\x00\x00\x00", string(frame) + "\x01", "\x01\x00\x01\x00\x00\x00Q"} {
		if a.Append([]byte(bad)) == nil {
			t.Errorf("%q was appended", bad)
		}
	}
	if err := a.Append(nil); err != nil {
		t.Errorf("no frames: %v", err)
	}
	failAt = writes + 1 // behind the marker
	if err := a.Append(frame); !errors.Is(err, full) {
		t.Errorf("no room: %v", err)
	}
	syncs = 0
	if err := a.Append(frame); err != nil || syncs != 2 {
		t.Errorf("with room again: %v, %d syncs, want 2", err, syncs)
	}
	failAt = writes + 2 // the number that makes the frames count
	if err := a.Append(frame); !errors.Is(err, full) {
		t.Errorf("last write: %v", err)
	}
	if a.Append(frame) == nil || a.Update(trace.Status{}, nil) == nil {
		t.Error("goes on although it is not known what the file holds")
	}
	long := h
	long.Status = &trace.Status{Notes: strings.Repeat("x", 500)}
	if _, err := NewAppender(&disk{}, long); !errors.As(err, new(*LineError)) {
		t.Errorf("a status without room: %v", err)
	}
	if _, err := NewAppender(&disk{}, Header{}); err == nil {
		t.Error("a header without anything was taken")
	}
}

// TestAppenderTakesLargeBatches appends more than is copied, to a disk that fails for a while from each of the writes ahead of the
// last on.
func TestAppenderTakesLargeBatches(t *testing.T) {
	full := errors.New("disk full")
	h := appendHeader(binary.LittleEndian)
	var batch []byte
	frames := 0
	for ; len(batch) <= largeBatch; frames++ {
		batch = numbered(batch, h.Order, frames)
	}
	for failAt := range 3 {
		var d disk
		a, err := NewAppender(&d, h)
		if err != nil {
			t.Fatal(err)
		}
		writes := 0
		d.before = func([]byte, int64) error {
			if writes++; failAt > 0 && writes >= failAt {
				return full
			}
			return nil
		}
		if fails := failAt > 0; fails != errors.Is(a.Append(batch), full) {
			t.Errorf("disk that fails: %v, but not so the call", fails)
		} else if fails {
			if f, err := OpenBytes(d.data); err != nil || f.NumFrames() > 0 {
				t.Errorf("%d frames, %v", f.NumFrames(), err)
			}
			d.before = nil
			if err := a.Append(batch); err != nil {
				t.Error(err)
			}
		}
		f, err := OpenBytes(d.data)
		if err != nil || len(f.Findings()) > 0 {
			t.Fatal(f.Findings(), err)
		}
		holdsNumbered(t, f, frames)
	}
}

// fullDisk is a disk with room for so many bytes. As an os.File it does not tell how much of a write that fails was written.
type fullDisk struct {
	disk
	room int
}

func (d *fullDisk) WriteAt(p []byte, at int64) (int, error) {
	fits := max(min(len(p), d.room-int(at)), 0)
	d.put(p[:fits], at)
	if fits < len(p) {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func (d *fullDisk) Truncate(size int64) error {
	d.data = d.data[:size]
	return nil
}

// TestAppenderFullDisk appends batches to disks of many sizes: each file is whole, ends at its end marker, and holds as many frames as
// there was room for; with more room the others come behind them.
func TestAppenderFullDisk(t *testing.T) {
	const seed, batches = 3, 6
	random := rand.New(rand.NewPCG(seed, seed))
	h := appendHeader(binary.LittleEndian)
	var empty disk
	if _, err := NewAppender(&empty, h); err != nil {
		t.Fatal(err)
	}
	var all [batches][]byte
	ends := []int{len(empty.data)} // of files with so many frames
	for i := range all {
		for range 1 + random.IntN(12) {
			before := len(all[i])
			all[i] = numbered(all[i], h.Order, len(ends)-1)
			ends = append(ends, ends[len(ends)-1]+len(all[i])-before)
		}
	}
	var rooms []int
	for _, end := range ends[:len(ends)-1] {
		rooms = append(rooms, end, end+1, end+1+random.IntN(30), ends[0]+random.IntN(ends[len(ends)-1]-ends[0]))
	}
	for _, room := range append(rooms, ends[len(ends)-1]-1, ends[len(ends)-1]) {
		d := fullDisk{room: room}
		a, err := NewAppender(&d, h)
		if err != nil {
			t.Fatal(err)
		}
		var rest []byte
		for _, batch := range all {
			if before := a.End(); err == nil {
				err = a.Append(batch)
				batch = batch[a.End()-before:]
			}
			rest = append(rest, batch...)
		}
		want := sort.SearchInts(ends, room+1) - 1
		if full := want < len(ends)-1; full != (err != nil) || a.Frames() != int64(want) || len(d.data) != ends[want] {
			t.Fatalf("seed %d, room for %d bytes: %v, %d frames, %d bytes; want %d frames", seed, room, err, a.Frames(), len(d.data), want)
		}
		if f, err := OpenBytes(d.data); err != nil || len(f.Findings()) > 0 || f.NumFrames() != want || f.Header().Status.Frames != int64(want) {
			t.Fatalf("seed %d, room for %d bytes: %v", seed, room, err)
		}
		d.room = ends[len(ends)-1]
		if err := a.Append(rest); err != nil {
			t.Fatal(err)
		}
		f, err := OpenBytes(d.data)
		if err != nil || len(f.Findings()) > 0 {
			t.Fatal(f.Findings(), err)
		}
		holdsNumbered(t, f, len(ends)-1)
	}
}

// TestGDBReadsAnAppendedFile has GDB look at a file whose writer was stopped after each step.
func TestGDBReadsAnAppendedFile(t *testing.T) {
	recorded := openTestdata(t, "queue-basic.tf").Header()
	h := appendHeader(binary.LittleEndian)
	h.RegisterSize, h.Description = recorded.RegisterSize, recorded.Description
	var d disk
	a, err := NewAppender(&d, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := a.Append(numbered(nil, h.Order, i)); err != nil {
			t.Fatal(err)
		}
	}
	killed := gdbShows(t, d.data, 99)
	for _, want := range []string{"Trace stopped for an unknown reason", "Collected 100 trace frames", "Trace user is ada"} {
		if !strings.Contains(killed, want) {
			t.Errorf("GDB did not print %q:\n%s", want, killed)
		}
	}
	hits := slices.Clone(h.Tracepoints)
	hits[1].Hits, hits[1].Usage = 34, 4096
	st := trace.Status{Reason: trace.ReasonPassCount, Tracepoint: 2, Created: 300, Free: 100, Size: 200, Circular: true}
	if err := a.Update(st, hits); err != nil {
		t.Fatal(err)
	}
	ended := gdbShows(t, d.data, 99)
	for _, want := range []string{"Trace stopped by tracepoint 2", "Buffer contains 100 trace frames (of 300 created total)",
		"Trace buffer is circular", "already hit 34 times", "trace buffer usage 4096 bytes"} {
		if !strings.Contains(ended, want) {
			t.Errorf("GDB did not print %q:\n%s", want, ended)
		}
	}
}

// TestGDBReadsItsOwnFileContinued adds frames to a file that GDB wrote, in which nothing has room to spare.
func TestGDBReadsItsOwnFileContinued(t *testing.T) {
	f := openTestdata(t, "queue-basic.tf")
	d := disk{data: slices.Clone(f.source.mem)}
	a, err := OpenAppender(f, &d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if err := a.Append(frameOf(t, f, i%f.NumFrames()).Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	const last = 85 + 199
	out := gdbtest.Run(t, "", show(save(t, d.data), "tstatus", "tfind 0", "print $rip", "tfind 284", "print $rip", "tfind 285")).All
	for _, want := range []string{"Collected 285 trace frames", "Trace user is ada", "Found trace frame 284", "No trace frame found"} {
		if !strings.Contains(out, want) {
			t.Errorf("GDB did not print %q:\n%s", want, out)
		}
	}
	before, err := OpenBytes(d.data)
	if err != nil || before.NumFrames() != last+1 || len(before.Findings()) > 0 {
		t.Errorf("%d frames, %v, %v", before.NumFrames(), before.Findings(), err)
	}
	want := *f.Header().Status
	want.Frames, want.Created, want.Free, want.Size = last+1, last+1, -1, -1
	if diff := cmp.Diff(&want, before.Header().Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// gdbShows opens a file in GDB, looks at its last frame of numbered and behind it, and fails if there is a warning.
func gdbShows(t *testing.T, data []byte, last int) string {
	t.Helper()
	out := gdbtest.Run(t, "", show(save(t, data), "tstatus", "info tracepoints", fmt.Sprintf("tfind %d", last), "print $count",
		fmt.Sprintf("tfind %d", last+1))).All
	want := fmt.Sprintf("Found trace frame %d", last)
	if strings.Contains(out, "warning") || !strings.Contains(out, want) || !strings.Contains(out, fmt.Sprintf("= %d", last)) ||
		!strings.Contains(out, "No trace frame found") {
		t.Errorf("GDB does not take the file as it should, want %q:\n%s", want, out)
	}
	return out
}

// discardAt takes everything.
type discardAt struct{}

func (discardAt) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

func TestAppenderAllocatesNothing(t *testing.T) {
	var w io.WriterAt = discardAt{}
	h := appendHeader(binary.LittleEndian)
	a, err := NewAppender(w, h)
	if err != nil {
		t.Fatal(err)
	}
	batch := numbered(numbered(nil, h.Order, 40), h.Order, 41)
	if n := testing.AllocsPerRun(1000, func() {
		if err := a.Append(batch); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for two frames", n)
	}
}
