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
func Stub(c *rsp.Client) (tdesc.Include, error) {
	supported, err := Announce(c)
	if err != nil {
		return nil, err
	}
	return Annexes(c.Exchange, supported)
}

// Announce sends qSupported with the features without which a stub serves no description, or another one than to GDB, and with
// more. It returns the stub's features.
func Announce(c *rsp.Client, more ...rsp.Feature) (rsp.Features, error) {
	own := rsp.Features{
		{Name: "multiprocess", Mark: rsp.Supported},
		{Name: "xmlRegisters", Mark: rsp.HasValue, Value: arch.XMLRegisters},
	}
	supported, err := c.Supported(append(own, more...))
	if err != nil {
		return nil, fmt.Errorf("qSupported: %w", err)
	}
	return supported, nil
}

// Annexes asks a stub that has told its features for annexes. The function exchange sends a packet and returns the reply.
//
// It selects a thread first, as GDB does: gdbserver 13.1 aborts on qXfer:features:read while no thread is selected. A stub
// without threads may refuse that, and still serve a description.
func Annexes(exchange func(packet string) (string, error), supported rsp.Features) (tdesc.Include, error) {
	if !supported.Has("qXfer:features:read") {
		return nil, fmt.Errorf("the stub serves no target description: %q is not among its features", "qXfer:features:read")
	}
	selectAny := "Hg0"
	if supported.Has("multiprocess") {
		selectAny = "Hgp0.0"
	}
	if _, err := exchange(selectAny); err != nil {
		return nil, fmt.Errorf("%s: %w", selectAny, err)
	}
	size := chunk(supported)
	return func(annex string) ([]byte, error) { return read(exchange, annex, size) }, nil
}

// Sizes of a request in bytes. What the stub answers has escapes, which double a byte in the worst case, and the letter.
const (
	usualChunk   = 1000
	largestChunk = 0xffb
)

func chunk(supported rsp.Features) int {
	packet, err := strconv.ParseUint(supported.Value("PacketSize"), 16, 31)
	if err != nil {
		return usualChunk
	}
	return max(1, min(largestChunk, int(packet)-1))
}

// read gets one annex, piece by piece.
func read(exchange func(string) (string, error), annex string, size int) ([]byte, error) {
	var doc []byte
	for len(doc) <= tdesc.MaxBytes {
		request := fmt.Sprintf("qXfer:features:read:%s:%x,%x", annex, len(doc), size)
		reply, err := exchange(request)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", request, err)
		case strings.HasPrefix(reply, "l"):
			return append(doc, reply[1:]...), nil
		case strings.HasPrefix(reply, "m") && len(reply) > 1:
			doc = append(doc, reply[1:]...)
		default:
			return nil, fmt.Errorf("%s: the stub replied %.80q", request, reply)
		}
	}
	return doc, nil // more than is read of any
}

// All reads a document. It stops when there is more than Parse takes, so that a device or a huge file costs nothing; Parse
// then says that it is too large.
func All(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, tdesc.MaxBytes+1)) }
