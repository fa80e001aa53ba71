package index

import (
	"bytes"
	"cmp"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"tracewell/itrace"
)

// Trace is a trace with its index: what there is to know about any position. Its methods are for one goroutine.
type Trace struct {
	Extent
	// Narrow says that addresses have 32 bits, so that one whose upper half is ones is the same as the one whose upper half is
	// zeros.
	Narrow bool
	// Progress, unless nil, is told by Each how many bytes of the trace it has passed.
	Progress func(bytes int64)

	dir     *directory
	dialect *itrace.Dialect
	text    io.ReaderAt
	index   io.ReaderAt
	id      Identity
	numbers map[string]uint32

	idle []*reading

	parts  cache[int64, []byte]
	blocks cache[int, *Block]
	bases  cache[int, map[uint64]Value]
}

// cachedParts and cachedBlocks are how many bytes of parts of the index, and how many blocks, are kept.
const (
	cachedParts  = 32 << 20
	cachedBlocks = 32
)

// Open takes an index of so many bytes, of a trace in a dialect. The error is a *DamagedError where a new index has to be built;
// whether the index is of the trace, Identity tells, and every later question.
func Open(index io.ReaderAt, size int64, text io.ReaderAt, d *itrace.Dialect) (*Trace, error) {
	id, err := readHeader(index)
	if err != nil {
		return nil, err
	}
	dir, err := readDirectory(index, size)
	if err != nil {
		return nil, err
	}
	if id.Dialect != d.String() {
		return nil, damaged("it is of a trace in the dialect %s", id.Dialect)
	}
	t := &Trace{Extent: dir.Extent, dir: dir, dialect: d, text: text, index: index, id: id, numbers: make(map[string]uint32)}
	for i, name := range dir.Names {
		t.numbers[name] = uint32(i)
	}
	t.parts.limit, t.blocks.limit, t.bases.limit = cachedParts, cachedBlocks, cachedBlocks
	return t, nil
}

// Identity says which trace the index was built of.
func (t *Trace) Identity() Identity { return t.id }

// Summary is what was found while the index was built.
func (t *Trace) Summary() Summary { return t.dir.summary }

// Register returns the number of a name of a register, in whatever case, and whether there is one.
func (t *Trace) Register(name string) (uint32, bool) {
	n, ok := t.numbers[strings.ToLower(name)]
	return n, ok
}

// part reads a part of the index.
func (t *Trace) part(p place) ([]byte, error) {
	if b, ok := t.parts.get(p.at); ok {
		return b, nil
	}
	b, err := readPart(t.index, p)
	if err == nil {
		t.parts.put(p.at, b, len(b)+checksum)
	}
	return b, err
}

// errShort says that a trace has less than the index has of it.
var errShort = damaged("the trace is shorter than it was when the index was built")

// read reads bytes of the trace, into b if there is room, and compares the checksums of all pieces that they are in.
func (t *Trace) read(b []byte, at, end int64) ([]byte, error) {
	from := at / pieceSize * pieceSize
	to := min((end+pieceSize-1)/pieceSize*pieceSize, t.Bytes)
	b = slices.Grow(b[:0], int(to-from))[:to-from]
	if n, err := t.text.ReadAt(b, from); n < len(b) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, errShort
	}
	for i := from / pieceSize; i*pieceSize < to; i++ {
		piece := b[i*pieceSize-from : min((i+1)*pieceSize, to)-from]
		if crc32.Checksum(piece, castagnoli) != t.dir.pieces[i] {
			return nil, ErrForeign
		}
	}
	return b[at-from : end-from], nil
}

// Line returns a line of the trace by where it is, without its end; of binary data the words that a packet is quoted by.
func (t *Trace) Line(offset int64) (string, error) {
	if t.dialect.Binary != nil {
		return t.packet(offset)
	}
	const most = 1 << 10
	b, err := t.read(nil, offset, min(offset+most, t.Bytes))
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	return strings.TrimRight(string(line), "\r"), nil
}

// packet is Line for binary data, which mean nothing without the state of the decoder.
func (t *Trace) packet(offset int64) (string, error) {
	at := t.leafBefore(func(l *leaf) bool { return l.at > offset })
	r, err := t.reading(at)
	if err != nil {
		return "", err
	}
	defer func() { t.idle = append(t.idle, r) }()
	if err := r.begin(t, at); err != nil {
		return "", err
	}
	for record, err := range r.reader.All() {
		if err != nil {
			return "", err
		}
		if record.Offset >= offset {
			return string(record.Text), nil
		}
	}
	return "", ErrForeign
}

// Verify reads all parts of the index and compares their checksums. It goes through the file once, in large pieces: parts are
// small, and a call of the system for each would take longer than all the rest.
func (t *Trace) Verify() error {
	parts := slices.Clone(t.dir.snapshots)
	for _, l := range t.dir.leaves {
		parts = append(append(parts, l.state...), l.values)
	}
	for _, level := range t.dir.levels {
		for i := range level {
			for _, s := range level[i].sets {
				if s.size > 0 {
					parts = append(parts, s.place)
				}
			}
		}
	}
	slices.SortFunc(parts, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	ahead := &readAhead{r: t.index}
	for _, p := range parts {
		if _, err := readPart(ahead, p); err != nil {
			return err
		}
	}
	return nil
}

// readAhead reads more than it is asked for, for one who goes through a file in order.
type readAhead struct {
	r      io.ReaderAt
	buffer []byte
	at     int64 // of the buffer in the file
}

// aheadBytes is how much is read at once.
const aheadBytes = 1 << 20

// ReadAt implements io.ReaderAt.
func (a *readAhead) ReadAt(p []byte, at int64) (int, error) {
	if len(p) > aheadBytes {
		return a.r.ReadAt(p, at)
	}
	if at < a.at || at+int64(len(p)) > a.at+int64(len(a.buffer)) {
		if a.buffer == nil {
			a.buffer = make([]byte, aheadBytes)
		}
		n, err := a.r.ReadAt(a.buffer[:aheadBytes], at)
		if a.buffer, a.at = a.buffer[:n], at; err != nil && n < len(p) {
			return copy(p, a.buffer), err
		}
	}
	return copy(p, a.buffer[at-a.at:]), nil
}
