//go:build !linux || !amd64

package record

import (
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/record"
)

// openHere says that there is no run on this machine.
func openHere(record.Config) (recordSession, error) { return nil, console.CheckTracing("record") }
