package printing

import (
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/input"
)

// sizes are the bytes of the parts of a file.
type sizes struct {
	Definitions int64 // with the lines that begin and end them
	Frames      int64
	Rest        int64 // the end marker, and what is behind it or cannot be read
}

// SizesOf takes a file apart. A frame that cannot be read counts as rest.
func SizesOf(t *input.TraceFile) sizes {
	file := t.View.File
	s := sizes{Definitions: file.End()}
	if count := file.NumFrames(); count > 0 {
		first, err := file.Frame(0)
		last, lastErr := file.Frame(count - 1)
		if err == nil && lastErr == nil {
			s.Definitions = first.Offset()
			s.Frames = last.Offset() + int64(len(last.Bytes())) - first.Offset()
		}
	}
	s.Rest = max(t.Size-s.Definitions-s.Frames, 0)
	return s
}

// FramesText says how many frames there are and how long.
func (s sizes) FramesText(count int) string {
	if count == 0 {
		return "0"
	}
	return fmt.Sprintf("%d, of %s bytes on average", count, Short(float64(s.Frames)/float64(count)))
}
