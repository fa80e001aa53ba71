//go:build !linux || !amd64

package demo

import (
	"context"

	"tracewell/cmd/tracewell/internal/cli/console"
)

// traceDemo says that the demo program cannot be traced.
func traceDemo(context.Context) (*demonstration, error) { return nil, console.CheckTracing("demo") }
