package record

import (
	"tracewell/record"
	"tracewell/record/local"
)

// openHere prepares a run on this machine.
func openHere(config local.Config) (*record.Session, error) { return local.Open(config) }
