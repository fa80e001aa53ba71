package dap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
)

const (
	// mostHits and mostHitBytes bound what is kept of a run in memory. All of it is in the trace file if the user wants one.
	mostHits     = 1 << 16
	mostHitBytes = 64 << 20
)

// hits are the last hits of a run, numbered from 0 in their order.
type hits struct {
	raw         [][]byte // a ring
	first, next int64    // those from first up to next are kept
	size        int64
}

// add keeps a frame, and forgets old ones. The ring's own bytes are used again, so that in the steady state nothing is allocated.
func (h *hits) add(frame []byte) {
	for h.next-h.first == mostHits || h.next > h.first && h.size+int64(len(frame)) > mostHitBytes {
		h.size -= int64(len(h.raw[h.first%mostHits]))
		h.first++
	}
	place := h.next % mostHits
	if place == int64(len(h.raw)) {
		h.raw = append(h.raw, nil)
	}
	h.raw[place] = append(h.raw[place][:0], frame...)
	h.next++
	h.size += int64(len(frame))
}

// get copies a hit, false if it is not kept.
func (h *hits) get(n int64) ([]byte, bool) {
	if n < h.first || n >= h.next {
		return nil, false
	}
	return bytes.Clone(h.raw[n%mostHits]), true
}

// lastSnapshot is the last hit of a breakpoint that is no log point, false if there is none.
func (h *hits) lastSnapshot(mu *sync.Mutex, points map[trace.Number]*breakpoint) (int64, bool) {
	mu.Lock()
	defer mu.Unlock()
	any := false
	for _, b := range points {
		any = any || b.log == nil
	}
	return h.next - 1, any && h.next > 0
}

// parseFrame is a frame of a run whose definitions a view has.
func parseFrame(raw []byte, v *view.View) (tfile.Frame, error) {
	h := v.Content.Header()
	return tfile.ParseFrame(raw, h.Order, h.RegisterSize)
}

// copyFrame is a frame with bytes of its own.
func copyFrame(f tfile.Frame, v *view.View) (tfile.Frame, bool) {
	kept, err := parseFrame(bytes.Clone(f.Bytes()), v)
	return kept, err == nil
}

// list implements debuggee: the hits that are kept.
func (l *running) list() frameList { return hitList{l} }

type hitList struct{ l *running }

func (h hitList) count() int {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	return int(h.l.hits.next)
}

var errNotKept = errors.New("not kept any more")

func (h hitList) moment(i int) (*frameMoment, error) {
	h.l.mu.Lock()
	raw, ok := h.l.hits.get(int64(i))
	v := h.l.view
	h.l.mu.Unlock()
	if !ok {
		return nil, errNotKept
	}
	f, err := parseFrame(raw, v)
	if err != nil {
		return nil, err
	}
	n := h.l.names()
	if h.l.moment == nil || h.l.moment.view != v {
		n = viewNames(v)
	}
	return newFrameMoment(n, v, v.Of(i, f)), nil
}

func (h hitList) entry(i int) (frameEntry, error) {
	m, err := h.moment(i)
	if errors.Is(err, errNotKept) {
		return frameEntry{Frame: i, Place: errNotKept.Error()}, nil
	}
	if err != nil {
		return frameEntry{}, err
	}
	return m.entryOf(), nil
}

func (h hitList) tree(i int) *tree {
	return lazyTree(func() (*frameMoment, error) { return h.moment(i) })
}

func (h hitList) filter(where string) (func(int) (bool, error), error) {
	h.l.mu.Lock()
	v := h.l.view
	h.l.mu.Unlock()
	if v == nil {
		return nil, errRuns
	}
	condition, err := v.Condition(where)
	if err != nil {
		return nil, err
	}
	return func(i int) (bool, error) {
		m, err := h.moment(i)
		if err != nil {
			return false, nil // it is not kept
		}
		return condition.Match(m.reader), nil
	}, nil
}

// counts lists the breakpoints with their counts.
func (l *running) counts(context.Context, *session, string) (string, *stop, error) {
	l.mu.Lock()
	run, points, kept := l.run, l.points, l.hits.next-l.hits.first
	l.mu.Unlock()
	if run == nil {
		return "the program has not begun", nil, nil
	}
	feed := run.Feed()
	var b strings.Builder
	for _, p := range feed.Points {
		kind := "breakpoint"
		if known := points[p.Number]; known != nil && known.log != nil {
			kind = "log point"
		}
		fmt.Fprintf(&b, "%s at %s: %d hits, %d errors", kind, p.At, p.Hits, p.Errors)
		switch {
		case p.Pending:
			b.WriteString(", in nothing that is loaded yet")
		case p.Errors > 0:
			fmt.Fprintf(&b, ", the last one: %s", p.LastError)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d hits in all, %d kept", feed.Frames, kept)
	return b.String(), nil, nil
}

// explain tells how hits are collected.
func (l *running) explain(context.Context, *session, string) (string, *stop, error) {
	l.mu.Lock()
	run := l.run
	l.mu.Unlock()
	if run == nil {
		return "the program has not begun", nil, nil
	}
	var b strings.Builder
	for _, e := range run.Explain() {
		fmt.Fprintf(&b, "%s: %s\n", l.fileNames.describe(e.Key.Addr), e)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil, nil
}
