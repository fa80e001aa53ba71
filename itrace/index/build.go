package index

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"tracewell/itrace"
)

// The sets that blocks and the nodes above them have.
const (
	executed   = iota // bytes of instructions
	read              // bytes of memory
	written           // bytes of memory
	registers         // numbers of registers of a processor
	processors        // their numbers
	setKinds
)

const (
	// blockSize is the least length in bytes of a block, but for the last. A question reads one block again: 256 KiB take less than a
	// millisecond to decode, and the index has a leaf for each.
	blockSize = 1 << 18
	// mostBlock is how long a block may become because no instruction comes, which would begin another.
	mostBlock = 1 << 28
	fanout    = 16 // children of a node
	// maxSpans is how many spans of one kind a node has. One with more has no set of that kind, and holds everything.
	maxSpans = 1 << 18
	// pieceSize is that of the pieces of the trace that have checksums.
	pieceSize = 1 << 16
	// mostNames and mostCPUs are how many names of registers and processors a trace may have.
	mostNames = 1 << 16
	mostCPUs  = 1 << 10
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
	b := &builder{
		dialect: d, reader: itrace.NewReader(pieces, d), pieces: pieces, out: output{to: to},
		names: make(map[string]uint32), numbers: make(map[string]*[]int),
		bySlot: make(map[uint64]int), leaf: leaf{line: 1}, cpus: make(map[int32]bool),
	}
	id.Dialect = d.Name
	for i := range b.sets {
		b.sets[i] = newGather()
	}
	b.out.write(appendHeader(nil, id))
	b.snapshot = b.appendValues(nil, nil)
	if err := b.all(); err != nil {
		return b.summary, err
	}
	b.finish()
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

// builder makes an index of the records that it is given.
type builder struct {
	dialect *itrace.Dialect
	reader  *itrace.Reader
	pieces  *pieces
	out     output
	summary Summary
	tell    directory

	leaf     leaf // the block at hand
	began    bool
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
	changed  []int // slots written in the block
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

// union16 gathers the spans of up to fanout nodes; all says that there are too many.
type union16 struct {
	spans []span
	all   bool
}

// registerKey is the register of a processor among the keys of a set.
func registerKey(cpu int32, name uint32) uint64 { return uint64(uint32(cpu))<<32 | uint64(name) }

// all reads the trace.
func (b *builder) all() error {
	records := make([]itrace.Record, 512)
	for {
		n, err := b.reader.Read(records)
		for i := range n {
			if err := b.record(&records[i]); err != nil {
				return err
			}
		}
		if b.out.err != nil {
			return b.out.err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b *builder) record(r *itrace.Record) error {
	switch r.Kind {
	case itrace.Instruction:
		if err := b.cut(r); err != nil {
			return err
		}
		b.leaf.instructions++
		b.time = max(b.time, r.Time)
		b.sets[executed].add(r.Addr, opcodeBytes(r))
		return b.processor(r.CPU)
	case itrace.Memory:
		if memoryProblem(r) != "" {
			b.unknown(r, memoryProblem(r))
			return nil
		}
		kind := read
		if r.Write {
			kind = written
		}
		b.sets[kind].add(r.Addr, uint64(r.Size))
	case itrace.Register:
		if err := b.processor(r.CPU); err != nil {
			return err
		}
		return b.register(r)
	default:
		b.unknown(r, r.Problem.Error())
	}
	return nil
}

// opcodeBytes is how many bytes an instruction takes.
func opcodeBytes(r *itrace.Record) uint64 { return max(1, uint64(len(r.Digits)/2)) }

// memoryProblem says why a record of memory cannot be true, "" if it can.
func memoryProblem(r *itrace.Record) string {
	switch digits := uint64(len(r.Digits)); {
	case r.Size == 0:
		return "an access to no bytes"
	case digits > 2*uint64(r.Size):
		return "more data than bytes"
	case r.Size > shortAccess && digits < 2*uint64(r.Size)-1:
		return "less data than bytes"
	}
	return ""
}

func (b *builder) unknown(r *itrace.Record, problem string) {
	if b.summary.Unknown++; b.summary.Unknown == 1 {
		b.summary.FirstUnknown, b.summary.Problem = r.Line, problem
	}
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
func (b *builder) register(r *itrace.Record) error {
	s, err := b.slot(r)
	if err != nil {
		return err
	}
	slot := &b.slots[s]
	if !slot.changed {
		slot.changed = true
		b.changed = append(b.changed, s)
		b.sets[registers].add(slot.key, 1)
	}
	slot.digits, slot.wild, slot.line = append(slot.digits[:0], r.Digits...), r.Wild, r.Line
	return nil
}

// slot finds the place of a register, or makes one.
func (b *builder) slot(r *itrace.Record) (int, error) {
	if b.lastName != string(r.Name) || b.lastList == nil {
		list := b.numbers[string(r.Name)]
		if list == nil {
			list = new([]int)
			b.numbers[string(r.Name)] = list
		}
		b.lastName, b.lastList = string(r.Name), list
	}
	list := *b.lastList
	if cpu := int(uint32(r.CPU)); cpu < len(list) && list[cpu] >= 0 {
		return list[cpu], nil
	}
	return b.newSlot(r)
}

// newSlot makes a place for a register that has none by this name, or finds that of the name in another case.
func (b *builder) newSlot(r *itrace.Record) (int, error) {
	lower := strings.ToLower(string(r.Name))
	name, ok := b.names[lower]
	if !ok {
		if name = uint32(len(b.tell.Names)); name == mostNames {
			return 0, fmt.Errorf("the trace has more than %d names of registers", mostNames)
		}
		b.names[lower] = name
		b.tell.Names = append(b.tell.Names, lower)
	}
	key := registerKey(r.CPU, name)
	s, ok := b.bySlot[key]
	if !ok {
		s = len(b.slots)
		b.slots = append(b.slots, slot{key: key})
		b.bySlot[key] = s
	}
	if cpu := int(uint32(r.CPU)); cpu < mostCPUs { // others are found by the map each time
		for len(*b.lastList) <= cpu {
			*b.lastList = append(*b.lastList, -1)
		}
		(*b.lastList)[cpu] = s
	}
	return s, nil
}

// cut begins a block at an instruction if the one at hand is long enough.
func (b *builder) cut(r *itrace.Record) error {
	length := r.Offset - b.leaf.at
	switch {
	case b.began && length < blockSize:
		return nil
	case !b.began:
		b.began = true
		return nil
	case length > mostBlock:
		return fmt.Errorf("the trace has %d bytes without an instruction, before line %d", length, r.Line)
	case !b.dialect.Anywhere && !b.beginsAnew(r):
		return nil
	}
	b.closeLeaf()
	b.leaf = leaf{at: r.Offset, line: r.Line, first: b.leaf.first + b.leaf.instructions, time: b.time}
	return nil
}

// beginsAnew reports whether a parser that has not seen the lines before reads the same in an instruction.
func (b *builder) beginsAnew(r *itrace.Record) bool {
	var again itrace.Record
	again.Line, again.Offset, again.Text = r.Line, r.Offset, r.Text
	problem := b.dialect.New().Parse(r.Text, &again)
	return problem == nil && !again.More && again.Kind == r.Kind && again.CPU == r.CPU && again.Time == r.Time && again.Addr == r.Addr
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
		node.sets[kind] = b.writeSet(b.spans, false)
		b.gather(0, kind, b.spans, false)
	}
	b.addNode(0, node)
	if len(b.tell.leaves)%fanout == 0 {
		every := make([]int, len(b.slots))
		for i := range every {
			every[i] = i
		}
		b.snapshot = b.appendValues(b.snapshot[:0], every)
	}
}
