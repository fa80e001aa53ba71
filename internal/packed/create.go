package packed

import (
	"errors"
	"io"
	"os"

	"tracewell/internal/wholefile"
)

// Write has the file of that name written by a function, compressed by method unless that is nil. A regular file is written
// whole or not at all, as wholefile.Write does it; a device or a pipe gets the bytes as they come.
func Write(name string, method *Method, write func(io.Writer) error) error {
	pack := func(w io.Writer) error { return method.Pack(w, write) }
	status, err := os.Stat(name)
	if err != nil || status.Mode().IsRegular() || status.IsDir() {
		return wholefile.Write(name, pack)
	}
	stream, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(pack(stream), stream.Close())
}
