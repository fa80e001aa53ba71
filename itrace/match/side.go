package match

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"

	"tracewell/itrace"
)

// Input is a trace to compare.
type Input struct {
	Name    string // as the report calls it
	Reader  io.Reader
	Dialect *itrace.Dialect // nil to find it out
	// Interrupt, unless nil, makes a Read that waits return, with any error, and those that follow as well. It is called at the end of
	// every comparison, of which it may be the cause: no more is wanted, or the context is done.
	Interrupt func()
}

// side reads one of the two traces, in a goroutine of its own, and makes groups of its records.
type side struct {
	input   Input
	rules   *rules
	names   *nameCache
	dialect *itrace.Dialect

	full  chan []*group // read, to be compared
	empty chan []*group // compared, to be used again
	err   error         // once full is closed: why reading ended, nil at the end of the trace

	trace   Trace
	read    atomic.Int64 // bytes of the trace so far
	streams map[int32]*stream
	current *stream // of the processor of the latest record
	ready   []*group
	spare   []*group
	skip    skipping
	last    struct { // the record before, for SkipEqual
		text []byte
		set  bool
	}
}

// stream is what is read of one processor.
type stream struct {
	cpu     int32
	open    *group // that may get more effects
	records int64
}

// skipping is what is left out at the beginning of a trace.
type skipping struct {
	boot    int64 // instructions still to be left out
	started bool
}

// groupBatch is how many groups change hands at once.
const groupBatch = 256

func newSide(in Input, d *itrace.Dialect, r *rules, n *names) *side {
	s := &side{
		input: in, rules: r, names: newNameCache(n), dialect: d,
		full: make(chan []*group, 4), empty: make(chan []*group, 8),
		streams: make(map[int32]*stream), current: &stream{cpu: -1},
	}
	s.trace.File, s.trace.Dialect = in.Name, d.Name
	s.skip.boot = r.options.Boot
	s.skip.started = r.options.Start == nil
	return s
}

// run reads the trace to its end, or until ctx is done, and closes s.full.
func (s *side) run(ctx context.Context) {
	defer close(s.full)
	reader := itrace.NewReader(s.input.Reader, s.dialect)
	records := make([]itrace.Record, 512)
	for {
		n, err := reader.Read(records)
		for i := range n {
			s.record(&records[i])
		}
		if n > 0 {
			last := &records[n-1]
			s.trace.Lines = last.Line
			s.trace.Bytes = last.Offset + int64(len(last.Text)) + 1
			s.read.Store(s.trace.Bytes)
		}
		if err != nil {
			if err != io.EOF {
				s.err = fmt.Errorf("%s: reading at byte %d: %w", s.input.Name, s.trace.Bytes, err)
			}
			s.finishAll()
			s.hand(ctx)
			return
		}
		// What is there is handed on before waiting for more, so that pipes can be compared as they come.
		if (len(s.ready) >= groupBatch || n < len(records)) && !s.hand(ctx) {
			return
		}
	}
}

// hand passes the groups that are complete on, and reports whether anybody still wants them.
func (s *side) hand(ctx context.Context) bool {
	if len(s.ready) == 0 {
		return true
	}
	select {
	case s.full <- s.ready:
	case <-ctx.Done():
		s.err = ctx.Err()
		return false
	}
	s.ready = nil
	select {
	case used := <-s.empty:
		s.spare = append(s.spare, used...)
		s.ready = used[:0]
	default:
	}
	return true
}

// record takes one record.
func (s *side) record(r *itrace.Record) {
	if r.Kind == itrace.Unknown {
		s.unknown(r)
		return
	}
	if s.rules.options.SkipEqual && s.repeated(r) {
		return
	}
	if s.current.cpu != r.CPU {
		s.turnTo(r.CPU)
	}
	if r.Kind == itrace.Instruction {
		s.instruction(r)
		return
	}
	s.effect(r)
}

// turnTo makes the stream of a processor the current one.
func (s *side) turnTo(cpu int32) {
	t := s.streams[cpu]
	if t == nil {
		t = &stream{cpu: cpu}
		s.streams[cpu] = t
	}
	s.current = t
}

// samples is how many unreadable lines are quoted.
const samples = 5

func (s *side) unknown(r *itrace.Record) {
	if s.trace.Unknown++; s.trace.Unknown <= samples {
		text := r.Text
		if len(text) > 80 {
			text = text[:80]
		}
		s.trace.Samples = append(s.trace.Samples, fmt.Sprintf("%s:%d: %v: %q", s.input.Name, r.Line, r.Problem, text))
	}
}

// repeated reports whether a record says what the one before has said, but for the time.
func (s *side) repeated(r *itrace.Record) bool {
	_, rest, _ := bytes.Cut(r.Text, []byte{' '})
	same := s.last.set && bytes.Equal(rest, s.last.text)
	s.last.text, s.last.set = append(s.last.text[:0], rest...), true
	return same
}

func (s *side) instruction(r *itrace.Record) {
	s.trace.Records.Instructions++
	s.finish(s.current)
	if !s.begun(r) {
		return
	}
	g := s.take()
	g.cpu, g.index, g.line, g.offset = r.CPU, s.trace.Records.Instructions-1, r.Line, r.Offset
	g.record = s.current.records
	s.current.records++
	g.keep(r.Text)
	g.pc, g.opcode, g.skipped, g.time, g.id = r.Addr, r.Value, r.Skipped, r.Time, r.ID
	if r.Wild || len(r.Digits) > 16 {
		g.wild = true
		g.opcodes = g.keepDigits(r.Digits)
	}
	g.mode = s.names.number(r.Mode)<<8 | uint32(r.State)
	s.fields(g, r)
	if s.rules.instruction(g.pc) {
		s.spare = append(s.spare, g)
		return
	}
	s.current.open = g
}

// fields takes what is compared only when asked for.
func (s *side) fields(g *group, r *itrace.Record) {
	for _, f := range s.rules.options.Fields {
		switch f {
		case FieldTime:
			g.scale = s.names.number(r.Scale)
		case FieldSecurity:
			g.security = s.names.number(r.Security)
		case FieldDisasm:
			g.disasm = s.names.number(bytes.Join(bytes.Fields(r.Disasm), []byte{' '}))
		}
	}
}

// begun reports whether an instruction is behind what is left out at the beginning.
func (s *side) begun(r *itrace.Record) bool {
	start := s.rules.options.Start
	inBoot := s.skip.boot > 0
	if inBoot {
		s.skip.boot--
	}
	if start != nil && !s.skip.started && r.Addr == *start {
		s.skip.started, s.skip.boot = true, 0
		return true
	}
	return s.skip.started && !inBoot
}

func (s *side) effect(r *itrace.Record) {
	if r.Kind == itrace.Register {
		s.trace.Records.Registers++
	} else {
		s.trace.Records.Memory++
	}
	g := s.current.open
	if g == nil {
		if g = s.headless(r); g == nil {
			return
		}
	}
	e := effect{value: r.Value, line: r.Line, offset: r.Offset}
	switch {
	case r.Kind == itrace.Register:
		e.kind, e.at = writesRegister, uint64(s.names.number(r.Name))
	case r.Write:
		e.kind, e.at, e.size = stores, r.Addr, r.Size
	default:
		e.kind, e.at, e.size = loads, r.Addr, r.Size
	}
	if s.rules.options.compares(FieldPrivilege) {
		e.privilege = r.Privilege
	}
	if len(s.rules.ignores) > 0 && s.rules.effect(&e, func() string { return s.names.names.word(uint32(e.at)) }) {
		return
	}
	if r.Wild || len(r.Digits) > 16 {
		e.wide, e.digits = true, g.keepDigits(r.Digits)
	}
	e.text = g.keep(r.Text)
	s.current.records++
	g.effects = append(g.effects, e)
}

// headless returns a group for effects without an instruction: those ahead of the first. What belongs to one that was left out is
// left out with it.
func (s *side) headless(r *itrace.Record) *group {
	if s.trace.Records.Instructions > 0 || !s.skip.started || s.skip.boot > 0 {
		return nil
	}
	g := s.take()
	*g = group{text: g.text, wide: g.wide, effects: g.effects, bare: true, cpu: r.CPU, line: r.Line, offset: r.Offset}
	s.current.open = g
	return g
}

// take returns an empty group.
func (s *side) take() *group {
	if n := len(s.spare); n > 0 {
		g := s.spare[n-1]
		s.spare = s.spare[:n-1]
		g.reset()
		return g
	}
	return new(group)
}

// finish makes the open group of a stream ready, which gets no more effects.
func (s *side) finish(t *stream) {
	if t.open != nil {
		t.open.finish()
		s.ready = append(s.ready, t.open)
		t.open = nil
	}
}

// finishAll does so for all processors, in their order.
func (s *side) finishAll() {
	for _, cpu := range slices.Sorted(maps.Keys(s.streams)) {
		s.finish(s.streams[cpu])
	}
}
