package tdesc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/regularfile"
	"tracewell/internal/serving"
	"tracewell/rsp/client"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
	"tracewell/tfile"
)

// description is the document that a command was pointed at.
type description struct {
	name  string
	text  []byte
	close func() error
}

// OpenDescription reads a document, from a file or from a stub, and tells where what it includes comes from. A name with a
// colon is a stub unless there is a file of that name.
func OpenDescription(name string, timeout time.Duration, streams console.Streams) (*description, tdesc.Include, error) {
	if name == "-" {
		text, err := fetch.All(streams.In)
		return ofText("standard input", text), fetch.Folder(regularfile.Folder(".")), err
	}
	switch status, err := os.Stat(name); {
	case err == nil && status.Mode()&fs.ModeSocket != 0:
		return ofStub(name, serving.Comm{Network: "unix", Address: name}, timeout)
	case err == nil:
		return ofFile(name)
	default:
		place, notPlace := serving.ParseComm(name)
		if notPlace != nil || place.Network == "device" {
			return nil, nil, err
		}
		return ofStub(name, place, timeout)
	}
}

func ofText(name string, text []byte) *description {
	return &description{name: name, text: text, close: func() error { return nil }}
}

// traceMark is how trace files begin.
const traceMark = "\x7fTRACE"

func ofFile(name string) (*description, tdesc.Include, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := fetch.All(f)
	if err != nil {
		return nil, nil, err
	}
	if bytes.HasPrefix(text, []byte(traceMark)) {
		text, err := inTraceFile(f)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		return ofText(name, text), nil, nil
	}
	return ofText(name, text), fetch.Folder(regularfile.Folder(filepath.Dir(name))), nil
}

// inTraceFile gets the description that a trace file holds.
func inTraceFile(f *os.File) ([]byte, error) {
	status, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := tfile.Open(f, status.Size())
	if file == nil {
		return nil, err
	}
	if file.Header().Description == "" {
		return nil, errors.New("the trace file has no target description")
	}
	return []byte(file.Header().Description), nil
}

// ofStub asks a stub. Nothing is asked of it but its features and what it serves of the description, and it is left by
// closing the connection, so that its program neither runs nor ends for it.
func ofStub(name string, place serving.Comm, timeout time.Duration) (*description, tdesc.Include, error) {
	conn, err := net.DialTimeout(place.Network, place.Address, timeout)
	if err != nil {
		return nil, nil, err
	}
	include, text, err := ask(conn, timeout)
	if err != nil {
		conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", timeout)
		}
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return &description{name: name, text: text, close: conn.Close}, include, nil
}

func ask(conn net.Conn, timeout time.Duration) (tdesc.Include, []byte, error) {
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, nil, err
	}
	include, err := fetch.Stub(client.New(conn))
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the stub closed the connection: %w", err)
		}
		return nil, nil, err
	}
	text, err := include(fetch.Main)
	return include, text, err
}
