//go:build amd64

package linux

import (
	"tracewell/internal/osdata"
	"tracewell/target"
)

// OS implements target.Groups.
func (t *Target) OS() target.OS { return osdata.Host() }
