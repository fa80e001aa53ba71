package index

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"tracewell/itrace"
)

// leaf is a block of the trace.
type leaf struct {
	at           int64   // of its first line
	line         int64   // its number
	first        int64   // instruction
	instructions int64   // how many
	time         uint64  // the highest in front of it
	values       place   // of the registers written in it, at its end
	state        []place // of the decoder at its beginning, in pieces; none of one that remembers nothing
	speaks       bool    // some processor is known to have been in it; of use while it is built
}

// node is what there is of a block, or of those below a node.
type node struct{ sets [setKinds]setPlace }

// setPlace is a set in the file. Without a size it is empty, unless it is all.
type setPlace struct {
	place
	all bool // there are too many keys to tell
}

// gather adds the spans of a node of a level, and how many bytes have to be read to search what is below it, to what is to be in
// the node above.
func (b *builder) gather(level, kind int, spans []span, all bool, bytes int64) {
	if level == len(b.levels) {
		b.levels = append(b.levels, [setKinds]union16{})
	}
	u := &b.levels[level][kind]
	u.bytes += bytes
	u.all = u.all || all
	if u.all {
		u.spans = nil
		return
	}
	u.spans = append(u.spans, spans...)
	if len(u.spans) > 2*maxSpans {
		u.join()
	}
}

// join joins what has been gathered and gives up if it is too much.
func (u *union16) join() {
	if u.spans = union(u.spans); len(u.spans) > maxSpans {
		u.spans, u.all = nil, true
	}
}

// writeSet writes a set of what is below a node, which takes some bytes to search. One that is not much shorter than what is below
// spares nobody anything and is left out: as much is read without it. So it is with addresses that hardly ever come again.
func (b *builder) writeSet(spans []span, all bool, below int64) setPlace {
	if all || len(spans) == 0 {
		return setPlace{all: all}
	}
	b.scratch = appendSet(b.scratch[:0], spans)
	if n := int64(len(b.scratch)); n > smallSet && n > below/2 {
		return setPlace{all: true}
	}
	return setPlace{place: b.out.part(b.scratch)}
}

// smallSet is up to how many bytes a set is written whatever is below it.
const smallSet = 1 << 10

// addNode adds a node of a level, and those above it that are complete with it.
func (b *builder) addNode(level int, n node) {
	if level == len(b.tell.levels) {
		b.tell.levels = append(b.tell.levels, nil)
	}
	b.tell.levels[level] = append(b.tell.levels[level], n)
	if len(b.tell.levels[level])%fanout == 0 {
		b.closeNode(level)
	}
}

// closeNode makes a node of those of a level that are in none yet.
func (b *builder) closeNode(level int) {
	var above node
	for kind := range setKinds {
		u := &b.levels[level][kind]
		u.join()
		set := b.writeSet(u.spans, u.all, u.bytes)
		above.sets[kind] = set
		if !set.all {
			u.bytes = set.size
		}
		b.gather(level+1, kind, u.spans, u.all, u.bytes)
		b.levels[level][kind] = union16{spans: u.spans[:0]}
	}
	b.addNode(level+1, above)
}

// finish closes what is open, from the last block up to a root, and writes the directory of a trace of so many lines and bytes.
func (b *builder) finish(lines, size int64) {
	b.closeLeaf()
	for level := 0; len(b.tell.levels[level]) > 1; level++ {
		if len(b.tell.levels[level])%fanout != 0 {
			b.closeNode(level)
		}
	}
	b.scopes[b.scope] += b.alike
	for _, scope := range slices.Sorted(maps.Keys(b.scopes)) {
		if n := b.scopes[scope]; n > 0 {
			b.tell.Scopes = append(b.tell.Scopes, Told{scope, n})
		}
	}
	b.tell.Instructions = b.leaf.first + b.leaf.instructions
	b.tell.Lines, b.tell.Bytes, b.tell.LastTime = lines, size, b.time
	b.summary.Instructions, b.summary.Lines, b.summary.Bytes = b.tell.Instructions, lines, size
	slices.Sort(b.tell.CPUs)
	text := b.tell.append(nil, b.summary)
	at := b.out.at
	b.out.write(text)
	trailer := binary.LittleEndian.AppendUint64(nil, uint64(at))
	trailer = binary.LittleEndian.AppendUint64(trailer, uint64(len(text)))
	trailer = binary.LittleEndian.AppendUint32(trailer, crc32.Checksum(text, castagnoli))
	b.out.write(append(trailer, magic...))
}

// Extent is what a trace consists of.
type Extent struct {
	CPUs         []int32  // the numbers of its processors, in order
	Names        []string // of registers, in lower case, by their numbers
	Instructions int64
	Lines        int64
	Bytes        int64
	LastTime     uint64   // the highest; 0 where no times are told
	Scales       []string // units of times, as the trace has them; none where it names none
	Scopes       []Told   // what is told of instructions
}

// Told says of how many instructions the trace tells so much.
type Told struct {
	Scope        itrace.Scope
	Instructions int64
}

// Lacking counts the instructions of which the trace does not tell some of what flags are about (see itrace.Scope.Lacks).
func (e *Extent) Lacking(flags itrace.Scope) (n int64) {
	for _, t := range e.Scopes {
		if t.Scope.Lacks(flags) {
			n += t.Instructions
		}
	}
	return n
}

// directory is what is kept in memory of an index.
type directory struct {
	Extent
	summary   Summary
	leaves    []leaf
	levels    [][]node // the lowest are those of the leaves
	snapshots []place  // values of all registers in front of every leaf whose number divides by fanout
	pieces    []uint32 // checksums of the trace
}

// append appends the directory.
func (d *directory) append(dst []byte, s Summary) []byte {
	for _, n := range [...]int64{d.Instructions, d.Lines, d.Bytes, s.Unknown, s.FirstUnknown} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = append(binary.AppendUvarint(dst, uint64(len(s.Problem))), s.Problem...)
	dst = binary.AppendUvarint(dst, d.LastTime)
	dst = appendStrings(dst, d.Scales)
	dst = binary.AppendUvarint(dst, uint64(len(d.Scopes)))
	for _, t := range d.Scopes {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(t.Scope)), uint64(t.Instructions))
	}
	dst = binary.AppendUvarint(dst, uint64(len(d.CPUs)))
	for _, cpu := range d.CPUs {
		dst = binary.AppendUvarint(dst, uint64(uint32(cpu)))
	}
	dst = appendStrings(dst, d.Names)
	dst = binary.AppendUvarint(dst, uint64(len(d.leaves)))
	for i := range d.leaves {
		dst = d.leaves[i].append(dst)
	}
	for _, level := range d.levels[1:] {
		dst = appendNodes(dst, level)
	}
	dst = appendNodes(dst, d.levels[0])
	for _, p := range d.snapshots {
		dst = p.append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(d.pieces)))
	for _, sum := range d.pieces {
		dst = binary.LittleEndian.AppendUint32(dst, sum)
	}
	return dst
}

func appendStrings(dst []byte, texts []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(texts)))
	for _, text := range texts {
		dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	}
	return dst
}

func (l *leaf) append(dst []byte) []byte {
	for _, n := range [...]uint64{uint64(l.at), uint64(l.line), uint64(l.first), uint64(l.instructions), l.time} {
		dst = binary.AppendUvarint(dst, n)
	}
	dst = binary.AppendUvarint(l.values.append(dst), uint64(len(l.state)))
	for _, p := range l.state {
		dst = p.append(dst)
	}
	return dst
}

func (p place) append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(p.at)), uint64(p.size))
}

func appendNodes(dst []byte, nodes []node) []byte {
	for i := range nodes {
		for _, s := range nodes[i].sets {
			at := s.at
			if s.all {
				at = -1
			}
			dst = binary.AppendUvarint(binary.AppendVarint(dst, at), uint64(s.size))
		}
	}
	return dst
}

// readDirectory reads the directory, whose place the trailer tells.
func readDirectory(r io.ReaderAt, size int64) (*directory, error) {
	trailer := make([]byte, trailerSize)
	if size < trailerSize {
		return nil, damaged("it has %d bytes", size)
	}
	if _, err := r.ReadAt(trailer, size-trailerSize); err != nil && err != io.EOF {
		return nil, err
	}
	at, length := int64(binary.LittleEndian.Uint64(trailer)), int64(binary.LittleEndian.Uint64(trailer[8:]))
	if string(trailer[20:]) != magic || at < 0 || length < 0 || length > mostDirectory || at != size-trailerSize-length {
		return nil, damaged("it does not end as an index does: it has been cut off, or written to")
	}
	text := make([]byte, length)
	if n, err := r.ReadAt(text, at); n < len(text) {
		return nil, err
	}
	if crc32.Checksum(text, castagnoli) != binary.LittleEndian.Uint32(trailer[16:]) {
		return nil, damaged("the checksum of its directory is wrong")
	}
	return parseDirectory(text, at)
}

// parseDirectory reads what directory.append has written; parts lie in front of a place in the file.
func parseDirectory(text []byte, end int64) (*directory, error) {
	in := decoder{rest: text}
	d := &directory{}
	for _, n := range [...]*int64{&d.Instructions, &d.Lines, &d.Bytes, &d.summary.Unknown, &d.summary.FirstUnknown} {
		*n = int64(in.uvarint())
	}
	d.summary.Problem = string(in.bytes())
	d.summary.Instructions, d.summary.Lines, d.summary.Bytes = d.Instructions, d.Lines, d.Bytes
	d.LastTime, d.Scales = in.uvarint(), in.strings()
	for range in.count(2) {
		d.Scopes = append(d.Scopes, Told{itrace.Scope(in.uvarint()), int64(in.uvarint())})
	}
	for range in.count(1) {
		d.CPUs = append(d.CPUs, int32(in.uvarint()))
	}
	d.Names = in.strings()
	d.leaves = make([]leaf, in.count(8))
	for i := range d.leaves {
		d.leaves[i] = in.leaf(end)
	}
	counts := []int{len(d.leaves)}
	for n := len(d.leaves); n > 1; {
		n = (n + fanout - 1) / fanout
		counts = append(counts, n)
	}
	d.levels = make([][]node, len(counts))
	for level := 1; level < len(counts); level++ {
		d.levels[level] = in.nodes(counts[level], end)
	}
	d.levels[0] = in.nodes(counts[0], end)
	for range (len(d.leaves) + fanout - 1) / fanout {
		d.snapshots = append(d.snapshots, in.place(end))
	}
	d.pieces = make([]uint32, in.count(checksum))
	for i := range d.pieces {
		if len(in.rest) < checksum {
			return nil, in.end("directory")
		}
		d.pieces[i] = binary.LittleEndian.Uint32(in.rest)
		in.rest = in.rest[checksum:]
	}
	if err := in.end("directory"); err != nil {
		return nil, err
	}
	return d, d.check()
}

// check finds what cannot be in a directory.
func (d *directory) check() error {
	wrong := len(d.leaves) == 0 || d.Bytes < 0 || int64(len(d.pieces)) != (d.Bytes+pieceSize-1)/pieceSize
	first, at := int64(0), int64(0)
	for _, l := range d.leaves {
		wrong = wrong || l.first != first || l.at < at || l.at > d.Bytes || l.instructions < 0 || l.line < 1
		first, at = l.first+l.instructions, l.at
	}
	if wrong || first != d.Instructions {
		return damaged("its directory contradicts itself")
	}
	return nil
}

func (d *decoder) strings() (texts []string) {
	for range d.count(1) {
		texts = append(texts, string(d.bytes()))
	}
	return texts
}

func (d *decoder) leaf(end int64) (l leaf) {
	l.at, l.line = int64(d.uvarint()), int64(d.uvarint())
	l.first, l.instructions, l.time = int64(d.uvarint()), int64(d.uvarint()), d.uvarint()
	l.values = d.place(end)
	for range d.count(2) {
		l.state = append(l.state, d.place(end))
	}
	return l
}

func (d *decoder) place(end int64) place {
	p := place{int64(d.uvarint()), int64(d.uvarint())}
	d.bound(p, end)
	return p
}

// bound refuses a part that is not where parts are.
func (d *decoder) bound(p place, end int64) {
	if p.at < 0 || p.size < 0 || p.at > end || p.size > end-p.at {
		d.failed = true
	}
}

func (d *decoder) nodes(n int, end int64) []node {
	if n > len(d.rest)/(2*setKinds) {
		d.failed = true
		return nil
	}
	nodes := make([]node, n)
	for i := range nodes {
		for kind := range nodes[i].sets {
			s := setPlace{place: place{d.varint(), int64(d.uvarint())}}
			if s.at == -1 {
				s = setPlace{all: true}
			}
			d.bound(s.place, end)
			nodes[i].sets[kind] = s
		}
	}
	return nodes
}
