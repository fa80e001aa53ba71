package record

import "tracewell/record"

// openHere prepares a run on this machine.
func openHere(config record.Config) (recordSession, error) { return record.Open(config) }
