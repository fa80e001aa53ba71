// Package frames is the subject of a page that shows a trace file.
package frames

import (
	"context"
	"net/url"

	"tracewell/view"
	"tracewell/web"
)

// Trace is a trace file as the subject of a page.
type Trace struct {
	title string
	view  *view.View
}

// New returns a page of a trace.
func New(title string, v *view.View) *Trace { return &Trace{title, v} }

// Kind implements web.Subject.
func (t *Trace) Kind() string { return "frames" }

// Title implements web.Subject.
func (t *Trace) Title() string { return t.title }

// Answer implements web.Subject.
func (t *Trace) Answer(ctx context.Context, question string, args url.Values) (any, error) {
	return nil, web.ErrNoQuestion
}

// Static implements web.Subject.
func (t *Trace) Static() []web.Question { return nil }
