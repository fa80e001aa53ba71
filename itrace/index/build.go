package index

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"tracewell/itrace"
)

// The sets that blocks and the nodes above them have.
const (
	executed      = iota // bytes of instructions
	read                 // bytes of memory
	written              // bytes of memory
	registers            // numbers of registers of a processor that were written
	registersRead        // those of which the trace tells that they were read
	processors           // their numbers
	setKinds
)

const (
	// blockSize is the least length in bytes of a block, but for the last. A question reads one block again: 256 KiB take less than
	// a millisecond to decode, and the index has a leaf for each.
	blockSize = 1 << 18
	fanout    = 16 // children of a node
	// maxSpans is how many spans of one kind a node has. One with more has no set of that kind, and holds everything.
	maxSpans = 1 << 18
	// pieceSize is that of the pieces of the trace that have checksums.
	pieceSize = 1 << 16
	// mostNames and mostCPUs are how many names of registers and processors a trace may have.
	mostNames = 1 << 16
	mostCPUs  = 1 << 10
	// mostScales is how many units of time are told apart.
	mostScales = 8
	// shortAccess is how many bytes of memory a record may speak of whose digits are fewer than these have.
	shortAccess = 64
)

// Summary is what has been found while an index was built.
type Summary struct {
	Instructions, Lines, Bytes int64
	Unknown                    int64  // lines that are no records, or tell what cannot be
	FirstUnknown               int64  // the line of the first, 0 for none
	Problem                    string // of it
}

// Build reads a trace to its end and writes the index of it. The error is that of reading, of writing, or says that the trace is
// none that can have an index.
func Build(trace io.Reader, d *itrace.Dialect, id Identity, to io.Writer) (Summary, error) {
	pieces := &pieces{in: trace}
	in := &source{reader: itrace.NewReader(pieces, d), records: make([]itrace.Record, batchRecords)}
	b := &builder{
		out:   output{to: to},
		names: make(map[string]uint32), numbers: make(map[string]*[]int),
		bySlot: make(map[uint64]int), leaf: leaf{line: 1}, cpus: make(map[int32]bool),
		states: make(map[[sha256.Size]byte]place), scopes: make(map[itrace.Scope]int64),
	}
	id.Dialect = d.String()
	for i := range b.sets {
		b.sets[i] = newGather()
	}
	b.out.write(appendHeader(nil, id))
	b.snapshot = b.appendValues(nil, nil)
	if err := in.all(b.take); err != nil {
		return b.summary, err
	}
	pieces.close()
	b.tell.pieces = pieces.sums
	b.finish(in.reader.Position())
	return b.summary, b.out.err
}

// pieces computes the checksums (CRC-32C, which processors have an instruction for) of what is read. They are of the trace as it is
// stored, independent of blocks, so that they can be compared whatever part is read again.
type pieces struct {
	in   io.Reader
	sums []uint32
	sum  uint32 // of the piece at hand
	had  int    // bytes of it
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		take := min(len(rest), pieceSize-p.had)
		p.sum = crc32.Update(p.sum, castagnoli, rest[:take])
		if p.had += take; p.had == pieceSize {
			p.close()
		}
		rest = rest[take:]
	}
	return n, err
}

// close ends the piece at hand, which is shorter than pieceSize at the end of the trace only.
func (p *pieces) close() {
	if p.had > 0 {
		p.sums = append(p.sums, p.sum)
	}
	p.sum, p.had = 0, 0
}

// output writes parts and remembers where. The first error stays.
type output struct {
	to  io.Writer
	at  int64
	err error
}

// write goes on counting after an error, so that callers need to look at it only once, when all is written.
func (o *output) write(b []byte) {
	if o.err == nil {
		_, o.err = o.to.Write(b)
	}
	o.at += int64(len(b))
}

// part writes a part with its checksum.
func (o *output) part(b []byte) place {
	p := place{o.at, int64(len(b))}
	o.write(appendChecked(nil, b))
	return p
}

// builder makes an index of the facts that it is given.
type builder struct {
	out     output
	summary Summary
	tell    directory
	states  map[[sha256.Size]byte]place // parts of states by their content

	leaf     leaf   // the block at hand
	time     uint64 // the highest so far
	sets     [setKinds]*gather
	levels   [][setKinds]union16 // what has been written and is not in a node above yet
	scratch  []byte
	spans    []span
	snapshot []byte // values of all registers at the beginning of the block with which the node at hand begins

	names    map[string]uint32
	numbers  map[string]*[]int // by name as written: slots by processor, -1 for none
	bySlot   map[uint64]int
	slots    []slot
	changed  []int                  // slots written in the block
	scopes   map[itrace.Scope]int64 // instructions of each
	scope    itrace.Scope           // of the instructions counted in alike
	alike    int64                  // instructions in a row that are in no scope of scopes yet
	cpus     map[int32]bool
	speaking int32 // the processor that cpus is known to have
	lastName string
	lastList *[]int
}

// slot is the register of a processor and what it was last seen to hold.
type slot struct {
	key     uint64
	digits  []byte
	wild    bool
	line    int64
	changed bool // in the block at hand
}

// union16 gathers the spans of up to fanout nodes; all says that there are too many. The bytes are those to be read to search what
// is below.
type union16 struct {
	spans []span
	all   bool
	bytes int64
}

// registerKey is the register of a processor among the keys of a set.
func registerKey(cpu int32, name uint32) uint64 { return uint64(uint32(cpu))<<32 | uint64(name) }

// take takes a batch.
func (b *builder) take(batch *batch) error {
	for i := range batch.facts {
		if err := b.fact(batch, &batch.facts[i]); err != nil {
			return err
		}
	}
	if batch.cut {
		b.cut(batch)
	}
	return b.out.err
}

func (b *builder) fact(batch *batch, f *fact) error {
	switch f.kind {
	case itrace.Instruction:
		b.leaf.instructions++
		b.time = max(b.time, f.time)
		b.told(f.scope, batch.nameOf(f))
		b.sets[executed].add(f.addr, f.size)
		return b.processor(f.cpu)
	case itrace.Memory:
		kind := read
		if f.write {
			kind = written
		}
		b.sets[kind].add(f.addr, f.size)
		return nil
	case itrace.Unknown:
		if b.summary.Unknown++; b.summary.Unknown == 1 {
			b.summary.FirstUnknown, b.summary.Problem = f.line, string(batch.nameOf(f))
		}
		return nil
	}
	if err := b.processor(f.cpu); err != nil {
		return err
	}
	s, err := b.slot(f.cpu, batch.nameOf(f))
	switch {
	case err != nil:
	case f.kind == itrace.RegisterRead:
		b.sets[registersRead].add(b.slots[s].key, 1)
	default:
		b.register(s, f, batch.digitsOf(f))
	}
	return err
}

// told takes note of what the trace tells of an instruction, and in which unit its times are, which is nothing for the one before.
func (b *builder) told(scope itrace.Scope, scale []byte) {
	if scope != b.scope {
		b.scopes[b.scope] += b.alike
		b.scope, b.alike = scope, 0
	}
	b.alike++
	if len(scale) > 0 && len(b.tell.Scales) < mostScales && !slices.Contains(b.tell.Scales, string(scale)) {
		b.tell.Scales = append(b.tell.Scales, string(scale))
	}
}

// opcodeBytes is how many bytes an instruction takes.
func opcodeBytes(r *itrace.Record) uint64 { return max(1, uint64(len(r.Digits)/2)) }

// accessBytes is how many bytes of memory a record tells of: where the size is not told, as many as its digits have, or as an
// instruction that is not of vectors may access.
func accessBytes(r *itrace.Record) uint64 {
	const usual = 8
	switch {
	case r.Size > 0:
		return uint64(r.Size)
	case len(r.Digits) > 0:
		return uint64(len(r.Digits)+1) / 2
	}
	return usual
}

// memoryProblem says why a record of memory cannot be true, "" if it can.
func memoryProblem(r *itrace.Record) string {
	switch digits := uint64(len(r.Digits)); {
	case r.Size == 0 || digits == 0:
		return ""
	case digits > 2*uint64(r.Size):
		return "more data than bytes"
	case r.Size > shortAccess && digits < 2*uint64(r.Size)-1:
		return "less data than bytes"
	}
	return ""
}

// processor takes note that there is one of a number.
func (b *builder) processor(cpu int32) error {
	if cpu == b.speaking && b.leaf.speaks {
		return nil
	}
	b.speaking, b.leaf.speaks = cpu, true
	b.sets[processors].add(uint64(uint32(cpu)), 1)
	if !b.cpus[cpu] {
		if len(b.cpus) == mostCPUs {
			return fmt.Errorf("the trace has more than %d processors", mostCPUs)
		}
		b.cpus[cpu] = true
		b.tell.CPUs = append(b.tell.CPUs, cpu)
	}
	return nil
}

// register takes note of what a register holds.
func (b *builder) register(s int, f *fact, digits []byte) {
	slot := &b.slots[s]
	if !slot.changed {
		slot.changed = true
		b.changed = append(b.changed, s)
		b.sets[registers].add(slot.key, 1)
	}
	slot.digits, slot.wild, slot.line = append(slot.digits[:0], digits...), f.wild, f.line
}

// slot finds the place of a register by its name, which has the bits of a part of one, or makes one.
func (b *builder) slot(cpu int32, name []byte) (int, error) {
	if b.lastName != string(name) || b.lastList == nil {
		list := b.numbers[string(name)]
		if list == nil {
			list = new([]int)
			b.numbers[string(name)] = list
		}
		b.lastName, b.lastList = string(name), list
	}
	list := *b.lastList
	if cpu := int(uint32(cpu)); cpu < len(list) && list[cpu] >= 0 {
		return list[cpu], nil
	}
	return b.newSlot(cpu, string(name))
}

// newSlot makes a place for a register that has none by this name, or finds that of the name in another case.
func (b *builder) newSlot(cpu int32, written string) (int, error) {
	lower := strings.ToLower(written)
	name, ok := b.names[lower]
	if !ok {
		if name = uint32(len(b.tell.Names)); name == mostNames {
			return 0, fmt.Errorf("the trace has more than %d names of registers", mostNames)
		}
		b.names[lower] = name
		b.tell.Names = append(b.tell.Names, lower)
	}
	key := registerKey(cpu, name)
	s, ok := b.bySlot[key]
	if !ok {
		s = len(b.slots)
		b.slots = append(b.slots, slot{key: key})
		b.bySlot[key] = s
	}
	if cpu := int(uint32(cpu)); cpu < mostCPUs { // others are found by the map each time
		for len(*b.lastList) <= cpu {
			*b.lastList = append(*b.lastList, -1)
		}
		(*b.lastList)[cpu] = s
	}
	return s, nil
}

// cut ends the block at hand, and begins the next one.
func (b *builder) cut(batch *batch) {
	b.closeLeaf()
	first := b.leaf.first + b.leaf.instructions
	b.leaf = leaf{at: batch.at, line: batch.line, first: first, time: b.time, state: b.writeState(batch.state)}
}

// statePiece is the size of the pieces in which states are written. Pieces that are equal are written once: states that grow at
// their end, as tables do, take little.
const statePiece = 1 << 12

// writeState writes a state in pieces.
func (b *builder) writeState(state []byte) (pieces []place) {
	for piece := range slices.Chunk(state, statePiece) {
		sum := sha256.Sum256(piece)
		p, ok := b.states[sum]
		if !ok {
			p = b.out.part(piece)
			b.states[sum] = p
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// closeLeaf writes what there is to say of the block at hand.
func (b *builder) closeLeaf() {
	if len(b.tell.leaves)%fanout == 0 {
		b.tell.snapshots = append(b.tell.snapshots, b.out.part(b.snapshot))
	}
	b.leaf.values = b.out.part(b.appendValues(b.scratch[:0], b.changed))
	for _, s := range b.changed {
		b.slots[s].changed = false
	}
	b.changed = b.changed[:0]
	b.tell.leaves = append(b.tell.leaves, b.leaf)
	var node node
	for kind := range setKinds {
		b.spans = b.sets[kind].take(b.spans[:0])
		node.sets[kind] = b.writeSet(b.spans, false, math.MaxInt64)
		b.gather(0, kind, b.spans, false, node.sets[kind].size)
	}
	b.addNode(0, node)
	if len(b.tell.leaves)%fanout == 0 {
		var every []int
		for i := range b.slots {
			if b.slots[i].line > 0 { // one that was only read holds nothing that is known
				every = append(every, i)
			}
		}
		b.snapshot = b.appendValues(b.snapshot[:0], every)
	}
}
