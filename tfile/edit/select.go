package edit

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/tfile"
	"tracewell/trace"
)

// Choice says which frames are wanted: those that meet all that it asks for.
type Choice struct {
	First int // the first frame
	End   int // the frame behind the last one; 0 for no end
	// Tracepoints are those whose frames are wanted; without any all are.
	Tracepoints []trace.Number
	// Keep, unless it is nil, is asked about the frames that meet the rest. It must not keep their bytes.
	Keep func(i int, f tfile.Frame) (bool, error)
	// Progress, unless it is nil, is told from time to time how many frames Keep has been asked about.
	Progress func(done int64)
}

// Select returns the frames of c that are wanted, in their order and numbered anew from 0.
//
// The status tells their count, and still how many the run created. The tracepoints keep their hits and usage, which are of
// the run, too. If only some tracepoints are wanted the others are left out of the definitions: what GDB lists is then what
// the frames are of. Variables all stay, for expressions refer to them.
//
// It is an error to ask for a tracepoint that is neither defined nor has frames. Other errors are those of Keep, and of
// reading frames for it.
func Select(c tfile.Content, choice Choice) (*Selection, error) {
	if err := choice.check(c); err != nil {
		return nil, err
	}
	s := &Selection{content: c}
	var frame tfile.Frame
	asked := 0
	for i := max(choice.First, 0); i < choice.end(c); i++ {
		if len(choice.Tracepoints) > 0 && !slices.Contains(choice.Tracepoints, c.Tracepoint(i)) {
			continue
		}
		if choice.Keep != nil {
			var err error
			if frame, err = c.ReadFrame(i, frame.Bytes()); err != nil {
				return nil, err
			}
			keep, err := choice.Keep(i, frame)
			if err != nil {
				return nil, err
			}
			if asked++; choice.Progress != nil && asked%progressStep == 0 {
				choice.Progress(int64(asked))
			}
			if !keep {
				continue
			}
		}
		s.frames = append(s.frames, i)
	}
	s.header = choice.header(c.Header(), len(s.frames))
	return s, nil
}

// progressStep is how many frames go between two tellings of progress.
const progressStep = 1000

func (c Choice) end(content tfile.Content) int {
	if c.End == 0 {
		return content.NumFrames()
	}
	return min(c.End, content.NumFrames())
}

// check looks for tracepoints that there are none of.
func (c Choice) check(content tfile.Content) error {
	if len(c.Tracepoints) == 0 {
		return nil
	}
	known := numbers(content)
	for _, n := range c.Tracepoints {
		if slices.Contains(known, n) {
			continue
		}
		there := "there are no tracepoints"
		if len(known) > 0 {
			there = "there are " + strings.Trim(fmt.Sprint(known), "[]")
		}
		return fmt.Errorf("no tracepoint %d: %s", n, there)
	}
	return nil
}

// numbers returns the tracepoints that are defined or have frames, in ascending order.
func numbers(c tfile.Content) []trace.Number {
	var all []trace.Number
	for _, t := range c.Header().Tracepoints {
		all = append(all, t.Number)
	}
	var seen [1 << 16]bool // a frame's number has 16 bits
	for i := range c.NumFrames() {
		if n := c.Tracepoint(i); !seen[uint16(n)] {
			seen[uint16(n)] = true
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// header is the header of a file with count of the frames.
func (c Choice) header(h tfile.Header, count int) tfile.Header {
	if h.Status != nil {
		status := *h.Status
		status.Frames = int64(count)
		h.Status = &status
	}
	if len(c.Tracepoints) > 0 {
		h.Tracepoints = slices.DeleteFunc(slices.Clone(h.Tracepoints), func(t trace.Tracepoint) bool {
			return !slices.Contains(c.Tracepoints, t.Number)
		})
	}
	return h
}

// Selection is some of the frames of a content. It is a tfile.Content itself.
type Selection struct {
	content tfile.Content
	header  tfile.Header
	frames  []int // of content
}

// Header implements tfile.Content.
func (s *Selection) Header() tfile.Header { return s.header }

// NumFrames implements tfile.Content.
func (s *Selection) NumFrames() int { return len(s.frames) }

// Original returns the number that frame i has in the content that was selected from.
func (s *Selection) Original(i int) int { return s.frames[i] }

// Tracepoint implements tfile.Content.
func (s *Selection) Tracepoint(i int) trace.Number { return s.content.Tracepoint(s.frames[i]) }

// ReadFrame implements tfile.Content.
func (s *Selection) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	if i < 0 || i >= len(s.frames) {
		return tfile.Frame{}, fmt.Errorf("no frame %d, there are %d", i, len(s.frames))
	}
	return s.content.ReadFrame(s.frames[i], buf)
}
