package parting

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/calls"
	"tracewell/itrace/sites"
)

// Source is what records are read from, an itrace.Reader mostly.
type Source interface {
	Read(records []itrace.Record) (int, error)
}

type kind uint8

const (
	// In the order of how much it says that two traces have the same.
	end   kind = iota // of the trace
	leave             // of the function
	line
	loop // lines that were executed several times
	enter
)

// step is what a program did next.
type step struct {
	kind
	id     int32 // of the function, the line or the loop, in common
	rounds int64 // of a loop
	at     int64 // the number of the first instruction
	pc     uint64
	from   uint64 // where a function was called
}

// stream is the steps of a trace.
type stream struct {
	common *common
	side   int
	source Source
	walker *calls.Walker
	cpu    *int32 // nil until the first instruction, if all may be asked for
	only   int32
	others bool // there are other processors

	records []itrace.Record
	err     error // that ended it; io.EOF at the end
	queue   []step
	head    int

	lines    []int32 // by site: its number in common plus 2; 0 where it was not asked for
	frames   []frame // of the functions that are active
	handler  int     // how many of frames are active below a handler, with the handler; 0 for none
	last     uint64  // address of the latest instruction outside of handlers
	traps    uint64
	folders  [levels]folder
	key      []byte
	loopEnds map[int32][2]uint64 // addresses of the first and the last line of each loop, by the source
}

// levels is how many loops within one another are folded.
const levels = 3

// folder finds loops in the steps of a function between two calls. What it makes of them is steps for the next one.
type folder struct {
	pending []step // may be the body of a loop
	body    []step // of the loop that is going on
	partial []step // the latest round of it, which is not over
	rounds  int64
}

// frame is where a function is.
type frame struct {
	line    int32
	pc      uint64
	unnamed bool // it is no step: what it calls counts as called by its caller
}

func newStream(c *common, side int, source Source, cpu *int32) *stream {
	p := c.sides[side].Program
	s := &stream{common: c, side: side, source: source, cpu: cpu, records: make([]itrace.Record, 256),
		walker: calls.New(sites.New(p, p.Set)), frames: []frame{{line: noLine}}, loopEnds: make(map[int32][2]uint64)}
	s.walker.Listener = s
	return s
}

// peek is the step so far ahead. At the end there is one of kind end for ever.
func (s *stream) peek(ahead int) step {
	for s.head+ahead >= len(s.queue) && s.err == nil {
		s.fill()
	}
	if s.head+ahead >= len(s.queue) {
		return step{kind: end, at: s.walker.Position}
	}
	return s.queue[s.head+ahead]
}

// drop goes so many steps on.
func (s *stream) drop(n int) {
	s.head = min(s.head+n, len(s.queue))
	if s.head > 4096 && 2*s.head > len(s.queue) {
		s.queue, s.head = append(s.queue[:0], s.queue[s.head:]...), 0
	}
}

// fill reads some records.
func (s *stream) fill() {
	n, err := s.source.Read(s.records)
	for i := range s.records[:n] {
		s.add(&s.records[i], s.records[i:i+1])
	}
	if s.err = err; err != nil {
		s.flush()
		s.walker.Finish()
	}
}

// add reads a record, which is also given as a list.
func (s *stream) add(r *itrace.Record, one []itrace.Record) {
	if r.Kind != itrace.Instruction && r.Kind != itrace.Event {
		return
	}
	if s.cpu == nil {
		s.only = r.CPU
		s.cpu = &s.only
	}
	if s.walker.Only = s.cpu; r.CPU != *s.cpu {
		s.others = true
	}
	at := s.walker.Position
	s.walker.Add(one) // which calls Begin and End
	if r.Kind != itrace.Instruction || r.CPU != *s.cpu || s.handler > 0 {
		return
	}
	f := &s.frames[len(s.frames)-1]
	id := s.lineAt(r.Addr)
	// A line that goes back to its beginning is executed once more.
	if id != noLine && (id != f.line || r.Addr < f.pc) {
		s.fold(0, step{kind: line, id: id, at: at, pc: r.Addr})
		f.line = id
	}
	f.pc, s.last = r.Addr, r.Addr
}

// lineAt is the number of the line at an address.
func (s *stream) lineAt(pc uint64) int32 {
	n := s.walker.Table.At(pc)
	if n >= len(s.lines) {
		s.lines = append(s.lines, make([]int32, n+1024-len(s.lines))...)
	}
	if s.lines[n] == 0 {
		s.lines[n] = s.common.lineID(s.side, s.walker.Table.Sites[n].PC) + 2
	}
	return s.lines[n] - 2
}

// Begin implements calls.Listener.
func (s *stream) Begin(_, function int32, handler bool, at int64, _ uint64) {
	switch {
	case s.handler > 0:
		s.handler++
		return
	case handler:
		s.handler = 1
		s.traps++
		return
	}
	f := &s.walker.Functions[function]
	s.frames = append(s.frames, frame{line: noLine, unnamed: f.Name == ""})
	if f.Name == "" {
		return
	}
	s.flush()
	s.queue = append(s.queue, step{kind: enter, id: s.common.functionID(s.side, f.Name), at: at, pc: f.Begin, from: s.last})
}

// End implements calls.Listener.
func (s *stream) End(_ int32, at int64, _ uint64) {
	if s.handler > 0 {
		s.handler--
		return
	}
	last := len(s.frames) - 1
	named := !s.frames[last].unnamed
	if s.frames = s.frames[:last]; last == 0 {
		s.frames = append(s.frames, frame{line: noLine})
	}
	if named {
		s.flush()
		s.queue = append(s.queue, step{kind: leave, at: at, pc: s.last})
	}
}

// maxBody is how many steps the body of a loop may have.
const maxBody = 32

// fold adds a step, which may go on with a loop or begin one.
func (s *stream) fold(level int, next step) {
	if level == levels {
		s.queue = append(s.queue, next)
		return
	}
	f := &s.folders[level]
	if f.rounds > 0 {
		if same(next, f.body[len(f.partial)]) {
			if f.partial = append(f.partial, next); len(f.partial) == len(f.body) {
				f.rounds++
				f.partial = f.partial[:0]
			}
			return
		}
		s.endLoop(level)
	}
	f.pending = append(f.pending, next)
	n := len(f.pending)
	for size := 1; size <= maxBody && 2*size <= n; size++ {
		if same(next, f.pending[n-1-size]) && slices.EqualFunc(f.pending[n-size:], f.pending[n-2*size:n-size], same) {
			for _, before := range f.pending[:n-2*size] {
				s.fold(level+1, before)
			}
			f.body = append(f.body[:0], f.pending[n-2*size:n-size]...)
			f.pending, f.partial, f.rounds = f.pending[:0], f.partial[:0], 2
			return
		}
	}
	if n > 2*maxBody {
		s.fold(level+1, f.pending[0])
		f.pending = append(f.pending[:0], f.pending[1:]...)
	}
}

// same reports whether two steps can be in two rounds of a loop: loops in it with as many rounds.
func same(a, b step) bool { return a.kind == b.kind && a.id == b.id && a.rounds == b.rounds }

// endLoop ends a loop. The round that was not finished is steps again.
func (s *stream) endLoop(level int) {
	f := &s.folders[level]
	s.key = s.key[:0]
	for _, l := range f.body {
		s.key = binary.LittleEndian.AppendUint32(append(s.key, byte(l.kind)), uint32(l.id))
		s.key = binary.LittleEndian.AppendUint64(s.key, uint64(l.rounds))
	}
	id := s.common.loopID(s.key)
	if _, known := s.loopEnds[id]; !known {
		s.loopEnds[id] = s.ends(f.body)
	}
	first, rounds := f.body[0], f.rounds
	f.pending, f.rounds = append(f.pending[:0], f.partial...), 0
	s.fold(level+1, step{kind: loop, id: id, rounds: rounds, at: first.at, pc: first.pc})
}

// ends are the addresses of the lines of a loop that stand first and last in the source.
func (s *stream) ends(body []step) [2]uint64 {
	var all []uint64
	for _, l := range body {
		if l.kind == loop {
			inner := s.loopEnds[l.id]
			all = append(all, inner[:]...)
		} else {
			all = append(all, l.pc)
		}
	}
	byLine := func(a, b uint64) int {
		_, lineA, _ := s.common.sides[s.side].Line(a)
		_, lineB, _ := s.common.sides[s.side].Line(b)
		return cmp.Compare(lineA, lineB)
	}
	return [2]uint64{slices.MinFunc(all, byLine), slices.MaxFunc(all, byLine)}
}

// flush ends what may have gone on as a loop.
func (s *stream) flush() {
	for level := range s.folders {
		f := &s.folders[level]
		if f.rounds > 0 {
			s.endLoop(level)
		}
		for _, left := range f.pending {
			s.fold(level+1, left)
		}
		f.pending = f.pending[:0]
	}
}

// problem is what ended reading too early.
func (s *stream) problem() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}
