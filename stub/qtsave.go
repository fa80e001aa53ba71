package stub

import (
	"errors"
	"io"

	"tracewell/rsp"
)

// saveTrace is QTSave. The run may go on meanwhile; what the file has is the buffer as it is now.
func (x *session) saveTrace(args string) ([]byte, error) {
	in := rsp.NewScanner(args)
	name := in.HexBytes()
	if err := in.End(); err != nil {
		return nil, err
	}
	if len(name) == 0 {
		return nil, errors.New("a trace file needs a name")
	}
	description := string(x.target.Description().XML())
	return replyOK, x.config.Save(string(name), func(w io.Writer) error { return x.recorded.Save(w, description) })
}

// saves reports whether the server has a place for trace files.
func saves(s *Server) bool { return hasRun(s) && s.config.Save != nil }
