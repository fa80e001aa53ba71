//go:build !linux

package record

import (
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/record"
	"tracewell/record/local"
)

// openHere says that there is no run on this machine.
func openHere(local.Config) (*record.Session, error) { return nil, console.CheckTracing("record") }
