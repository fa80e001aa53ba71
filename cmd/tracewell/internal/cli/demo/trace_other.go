//go:build !linux || !amd64

package demo

import (
	"context"
	"errors"

	"tracewell/cmd/tracewell/internal/cli/console"
)

// traceDemo says why there is none: Run has checked the system, but not that it is of the processor of the program.
func traceDemo(context.Context) (*demonstration, error) {
	if err := console.CheckTracing("demo"); err != nil {
		return nil, err
	}
	return nil, errors.New("demo: its program is of another processor; tracewell record traces those of this machine")
}
