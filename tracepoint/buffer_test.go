package tracepoint

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// testFrame makes a frame of size bytes in all, filled with a mark.
func testFrame(size int, mark byte) []byte {
	f := bytes.Repeat([]byte{mark}, size)
	binary.LittleEndian.PutUint16(f, 1)
	binary.LittleEndian.PutUint32(f[2:], uint32(size-tfile.FrameHeader))
	return f
}

// model is what a buffer should be, in the simplest way: a list of frames, and the offset at which each must lie, since
// room depends on it.
type model struct {
	size     int
	circular bool
	frames   []modelFrame
}

type modelFrame struct {
	at    int
	bytes []byte
	pc    arch.Addr
	step  bool
}

// append looks for the first offset behind the newest frame, or at the start, that no frame overlaps.
func (m *model) append(f modelFrame) bool {
	if len(f.bytes) > m.size {
		return false
	}
	for {
		if at, ok := m.room(len(f.bytes)); ok {
			f.at = at
			m.frames = append(m.frames, f)
			return true
		}
		if !m.circular {
			return false
		}
		m.frames = m.frames[1:]
	}
}

func (m *model) room(n int) (int, bool) {
	if len(m.frames) == 0 {
		return 0, true
	}
	newest := m.frames[len(m.frames)-1]
	for _, at := range []int{newest.at + len(newest.bytes), 0} {
		if m.free(at, n) && m.inOrder(at) {
			return at, true
		}
	}
	return 0, false
}

func (m *model) free(at, n int) bool {
	if at+n > m.size {
		return false
	}
	for _, f := range m.frames {
		if at < f.at+len(f.bytes) && f.at < at+n {
			return false
		}
	}
	return true
}

// inOrder reports whether a frame at the offset would keep the ring in order: going to the start is possible once only.
func (m *model) inOrder(at int) bool {
	oldest, newest := m.frames[0], m.frames[len(m.frames)-1]
	return at >= newest.at || newest.at >= oldest.at
}

func (m *model) stream() []byte {
	var all []byte
	for _, f := range m.frames {
		all = append(all, f.bytes...)
	}
	return all
}

// TestBufferAgainstModel does random operations on small buffers of many sizes, where frames wrap all the time.
func TestBufferAgainstModel(t *testing.T) {
	wraps := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := buffer{order: binary.LittleEndian}
		m := model{}
		for range 300 {
			switch random.IntN(40) {
			case 0:
				m = model{size: random.IntN(200), circular: m.circular}
				b.resize(m.size)
				b.allocate(nil)
			case 1:
				m.frames = nil
				b.reset()
			case 2:
				m.circular = random.IntN(3) > 0
				b.circular = m.circular
			default:
				f := modelFrame{
					bytes: testFrame(tfile.FrameHeader+random.IntN(60), byte(random.Uint32())),
					pc:    arch.Addr(random.Uint64()),
					step:  random.IntN(2) == 0,
				}
				if got, want := b.append(f.bytes, 1, f.pc, f.step) == nil, m.append(f); got != want {
					t.Fatalf("seed %d: append of %d bytes: got %v, want %v", seed, len(f.bytes), got, want)
				}
				if b.wrapped {
					wraps++
				}
			}
			compareBuffer(t, seed, &b, &m, random)
		}
	}
	if wraps < 1000 {
		t.Errorf("only %d operations on a wrapped buffer: the test does not reach what it is for", wraps)
	}
}

func compareBuffer(t *testing.T, seed uint64, b *buffer, m *model, random *rand.Rand) {
	t.Helper()
	if b.count() != len(m.frames) {
		t.Fatalf("seed %d: %d frames, want %d", seed, b.count(), len(m.frames))
	}
	for i, want := range m.frames {
		sequence := b.first + uint64(i)
		at := b.entry(sequence)
		if at.pc != want.pc || at.stepped() != want.step || at.tracepoint() != 1 {
			t.Fatalf("seed %d: frame %d is indexed as %+v, want %+v", seed, i, at, want)
		}
		if got := b.frame(sequence); !bytes.Equal(got, want.bytes) {
			t.Fatalf("seed %d: frame %d is %x, want %x", seed, i, got, want.bytes)
		}
	}
	stream := m.stream()
	if b.used != len(stream) {
		t.Fatalf("seed %d: %d bytes used, want %d", seed, b.used, len(stream))
	}
	offset := random.IntN(len(stream) + 1)
	dst := make([]byte, random.IntN(len(stream)+10))
	n := b.readAt(int64(offset), dst)
	if want := stream[offset:min(len(stream), offset+len(dst))]; !bytes.Equal(dst[:n], want) {
		t.Fatalf("seed %d: read of %d bytes at %d gave %x, want %x", seed, len(dst), offset, dst[:n], want)
	}
}

// TestBufferWrap is one wrap in slow motion: 100 bytes, frames of 30.
func TestBufferWrap(t *testing.T) {
	b := buffer{order: binary.LittleEndian, size: 100, circular: true}
	b.allocate(nil)
	for mark := range byte(5) {
		if err := b.append(testFrame(30, 'a'+mark), trace.MaxNumber, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	older, newer := b.runs()
	if got, want := string(older), string(testFrame(30, 'c')); got != want {
		t.Errorf("before the hole: %q, want %q", got, want)
	}
	if got, want := string(newer), string(testFrame(30, 'd'))+string(testFrame(30, 'e')); got != want {
		t.Errorf("after the wrap: %q, want %q", got, want)
	}
	if got := b.entry(b.first).tracepoint(); got != trace.MaxNumber {
		t.Errorf("tracepoint %d, want %d", got, trace.MaxNumber)
	}
}

// TestBufferTooLarge: what can never fit costs no frame that is there.
func TestBufferTooLarge(t *testing.T) {
	b := buffer{order: binary.LittleEndian, size: 100, circular: true}
	b.allocate(nil)
	for range 3 {
		b.append(testFrame(30, 'a'), 1, 0, false)
	}
	if err := b.append(testFrame(101, 'b'), 1, 0, false); err != errBufferFull {
		t.Errorf("got %v, want %v", err, errBufferFull)
	}
	if b.count() != 3 {
		t.Errorf("%d frames are left of 3", b.count())
	}
	if err := b.append(testFrame(100, 'c'), 1, 0, false); err != nil || b.count() != 1 {
		t.Errorf("a frame of the size of the buffer: error %v, %d frames, want 1", err, b.count())
	}
}
