package index

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sort"

	"tracewell/itrace"
)

// Registers returns what the registers of all processors held at a position, those that were written last first.
func (t *Trace) Registers(position int64) ([]Value, error) {
	leaf := t.leafOf(position)
	base, err := t.base(leaf)
	if err != nil {
		return nil, err
	}
	b, err := t.block(leaf)
	if err != nil {
		return nil, err
	}
	latest := maps.Clone(base)
	for i := range b.Items[:b.itemAt(position)] {
		if it := &b.Items[i]; it.Kind == itrace.Register {
			latest[registerKey(it.CPU, it.Name)] = Value{it.CPU, it.Name, it.Digits, it.Line}
		}
	}
	values := slices.Collect(maps.Values(latest))
	slices.SortFunc(values, func(a, b Value) int { return cmp.Compare(b.Line, a.Line) })
	return values, nil
}

// base returns what registers held at the beginning of a block: nobody's to change.
func (t *Trace) base(leaf int) (map[uint64]Value, error) {
	if base, ok := t.bases.get(leaf); ok {
		return base, nil
	}
	latest := make(map[uint64]Value)
	keep := func(p place) error {
		b, err := t.part(p)
		if err != nil {
			return err
		}
		values, err := parseValues(b)
		for _, v := range values {
			latest[registerKey(v.CPU, v.Name)] = v
		}
		return err
	}
	if err := keep(t.dir.snapshots[leaf/fanout]); err != nil {
		return nil, err
	}
	for i := leaf / fanout * fanout; i < leaf; i++ {
		if err := keep(t.dir.leaves[i].values); err != nil {
			return nil, err
		}
	}
	t.bases.put(leaf, latest, 1)
	return latest, nil
}

// Layout says how the digits of a trace are bytes.
type Layout struct {
	BigEndian bool // the first digits of data are those of the lowest address
	// Halfwords says that an opcode of four bytes in state T is two halfwords, of which the first digits are those executed first.
	Halfwords bool
	// LittleCode says that instructions are little endian whatever data are.
	LittleCode bool
}

// Knowledge is what there is to know of a byte.
type Knowledge uint8

// What there may be.
const (
	Unseen     Knowledge = iota // no record has told of it
	Known                       // its value
	Unknowable                  // the last record that told of it did not know it
)

// Memory fills p with what memory from an address on held at a position, as far as it was read, written or executed before, and
// says in known what that is. Only bytes that are unseen are looked for.
func (t *Trace) Memory(position int64, addr uint64, p []byte, known []Knowledge, l Layout) error {
	m := memory{addr, p, known, l}
	var wants []Want
	for at := t.leafOf(position); at >= 0; {
		if wants = m.unseen(wants[:0]); len(wants) == 0 {
			return nil
		}
		leaf, err := t.nextLeaf(at, true, wants)
		if err != nil || leaf < 0 {
			return err
		}
		b, err := t.block(leaf)
		if err != nil {
			return err
		}
		end := b.itemAt(position)
		if end < len(b.Items) && b.Items[end].Kind == itrace.Instruction && b.First+int64(b.Items[end].Step) == position {
			end++ // the opcode of the instruction that is about to be executed is there
		}
		// Backwards: the first record that tells of a byte is the last that was written, and later ones find it taken.
		for i := end - 1; i >= 0; i-- {
			m.take(t, &b.Items[i])
		}
		at = leaf - 1
	}
	return nil
}

// Later is Memory for bytes that only records behind a position tell, before anything is written there. What they held at the
// position is inferred.
func (t *Trace) Later(position int64, addr uint64, p []byte, known []Knowledge, l Layout) error {
	for i := range p {
		if known[i] != Unseen {
			continue
		}
		at := addr + uint64(i)
		// A read tells what was there all the time; behind a write the old value is gone. Both are asked for, and which comes first
		// decides.
		found, err := t.Next(context.Background(), position, []Want{{What: Read, Addr: at, Size: 1}, {What: Write, Addr: at, Size: 1}})
		if err != nil {
			return err
		}
		if found != nil && !found.Item.Write {
			m := memory{addr, p, known, l}
			m.take(t, found.Item)
		}
	}
	return nil
}

// memory is a piece of memory that is being found out.
type memory struct {
	addr  uint64
	bytes []byte
	known []Knowledge
	Layout
}

// unseen appends what tells of bytes of which nothing is known, for each stretch of them by itself: what lies between may be told
// of all the time.
func (m *memory) unseen(wants []Want) []Want {
	for from := 0; from < len(m.known); {
		size := slices.IndexFunc(m.known[from:], func(k Knowledge) bool { return k != Unseen })
		if size < 0 {
			size = len(m.known) - from
		}
		if size > 0 {
			for _, what := range [...]What{Execution, Read, Write} {
				wants = append(wants, Want{What: what, Addr: m.addr + uint64(from), Size: uint64(size)})
			}
		}
		from += size + 1
	}
	return wants
}

// take takes from a record the bytes that are unseen. Those whose digits the writer did not know are settled as well: what they
// held before is of no use.
func (m *memory) take(t *Trace, it *Item) {
	if it.Kind != itrace.Memory && it.Kind != itrace.Instruction {
		return
	}
	// A read of which no data are told, or an instruction without its opcode, tells nothing; a write makes bytes unknown.
	if len(it.Digits) == 0 && !it.Write {
		return
	}
	for i := range it.Size {
		at := t.Offset(it.Addr+i, m.addr)
		if at >= uint64(len(m.bytes)) || m.known[at] != Unseen {
			continue
		}
		m.known[at] = Unknowable
		if b, ok := m.Byte(it, i); ok {
			m.bytes[at], m.known[at] = b, Known
		}
	}
}

// Byte returns a byte of an access or an opcode, counted from its lowest address, and whether all of it is known.
func (l Layout) Byte(it *Item, i uint64) (byte, bool) {
	fromEnd := i // bytes behind it among the digits
	switch {
	case it.Kind == itrace.Instruction && l.Halfwords && it.Thumb && it.Size == 4:
		// A Thumb instruction of 32 bits is two halfwords, the higher of them first, each in the byte order of code; its digits are
		// those of the first halfword and then of the second.
		fromEnd = [4]uint64{2, 3, 0, 1}[i]
		if l.BigEndian && !l.LittleCode {
			fromEnd = 3 - i
		}
	case l.BigEndian && (it.Kind != itrace.Instruction || !l.LittleCode):
		fromEnd = it.Size - 1 - i
	}
	return DigitByte(it.Digits, fromEnd)
}

// DigitByte returns a byte of a row of digits, counted from the last, and whether all of it is known. In front of the first digits
// are zeros; where there are no digits at all, nothing is known.
func DigitByte(digits []byte, fromEnd uint64) (byte, bool) {
	if len(digits) == 0 {
		return 0, false
	}
	var b byte
	for half := range uint64(2) {
		at := len(digits) - 1 - int(2*fromEnd+half)
		if at < 0 {
			break
		}
		v, ok := digitValue(digits[at])
		if !ok {
			return 0, false
		}
		b |= v << (4 * half)
	}
	return b, true
}

// AtTime returns the first position whose instruction has a time, or a later one. Beyond the last time it is the end.
func (t *Trace) AtTime(time uint64) (int64, error) {
	if time > t.LastTime {
		return t.Instructions, nil
	}
	// The time in front of a block is the highest so far: the block looked for is the last in front of which it is lower.
	i := t.leafBefore(func(l *leaf) bool { return l.time >= time })
	for ; i < len(t.dir.leaves); i++ {
		b, err := t.block(i)
		if err != nil {
			return 0, err
		}
		for n := range b.steps {
			if b.Items[b.steps[n]].Time >= time {
				return b.First + int64(n), nil
			}
		}
	}
	return t.Instructions, nil
}

// leafBefore returns the last block in front of those for which behind holds, the first if it holds for all.
func (t *Trace) leafBefore(behind func(*leaf) bool) int {
	return max(0, sort.Search(len(t.dir.leaves), func(i int) bool { return behind(&t.dir.leaves[i]) })-1)
}

// AtLine returns the position of a line: that of the instruction which is there or which the line belongs to.
func (t *Trace) AtLine(line int64) (int64, error) {
	if line > t.Lines {
		return t.Instructions, nil
	}
	i := t.leafBefore(func(l *leaf) bool { return l.line > line })
	b, err := t.block(i)
	if err != nil {
		return 0, err
	}
	n := sort.Search(len(b.steps), func(n int) bool { return b.Items[b.steps[n]].Line > line }) - 1
	return max(b.First+int64(n), 0), nil
}
