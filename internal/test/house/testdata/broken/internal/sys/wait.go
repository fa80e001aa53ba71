// Package sys has what a raw wait status is.
package sys

// Status is one.
type Status int

// Wait returns one.
func Wait() Status { return 0 }

// Exited reports whether it is that of an exit.
func (s Status) Exited() bool { return s == 0 }
