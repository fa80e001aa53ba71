package record

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"
	"golang.org/x/term"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/figures"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/view"
)

// figureScreen prints the figures of a run: on a terminal that nobody else writes to as a table that is drawn anew, elsewhere one
// table or object below the other. The printer's lock guards it.
type figureScreen struct {
	*figures.Figures
	out    *console.Output
	file   *os.File
	screen *cwriter.Writer // nil where nothing is drawn anew
	every  time.Duration   // 0 if only the whole is printed
	job    *console.Job    // in whose background nothing is drawn; nil for none

	start, last time.Time
}

// redrawn is how often a table is drawn anew unless --every says otherwise.
const redrawn = time.Second

// newFigureScreen prints to out, which is f.
func newFigureScreen(c *Command, out *console.Output, f *os.File, shared bool) *figureScreen {
	s := &figureScreen{Figures: c.figures, out: out, file: f, every: time.Duration(c.Every)}
	// A program that writes to the same terminal would mix with a table that moves the cursor.
	if out.Lines > 0 && !shared && !c.JSON && os.Getenv("TERM") != "dumb" {
		s.screen = cwriter.New(lineStart{f})
		if s.every == 0 {
			s.every = redrawn
		}
	}
	return s
}

// interval is how long it is from one print to the next.
func (s *figureScreen) interval() time.Duration {
	// A ticker needs some interval: this one never ends.
	if s.every == 0 {
		return math.MaxInt64
	}
	return s.every
}

// screenWriter takes the frames of a view.
type screenWriter struct {
	*figures.Writer
	screen *figureScreen
}

// writer returns a writer for the frames of a view.
func (s *figureScreen) writer(v *view.View) (printing.FrameWriter, error) {
	w, err := s.For(v)
	return screenWriter{w, s}, err
}

// Flush implements printing.FrameWriter: the run is over.
func (w screenWriter) Flush() error { return w.screen.end() }

// begin is when the run begins.
func (s *figureScreen) begin(at time.Time) { s.start, s.last = at, at }

// print prints the figures of now, and what has come since it was called before.
func (s *figureScreen) print() error {
	if s.screen != nil && s.job != nil && s.job.Control != nil && !s.job.Foreground() {
		return nil // the terminal is another job's, and may stop this one; the interval goes on
	}
	now := time.Now()
	at := figures.Moment{Since: now.Sub(s.start), Interval: now.Sub(s.last)}
	s.last = now
	if s.screen == nil {
		return s.Print(s.out, at, 0)
	}
	// The size is read each time, as users resize their windows.
	if width, height, err := term.GetSize(int(s.file.Fd())); err == nil {
		s.out.Width, s.out.Lines = width, height
	}
	// cwriter has to be told how many lines it replaces next time, so the table is made in memory first.
	var table bytes.Buffer
	lines := &console.Output{Writer: bufio.NewWriter(&table), Style: s.out.Style, Width: s.out.Width}
	if err := s.Print(lines, at, s.out.Lines); err != nil {
		return err
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	_, _ = s.screen.Write(table.Bytes()) // into memory
	return s.screen.Flush(bytes.Count(table.Bytes(), []byte{'\n'}))
}

// end prints the figures of the whole run, in place of what was drawn last.
func (s *figureScreen) end() error {
	// What was drawn last is of an interval, and cut to the terminal.
	if s.screen != nil {
		if err := s.screen.Flush(0); err != nil {
			return err
		}
	}
	return s.Print(s.out, figures.Moment{Since: time.Since(s.start)}, 0)
}
