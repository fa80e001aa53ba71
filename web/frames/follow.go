package frames

import (
	"context"
	"sync"
	"time"

	"tracewell/tfile"
	"tracewell/view"
	"tracewell/view/wire"
	"tracewell/web/sources"
)

// Growing is a trace that is still recorded: a row of snapshots, each of the file as it was. It implements web.Live.
type Growing struct {
	*Trace
	open func() (*view.View, error)

	mu     sync.Mutex
	number uint64 // of snapshots so far
	ended  bool
	change chan struct{} // closed at each change
}

// Times between two looks at the file. A look goes over the frames that are new and opens the file again, so that the next one
// comes only after some multiple of the time that it took: the recording needs the processor.
const (
	shortestPause = 500 * time.Millisecond
	pauseFactor   = 4
)

// NewGrowing returns a page of a trace that is still recorded. open opens the file as it is; it returns nil if the file has not
// changed since it was opened last. An open file stays so as long as its view is in use.
func NewGrowing(ctx context.Context, title string, open func() (*view.View, error), files *sources.Sources) (*Growing, error) {
	v, err := open()
	if err != nil {
		return nil, err
	}
	t, err := New(ctx, title, v, nil, files)
	if err != nil {
		return nil, err
	}
	return &Growing{Trace: t, open: open, number: 1, change: make(chan struct{})}, nil
}

// ShowDebuggee has the page show what the program of the trace does, which tell returns for the view that open returned last. It
// has to be called before Follow, and before the page is served.
func (g *Growing) ShowDebuggee(tell func() *wire.Debuggee) {
	g.debuggee = tell
	g.now.Load().debuggee = tell()
}

// Follow looks at the file again and again, until done is closed, and then once more, or until the context ends. A file that
// cannot be read for the moment, because it takes the place of another, is read the next time.
func (g *Growing) Follow(ctx context.Context, done <-chan struct{}) {
	pause := shortestPause
	for last := false; !last; {
		select {
		case <-time.After(pause):
		case <-done:
			last = true
		case <-ctx.Done():
			return
		}
		start := time.Now()
		v, err := g.open()
		if err != nil || v == nil {
			continue
		}
		earlier := g.now.Load().index
		if !continues(v, g.now.Load().view) {
			earlier = nil
		}
		s, err := g.snapshot(ctx, v, nil, earlier)
		if err != nil {
			continue
		}
		g.now.Store(s)
		g.changed(false)
		pause = max(shortestPause, pauseFactor*time.Since(start))
	}
	g.changed(true)
}

// continues reports whether the frames of an earlier view are the first ones of a view. A content that can begin anew says so by
// itself; of a file only a circular buffer drops frames, and then there are fewer.
func continues(v, earlier *view.View) bool {
	if c, ok := v.Content.(interface{ Continues(tfile.Content) bool }); ok {
		return c.Continues(earlier.Content)
	}
	return v.Content.NumFrames() >= earlier.Content.NumFrames()
}

// changed wakes the pages that wait.
func (g *Growing) changed(ended bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = ended
	if !ended {
		g.number++
	}
	close(g.change)
	g.change = make(chan struct{})
}

// Changed implements web.Live.
func (g *Growing) Changed(ctx context.Context, seen uint64) (uint64, bool) {
	for {
		g.mu.Lock()
		number, ended, change := g.number, g.ended, g.change
		g.mu.Unlock()
		if number != seen || ended {
			return number, ended
		}
		select {
		case <-change:
		case <-ctx.Done():
			return seen, false
		}
	}
}
