package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The file: a header that says of which trace it is, parts with sets and values, each followed by its checksum, a directory of
// them, and a trailer that says where the directory is. The trailer comes last, so that a file that was cut off has none.
const (
	magic       = "\x7fTWX\r\n\x1a\n"
	version     = 4
	trailerSize = 8 + 8 + 4 + int64(len(magic))
	checksum    = 4

	mostHeader    = 1 << 12
	mostDirectory = 1 << 31
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Identity says which trace an index is of. The zero value is that of a trace that cannot be had again, as one out of a pipe.
type Identity struct {
	Size     int64  // in bytes, as the file is stored
	Modified int64  // nanoseconds since 1970
	Sample   uint64 // of its content, see Sample
	Dialect  string
}

// sampleBytes and samples are how much of a trace Sample looks at, and at how many places.
const (
	sampleBytes = 4096
	samples     = 32
)

// Sample returns a hash of pieces of a file, the beginning and the end among them. Where more of a file is read, its checksums tell
// whether it is still the same.
func Sample(r io.ReaderAt, size int64) (uint64, error) {
	sum := uint64(size)
	piece := make([]byte, sampleBytes)
	for i := range int64(samples) {
		at := max(0, size-sampleBytes) / (samples - 1) * i
		if i == samples-1 {
			at = max(0, size-sampleBytes)
		}
		n, err := r.ReadAt(piece, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		sum = sum*0x9e3779b97f4a7c15 + uint64(crc32.Checksum(piece[:n], castagnoli))
		sum ^= sum >> 29
	}
	return sum, nil
}

// DamagedError says that an index cannot be used: it is no index, has been cut off, or is not as it was written. A new one has to
// be built.
type DamagedError struct{ Reason string }

// Error gives the reason.
func (e *DamagedError) Error() string { return "the index cannot be used: " + e.Reason }

func damaged(format string, args ...any) error { return &DamagedError{fmt.Sprintf(format, args...)} }

// ErrForeign says that an index is not of the trace as it is now.
var ErrForeign = &DamagedError{"it is of another trace, or of this one as it was before it changed"}

// appendHeader appends the header: magic, length of the rest, identity, checksum.
func appendHeader(dst []byte, id Identity) []byte {
	body := binary.AppendUvarint(nil, version)
	body = binary.AppendVarint(body, id.Size)
	body = binary.AppendVarint(body, id.Modified)
	body = binary.LittleEndian.AppendUint64(body, id.Sample)
	body = append(binary.AppendUvarint(body, uint64(len(id.Dialect))), id.Dialect...)
	dst = binary.LittleEndian.AppendUint32(append(dst, magic...), uint32(len(body)))
	return appendChecked(dst, body)
}

// appendChecked appends a part and its checksum.
func appendChecked(dst, part []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, part...), crc32.Checksum(part, castagnoli))
}

// IdentityOf returns of which trace an index says that it is, without reading more than its beginning.
func IdentityOf(index io.ReaderAt) (Identity, error) { return readHeader(index) }

// readHeader reads what appendHeader has written.
func readHeader(r io.ReaderAt) (Identity, error) {
	var id Identity
	start := make([]byte, len(magic)+4)
	if _, err := r.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return id, err
	}
	if string(start[:len(magic)]) != magic {
		return id, damaged("it does not begin as an index does")
	}
	size := binary.LittleEndian.Uint32(start[len(magic):])
	if size > mostHeader {
		return id, damaged("its header has %d bytes", size)
	}
	body, err := readPart(r, place{at: int64(len(start)), size: int64(size)})
	if err != nil {
		return id, err
	}
	in := decoder{rest: body}
	if v := in.uvarint(); v != version {
		return id, damaged("it has version %d, and this program knows version %d", v, version)
	}
	id.Size, id.Modified, id.Sample = in.varint(), in.varint(), in.fixed()
	id.Dialect = string(in.bytes())
	return id, in.end("header")
}

// place is where a part is in the file.
type place struct{ at, size int64 }

// readPart reads a part and compares its checksum.
func readPart(r io.ReaderAt, p place) ([]byte, error) {
	b := make([]byte, p.size+checksum)
	if n, err := r.ReadAt(b, p.at); n < len(b) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, damaged("it ends at byte %d, within a part", p.at+int64(n))
	}
	part := b[:p.size]
	if crc32.Checksum(part, castagnoli) != binary.LittleEndian.Uint32(b[p.size:]) {
		return nil, damaged("the checksum of the part at byte %d is wrong", p.at)
	}
	return part, nil
}

// decoder takes numbers off the front of bytes. After the first that is not there it returns zeros.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.skip(n)
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	d.skip(n)
	return v
}

func (d *decoder) skip(n int) {
	if n <= 0 {
		d.failed, d.rest = true, nil
		return
	}
	d.rest = d.rest[n:]
}

func (d *decoder) fixed() uint64 {
	if len(d.rest) < 8 {
		d.failed, d.rest = true, nil
		return 0
	}
	v := binary.LittleEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return v
}

// bytes takes a length and so many bytes.
func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// count takes the number of things that take at least so many bytes each.
func (d *decoder) count(least int) int {
	n := d.uvarint()
	if n > uint64(len(d.rest)/least) {
		d.failed, d.rest = true, nil
		return 0
	}
	return int(n)
}

// end returns an error unless all has been there and nothing is left.
func (d *decoder) end(what string) error {
	if d.failed || len(d.rest) > 0 {
		return damaged("its %s is not well formed", what)
	}
	return nil
}
