package view

import (
	"context"
	"errors"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/web"
	"tracewell/web/frames"
	"tracewell/web/sources"
)

// opened is what the operands are as the subject of a page.
type opened struct {
	subject web.Subject
	err     error // of a recording that is damaged: what there is of it is shown
	close   func() error
}

// open finds out what the operands are, and opens them.
func (c *Command) open(ctx context.Context, streams console.Streams) (*opened, error) {
	other, file, err := c.openExecutions(ctx, streams)
	if other != nil || err != nil {
		return other, err
	}
	t, err := c.OpenTraceOf(file, c.File, c.Exec, streams)
	if err != nil {
		return nil, err
	}
	return c.traceFile(ctx, t, streams)
}

// traceFile is the page of a trace file. Its source files may lie in the folder of the program, wherever the debugging information
// says that they are; the user sees which these are before anybody can ask for one.
func (c *Command) traceFile(ctx context.Context, t *input.TraceFile, streams console.Streams) (*opened, error) {
	program := ""
	if t.View.Symbols != nil {
		program = t.View.Symbols.Main().Path()
	}
	files, err := sources.New(program, c.Source)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--source: %w", err), t.Close())
	}
	subject, err := frames.New(ctx, t.Name, t.View, t.Err, files)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	page.ListSources(streams, files.Names())
	return &opened{subject, t.Err, t.Close}, nil
}
