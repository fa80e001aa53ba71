//go:build !linux || !amd64

package serve

import (
	"context"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/stub"
)

// serve says that there is no program to serve.
func (c *Command) serve(context.Context, console.Streams, request, *stub.DebugLog) error {
	return console.CheckTracing("serve")
}
