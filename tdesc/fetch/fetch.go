// Package fetch gets the documents of a target description from where they are: a folder, or a stub.
package fetch

import (
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/tdesc"
)

// Main is the annex of a stub that has the description; the others are those that it includes.
const Main = "target.xml"

// Folder finds included documents in a folder, and only there.
func Folder(folder fs.FS) tdesc.Include {
	return func(annex string) ([]byte, error) {
		if !fs.ValidPath(annex) {
			return nil, fmt.Errorf("%q is no file of the folder", annex)
		}
		f, err := folder.Open(annex)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return All(f)
	}
}

// Stub asks a stub for annexes with the packet qXfer:features:read. The error says that it has none. The packets before that
// one are GDB's, so that the stub serves what GDB would get; none of them changes the stub's target.
func Stub(c *client.Client) (tdesc.Include, error) {
	if err := Announce(c, 0); err != nil {
		return nil, err
	}
	return Annexes(c)
}

// Announce exchanges features with a stub: the client's are those without which a stub serves no description, or another one
// than to GDB, and more.
func Announce(c *client.Client, more request.Client) error {
	own := (request.Multiprocess | more).Features()
	return c.Hello(append(own, rsp.Feature{Name: "xmlRegisters", Mark: rsp.HasValue, Value: arch.XMLRegisters}))
}

// Annexes asks a stub that has told its features for annexes.
//
// It selects a thread first, as GDB does: gdbserver 13.1 aborts on qXfer:features:read while no thread is selected. A stub
// without threads may refuse that, and still serve a description.
func Annexes(c *client.Client) (tdesc.Include, error) {
	features := c.Features()
	if name := request.ReadFeatures.Name(); !features.Has(name) {
		return nil, fmt.Errorf("the stub serves no target description: %q is not among its features", name)
	}
	every := request.Selection{For: 'g', Thread: rsp.Thread{Multiprocess: features.Has("multiprocess")}}
	if _, err := c.Exchange(request.SelectThread.Append(nil, every)); err != nil {
		return nil, err
	}
	size := chunk(features)
	return func(annex string) ([]byte, error) { return read(c, annex, size) }, nil
}

// Description asks a stub that has told its features for its description.
func Description(c *client.Client) (*tdesc.Target, error) {
	read, err := Annexes(c)
	if err != nil {
		return nil, err
	}
	document, err := read(Main)
	if err != nil {
		return nil, err
	}
	description, _, err := tdesc.Parse(document, read)
	return description, err
}

// Sizes of a request in bytes. What the stub answers has escapes, which double a byte in the worst case, and the letter.
const (
	usualChunk   = 1000
	largestChunk = 0xffb
)

func chunk(supported rsp.Features) uint64 {
	packet, err := strconv.ParseUint(supported.Value("PacketSize"), 16, 31)
	if err != nil {
		return usualChunk
	}
	return min(largestChunk, max(packet, 2)-1)
}

// read gets one annex, piece by piece.
func read(c *client.Client, annex string, size uint64) ([]byte, error) {
	var doc []byte
	for len(doc) <= tdesc.MaxBytes {
		packet := request.ReadFeatures.Text(request.Part{Annex: annex, Offset: uint64(len(doc)), Length: size})
		reply, err := c.Exchange([]byte(packet))
		switch {
		case err != nil:
			return nil, err
		case strings.HasPrefix(reply, "l"):
			return append(doc, reply[1:]...), nil
		case strings.HasPrefix(reply, "m") && len(reply) > 1:
			doc = append(doc, reply[1:]...)
		default:
			return nil, fmt.Errorf("%s: the stub replied %.80q", packet, reply)
		}
	}
	return doc, nil // more than is read of any
}

// All reads a document. It stops when there is more than Parse takes, so that a device or a huge file costs nothing; Parse
// then says that it is too large.
func All(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, tdesc.MaxBytes+1)) }
