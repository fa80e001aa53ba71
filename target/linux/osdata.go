//go:build linux

package linux

import (
	"tracewell/internal/osdata"
	"tracewell/target"
)

// OS implements target.Groups.
func (t *Target) OS() target.OS { return osdata.Host() }

// OS implements target.Groups.
func (e *Ended) OS() target.OS { return osdata.Host() }
