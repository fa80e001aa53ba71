//go:build !linux

package serve

import (
	"context"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/stub"
)

// serve is never reached: Run checks the system before.
func (c *Command) serve(context.Context, console.Streams, request, *stub.DebugLog) error {
	return console.CheckTracing("serve")
}
