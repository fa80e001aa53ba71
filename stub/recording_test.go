package stub

import (
	"errors"
	"io"
	"testing"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/tfile"
	"tracewell/trace"
)

// recording is a trace run of long ago: a frame with all registers, one with none of which nobody knows where it was made, one
// with the first two registers, and one that cannot be read.
type recording struct {
	frames []target.Traceframe
	stream []byte
}

// unreadable is the number of the last frame.
const unreadable = 3

func newRecording(t *testing.T) *recording {
	r := &recording{}
	block := make([]byte, toyLayout(t).RegisterBlock)
	for i := range block {
		block[i] = byte(i)
	}
	b := tfile.Builder{Order: fake.Toy.Order}
	add := func(n trace.Number, registers int, pc arch.Addr) {
		b.Begin(nil, n)
		if registers > 0 {
			copy(b.Registers(registers), block)
		}
		b.AppendMemory(0x404000, []byte{1, 2, 3, byte(len(r.frames))})
		b.Variable(2, int64(len(r.frames)))
		frame, err := tfile.ParseFrame(b.Finish(), fake.Toy.Order, registers)
		if err != nil {
			t.Fatal(err)
		}
		r.stream = append(r.stream, frame.Bytes()...)
		r.frames = append(r.frames, target.Traceframe{Frame: frame, Number: len(r.frames), PC: pc, Unplaced: pc == 0})
	}
	add(1, len(block), 0x401010)
	add(2, 0, 0)
	add(2, 16, 0x401020)
	return r
}

func (r *recording) Status() trace.Status {
	return trace.Status{Reason: trace.ReasonStop, Frames: 4, Created: 4, Free: -1, Size: -1, User: "ada"}
}

func (r *recording) Tracepoints() []trace.Tracepoint {
	return []trace.Tracepoint{
		{Number: 2, Addr: 0x401020, Enabled: true, Source: trace.Source{At: "toy.c:2"}},
		{Number: 1, Addr: 0x401010, Enabled: true, Condition: []byte{0x22, 1, 0x27}},
	}
}

func (r *recording) Hits(key trace.Key) (hits, usage uint64, ok bool) {
	return 0x11, 0x22, key.Number == 1
}

func (r *recording) Variables() []trace.Variable {
	return []trace.Variable{{Number: 2, Initial: 7, Name: "n"}}
}

var errDisk = errors.New("frame 3: the disk is broken")

func (r *recording) Frame(n int) (target.Traceframe, bool, error) {
	switch {
	case n == unreadable:
		return target.Traceframe{}, false, errDisk
	case n < 0 || n > unreadable:
		return target.Traceframe{}, false, nil
	}
	return r.frames[n], true, nil
}

func (r *recording) Find(q tfile.Query, from int) (n int, ok bool, err error) {
	for n := from; n < len(r.frames); n++ {
		if f := r.frames[n]; !f.Unplaced && q.Match(f.Tracepoint(), f.PC) {
			return n, true, nil
		}
	}
	if q.Kind == tfile.ByOutside {
		return 0, false, errDisk
	}
	return 0, false, nil
}

func (r *recording) ReadBuffer(offset int64, dst []byte) (int, error) {
	if offset >= int64(len(r.stream)) {
		return 0, io.EOF
	}
	return copy(dst, r.stream[offset:]), nil
}

func (r *recording) Save(w io.Writer, description string) error {
	file, err := tfile.NewWriter(w, tfile.Header{Order: fake.Toy.Order, RegisterSize: len(r.frames[0].Registers()), Description: description},
		tfile.KeepDamaged()) // the short block of registers is damage in a file
	if err != nil {
		return err
	}
	for _, f := range r.frames {
		if err := file.WriteFrame(f.Bytes()); err != nil {
			return err
		}
	}
	return file.Close()
}
