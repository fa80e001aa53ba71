//go:build !linux

package mend

import "tracewell/cmd/tracewell/internal/cli/console"

// mend is never reached: Run checks the system before.
func (c *Command) mend(console.Streams) error { return console.CheckTracing("mend") }
