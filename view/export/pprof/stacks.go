package pprof

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"tracewell/arch"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/export"
)

// Stacks counts stacks. One goroutine may use it.
type Stacks struct {
	out    io.Writer
	write  func(*Stacks) error
	view   *view.View
	reader *view.Reader
	value  *view.Expression // nil for none
	text   string           // of value

	byKey map[string]*stack
	key   []byte
	start int64 // the earliest time of a frame, in microseconds; 0 if no frame tells
	end   int64 // the latest
}

// stack is a stack at a tracepoint, and what was counted of it.
type stack struct {
	view.Backtrace
	tracepoint trace.Number
	folded     string
	count, sum int64
}

// NewProfile counts stacks that Flush writes as a profile, beside the sums of an expression if that is not "". The error is about
// the expression.
func NewProfile(out io.Writer, v *view.View, value string) (*Stacks, error) {
	return newStacks(out, v, value, (*Stacks).writeProfile)
}

// NewFolded counts stacks that Flush writes folded, with the sums of an expression in place of the counts if that is not "".
func NewFolded(out io.Writer, v *view.View, value string) (*Stacks, error) {
	return newStacks(out, v, value, (*Stacks).writeFolded)
}

func newStacks(out io.Writer, v *view.View, value string, write func(*Stacks) error) (*Stacks, error) {
	s := &Stacks{out: out, write: write, view: v, reader: v.NewReader(), text: value, byKey: make(map[string]*stack)}
	if value == "" {
		return s, nil
	}
	var err error
	if s.value, err = v.Expression(value); err != nil {
		return nil, fmt.Errorf("--value: %w", err)
	}
	return s, nil
}

// Flush writes what was counted.
func (s *Stacks) Flush() error { return s.write(s) }

// Add counts a frame.
func (s *Stacks) Add(frame view.Frame) error {
	s.reader.Set(frame)
	if at, ok := export.TimeOf(frame); ok {
		if s.start == 0 {
			s.start = at
		}
		s.start, s.end = min(s.start, at), max(s.end, at)
	}
	b := s.reader.Backtrace()
	if len(b.Calls) == 0 {
		b.Calls = s.at(frame.PC)
	}
	s.key = fmt.Appendf(s.key[:0], "%d", frame.Tracepoint())
	for _, c := range b.Calls {
		s.key = fmt.Appendf(s.key, " %x %s %s:%d", uint64(c.Addr), c.Function, c.File, c.Line)
	}
	known := s.byKey[string(s.key)]
	if known == nil {
		known = &stack{Backtrace: b, tracepoint: frame.Tracepoint(), folded: b.Folded()}
		s.byKey[string(s.key)] = known
	}
	known.count++
	if s.value != nil {
		if value, ok := s.value.Value(s.reader); ok {
			known.sum += int64(value.Bits)
		}
	}
	return nil
}

// at are the calls of a frame without a stack: the function that it is in, with what is inlined there.
func (s *Stacks) at(pc arch.Addr) (calls []view.Call) {
	if s.view.Symbols != nil {
		for _, location := range s.view.Symbols.Calls(pc) {
			calls = append(calls, view.Call{Location: location})
		}
	}
	if len(calls) == 0 { // nothing is known but perhaps the address
		calls = []view.Call{{}}
	}
	for i := range calls {
		calls[i].Addr = pc
	}
	return calls
}

// sorted are the stacks in the order of their names, those of a tracepoint together.
func (s *Stacks) sorted() []*stack {
	return slices.SortedFunc(maps.Values(s.byKey), func(a, b *stack) int {
		return cmp.Or(cmp.Compare(a.tracepoint, b.tracepoint), cmp.Compare(a.folded, b.folded),
			slices.CompareFunc(a.Calls, b.Calls, func(x, y view.Call) int { return cmp.Compare(x.Addr, y.Addr) }))
	})
}

// writeFolded writes a line for each stack, those together that differ in addresses or lines alone.
func (s *Stacks) writeFolded() error {
	totals := make(map[string]int64)
	for _, k := range s.byKey {
		n := k.count
		if s.value != nil {
			n = k.sum
		}
		totals[k.folded] += n
	}
	for _, line := range slices.Sorted(maps.Keys(totals)) {
		if _, err := fmt.Fprintf(s.out, "%s %d\n", line, totals[line]); err != nil {
			return err
		}
	}
	return nil
}
