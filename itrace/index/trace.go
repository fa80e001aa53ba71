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

	dir     *directory
	dialect *itrace.Dialect
	text    io.ReaderAt
	index   io.ReaderAt
	id      Identity
	numbers map[string]uint32

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

// span reads bytes of the trace and compares the checksums of all pieces that they are in.
func (t *Trace) read(at, end int64) ([]byte, error) {
	from := at / pieceSize * pieceSize
	to := min((end+pieceSize-1)/pieceSize*pieceSize, t.Bytes)
	b := make([]byte, to-from)
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

// Line returns a line of the trace by where it is, without its end.
func (t *Trace) Line(offset int64) (string, error) {
	const most = 1 << 10
	b, err := t.read(offset, min(offset+most, t.Bytes))
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	return strings.TrimRight(string(line), "\r"), nil
}

// Item is a record of a block, or what of it matters here.
type Item struct {
	Kind    itrace.Kind
	Write   bool // Memory
	Thumb   bool // Instruction: the state is T
	Skipped bool // Instruction: its condition did not hold
	Trapped bool // Instruction: it had an exception
	Event   itrace.EventKind
	Scope   itrace.Scope // Instruction: what the trace tells of it
	CPU     int32
	Name    uint32 // Register: its number
	Step    int32  // the instruction that it belongs to, counted from the first of the block; -1 is the last in front of that
	Addr    uint64 // Instruction, Memory
	Size    uint64 // in bytes, of memory or opcode
	Time    uint64
	Digits  []byte // opcode, data, value, or a further value of an event, as in the trace; empty if not told
	Words   []byte // Instruction: the instruction in words. Event: its cause, as written
	Line    int64
	Offset  int64 // of the line
}

// Block is the records of a piece of the trace.
type Block struct {
	First int64 // instruction
	Items []Item
	steps []int32 // where in Items each instruction is
}

// at returns the item of an instruction by its number in the trace.
func (b *Block) at(n int64) *Item { return &b.Items[b.steps[n-b.First]] }

// block reads a block again.
func (t *Trace) block(i int) (*Block, error) {
	if b, ok := t.blocks.get(i); ok {
		return b, nil
	}
	l, end := t.dir.leaves[i], t.Bytes
	if i+1 < len(t.dir.leaves) {
		end = t.dir.leaves[i+1].at
	}
	text, err := t.read(l.at, end)
	if err != nil {
		return nil, err
	}
	b, err := t.parse(text, l)
	if err == nil {
		t.blocks.put(i, b, 1)
	}
	return b, err
}

// reader returns what reads a block from its beginning.
func (t *Trace) reader(text []byte, l leaf) (*itrace.Reader, error) {
	var state []byte
	for _, p := range l.state {
		b, err := t.part(p)
		if err != nil {
			return nil, err
		}
		state = append(state, b...)
	}
	r := itrace.NewReader(bytes.NewReader(text), t.dialect)
	if err := r.Begin(l.line-1, l.at, state); err != nil {
		return nil, damaged("the state at line %d: %v", l.line, err)
	}
	return r, nil
}

// leastLine is fewer bytes than nearly all lines have.
const leastLine = 32

// parse makes the items of a block.
func (t *Trace) parse(text []byte, l leaf) (*Block, error) {
	b := &Block{First: l.first, Items: make([]Item, 0, len(text)/leastLine),
		steps: make([]int32, 0, min(l.instructions, int64(len(text)/leastLine)))}
	var arena []byte
	step := int32(-1)
	reader, err := t.reader(text, l)
	if err != nil {
		return nil, err
	}
	for r, err := range reader.All() {
		if err != nil {
			return nil, err
		}
		item := Item{Kind: r.Kind, CPU: r.CPU, Time: r.Time, Line: r.Line, Offset: r.Offset}
		digits, words := r.Digits, []byte(nil)
		switch r.Kind {
		case itrace.Instruction:
			step++
			b.steps = append(b.steps, int32(len(b.Items)))
			item.Addr, item.Size, item.Thumb = r.Addr, opcodeBytes(r), r.State == 'T'
			item.Skipped, item.Trapped, item.Scope, words = r.Skipped, r.Trapped, r.Scope, r.Disasm
		case itrace.Memory:
			if memoryProblem(r) != "" {
				continue
			}
			item.Addr, item.Size, item.Write = r.Addr, accessBytes(r), r.Write
		case itrace.Event:
			item.Event, digits, words = r.Event, r.Detail, r.Name
		case itrace.Register, itrace.RegisterRead:
			name, ok := t.Register(string(r.AppendName(nil)))
			if !ok {
				return nil, ErrForeign
			}
			item.Name = name
		default:
			continue
		}
		item.Step = step
		item.Digits, arena = kept(arena, digits)
		item.Words, arena = kept(arena, words)
		b.Items = append(b.Items, item)
	}
	if int64(len(b.steps)) != l.instructions {
		return nil, ErrForeign
	}
	return b, nil
}

// kept copies bytes to the end of an arena, which is another one if they do not fit: a block has many, of few bytes each.
func kept(arena, b []byte) (copied, rest []byte) {
	if cap(arena)-len(arena) < len(b) {
		arena = make([]byte, 0, max(1<<14, len(b)))
	}
	from := len(arena)
	arena = append(arena, b...)
	return arena[from:len(arena):len(arena)], arena
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
