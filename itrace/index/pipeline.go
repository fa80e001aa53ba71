package index

import (
	"errors"
	"io"
	"runtime"

	"tracewell/internal/routine"
	"tracewell/itrace"
)

// To build an index takes two steps: to decode the trace, and to gather what its records tell. They are done on two goroutines
// where there are two processors. Records are views of what the decoder keeps, valid until it reads on, so what matters of them is
// copied into batches, of which a few are on their way from one to the other.

const (
	batchRecords = 512
	// batches is how many there are: enough that neither side waits for the other when one has a long block to close.
	batches = 16
)

// fact is what the index wants to know of a record.
type fact struct {
	kind  itrace.Kind
	write bool
	wild  bool
	cpu   int32
	scope itrace.Scope
	// Of a register the name and the digits, of an instruction the unit of its time, of what is unknown the problem: from
	// batch.text, one behind the other.
	text, name, digits uint32
	addr, size         uint64 // of memory or an opcode
	time               uint64
	line               int64
}

// batch is some facts of records in a row.
type batch struct {
	facts []fact
	text  []byte
	// cut says that a block begins behind them, and where; state is that of the decoder there.
	cut      bool
	at, line int64
	state    []byte
	err      error // that nothing follows; io.EOF at the end of the trace
}

// source decodes a trace, and decides where blocks begin.
type source struct {
	reader  *itrace.Reader
	records []itrace.Record
	at      int64  // where the block at hand begins
	state   int64  // bytes of the state there
	unknown bool   // there was something that was not understood
	scale   []byte // the unit of time that was told last, which is not told again
}

// next fills a batch.
func (s *source) next(b *batch) {
	b.facts, b.text, b.cut = b.facts[:0], b.text[:0], false
	n, err := s.reader.Read(s.records)
	for i := range n {
		s.add(b, &s.records[i])
	}
	lines, offset := s.reader.Position()
	// A block ends when it is long enough, and the state behind it, which is written with the next one, is no more than the block.
	if offset-s.at >= max(blockSize, s.state) && s.reader.Between() {
		b.cut, b.at, b.line = true, offset, lines+1
		b.state = s.reader.AppendState(b.state[:0])
		s.at, s.state = offset, int64(len(b.state))
	}
	b.err = err
}

// add adds what a record tells.
func (s *source) add(b *batch, r *itrace.Record) {
	b.facts = append(b.facts, fact{kind: r.Kind, cpu: r.CPU, line: r.Line, text: uint32(len(b.text))})
	f := &b.facts[len(b.facts)-1]
	switch r.Kind {
	case itrace.Instruction:
		f.addr, f.size, f.time, f.scope = r.Addr, opcodeBytes(r), r.Time, r.Scope
		if len(r.Scale) > 0 && string(r.Scale) != string(s.scale) {
			s.scale = append(s.scale[:0], r.Scale...)
			b.text = append(b.text, r.Scale...)
			f.name = uint32(len(r.Scale))
		}
	case itrace.Memory:
		if problem := memoryProblem(r); problem != "" {
			s.problem(b, f, func() string { return problem })
			return
		}
		f.addr, f.size, f.write = r.Addr, uint64(r.Size), r.Write
		if f.size == 0 {
			f.size = accessBytes(r)
		}
	case itrace.Register, itrace.RegisterRead:
		b.text = r.AppendName(b.text)
		f.name = uint32(len(b.text)) - f.text
		if r.Kind == itrace.Register {
			b.text = append(b.text, r.Digits...)
			f.digits, f.wild = uint32(len(r.Digits)), r.Wild
		}
	case itrace.Event, itrace.Remark:
		b.facts = b.facts[:len(b.facts)-1] // nothing that the index has
	default:
		s.problem(b, f, r.Problem.Error)
	}
}

// problem makes a fact one of what was not understood. The first problem is told.
func (s *source) problem(b *batch, f *fact, what func() string) {
	f.kind = itrace.Unknown
	if !s.unknown {
		s.unknown = true
		b.text = append(b.text, what()...)
		f.name = uint32(len(b.text)) - f.text
	}
}

// nameOf and digitsOf are what a fact has of the text.
func (b *batch) nameOf(f *fact) []byte   { return b.text[f.text : f.text+f.name] }
func (b *batch) digitsOf(f *fact) []byte { return b.text[f.text+f.name : f.text+f.name+f.digits] }

// all has take see all batches in order, up to the one with an error or until take returns one. When it returns nothing is read any
// more.
func (s *source) all(take func(*batch) error) error {
	if runtime.GOMAXPROCS(0) == 1 {
		return s.alone(take)
	}
	filled, empty, quit := make(chan *batch, batches), make(chan *batch, batches), make(chan struct{})
	for range batches {
		empty <- new(batch)
	}
	var work routine.Group
	work.Go(func() {
		defer close(filled)
		for {
			select {
			case <-quit:
				return
			case b := <-empty:
				s.next(b)
				filled <- b // there is room for all
				if b.err != nil {
					return
				}
			}
		}
	})
	defer work.Wait()
	defer close(quit)
	for b := range filled {
		if err := take(b); err != nil {
			return err
		}
		if b.err != nil {
			return plain(b.err)
		}
		empty <- b
	}
	return nil
}

// alone is all on one goroutine.
func (s *source) alone(take func(*batch) error) error {
	var b batch
	for {
		s.next(&b)
		if err := take(&b); err != nil {
			return err
		}
		if b.err != nil {
			return plain(b.err)
		}
	}
}

// plain makes the end of a trace no error.
func plain(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
