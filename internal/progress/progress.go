package progress

import (
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// Bar is a piece of work. A nil *Bar is one that is not shown; all methods take it.
type Bar struct {
	terminal *os.File
	work     Work
	start    time.Time
	patience time.Duration
	last     time.Time // when the bar was told of progress

	shown *mpb.Progress // nil until there is something to show
	bar   *mpb.Bar
}

// Work says what is done.
type Work struct {
	Name  string // such as "reading run.tf", of characters that can go to a terminal
	Total int64  // how much there is, 0 or less if that is not known
	Unit  Unit
}

// Unit is what work is counted in.
type Unit uint8

// The units.
const (
	Bytes Unit = iota
	Frames
)

// patience is how long work may take without a bar.
const patience = time.Second

// Start begins a piece of work whose bar goes to f. It returns nil if f is no terminal or one that has no cursor to move.
func Start(f *os.File, work Work) *Bar {
	if !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &Bar{terminal: f, work: work, start: time.Now(), patience: patience}
}

// interval is how often a bar is told of progress.
const interval = 50 * time.Millisecond

// Set says how much has been done so far. It costs a look at the clock, and more only now and then. Calls must not overlap one
// another or Done.
func (b *Bar) Set(done int64) {
	if b == nil {
		return
	}
	now := time.Now()
	if now.Sub(b.start) < b.patience || now.Sub(b.last) < interval {
		return
	}
	b.last = now
	if b.shown == nil {
		b.show()
	}
	if b.work.Total > 0 {
		done = min(done, b.work.Total)
	}
	b.bar.SetCurrent(done)
}

// Done ends the work and removes the bar. It may be called again.
func (b *Bar) Done() {
	if b == nil || b.shown == nil {
		return
	}
	b.bar.Abort(true)
	b.shown.Wait()
	b.shown = nil
	b.patience = never
}

// never is more patience than anything takes.
const never = 1<<63 - 1

// show draws the bar for the first time.
func (b *Bar) show() {
	width, _, err := term.GetSize(int(b.terminal.Fd()))
	if err != nil || width <= 0 {
		width = usualWidth
	}
	b.shown = mpb.New(mpb.WithOutput(fromStart{b.terminal}), mpb.WithWidth(width), mpb.WithAutoRefresh())
	name := decor.Name(b.work.Name + " ")
	if b.work.Total <= 0 {
		b.bar = b.shown.New(0, mpb.NopStyle(), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(name, b.count(), b.speed()))
		return
	}
	left := decor.Any(func(s decor.Statistics) string { return remaining(time.Since(b.start), s.Current, s.Total) })
	b.bar = b.shown.New(b.work.Total, mpb.BarStyle(), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(name, decor.NewPercentage("%d")), mpb.AppendDecorators(b.count(), b.speed(), left))
}

// usualWidth is that of a terminal that does not tell.
const usualWidth = 80

// fromStart is a terminal on which all that is written at once begins at the start of the line. mpb goes up to the line of its
// bar and takes the cursor to be in the first column, where it is not when the terminal has echoed a key such as ^C.
type fromStart struct{ terminal *os.File }

// Write implements io.Writer.
func (f fromStart) Write(p []byte) (int, error) {
	n, err := f.terminal.Write(append([]byte{'\r'}, p...))
	return max(n-1, 0), err
}

// count shows how much has been done.
func (b *Bar) count() decor.Decorator {
	if b.work.Unit == Frames {
		return decor.CurrentNoUnit("%d frames")
	}
	return decor.CurrentKibiByte("% .1f")
}

// speed shows how much of it in a second.
func (b *Bar) speed() decor.Decorator {
	if b.work.Unit == Frames {
		return decor.NewAverageSpeed(0, ", %.0f/s", b.start)
	}
	return decor.NewAverageSpeed(decor.SizeB1024(0), ", % .1f", b.start)
}

// remaining says how long the rest takes if it goes on as it went.
func remaining(elapsed time.Duration, done, total int64) string {
	if done <= 0 {
		return ""
	}
	left := time.Duration(float64(elapsed) * float64(total-done) / float64(done))
	return ", " + left.Round(time.Second).String() + " left"
}
