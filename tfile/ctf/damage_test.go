package ctf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"tracewell/tfile"
)

// TestStreamCut cuts a stream anywhere: what is left is all the whole packets before the cut, and an error that points at the
// first that is not.
func TestStreamCut(t *testing.T) {
	c := extremes(t, orders["be"], 16)
	metadata, stream := written(t, c)
	whole := opened(t, metadata, stream)
	for n := 0; n < len(stream); n += 1 + n/500 {
		got, err := Open(metadata, bytes.NewReader(stream), int64(n))
		want := 0
		for want < whole.NumFrames() && whole.starts[want+1] <= int64(n) {
			want++
		}
		if got == nil || got.NumFrames() != want {
			t.Fatalf("cut at %d: %v, %v; want %d frames", n, got, err, want)
		}
		if atEnd := n > 0 && int64(n) == whole.starts[want]; atEnd != (err == nil) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		var format *tfile.FormatError
		if err != nil && (!errors.As(err, &format) || !errors.Is(err, ErrTruncated) || format.Offset != 0 && format.Offset != whole.starts[want]) {
			t.Fatalf("cut at %d: %v, want one at %d", n, err, whole.starts[want])
		}
	}
}

// TestStreamDamaged breaks the second frame's packet: in its head, so that frames are lost, or in what only it suffers from.
func TestStreamDamaged(t *testing.T) {
	for _, change := range []struct {
		at     int
		value  uint32
		frames int
		kind   error
		want   string
	}{
		{0, 0xc1fc1fc0, 1, ErrDamaged, "found 0xc1fc1fc0, expected 0xc1fc1fc1, which begins a packet"},
		{4, 7, 1, ErrDamaged, "found 7 bits of content in a packet of 320, expected whole bytes, and from 112 bits to those of the packet"},
		{4, 360, 1, ErrDamaged, "found 360 bits of content in a packet of 320"},
		{8, 0, 1, ErrTruncated, "found 288 bits of content in a packet of 0, expected a packet that was finished"},
		{8, 0xfffffff8, 1, ErrTruncated, "bytes to the end of the stream, expected a packet of 536870911, of tracepoint 1"},
		{12, 0, 1, ErrDamaged, "found a packet of tracepoint 0, expected one of 1 to 32767"},
		{12, 0x80000000, 1, ErrDamaged, "found a packet of tracepoint 32768, expected"},
		{16, eventTSV, 0, ErrDamaged, "found event tsv, expected one event frame, at the start of the packet"},
		{20, eventFrame, 0, ErrDamaged, "found event frame, expected one event frame, at the start of the packet"},
		{20, 9, 0, ErrDamaged, "found an event of id 9, expected one that the metadata declare"},
		{20, eventMemory, 0, ErrDamaged, "found 2 bytes to the end of the packet, expected the header of an event with its field id"},
		{4, 35 * 8, 0, ErrDamaged, "found 15 bytes to the end of the packet, expected event tsv with its field num"},
		{4, 18 * 8, 0, ErrDamaged, "found 4 bytes to the end of the packet, expected the header of an event with its field id"},
	} {
		c := &made{header: fullHeader(orders["be"], 16)}
		c.add(t, nil)
		c.add(t, func(b *tfile.Builder) { b.Variable(0x4000, 0x40404040) })
		c.add(t, nil)
		metadata, stream := written(t, c)
		start := opened(t, metadata, stream).starts[1]
		binary.BigEndian.PutUint32(stream[int(start)+change.at:], change.value)
		got, err := Open(metadata, bytes.NewReader(stream), int64(len(stream)))
		if change.frames == 0 && err == nil && got.NumFrames() == 3 {
			frameOf(t, got, 2)
			_, err = got.ReadFrame(1, nil)
			change.frames = 3
		}
		if got == nil || got.NumFrames() != change.frames || !errors.Is(err, change.kind) || !strings.Contains(err.Error(), change.want) {
			t.Errorf("%#x at %d: %v, want %d frames and %s", change.value, change.at, err, change.frames, change.want)
		}
	}
}

// TestReadErrors has a stream that cannot be read, and asks for frames that are not there.
func TestReadErrors(t *testing.T) {
	metadata, stream := written(t, openTraceFile(t, "queue-basic.tf"))
	if c, err := Open(metadata, bytes.NewReader(stream[:1000]), int64(len(stream))); c != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a stream that is shorter than told: %v", err)
	}
	c := opened(t, metadata, stream)
	for _, i := range []int{-1, c.NumFrames()} {
		if _, err := c.ReadFrame(i, nil); err == nil {
			t.Errorf("frame %d is there", i)
		}
	}
}

// TestWriteErrors writes what cannot be written.
func TestWriteErrors(t *testing.T) {
	negative := &made{header: fullHeader(orders["le"], 16)}
	negative.raw(t, []byte{0, 0x80, 0, 0, 0, 0})
	for want, c := range map[string]tfile.Content{
		"without a byte order":                &made{header: tfile.Header{RegisterSize: 4}},
		"register blocks of 0 bytes":          &made{header: tfile.Header{Order: orders["le"]}},
		"frame 0: it is of tracepoint -32768": negative,
		"no frame 85":                         more{openTraceFile(t, "queue-basic.tf")},
	} {
		if err := Write(io.Discard, io.Discard, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c := openTraceFile(t, "queue-basic.tf")
	for limit := range 4 {
		if err := Write(&full{limit}, &full{limit * 80000}, c); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("writers of limit %d: %v", limit, err)
		}
	}
}

// more says that it has one frame more than it has.
type more struct{ tfile.Content }

func (m more) NumFrames() int { return m.Content.NumFrames() + 1 }

// full is a writer with room for so many bytes.
type full struct{ room int }

func (w *full) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// TestLongPackets makes a packet as long as can be, and one byte longer.
func TestLongPackets(t *testing.T) {
	p := &packetBuilder{order: binary.LittleEndian, buf: make([]byte, math.MaxUint32/8-packetTail, math.MaxUint32/8)}
	packet, err := p.finish()
	if err != nil || binary.LittleEndian.Uint32(packet[packetSizeAt:]) != math.MaxUint32-7 {
		t.Error(err)
	}
	p.buf = p.buf[:math.MaxUint32/8-packetTail+1]
	if _, err := p.finish(); err == nil || !strings.Contains(err.Error(), "a frame takes a packet of 536870912 bytes, of which the format allows at most 536870911") {
		t.Error(err)
	}
}

// TestBigFrame takes a frame of 100 MB there and back.
func TestBigFrame(t *testing.T) {
	c := &made{header: tfile.Header{Order: binary.BigEndian, RegisterSize: 8}}
	c.add(t, func(b *tfile.Builder) {
		p := make([]byte, 100<<20)
		for i := 0; i < len(p); i += 4096 {
			p[i] = byte(i >> 12)
		}
		b.AppendMemory(0x10000, p)
	})
	c.add(t, nil)
	sameFrames(t, converted(t, c), c)
}

// TestProgress sees that progress is told, always onwards, and not too often.
func TestProgress(t *testing.T) {
	c := repeated{openTraceFile(t, "queue-basic.tf"), 100}
	var stream, metadata bytes.Buffer
	var frames, offsets []int64
	if err := Write(&metadata, &stream, c, WithProgress(func(done int64) { frames = append(frames, done) })); err != nil {
		t.Fatal(err)
	}
	size := int64(stream.Len())
	if _, err := Open(metadata.Bytes(), bytes.NewReader(stream.Bytes()), size, WithProgress(func(done int64) { offsets = append(offsets, done) })); err != nil {
		t.Fatal(err)
	}
	for what, told := range map[string][]int64{"frames": frames, "offsets": offsets} {
		limit := map[string]int64{"frames": int64(c.NumFrames()), "offsets": size}[what]
		last := int64(0)
		for _, done := range told {
			if done <= last || done > limit {
				t.Errorf("%s: %d after %d, of %d", what, done, last, limit)
			}
			last = done
		}
		if len(told) < 15 || len(told) > 30 {
			t.Errorf("%s told %d times", what, len(told))
		}
	}
}

// FuzzOpen opens arbitrary metadata with an arbitrary stream. Nothing may panic; frames lie in the stream, and are no longer
// than a small multiple of it; and what is read comes back equal when it is written and read.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"le", "be"} {
		m := &made{header: fullHeader(orders[name], 16)}
		m.add(f, nil)
		m.add(f, func(b *tfile.Builder) {
			copy(b.Memory(0x1000, 3), "abc")
			b.Variable(2, 5)
			clear(b.Registers(16))
			b.AppendStatic([]byte("static"))
		})
		metadata, stream := written(f, m)
		f.Add(metadata, stream)
		metadata, _, _ = bytes.Cut(metadata, []byte("env {"))
		f.Add(metadata, stream)
	}
	f.Add([]byte(otherwise), []byte(otherPacket(5, "\x01\x2c.?")))
	f.Fuzz(func(t *testing.T, metadata, stream []byte) {
		c, err := Open(metadata, bytes.NewReader(stream), int64(len(stream)))
		var format *tfile.FormatError
		var meta *MetadataError
		if err != nil && !(c == nil && errors.As(err, &meta)) && !(c != nil && errors.As(err, &format) && format.Offset <= int64(len(stream))) {
			t.Fatalf("%v with the error %v", c, err)
		}
		if c == nil {
			return
		}
		readable := true
		for i := range c.NumFrames() {
			frame, err := c.ReadFrame(i, nil)
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatalf("frame %d: %v", i, err)
			}
			readable = readable && err == nil
			if err == nil && (frame.Tracepoint() != c.Tracepoint(i) || frame.Len() > 8*len(stream)) {
				t.Fatalf("frame %d of tracepoint %d, %d bytes", i, frame.Tracepoint(), frame.Len())
			}
		}
		if h := c.Header(); readable && h.RegisterSize < 1<<20 {
			got := converted(t, c)
			sameFrames(t, got, c)
		}
	})
}
