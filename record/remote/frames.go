package remote

import (
	"fmt"

	"tracewell/record"
	"tracewell/record/output"
	"tracewell/tfile"
	"tracewell/trace"
)

// mostFrame is how long the data of a frame may be; a server that says more has not sent a frame.
const mostFrame = 256 << 20

// frames are what has been fetched of a server's buffer, which is read from its beginning to its end. Whole frames go into the
// file; the last may be there in part only.
type frames struct {
	registers int                // length of a register block
	most      int64              // frames that are wanted, 0 for all
	show      func(record.Frame) // nil for nobody
	file      *output.File

	fetched int64 // bytes of the server's buffer
	part    []byte
	count   int64
	bytes   int64
	tallies map[trace.Number]tally
}

// tally is what there is of one tracepoint.
type tally struct{ frames, bytes uint64 }

// enough reports whether there are as many frames as are wanted.
func (f *frames) enough() bool { return f.most > 0 && f.count >= f.most }

// take takes what stands next in the buffer.
func (f *frames) take(b []byte) error {
	f.fetched += int64(len(b))
	f.part = append(f.part, b...)
	whole, count := 0, f.count
	for rest := f.part; len(rest) >= tfile.FrameHeader && (f.most == 0 || count < f.most); count++ {
		length := output.FrameLength(machine.Order, rest)
		if length-tfile.FrameHeader > mostFrame {
			return fmt.Errorf("the server's buffer holds a frame of %d bytes behind byte %d", length, f.fetched-int64(len(rest)))
		}
		if length > len(rest) {
			break
		}
		whole, rest = whole+length, rest[length:]
	}
	if err := f.keep(f.part[:whole]); err != nil {
		return err
	}
	f.part = append(f.part[:0], f.part[whole:]...)
	return nil
}

// keep writes whole frames to the file, as many as there is room for, counts them and shows them.
func (f *frames) keep(b []byte) error {
	kept, full := f.file.Append(b)
	if full != nil {
		full = fmt.Errorf("the frames of the server cannot be written: %w", full)
	}
	b = b[:kept]
	for len(b) > 0 {
		length := output.FrameLength(machine.Order, b)
		frame, err := tfile.ParseFrame(b[:length], machine.Order, f.registers)
		if err != nil {
			return err
		}
		t := f.tallies[frame.Tracepoint()]
		f.tallies[frame.Tracepoint()] = tally{t.frames + 1, t.bytes + uint64(length)}
		if f.show != nil {
			f.show(record.Frame{Frame: frame, Index: f.count})
		}
		f.count++
		f.bytes += int64(length)
		b = b[length:]
	}
	return full
}

// piecesAtOnce is how often a server is asked for more frames before something else may happen.
const piecesAtOnce = 64

// fetch reads on in the server's buffer, a while or to its end, and reports whether it has come there.
func (s *Session) fetch(all bool) (done bool, err error) {
	const aside = 16 // bytes of a reply that are not for data, as in gdbserver
	f := &s.frames
	for i := 0; all || i < piecesAtOnce; i++ {
		if f.enough() {
			return true, nil
		}
		b, err := s.server.TraceBuffer(f.fetched, (s.server.PacketSize()-aside)/2)
		if err != nil || len(b) == 0 {
			return true, err
		}
		if size := s.result.Status.Size; size >= 0 && f.fetched+int64(len(b)) > size {
			return false, fmt.Errorf("the server's buffer of %d bytes holds more than that", size)
		}
		if err := f.take(b); err != nil {
			return false, err
		}
	}
	return false, nil
}
