package flags

import (
	"tracewell/itrace"
	"tracewell/itrace/dialects"
)

// Dialect is the value of --dialect, nil without the option, which has the dialect detected. Detection reads the first bytes of a
// trace; the option is for traces whose beginning is in no dialect, or fits several, and for what a trace does not tell, which
// stands behind the name as in NAME:OPTION=VALUE.
type Dialect struct{ *itrace.Dialect }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Dialect) UnmarshalText(text []byte) (err error) {
	d.Dialect, err = dialects.All.ByName(string(text))
	return err
}
