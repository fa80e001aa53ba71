package cli

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/record"
)

// runStatus tells how a run stands: on a terminal of its own by a table that is drawn anew a few times a second, elsewhere by a
// line now and then. Messages come above the table.
type runStatus struct {
	file  *os.File
	quiet bool
	live  bool // there is a table
	plain bool // there are lines
	style text.Style
	width int

	mu     sync.Mutex
	screen *cwriter.Writer
	feed   func() record.Feed
	start  time.Time
	last   record.Feed // that was shown
	ended  chan struct{}
	idle   sync.WaitGroup
}

// How often the table is drawn, and a line written.
const (
	liveInterval  = 250 * time.Millisecond
	plainInterval = 10 * time.Second
)

// newRunStatus tells on f. A terminal that is shared with somebody else who writes to it gets neither table nor lines.
func newRunStatus(f *os.File, quiet, shared bool) *runStatus {
	out := newOutput(f)
	onTerminal := isTerminal(f)
	s := &runStatus{
		file: f, quiet: quiet, style: out.style, width: out.width,
		live:  onTerminal && !shared && !quiet && os.Getenv("TERM") != "dumb",
		plain: !onTerminal && !quiet,
	}
	s.screen = cwriter.New(f)
	return s
}

// say writes a message.
func (s *runStatus) say(format string, args ...any) {
	if s.quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.screen, format+"\n", args...)
	s.draw()
}

// warn writes what could not be done, even if all else is left out.
func (s *runStatus) warn(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.screen, "tracewell: warning: %v\n", err)
	s.draw()
}

// draw puts the table below what was written. Errors come again or are of no interest.
func (s *runStatus) draw() {
	if !s.live || s.feed == nil {
		_ = s.screen.Flush(0)
		return
	}
	now := s.feed()
	table := s.lines(now)
	s.last = now
	s.screen.Write(table)
	_ = s.screen.Flush(bytes.Count(table, []byte{'\n'}))
}

// watch begins to tell how things stand.
func (s *runStatus) watch(feed func() record.Feed) {
	interval := liveInterval
	switch {
	case s.plain:
		interval = plainInterval
	case !s.live:
		return
	}
	s.mu.Lock()
	s.feed, s.start, s.last = feed, time.Now(), feed()
	s.mu.Unlock()
	s.ended = make(chan struct{})
	s.idle.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-s.ended:
				return
			case <-tick.C:
				s.refresh()
			}
		}
	})
}

// refresh tells how things stand now.
func (s *runStatus) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live {
		s.resize()
		s.draw()
		return
	}
	now := s.feed()
	var hits, errors uint64
	for _, p := range now.Points {
		hits, errors = hits+p.Hits, errors+p.Errors
	}
	fmt.Fprintf(s.file, "%v: %s, %s, %s, %s\n", time.Since(s.start).Round(time.Second), text.Plural(hits, "hit"),
		text.Plural(now.Frames, "frame"), sizeText(now.Bytes), text.Plural(errors, "error"))
}

// resize learns the width of the terminal, which may have changed.
func (s *runStatus) resize() {
	if width, _, err := term.GetSize(int(s.file.Fd())); err == nil {
		s.width = width
	}
}

// stop ends the telling, and takes the table away.
func (s *runStatus) stop() {
	if s.ended == nil {
		return
	}
	close(s.ended)
	s.idle.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feed = nil
	_ = s.screen.Flush(0)
}

// table writes how things stood at the end.
func (s *runStatus) table(feed record.Feed) {
	if s.quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = record.Feed{}
	s.screen.Write(s.lines(feed))
	_ = s.screen.Flush(0)
}

// lines are a table with a row for each tracepoint, and the last error of each below it.
func (s *runStatus) lines(feed record.Feed) []byte {
	var b bytes.Buffer
	columns := []text.Column{
		{Title: "tp", Right: true}, {Title: "location"}, {Title: "hits", Right: true}, {Title: "per s", Right: true},
		{Title: "frames", Right: true}, {Title: "bytes", Right: true}, {Title: "errors", Right: true},
	}
	rates := len(s.last.Points) == len(feed.Points)
	if !rates {
		columns = append(columns[:3], columns[4:]...)
	}
	table := text.NewTable(&b, s.width, s.style, columns...)
	for i, p := range feed.Points {
		location := text.Visible(p.At)
		if p.Pending {
			location += " (waits for a library)"
		}
		row := []string{strconv.Itoa(int(p.Number)), location, decimal(p.Hits)}
		if rates {
			row = append(row, rateText(p.Hits-s.last.Points[i].Hits, feed.At.Sub(s.last.At)))
		}
		row = append(row, decimal(p.Frames), sizeText(int64(p.Bytes)), decimal(p.Errors))
		_ = table.Row(cellsOf(row))
		if p.Errors > 0 && p.LastError != "" {
			_ = table.Below([]byte("    " + text.Visible(p.LastError) + "\n"))
		}
	}
	_ = table.Flush() // a buffer takes everything
	return b.Bytes()
}

func cellsOf(row []string) [][]byte {
	cells := make([][]byte, len(row))
	for i, cell := range row {
		cells[i] = []byte(cell)
	}
	return cells
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// sizeText is a number of bytes as people read it.
func sizeText(n int64) string { return fmt.Sprintf("% .1f", decor.SizeB1024(n)) }

// rateText is how many there were in a second.
func rateText(n uint64, within time.Duration) string {
	if within <= 0 {
		return ""
	}
	return strconv.FormatFloat(float64(n)/within.Seconds(), 'f', 0, 64)
}

// readingBar shows how far the reading of debug information has come. Several goroutines may read.
type readingBar struct {
	mu   sync.Mutex
	file *os.File
	bar  *progress.Bar
	over bool
}

func newReadingBar(f *os.File) *readingBar { return &readingBar{file: f} }

func (r *readingBar) set(done, total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	if r.bar == nil {
		r.bar = progress.Start(r.file, progress.Work{Name: "reading debug information", Total: total})
	}
	r.bar.Set(done)
}

// done takes the bar away, for good: during a run nothing but its status is shown.
func (r *readingBar) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.bar.Done()
}
