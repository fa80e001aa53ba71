package view

import (
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/web"
	"tracewell/web/frames"
)

// opened is what the operands are as the subject of a page.
type opened struct {
	subject web.Subject
	err     error // of a recording that is damaged: what there is of it is shown
	close   func() error
}

// open finds out what the operands are, and opens them.
func (c *Command) open(streams console.Streams) (*opened, error) {
	t, err := c.OpenTrace(c.File, c.Exec, streams)
	if err != nil {
		return nil, err
	}
	return c.traceFile(t)
}

// traceFile is the page of a trace file.
func (c *Command) traceFile(t *input.TraceFile) (*opened, error) {
	return &opened{frames.New(t.Name, t.View), t.Err, t.Close}, nil
}
