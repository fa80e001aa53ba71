package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// taskGoal is how long a task of the main thread may keep a user waiting, in milliseconds. The browser calls a longer one a long task.
const taskGoal = 50

// tasks are what the main thread of a page had to do while something was done, as the browser's own tracing has it. A page's
// entries of the type longtask round, and leave out what the browser does for the page: layout, painting, input.
type tasks struct {
	count            int
	long             int           // that took more than taskGoal
	longest          time.Duration // from beginning to end, also while another process had the processor
	longestProcessor time.Duration // time of the processor
	all              time.Duration // of all together, of the processor
}

// String writes tasks as a line of a table.
func (t tasks) String() string {
	return fmt.Sprintf("%5d tasks, longest %4d ms (%3d ms of the processor), %2d above %d ms, %5d ms of the processor in all",
		t.count, t.longest.Milliseconds(), t.longestProcessor.Milliseconds(), t.long, taskGoal, t.all.Milliseconds())
}

// traceEvent is an event of the browser's tracing. Times are in microseconds.
type traceEvent struct {
	Name      string  `json:"name"`
	Process   int     `json:"pid"`
	Thread    int     `json:"tid"`
	Time      float64 `json:"ts"`
	Duration  float64 `json:"dur"`
	Processor float64 `json:"tdur"`
}

// tracedBuffer is the room for events, in KiB.
const tracedBuffer = 64 << 10

// begun is the mark that tells which of all threads is the main thread of the page, and where what is measured begins.
const begun = "tracewell begins"

// traced measures the tasks of the main thread while something is done.
func (p *tab) traced(do func()) tasks {
	p.Helper()
	p.mu.Lock()
	p.events, p.complete = nil, make(chan struct{})
	p.mu.Unlock()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
			TraceBufferSizeInKb: tracedBuffer, ExcludedCategories: []string{"*"},
			IncludedCategories: []string{"toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"},
		}})
		return err
	}))
	eval[bool](p, fmt.Sprintf("!!performance.mark(%q)", begun))
	do()
	// What was begun at the end is painted, too.
	await[bool](p, `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))`)
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, tracing.End, cdp.Empty{})
		return err
	}))
	select {
	case <-p.complete:
	case <-p.ctx.Done():
		p.Fatal("the browser does not end its tracing")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost {
		p.Fatal("the browser has lost events of its tracing")
	}
	return p.summed()
}

// summed sums up the tasks of the main thread behind the mark. The caller holds the lock.
func (p *tab) summed() (t tasks) {
	p.Helper()
	at := slices.IndexFunc(p.events, func(e traceEvent) bool { return e.Name == begun })
	if at < 0 {
		p.Fatalf("the mark is not among %d events of the browser's tracing", len(p.events))
	}
	mark := p.events[at]
	for _, e := range p.events {
		// A task that has begun in front of the mark made it.
		if e.Name != "RunTask" || e.Process != mark.Process || e.Thread != mark.Thread || e.Time < mark.Time {
			continue
		}
		wall, processor := time.Duration(e.Duration*1e3), time.Duration(e.Processor*1e3)
		t.count++
		t.longest, t.longestProcessor = max(t.longest, wall), max(t.longestProcessor, processor)
		t.all += processor
		if wall > taskGoal*time.Millisecond {
			t.long++
		}
	}
	if t.count == 0 {
		p.Fatalf("no task is among %d events of the browser's tracing", len(p.events))
	}
	return t
}

// collect keeps what the browser's tracing sends. The caller holds the lock.
func (p *tab) collect(event any) {
	switch e := event.(type) {
	case *tracing.EventDataCollected:
		for _, value := range e.Value {
			var event traceEvent
			// An event may have other types in members of these names; it is none that counts then.
			if json.Unmarshal(value, &event) == nil {
				p.events = append(p.events, event)
			}
		}
	case *tracing.EventTracingComplete:
		p.lost = e.DataLossOccurred
		close(p.complete)
	}
}
