//go:build !linux

package serve

import (
	"context"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/stub"
)

// serve is never reached: Run checks the system before.
func (c *Command) serve(context.Context, console.Streams, request, *stub.DebugLog, page.Version) error {
	return console.CheckTracing("serve")
}
