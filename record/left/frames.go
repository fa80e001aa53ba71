package left

import (
	"fmt"

	"tracewell/arch"
	"tracewell/record/output"
	"tracewell/tfile"
)

// mostFrame limits the data of a frame: a length above it means that the bytes are no frame.
const mostFrame = 256 << 20

// frames writes what is read of a trace buffer (qTBuffer), which has the bytes of a trace file, in pieces that do not end where
// frames do. Whole frames go into the file, and part holds the beginning of the next one.
type frames struct {
	order arch.ByteOrder
	most  int64 // frames that are wanted, 0 for all
	file  *output.File

	part          []byte
	frames, bytes int64 // in the file
}

// enough reports whether there are as many frames as are wanted.
func (f *frames) enough() bool { return f.most > 0 && f.frames >= f.most }

// add adds the next piece of the buffer. Frames beyond the number that is wanted stay in part, so that the file ends with the
// last one that was asked for. On a full disk the file has fewer, and those are counted.
func (f *frames) add(b []byte) error {
	f.part = append(f.part, b...)
	// Only lengths are looked at here, so that the file is written once for each piece.
	whole, count := 0, f.frames
	for rest := f.part; len(rest) >= tfile.FrameHeader && (f.most == 0 || count < f.most); count++ {
		length := output.FrameLength(f.order, rest)
		if length-tfile.FrameHeader > mostFrame {
			return fmt.Errorf("the stub's buffer holds a frame of %d bytes", length)
		}
		if length > len(rest) {
			break
		}
		whole, rest = whole+length, rest[length:]
	}
	n, size, err := f.file.Append(f.part[:whole])
	f.frames, f.bytes = f.frames+n, f.bytes+int64(size)
	if err != nil {
		return fmt.Errorf("the frames of the stub cannot be written: %w", err)
	}
	f.part = append(f.part[:0], f.part[whole:]...)
	return nil
}
