package execution

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"tracewell/arch/flow"
	"tracewell/internal/routine"
	"tracewell/itrace"
	"tracewell/itrace/calls"
	"tracewell/itrace/coverage"
	"tracewell/itrace/sites"
	"tracewell/view/wire"
)

// reading is the one pass over the trace. Its goroutine writes result and err before done is closed; nobody reads them earlier.
type reading struct {
	once   sync.Once
	done   chan struct{}
	bytes  atomic.Int64 // read so far
	result *whole
	err    error
}

// whole is what the pass has found. It is not changed any more.
type whole struct {
	wire.WholeTrace
	total    uint64            // instructions executed
	report   *coverage.Report  // nil without a program
	words    map[uint64]string // disassembly that the trace has, by address
	chart    *chart
	executed []int // sites by address
}

// whole waits for the pass, which it starts if nobody has. The pass goes on when the context ends: another question will want it.
func (s *Subject) whole(ctx context.Context) (*whole, error) {
	r := &s.reading
	r.once.Do(func() {
		routine.Go(func() {
			defer close(r.done)
			r.result, r.err = s.readWhole()
		})
	})
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wholeFor waits for the pass if a step needs it.
func (s *Subject) wholeFor(ctx context.Context, step string) (*whole, error) {
	if step == "step" || step == "step-back" {
		return nil, nil
	}
	return s.whole(ctx)
}

// read is what the pass has found, nil if it has not ended.
func (s *Subject) read() *whole {
	select {
	case <-s.reading.done:
		return s.reading.result
	default:
		return nil
	}
}

// readingState says how far the pass is, and starts it.
func (s *Subject) readingState() wire.ReadingState {
	ended, stop := context.WithCancel(context.Background())
	stop()
	s.whole(ended) // only starts it
	r := &s.reading
	select {
	case <-r.done:
	default:
		// It is not over before the result is there.
		return wire.ReadingState{Done: min(float64(r.bytes.Load())/float64(max(s.Size, 1)), 0.999)}
	}
	if r.err != nil {
		return wire.ReadingState{Done: 1, Error: r.err.Error()}
	}
	return wire.ReadingState{Done: 1, Least: r.result.chart.least, Depth: r.result.chart.depth()}
}

// set is the instruction set of the machine; nil if it has to be found out.
func (s *Subject) set() *flow.Set {
	if s.code != nil && s.code.Set != nil {
		return s.code.Set
	}
	if s.Execution.Machine != nil && !s.Execution.Inferred {
		return flow.Of(s.Execution.Machine, s.Execution.Order)
	}
	return nil
}

// mostWords is of how many addresses the disassembly of the trace is kept.
const mostWords = 1 << 20

// readWhole reads the trace once.
func (s *Subject) readWhole() (*whole, error) {
	w := &whole{words: make(map[uint64]string), chart: newChart()}
	w.Code = s.code
	w.Walker = calls.New(sites.New(s.code, s.set()))
	w.Listener = w.chart
	r := itrace.NewReader(io.NewSectionReader(s.Content, 0, s.Size), s.Execution.Dialect())
	records := make([]itrace.Record, 256)
	for {
		n, err := r.Read(records)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for i := range records[:n] {
			w.note(&records[i])
		}
		w.Add(records[:n])
		_, done := r.Position()
		s.reading.bytes.Store(done)
	}
	w.Finish()
	w.chart.close(w.Position)
	if w.Position == 0 {
		return nil, errors.New("the trace has no instructions")
	}
	w.total = w.Executed()
	w.executed = w.Table.Executed()
	if s.code != nil {
		totals := w.ByFunction(len(w.Functions))
		w.report = coverage.Of(w.Table, s.code, func(function int) uint64 { return totals[function].Calls })
	}
	return w, nil
}

// note keeps what the walker does not.
func (w *whole) note(r *itrace.Record) {
	if r.Kind != itrace.Instruction {
		return
	}
	w.Timed = w.Timed || r.Time > 0
	if len(r.Disasm) == 0 || len(w.words) >= mostWords {
		return
	}
	if _, known := w.words[r.Addr]; !known {
		w.words[r.Addr] = string(r.Disasm)
	}
}

// name is that of a function, by its number.
func (w *whole) name(function int32) string {
	if function < 0 {
		return "?"
	}
	f := w.Functions[function]
	if f.Name == "" {
		return fmt.Sprintf("0x%x", f.Begin)
	}
	return f.Name
}

// call is the call of a processor with so many calls around it that is active at a position; nil if there is none.
func (w *whole) call(cpu int32, depth int, position int64) *call {
	if w == nil {
		return nil
	}
	return w.chart.find(cpu, depth, position)
}

// depth is how many calls are active at a position.
func (w *whole) depth(cpu int32, position int64) (n int) {
	for w.call(cpu, n, position) != nil {
		n++
	}
	return n
}

// active are the calls at a position, the outermost first.
func (w *whole) active(cpu int32, position int64) []wire.ActiveCall {
	list := []wire.ActiveCall{}
	for c := w.call(cpu, 0, position); c != nil; c = w.call(cpu, len(list), position) {
		list = append(list, wire.ActiveCall{Function: w.name(c.function), Handler: c.handler, Begin: c.begin, End: c.end})
	}
	return list
}
