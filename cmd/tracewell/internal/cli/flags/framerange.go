package flags

import (
	"fmt"
	"strconv"
	"strings"
)

// FrameRange is the frames from first to last, both included. A negative last is that of the file.
type FrameRange struct{ first, last int }

// wholeFile is every frame.
var wholeFile = FrameRange{0, -1}

// UnmarshalText implements encoding.TextUnmarshaler for A:B, A: and :B.
func (r *FrameRange) UnmarshalText(b []byte) error {
	first, last, ok := strings.Cut(string(b), ":")
	// ":" alone is the whole file. Both errors are looked at together, since the message is the same.
	*r = wholeFile
	var firstErr, lastErr error
	if first != "" {
		r.first, firstErr = frameNumber(first)
	}
	if last != "" {
		r.last, lastErr = frameNumber(last)
	}
	if !ok || firstErr != nil || lastErr != nil {
		return fmt.Errorf("%q is no range of frames: want A:B, A: or :B, counted from 0 and both included", b)
	}
	if last != "" && r.last < r.first {
		return fmt.Errorf("%q is no range of frames: it ends before it begins", b)
	}
	return nil
}

// frameNumber parses the number of a frame, which has 31 bits on every platform.
func frameNumber(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}

// In returns the first frame of the range and the one behind its last in a file of count frames. A range that begins behind
// the last frame is an error, one that ends there is not.
func (r FrameRange) In(count int) (first, end int, err error) {
	if r.first > 0 && r.first >= count {
		return 0, 0, fmt.Errorf("there is no frame %d: %s", r.first, FrameCount(count))
	}
	// Nothing is checked in a file without frames but a first frame above 0: "0:" and ":" are its whole.
	if r.last < 0 || r.last >= count {
		return r.first, count, nil
	}
	return r.first, r.last + 1, nil
}

// FrameCount describes the frames of a file, for the error of a frame that does not exist.
func FrameCount(count int) string {
	switch count {
	case 0:
		return "the file has no frames"
	case 1:
		return "the file has frame 0 only"
	}
	return fmt.Sprintf("the file has frames 0 to %d", count-1)
}
