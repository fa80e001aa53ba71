//go:build !linux

package dap

import (
	"errors"

	"tracewell/record"
	"tracewell/record/local"
)

// recordHere is nil: there is no run on this machine.
var recordHere func(local.Config) (*record.Session, error)

// terminate is never called: nothing is attached to.
func terminate(int) error { return errors.ErrUnsupported }
