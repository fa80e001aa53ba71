package stub

import (
	"errors"
	"io"
)

// saveTrace is QTSave. The run may go on meanwhile; what the file has is the buffer as it is now.
func (x *session) saveTrace(name string) error {
	if name == "" {
		return errors.New("a trace file needs a name")
	}
	// GDB finds registers in a trace file by the description in it; without one it takes those of its own default.
	description := string(x.target.Description().XML())
	return x.config.Save(name, func(w io.Writer) error { return x.recorded.Save(w, description) })
}
