package figures

import (
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/trace"
	"tracewell/view"
)

// file prints the figures of frames that were recorded. Its clock is their timestamps.
type file struct {
	*Writer
	out   *console.Output
	every time.Duration

	stamps      trace.VariableNumber // of $trace_timestamp
	timed       bool                 // there is that variable
	some        bool                 // a frame has had one
	first, last int64                // in microseconds
	due         int64                // when the next interval ends
}

// NewFileWriter returns a writer that prints the figures of all frames when it is flushed, and with every also at that interval of
// the times at which the frames were made.
func NewFileWriter(out *console.Output, v *view.View, o *Options, top int, asJSON bool) (printing.FrameWriter, error) {
	figures, err := New(o, top, asJSON)
	if err != nil {
		return nil, err
	}
	w, err := figures.For(v)
	if err != nil {
		return nil, err
	}
	f := &file{Writer: w, out: out, every: time.Duration(o.Every)}
	// Another stub may number the variable otherwise than record does.
	for _, known := range v.Content.Header().Variables {
		if known.Name == trace.TimestampName {
			f.stamps, f.timed = known.Number, true
		}
	}
	return f, nil
}

// Add implements printing.FrameWriter.
func (f *file) Add(frame view.Frame) error {
	// Files that were merged, or come of a circular buffer, need not be in the order of time; an interval ends with the first frame
	// that lies behind it.
	if stamp, ok := frame.Variable(f.stamps); ok && f.timed {
		if !f.some {
			f.some, f.first, f.last, f.due = true, stamp, stamp, stamp+f.every.Microseconds()
		}
		if f.every > 0 && stamp >= f.due {
			at := Moment{Since: time.Duration(f.due-f.first) * time.Microsecond, Interval: f.every}
			if err := f.Print(f.out, at, 0); err != nil {
				return err
			}
			every := f.every.Microseconds()
			f.due += every * ((stamp-f.due)/every + 1) // intervals without a frame are passed over, of which there may be any number
		}
		f.first, f.last = min(f.first, stamp), max(f.last, stamp)
	}
	return f.Writer.Add(frame)
}

// Flush implements printing.FrameWriter.
func (f *file) Flush() error {
	// Whoever interrupts show sees no figures: they would look like those of the file.
	return f.Print(f.out, Moment{Since: time.Duration(f.last-f.first) * time.Microsecond}, 0)
}
