//go:build !linux || !amd64

package demo

import (
	"context"

	"tracewell/cmd/tracewell/internal/cli/console"
)

// traceDemo is never reached: Run checks the system before.
func traceDemo(context.Context) (*demonstration, error) { return nil, console.CheckTracing("demo") }
