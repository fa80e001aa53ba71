package edit

import (
	"fmt"
	"sort"
	"strings"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// Part is one of the files to merge.
type Part struct {
	Name    string // for errors and changes
	Content tfile.Content
}

// Order says how the frames of a merged file follow one another.
type Order uint8

// The orders.
const (
	// ByFile: the frames of one file after those of another.
	ByFile Order = iota
	// ByTime: by the value of $trace_timestamp, which all frames must have; those of equal value as in ByFile.
	ByTime
)

// Change is a number that means something else in the merged file than in the part.
type Change struct {
	Part     string // its name
	What     string // "tracepoint 3 (queue.c:20)" or "variable $hits"
	Old, New int
}

// String says it in a sentence.
func (c Change) String() string {
	return fmt.Sprintf("%s: %s has number %d in place of %d", c.Part, c.What, c.New, c.Old)
}

// Merge joins files of one experiment, one or more. They must have the byte order, the register size and the target
// description in common; the error says which does not and how.
//
// Tracepoints of the same definition become one, its hits and usage the sums, and so do trace state variables of the same
// name. What has a number that is taken by something else gets another, in the definitions (agent expressions included), the
// frames and the status; the changes tell of it. A variable that a file uses without defining it keeps its number.
//
// The status is that of a run from the earliest start to the latest stop: it ended as the part that stopped last, its counts
// are the sums. Lines whose keyword is not known are kept, once each.
//
// Progress, unless it is nil, is told how many frames have been read to find the order, if that takes reading them.
func Merge(parts []Part, order Order, progress func(done int64)) (tfile.Content, []Change, error) {
	for _, p := range parts[1:] {
		if err := compatible(parts[0], p); err != nil {
			return nil, nil, err
		}
	}
	m := newMerger(parts)
	joined := &merged{starts: []int{0}}
	for i, p := range parts {
		numbering, err := m.add(p)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		joined.parts = append(joined.parts, part{p, numbering})
		joined.starts = append(joined.starts, joined.starts[i]+p.Content.NumFrames())
	}
	joined.header = m.header(joined.parts, joined.NumFrames())
	if order == ByTime {
		if err := joined.sortByTime(progress); err != nil {
			return nil, nil, err
		}
	}
	return joined, m.changes, nil
}

// compatible says what keeps two files from being merged.
func compatible(a, b Part) error {
	ha, hb := a.Content.Header(), b.Content.Header()
	switch {
	case ha.Order != hb.Order:
		return fmt.Errorf("%s is %s endian, %s is %s endian", b.Name, arch.OrderName(hb.Order), a.Name, arch.OrderName(ha.Order))
	case ha.RegisterSize != hb.RegisterSize:
		return fmt.Errorf("%s has register blocks of %d bytes, %s of %d", b.Name, hb.RegisterSize, a.Name, ha.RegisterSize)
	case tfile.WithThreads(ha.Description, nil) != tfile.WithThreads(hb.Description, nil):
		return fmt.Errorf("the target description of %s is not that of %s: %s", b.Name, a.Name,
			difference(ha.Description, hb.Description))
	}
	return nil
}

// difference says where two texts part.
func difference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d is %.60q, expected %.60q", i+1, bs[i], as[i])
		}
	}
	return fmt.Sprintf("it has %d lines, expected %d", len(bs), len(as))
}

// merger gathers the definitions of the parts.
type merger struct {
	definitions []trace.Variable
	variables   map[string]trace.VariableNumber // by name
	groups      []*group
	other       []string
	changes     []Change

	// The highest numbers that are used. New ones are taken from behind them, so that they are nobody's.
	lastVariable   trace.VariableNumber
	lastTracepoint trace.Number
}

func newMerger(parts []Part) *merger {
	m := &merger{variables: make(map[string]trace.VariableNumber)}
	for _, p := range parts {
		for _, v := range p.Content.Header().Variables {
			m.lastVariable = max(m.lastVariable, v.Number)
		}
		for _, n := range numbers(p.Content) {
			m.lastTracepoint = max(m.lastTracepoint, n)
		}
	}
	return m
}

// part is a Part with its new numbers.
type part struct {
	Part
	numbering
}

// numbering has the numbers of a part that change.
type numbering struct {
	tracepoints map[trace.Number]trace.Number
	variables   map[int32]int32
}

// merged is several contents as one.
type merged struct {
	header tfile.Header
	parts  []part
	starts []int   // of each part, counted in frames of all; at last their total
	order  []int32 // place in the parts of each frame, nil if it is the frame's number
}

// Header implements tfile.Content.
func (m *merged) Header() tfile.Header { return m.header }

// NumFrames implements tfile.Content.
func (m *merged) NumFrames() int { return m.starts[len(m.starts)-1] }

// Tracepoint implements tfile.Content.
func (m *merged) Tracepoint(i int) trace.Number {
	p, i := m.find(i)
	n := p.Content.Tracepoint(i)
	if changed, ok := p.tracepoints[n]; ok {
		return changed
	}
	return n
}

// find returns the part that has frame i, and the frame's number there.
func (m *merged) find(i int) (*part, int) {
	if m.order != nil {
		i = int(m.order[i])
	}
	p := sort.Search(len(m.parts), func(p int) bool { return m.starts[p+1] > i })
	return &m.parts[p], i - m.starts[p]
}

// ReadFrame implements tfile.Content.
//
// A part may return a frame that lies in its own memory, which is not to be changed, and callers pass the bytes of one frame
// for reuse by the next. So every frame is copied, changed or not.
func (m *merged) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	if i < 0 || i >= m.NumFrames() {
		return tfile.Frame{}, fmt.Errorf("no frame %d, there are %d", i, m.NumFrames())
	}
	p, i := m.find(i)
	f, err := p.Content.ReadFrame(i, buf)
	if err != nil {
		return tfile.Frame{}, fmt.Errorf("%s: %w", p.Name, err)
	}
	own := append(buf[:0], f.Bytes()...)
	p.renumber(own, f, m.header.Order)
	return tfile.ParseFrame(own, m.header.Order, m.header.RegisterSize)
}

// renumber changes the numbers in own, a copy of the bytes of f.
func (n numbering) renumber(own []byte, f tfile.Frame, order arch.ByteOrder) {
	if changed, ok := n.tracepoints[f.Tracepoint()]; ok {
		order.PutUint16(own, uint16(changed))
	}
	if len(n.variables) == 0 {
		return
	}
	for block := range f.Blocks() {
		if changed, ok := n.variables[block.Number]; ok && block.Kind == tfile.BlockVariable {
			order.PutUint32(own[block.Offset+1:], uint32(changed))
		}
	}
}
