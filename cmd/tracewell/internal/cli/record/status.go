package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/progress"
	"tracewell/internal/routine"
	"tracewell/internal/text"
	"tracewell/record"
	"tracewell/record/definition"
	"tracewell/symbol"
)

// runStatus tells how a run stands: on a terminal of its own by a table that is drawn anew a few times a second, elsewhere by a
// line now and then. Messages come above the table.
type runStatus struct {
	file    *os.File
	job     *console.Job // in whose background nothing is drawn; nil for none
	quiet   bool
	verbose bool // every warning is written
	live    bool // there is a table
	plain   bool // there are lines
	style   text.Style

	mu            sync.Mutex
	width, height int // of the terminal, 0 for anything else
	screen        *cwriter.Writer
	table         []byte // as it was drawn last
	feed          func() record.Feed
	start         time.Time
	last          record.Feed   // as drawn last, for the rates
	ended         chan struct{} // closed by stop; nil if nothing is shown
	idle          routine.Group // of the goroutine of watch
}

// How often the table is drawn, and a line written. A line is for logs, which somebody reads later: few of them say that the run
// is alive and how it goes. The table is for eyes, four times a second; Feed costs the run next to nothing.
const (
	liveInterval  = 250 * time.Millisecond
	plainInterval = 10 * time.Second
)

// newRunStatus tells on f. A terminal that is shared with somebody else who writes to it gets neither table nor lines.
func newRunStatus(f *os.File, quiet, shared bool) *runStatus {
	out := console.NewOutput(f)
	onTerminal := console.IsTerminal(f)
	s := &runStatus{
		file: f, quiet: quiet, style: out.Style, width: out.Width, height: out.Lines, screen: cwriter.New(f),
		live:  onTerminal && !shared && !quiet && os.Getenv("TERM") != "dumb",
		plain: !onTerminal && !quiet,
	}
	// Only where the table is drawn anew the cursor may stand behind an echoed key; a file would keep the carriage returns.
	if s.live {
		s.screen = cwriter.New(lineStart{f})
	}
	return s
}

// lineStart is a terminal on which all that is written at once begins at the start of the line: where the table is drawn anew a
// key may have been echoed, as ^C is.
type lineStart struct{ terminal *os.File }

// Write implements io.Writer. The carriage return is not counted: io.Writer must not return more than len(p).
func (l lineStart) Write(p []byte) (int, error) {
	n, err := l.terminal.Write(append([]byte{'\r'}, p...))
	return max(n-1, 0), err
}

// say prints a message above the table, unless --quiet.
func (s *runStatus) say(format string, args ...any) {
	if s.quiet {
		return
	}
	s.message(format+"\n", args...)
}

// warn writes what could not be done, even if all else is left out.
func (s *runStatus) warn(err error) {
	for _, line := range warningTexts(err, s.verbose) {
		s.message("tracewell: warning: %s\n", line)
	}
}

// warningTexts are the warnings that an error stands for. Of those about one tracepoint the first is enough, unless somebody wants
// all: a pattern may match a thousand functions, half of which lack the same argument. The count of the others is never left out,
// as frames of these locations will lack something.
func warningTexts(err error, verbose bool) (texts []string) {
	var problems definition.Problems
	if !errors.As(err, &problems) || len(problems) == 1 {
		return []string{err.Error()}
	}
	if !verbose {
		return []string{err.Error() + ": -v prints all"}
	}
	for _, problem := range problems {
		texts = append(texts, problem.Error())
	}
	return texts
}

// message prints above the table: cwriter replaces the lines of the old table by the message and the table again.
func (s *runStatus) message(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.screen, format, args...)
	s.draw()
}

// points says where tracepoints are, and warns of those that are nowhere yet.
func (s *runStatus) points(points []record.Point) {
	for _, p := range points {
		if p.Pending != nil {
			s.warn(fmt.Errorf("tracepoint %d: %w\nLibraries that are loaded later are searched for it", p.Number, p.Pending))
			continue
		}
		s.say("%s", pointText(p))
	}
}

// draw puts the table below what was written: cwriter clears as many lines as it was told that the table had. An error, as of a
// terminal that is gone, is no reason to end a run. The caller holds mu.
func (s *runStatus) draw() {
	_, _ = s.screen.Write(s.table)
	_ = s.screen.Flush(bytes.Count(s.table, []byte{'\n'}))
}

// watch starts the goroutine that shows the status, if it is shown at all. feed may be called from any goroutine.
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

// refresh draws the table or prints a line. The size of the terminal is read each time, as users resize their windows. Nothing is
// drawn by a job in the background: its terminal belongs to another one, and may stop it (SIGTTOU).
func (s *runStatus) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The counts are taken once, so that a table and its rates are of one moment.
	now := s.feed()
	if s.live {
		if width, height, err := term.GetSize(int(s.file.Fd())); err == nil {
			s.width, s.height = width, height
		}
		s.table = s.lines(now)
		s.last = now
		if s.job != nil && s.job.Control != nil && !s.job.Foreground() {
			s.table = nil
			return
		}
		s.draw()
		return
	}
	// A line has sums only: logs are read by people who want to know whether anything comes, and the summary has the rest.
	var hits, errors uint64
	for _, p := range now.Points {
		hits, errors = hits+p.Hits, errors+p.Errors
	}
	fmt.Fprintf(s.file, "%v: %s, %s, %s, %s\n", time.Since(s.start).Round(time.Second), text.Plural(hits, "hit"),
		text.Plural(now.Frames, "frame"), sizeText(now.Bytes), text.Plural(errors, "error"))
}

// stop ends the goroutine of watch and removes the table.
func (s *runStatus) stop() {
	// The goroutine has ended before the table is removed, or it could draw it once more.
	if s.ended == nil {
		return
	}
	close(s.ended)
	s.idle.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table = nil
	s.draw()
}

// summary prints the final table, of all tracepoints and without rates, which would be those of the last quarter of a second.
func (s *runStatus) summary(feed record.Feed) {
	if s.quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.height = record.Feed{}, 0
	_, _ = s.screen.Write(s.lines(feed))
	s.draw()
}

// More tracepoints than lines would make the terminal scroll, and cwriter moves the cursor up by lines of the screen only: the old
// table would stay. So a table that is drawn anew fits, and the final one has all rows.

// around is the number of lines of the terminal that rows do not fill: the titles, "… N more …", and the line of the cursor.
const around = 3

// lines is a table with a row for each tracepoint, and below it the last error of that. A rate is that of the time since the
// table was drawn last; if tracepoints have been added since, the rates are left out once.
func (s *runStatus) lines(feed record.Feed) []byte {
	var b bytes.Buffer
	columns := []text.Column{
		{Title: "tp", Right: true}, {Title: "location"}, {Title: "hits", Right: true}, {Title: "per s", Right: true},
		{Title: "frames", Right: true}, {Title: "bytes", Right: true}, {Title: "errors", Right: true},
	}
	// Without rates their column is left out: an empty one would look like no hits.
	rates := len(s.last.Points) == len(feed.Points)
	if !rates {
		columns = append(columns[:3], columns[4:]...)
	}
	table := text.NewTable(&b, s.width, s.style, columns...)
	for i, p := range feed.Points {
		if more := len(feed.Points) - i; s.height > 0 && i >= s.height-around && more > 1 {
			_ = table.Flush()
			fmt.Fprintf(&b, "… %d more …\n", more)
			break
		}
		location := text.Visible(p.At)
		if p.Pending {
			location += " (not found yet)"
		}
		row := []string{strconv.Itoa(int(p.Number)), location, decimal(p.Hits)}
		if rates {
			row = append(row, rateText(p.Hits-s.last.Points[i].Hits, feed.At.Sub(s.last.At)))
		}
		row = append(row, decimal(p.Frames), sizeText(int64(p.Bytes)), decimal(p.Errors))
		_ = table.Row(console.CellsOf(row))
		if p.Errors > 0 && p.LastError != "" {
			_ = table.Below([]byte("    " + text.Visible(p.LastError) + "\n"))
		}
	}
	_ = table.Flush() // a buffer takes everything
	return b.Bytes()
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// sizeText is a number of bytes in binary units, with one digit behind the point from 1 KiB on.
func sizeText(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return fmt.Sprintf("% .1f", decor.SizeB1024(n))
}

// rateText is a rate per second, without a fraction. It is empty if no time has passed.
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

// whileReading calls open, which reads debug information by these options, and shows on f how far that has come.
func whileReading[Opened any](f *os.File, o *symbol.Options, open func() (Opened, error)) (Opened, error) {
	bar := readingBar{file: f}
	o.Progress = bar.set
	defer bar.done()
	return open()
}

// set is the progress callback of symbol.Options, in bytes. The bar is made when there is something to show.
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
