package query

import (
	"context"

	"tracewell/itrace/index"
	"tracewell/symbol/ctype"
	"tracewell/view/tally"
)

// Latency is how long it took from each execution of a place to the next of another, on the same processor.
type Latency struct {
	Pairs   int64
	Open    int64    // executions of the first place behind which the other was not executed any more
	Left    int64    // executions of the first place that were left out, since too many came without one of the other
	Lengths Measured // in instructions of the processor
	Times   Measured // in the unit of the trace; without values where the trace has no times, or times of several units
}

// Measured is the figures of a length, and between which instructions it was the longest and the shortest.
type Measured struct {
	tally.Measured
	Longest, Shortest Pair
}

// Pair is an execution of one place and the next of another, as numbers of instructions.
type Pair struct{ Start, End int64 }

// mostOpen is how many executions of the first place wait for one of the other; the oldest are left out.
const mostOpen = 1 << 20

// Latency measures how long it takes from one place to another within the range. Lengths in instructions are those of the
// processor alone: where the trace has several, all instructions between are counted.
func (t *Trace) Latency(ctx context.Context, from, to Code) (*Latency, error) {
	m := meter{Trace: t, latency: &Latency{}, open: make(map[int32]*waiting)}
	for i := range m.gather {
		m.gather[i] = tally.New[struct{}](tally.Gather{Quantiles: true, Histogram: &tally.Scale{}})
	}
	wants := append(from.wants(), to.wants()...)
	m.starts = len(from.Addrs)
	m.counted = len(t.processors()) > 1 || t.CPU != nil && len(t.CPUs) > 1
	if m.counted {
		wants = append(wants, t.turns()...)
	}
	m.both = make([]bool, m.starts)
	for i, addr := range from.Addrs {
		for _, other := range to.Addrs {
			m.both[i] = m.both[i] || addr == other
		}
	}
	err := t.each(ctx, wants, Pick{}, func(f index.Found) error {
		m.meet(f, len(wants)-len(t.processors()))
		return nil
	})
	for _, w := range m.open {
		m.latency.Open += int64(len(w.starts))
	}
	for i, measured := range []*Measured{&m.latency.Lengths, &m.latency.Times} {
		if groups := m.gather[i].Top(1); len(groups) > 0 {
			measured.Measured = groups[0].Values[0]
		}
	}
	return m.latency, err
}

// meter measures latencies.
type meter struct {
	*Trace
	latency *Latency
	starts  int    // how many of what is looked for are starts
	both    []bool // of these, which are ends, too
	counted bool   // instructions are counted by processor
	open    map[int32]*waiting
	gather  [2]*tally.Table[struct{}] // of lengths and times
}

// waiting is what a processor has executed of the first place.
type waiting struct {
	starts []start
	number int64 // of instructions of the processor so far
}

type start struct {
	instruction, number int64
	time                uint64
}

// meet takes an instruction: an end of all that is open on its processor, a start, or both.
func (m *meter) meet(f index.Found, turns int) {
	w := m.open[f.Item.CPU]
	if w == nil {
		w = &waiting{}
		m.open[f.Item.CPU] = w
	}
	number := f.Instruction
	if m.counted {
		number = w.number
		w.number++
	}
	isStart := f.Want < m.starts
	if m.counted && f.Want >= turns {
		return
	}
	if !isStart || m.both[f.Want] {
		for _, s := range w.starts {
			m.pair(s, start{f.Instruction, number, f.Item.Time})
		}
		w.starts = w.starts[:0]
	}
	if !isStart {
		return
	}
	if len(w.starts) == mostOpen {
		half := copy(w.starts, w.starts[mostOpen/2:])
		w.starts = w.starts[:half]
		m.latency.Left += int64(mostOpen - half)
	}
	w.starts = append(w.starts, start{f.Instruction, number, f.Item.Time})
}

// pair takes a pair.
func (m *meter) pair(s, end start) {
	m.latency.Pairs++
	p := Pair{s.instruction, end.instruction}
	m.add(0, &m.latency.Lengths, p, uint64(end.number-s.number))
	if m.LastTime > 0 && len(m.Scales) <= 1 && end.time >= s.time {
		m.add(1, &m.latency.Times, p, end.time-s.time)
	}
}

// count is the type of what is measured.
var count = &ctype.Type{Kind: ctype.Integer, Size: 8}

// add takes a length. Of several that are the longest the first is kept.
func (m *meter) add(which int, measured *Measured, p Pair, length uint64) {
	v := ctype.Number{Bits: length, Type: count}
	if measured.Count == 0 || measured.Max.Less(v) {
		measured.Max, measured.Longest = v, p
	}
	if measured.Count == 0 || v.Less(measured.Min) {
		measured.Min, measured.Shortest = v, p
	}
	measured.Count++
	m.gather[which].Add(nil, 1, []tally.Reading{{Number: v, OK: true}}, func() struct{} { return struct{}{} })
}
