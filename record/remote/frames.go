package remote

import (
	"fmt"

	"tracewell/arch"
	"tracewell/record"
	"tracewell/record/output"
	"tracewell/tfile"
	"tracewell/trace"
)

// mostFrame limits the data of a frame: a length above it means that the bytes are no frame.
const mostFrame = 256 << 20

// frames are the frames that were fetched from a server's trace buffer, which is read from its beginning to its end
// in pieces of the length of a packet (qTBuffer). The pieces have the bytes of a trace file but do not end where
// frames do. Whole frames go into the file, and part holds the beginning of the next one.
type frames struct {
	order     arch.ByteOrder
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

// add adds the next piece of the buffer. Frames beyond the number that is wanted stay in part, so that the file ends
// with the last one that was asked for.
func (f *frames) add(b []byte) error {
	f.fetched += int64(len(b))
	f.part = append(f.part, b...)
	// Only lengths are looked at here, so that the file is written once for each piece.
	whole, count := 0, f.count
	for rest := f.part; len(rest) >= tfile.FrameHeader && (f.most == 0 || count < f.most); count++ {
		length := output.FrameLength(f.order, rest)
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

// keep writes whole frames to the file, counts them and shows them. On a full disk the file takes fewer: those that
// it has are counted and shown all the same, so that the result agrees with the file.
func (f *frames) keep(b []byte) error {
	_, kept, full := f.file.Append(b)
	if full != nil {
		full = fmt.Errorf("the frames of the server cannot be written: %w", full)
	}
	b = b[:kept]
	for len(b) > 0 {
		length := output.FrameLength(f.order, b)
		frame, err := tfile.ParseFrame(b[:length], f.order, f.registers)
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

// fetch reads on in the server's buffer, for a while or to its end, and reports whether it has reached the end. The
// server keeps all frames until the run is over, so the position is simply the number of bytes fetched. A circular
// buffer is fetched only after the run: dropping an old frame moves all others.
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
		// Without this a server that answers every offset would fill the disk.
		if size := s.result.Status.Size; size >= 0 && f.fetched+int64(len(b)) > size {
			return false, fmt.Errorf("the server's buffer of %d bytes holds more than that", size)
		}
		if err := f.add(b); err != nil {
			return false, err
		}
	}
	return false, nil
}
