package packed

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Method is a way to compress a file.
type Method struct {
	Name   string // such as "gzip"
	Suffix string // of the names of files, such as ".gz"

	magics []string // one of which such a file begins with
	unpack func(io.Reader) (io.ReadCloser, error)
	pack   func(io.Writer) (io.WriteCloser, error)
	// frames finds the pieces of a file that can be unpacked each by itself; nil for a file without, or a method without.
	frames func(file io.ReaderAt, size int64) table
}

// maxWindow is how far back the content of a Zstandard file may refer, and with it the memory that reading one takes. It is
// the limit of zstd itself, which wants to be told (--long=31) to read more.
const maxWindow = 128 << 20

// methods are the ways that there are. A gzip file is any number of members, a Zstandard file any number of frames, and
// frames that are to be skipped may stand ahead of the first. What is written is in the seekable format of Zstandard, which is
// such a file.
var methods = []*Method{
	{
		Name: "gzip", Suffix: ".gz",
		magics: []string{"\x1f\x8b\x08"},
		unpack: func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
		pack:   func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	},
	{
		Name: "Zstandard", Suffix: ".zst",
		magics: append([]string{"\x28\xb5\x2f\xfd"}, skippable()...),
		unpack: func(r io.Reader) (io.ReadCloser, error) {
			d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return nil, err
			}
			return d.IOReadCloser(), nil
		},
		pack:   func(w io.Writer) (io.WriteCloser, error) { return newFrameWriter(w) },
		frames: readTable,
	},
}

// skippable are the magics of Zstandard's skippable frames: 0x184D2A50 to 0x184D2A5F, little endian.
func skippable() []string {
	var magics []string
	for b := byte(0x50); b <= 0x5f; b++ {
		magics = append(magics, string([]byte{b, 0x2a, 0x4d, 0x18}))
	}
	return magics
}

// magicLength is how many bytes tell the method.
const magicLength = 4

// recognise returns the method that head is the beginning of, nil for none.
func recognise(head []byte) *Method {
	for _, m := range methods {
		for _, magic := range m.magics {
			if bytes.HasPrefix(head, []byte(magic)) {
				return m
			}
		}
	}
	return nil
}

// BySuffix returns the method that the suffix of a name asks for, nil for none, and the name without it.
func BySuffix(name string) (m *Method, base string) {
	for _, m := range methods {
		if base, ok := strings.CutSuffix(name, m.Suffix); ok {
			return m, base
		}
	}
	return nil, name
}

// Pack has a function write, and writes what it writes compressed to w. With a nil Method it is not compressed.
func (m *Method) Pack(w io.Writer, write func(io.Writer) error) error {
	if m == nil {
		return write(w)
	}
	packer, err := m.pack(w)
	if err != nil {
		return err
	}
	if frames, ok := packer.(*frameWriter); ok {
		defer frames.wait() // after a failure, too: w is the caller's again
	}
	gathered := bufio.NewWriterSize(packer, writeBuffer)
	if err := write(gathered); err != nil {
		return err
	}
	if err := gathered.Flush(); err != nil {
		return err
	}
	return packer.Close()
}

// writeBuffer spares the compressors small pieces.
const writeBuffer = 1 << 16
