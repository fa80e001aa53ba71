package serving

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"tracewell/internal/sys"
)

// device is a serial line, at whose other end there is a client or will be: a line does not tell. It is opened anew
// for each, since a client that went may have left it in the middle of a packet.
type device struct {
	path     string
	messages io.Writer
	ready    *os.File // opened already for the next client, or nil
}

// openDevice opens what COMM names when it holds no colon.
func openDevice(path string, messages io.Writer) (*device, error) {
	status, err := os.Stat(path)
	if err == nil && status.Mode()&(fs.ModeCharDevice|fs.ModeNamedPipe) == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("could not open remote device: %s is no device (a port to listen on has a colon, as in :2345)", path)
	}
	d := &device{path: path, messages: messages}
	d.ready, err = d.open()
	return d, err
}

func (d *device) open() (*os.File, error) {
	line, err := sys.OpenSerial(d.path)
	if err != nil {
		return nil, fmt.Errorf("could not open remote device: %w", err)
	}
	return line, nil
}

func (d *device) Accept() (io.ReadWriteCloser, error) {
	line := d.ready
	d.ready = nil
	if line == nil {
		var err error
		if line, err = d.open(); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(d.messages, "Remote debugging using %s\n", d.path)
	return line, nil
}

// Close implements Listener. A line that has become a client's is closed with it.
func (d *device) Close() error { return nil }
