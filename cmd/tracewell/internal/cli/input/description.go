package input

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

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/regularfile"
	"tracewell/internal/serving"
	"tracewell/rsp/client"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
	"tracewell/tfile"
)

// DescriptionSources explains the operand of a command that reads a target description.
const DescriptionSources = "A document, the trace file that holds one, - for standard input, " +
	"or a running stub: HOST:PORT or unix:PATH."

// DescriptionOptions are the flags of the commands that read a target description.
type DescriptionOptions struct {
	Strict  DescriptionRules `placeholder:"gdb|manual" default:"gdb" help:"Which rules apply where GDB 13 and its manual disagree."`
	Timeout time.Duration    `default:"5s" help:"How long to wait for a stub."`
}

// DescriptionRules is the value of --strict: GDB 13 is the usual judge, because a description is written for it; the manual is
// for those who write for other debuggers, too.
type DescriptionRules tdesc.Source

// Decode implements kong.MapperValue.
func (r *DescriptionRules) Decode(ctx *kong.DecodeContext) error {
	switch value := ctx.Scan.Pop().String(); value {
	case "gdb":
		*r = DescriptionRules(tdesc.ByGDB)
	case "manual":
		*r = DescriptionRules(tdesc.ByManual)
	default:
		return fmt.Errorf("%q is neither gdb nor manual", value)
	}
	return nil
}

// Description is a document that has been opened but not parsed. The connection of a stub stays open, since what the document
// includes is fetched while it is parsed.
type Description struct {
	Name    string // for messages
	Text    []byte
	Options tdesc.Options // Include fetches the documents that this one includes
	Close   func() error
}

// Parse parses a description and prints its findings as warnings. The connection of a stub is closed before it returns: an included
// document has been fetched by then.
func (o *DescriptionOptions) Parse(name string, streams console.Streams) (*tdesc.Target, error) {
	doc, err := o.Open(name, streams)
	if err != nil {
		return nil, err
	}
	defer doc.Close()
	target, findings, err := doc.Options.Parse(doc.Text)
	var warnings []string
	for _, f := range findings {
		warnings = append(warnings, f.String())
	}
	console.Warn(streams.Err, doc.Name, warnings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doc.Name, err)
	}
	return target, nil
}

// Open reads a document from a file or a stub. A name with a colon is a stub unless there is a file of that name.
func (o *DescriptionOptions) Open(name string, streams console.Streams) (*Description, error) {
	doc, err := o.find(name, streams)
	if err != nil {
		return nil, err
	}
	doc.Options.Source = tdesc.Source(o.Strict)
	return doc, nil
}

// find decides what a name means. A socket in the file system is a stub, any other file is read, and what is no file is parsed as
// HOST:PORT. The error of os.Stat is returned for what is neither, since most such names are misspelt paths. Includes of a
// document on standard input are looked up in the working folder.
func (o *DescriptionOptions) find(name string, streams console.Streams) (*Description, error) {
	if name == "-" {
		text, err := fetch.All(streams.In)
		return describedBy("standard input", text, fetch.Folder(regularfile.Folder("."))), err
	}
	switch status, err := os.Stat(name); {
	case err == nil && status.Mode()&fs.ModeSocket != 0:
		return describedByStub(name, serving.Comm{Network: "unix", Address: name}, o.Timeout)
	case err == nil:
		return describedByFile(name)
	default:
		place, notPlace := serving.ParseComm(name)
		if notPlace != nil || place.Network == "device" {
			return nil, err
		}
		return describedByStub(name, place, o.Timeout)
	}
}

// describedBy is a description that has been read whole, so that there is nothing to close.
func describedBy(name string, text []byte, include tdesc.Include) *Description {
	return &Description{Name: name, Text: text, Close: func() error { return nil }, Options: tdesc.Options{Include: include}}
}

// traceMark begins every trace file, whatever its version: 0x7f, TRACE, then the version as a digit and a line feed. No XML does.
const traceMark = "\x7fTRACE"

// describedByFile reads a document, or the one that a trace file holds. Included documents are looked up beside the document.
func describedByFile(name string) (*Description, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := fetch.All(f)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(text, []byte(traceMark)) {
		return describedBy(name, text, fetch.Folder(regularfile.Folder(filepath.Dir(name)))), nil
	}
	// GDB saves the document in the file with its includes expanded.
	if text, err = inTraceFile(f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return describedBy(name, text, nil), nil
}

// inTraceFile returns the description in a trace file, which may be cut off behind it.
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

// describedByStub fetches the document from a stub. It requests nothing but the stub's features and the description, and leaves by
// closing the connection, so that the stub's program is neither resumed nor killed.
func describedByStub(name string, place serving.Comm, timeout time.Duration) (*Description, error) {
	conn, err := net.DialTimeout(place.Network, place.Address, timeout)
	if err != nil {
		return nil, err
	}
	include, text, err := fetchFrom(conn, timeout)
	if err != nil {
		conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", timeout)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	doc := describedBy(name, text, include)
	doc.Close = conn.Close
	return doc, nil
}

// fetchFrom requests the description from a stub. The deadline holds for the whole exchange, later fetches of included documents
// too: a stub that sends a byte now and then must not keep the command waiting.
func fetchFrom(conn net.Conn, timeout time.Duration) (tdesc.Include, []byte, error) {
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
