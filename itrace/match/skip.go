package match

import (
	"bytes"

	"tracewell/itrace"
)

// Where both traces go on with the same bytes, the lines of the reference are read for both, and no groups are made of them: they
// are counted, and of the registers it is noted what they hold and who wrote it. All that a report can tell is as if they had been
// compared. Lines that differ in their times alone are the same where these are not compared; nothing else asks for a time, and so
// the decoders may differ in that of the line before.
//
// A skip begins at an instruction when nothing waits to be paired and the decoders of both sides are in the same state. It ends at
// an instruction as well, so many before the bytes differ that all of the history is of groups. It is of one processor; where
// another has its turn it ends.

// skipper says when to look for the same bytes, and remembers where a skip may end.
type skipper struct {
	off      bool   // never; for tests
	next     int64  // groups of the reference that come before
	patience int64  // groups before the next look if this one is in vain
	marks    []mark // the last ones, in a ring
	keeping  bool   // readers keep states, so that they can go back
	briefs   [256]itrace.Brief
	skipped  int64 // instructions

	behindTime func(text []byte) int // of the dialect, where lines are the same but for times; nil where bytes are
	drifts     []int64               // with that, of each line: its offset in the other trace, less that in the reference
}

const (
	leastSkip     = 1 << 14 // bytes that are the same
	leastGain     = 1 << 10 // groups that a skip should pass over
	firstPatience = 1 << 10
	mostPatience  = 1 << 16
)

// mark is a line of the reference, and what comes before it.
type mark struct {
	line, offset int64
	counts       Counts
	unknown      int64
	zero         int64  // writes that RuleZero leaves out
	last         int64  // the line of the instruction before
	count        int64  // instructions of the skip before it
	state        []byte // of the decoder
}

// markEvery is how many instructions there are, at least, from one mark at which a skip may end to the next. Of states of many
// bytes there are fewer.
const markEvery = 16

// skip passes over what is the same on both sides. The error is that for which a side cannot be read on.
func (c *comparison) skip() error {
	k := &c.skipper
	if k.off || c.delivered[reference] < k.next || !c.inStep() || !c.sameAhead() {
		return nil
	}
	for n, s := range c.sides {
		if err := c.take(n, s.complete()); err != nil {
			return err
		}
	}
	if !c.inStep() || c.sides[reference].err != nil || c.sides[other].err != nil {
		return nil
	}
	before := c.delivered[reference]
	if !c.goBack() {
		k.keeping = true
		for _, s := range c.sides {
			s.reader.KeepStates(true)
		}
		k.next = c.delivered[reference] + 1 // when records have been read with that
		return nil
	}
	for c.skipSome() && c.extend() {
	}
	k.patience = min(2*k.patience, mostPatience)
	if c.delivered[reference]-before >= leastGain {
		k.patience = firstPatience
	}
	k.next = c.delivered[reference] + k.patience
	return nil
}

// inStep reports whether all that was read has been paired, and lines mean what they say.
func (c *comparison) inStep() bool {
	o := &c.options
	if o.SkipEqual || len(o.Ignores) > 0 || c.rules.adapt || c.answered() {
		return false
	}
	for n, s := range c.sides {
		d := s.input.Dialect
		if !d.Same(c.sides[reference].input.Dialect) || d.Binary != nil || d.Defers > 0 {
			return false
		}
		if !s.skip.started || s.skip.boot > 0 || c.ended[n] {
			return false
		}
	}
	for _, a := range c.ordered {
		if a.queue[reference].len()+a.queue[other].len()+a.wanted+len(a.late[reference])+len(a.late[other])+a.watched > 0 {
			return false
		}
	}
	return true
}

// rest is what is read of a trace from the next record on.
func (s *side) rest() []byte {
	_, offset := s.position()
	return s.reader.Rest(offset)
}

// sameAhead reports whether the next bytes of both traces are the same, or are so but for times.
func (c *comparison) sameAhead() bool {
	k, r, o := &c.skipper, c.sides[reference].rest(), c.sides[other].rest()
	k.behindTime = nil
	if len(r) < leastSkip || len(o) < leastSkip {
		return false
	}
	if bytes.Equal(r[:leastSkip], o[:leastSkip]) {
		return true
	}
	if c.options.compares(FieldTime) || c.sides[reference].input.Dialect.BehindTime == nil {
		return false
	}
	k.behindTime = c.sides[reference].input.Dialect.BehindTime
	_, all := k.sameButTimes(r[:leastSkip], o, 0)
	return all
}

// extend reads more of the trace of which less is left to be taken, and reports whether there is more. Of the other there may be
// nothing to come for long.
func (c *comparison) extend() bool {
	shorter := c.sides[reference]
	if o := c.sides[other]; len(o.rest()) < len(shorter.rest()) {
		shorter = o
	}
	return shorter.reader.Extend()
}

// skipSome passes over what is known to be the same, and reports whether that is all that has been read of one side.
func (c *comparison) skipSome() (all bool) {
	k, r, o := &c.skipper, c.sides[reference], c.sides[other]
	_, from := r.position()
	_, behind := o.position()
	same, all := 0, false
	if k.behindTime == nil {
		same, all = sameLines(r.rest(), o.rest())
	} else {
		same, all = k.sameButTimes(r.rest(), o.rest(), behind-from)
	}
	if same == 0 {
		return false
	}
	return all && c.skipTo(from+int64(same))
}

// goBack takes back the records that both sides have read ahead, and reports whether that could be and both are in one state.
func (c *comparison) goBack() bool {
	r, o := c.sides[reference], c.sides[other]
	if !r.back() || !o.back() {
		return false
	}
	state := (*itrace.Reader).AppendState
	if c.skipper.behindTime != nil {
		state = (*itrace.Reader).AppendTimeless
	}
	return bytes.Equal(state(r.reader, nil), state(o.reader, nil))
}

// back takes back the records that have been read ahead, and reports whether that could be.
func (s *side) back() bool {
	lines, offset := s.position()
	if !s.reader.Back(lines+1, offset) {
		return false
	}
	s.records, s.next = s.records[:0], 0
	return true
}

// sameLines returns how many bytes are the same at the beginning of two texts, up to the end of a line that is not blank, and
// whether nothing of one text is behind but a part of a line.
func sameLines(a, b []byte) (n int, all bool) {
	least := min(len(a), len(b))
	const step = 1 << 12
	for n+step <= least && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < least && a[n] == b[n] {
		n++
	}
	all = n == least
	n = bytes.LastIndexByte(a[:n], '\n') + 1
	for n > 0 && a[n-1] <= ' ' {
		n--
	}
	if n > 0 {
		n += 1 + bytes.IndexByte(a[n:], '\n')
	}
	return n, all
}

// sameButTimes is sameLines for lines that are the same but for times, of which the first is so much further behind in b. It notes
// the drift of each.
func (k *skipper) sameButTimes(a, b []byte, offset int64) (n int, all bool) {
	k.drifts = k.drifts[:0]
	for at := 0; ; {
		end := bytes.IndexByte(a[at:], '\n') + 1
		if end == 0 {
			return n, true
		}
		line := a[at : at+end]
		time, otherTime := k.behindTime(line), k.behindTime(b)
		rest := line[time:]
		length := otherTime + len(rest)
		if length > len(b) || !bytes.Equal(rest, b[otherTime:length]) || (time == 0) != (otherTime == 0) {
			return n, bytes.IndexByte(b, '\n') < 0
		}
		k.drifts = append(k.drifts, offset)
		offset += int64(length - end)
		at, b = at+end, b[length:]
		if time > 0 || len(bytes.TrimSpace(line)) > 0 {
			n = at
		}
	}
}

// skipRun is a part of a skip: a stretch of lines that both traces have.
type skipRun struct {
	c         *comparison
	a         *aligner
	reference *side
	other     *side
	start     mark
	unknown   [2]int64 // lines before it that could not be read
	shift     place    // from the place of the first line in the reference to that in the other trace
	drifts    []int64  // of each line where their offsets have no shift in common, else nil
	count     int64    // instructions
	by        place    // of the latest
	marks     []mark   // the last ones, in a ring
	marked    int      // how many there were
	nextMark  int64    // behind so many instructions there may be the next
	state     []byte   // of the decoder at the lines at hand
	within    bool     // not at this one: it is behind others that have been read at once
}

// skipTo reads the reference up to an offset, or to where another processor has its turn, and goes back to the last instruction
// at which the skip may end. It reports whether it came to the offset.
func (c *comparison) skipTo(end int64) (reached bool) {
	k := skipRun{c: c, reference: c.sides[reference], other: c.sides[other]}
	k.start = k.reference.mark()
	k.start.state = k.reference.reader.AppendState(nil)
	behind := k.other.mark()
	k.unknown = [2]int64{k.start.unknown, behind.unknown}
	k.shift = place{behind.counts.Instructions - k.start.counts.Instructions, behind.line - k.start.line,
		behind.offset - k.start.offset}
	if c.skipper.behindTime != nil {
		k.drifts = c.skipper.drifts
	}
	reached = k.read(end)
	k.finish()
	return reached
}

// there returns the place in the other trace of one in the reference.
func (k *skipRun) there(p place) place {
	shift := k.shift
	if k.drifts != nil {
		shift.offset = k.drifts[p.line-k.start.line]
	}
	return place{p.index + shift.index, p.line + shift.line, p.offset + shift.offset}
}

// mark is where a side is, which is at an instruction.
func (s *side) mark() mark {
	lines, offset := s.position()
	return mark{line: lines + 1, offset: offset, counts: s.trace.Records, unknown: s.trace.Unknown}
}

// read reads lines up to an offset.
func (k *skipRun) read(end int64) (reached bool) {
	s := k.reference
	at := k.start
	for {
		lines, offset := s.reader.Position()
		if offset >= end {
			return true
		}
		n := 0
		if k.a != nil {
			k.state = s.reader.AppendState(k.state[:0])
			n = s.reader.FastPath(k.c.skipper.briefs[:], end)
		}
		if n == 0 {
			if some, same := k.readSome(end, &at); !some || !same {
				return same
			}
		}
		k.within = false
		for i := range n {
			g := &k.c.skipper.briefs[i]
			at.line, at.offset = lines+int64(i)+1, offset+int64(g.At)
			k.brief(g, &at)
		}
	}
}

// readSome reads some lines that the fast path does not take. It reports whether there were some, and whether they are of the same
// processor.
func (k *skipRun) readSome(end int64, at *mark) (some, same bool) {
	s := k.reference
	want := cap(s.records)
	if s.reader.HasFastPath() {
		want = slowLines
	}
	k.state = s.reader.AppendState(k.state[:0])
	known := s.reader.Between()
	n := s.reader.ReadTo(s.records[:want], end)
	for i := range n {
		r := &s.records[:n][i]
		k.within = i > 0 || !known
		if at.line, at.offset = r.Line, r.Offset; k.a == nil {
			k.begin(r.CPU)
		}
		// What a report quotes of a line that cannot be read has its time.
		if r.CPU != k.a.cpu || r.Kind == itrace.Unknown && k.drifts != nil {
			return true, false
		}
		k.record(r, at)
	}
	return n > 0, true
}

// slowLines is how many lines are read before the fast path is tried again.
const slowLines = 4

// begin prepares for the lines of a processor.
func (k *skipRun) begin(cpu int32) {
	k.a = k.c.aligner(cpu)
	size := k.a.queue[reference].history/markEvery + 3
	if len(k.c.skipper.marks) != size {
		k.c.skipper.marks = make([]mark, size)
	}
	k.marks = k.c.skipper.marks
}

// record takes a record over for both sides; at is where it is.
func (k *skipRun) record(r *itrace.Record, at *mark) {
	switch r.Kind {
	case itrace.Instruction:
		k.reference.seeGap(r, r.Line)
		k.other.seeGap(r, r.Line+k.shift.line)
		k.instruction(at)
	case itrace.Register:
		if at.counts.Registers++; r.Zero && k.reference.adapt.zero != nil {
			at.zero++
			return
		}
		var wide []byte
		if r.Wild || len(r.Digits) > 16 {
			wide = bytes.Clone(r.Digits)
		}
		k.write(k.reference.names.number(r.Name), r.Value, wide)
	case itrace.Memory:
		at.counts.Memory++
		k.c.memory.set(&effect{at: r.Addr, size: r.Size}, false)
	case itrace.RegisterRead:
		at.counts.Registers++
	case itrace.Event, itrace.Remark:
	default:
		at.unknown++
		k.reference.unknown(r)
		shifted := *r
		shifted.Line += k.shift.line
		k.other.unknown(&shifted)
	}
}

// brief is record for a line that the fast path has read.
func (k *skipRun) brief(g *itrace.Brief, at *mark) {
	switch g.Kind {
	case itrace.Instruction:
		k.instruction(at)
	case itrace.Register:
		at.counts.Registers++
		k.write(k.reference.names.numberOf(g.Name), g.Value, nil)
	default:
		at.counts.Memory++
		if len(k.c.memory.bytes) > 0 {
			k.c.memory.set(&effect{at: g.Addr, size: g.Size}, false)
		}
	}
}

// instruction takes an instruction over.
func (k *skipRun) instruction(at *mark) {
	if k.count >= k.nextMark && !k.within {
		m := &k.marks[k.marked%len(k.marks)]
		state := append(m.state[:0], k.state...)
		*m = *at
		m.count, m.state = k.count, state
		k.marked++
		k.nextMark = k.count + max(markEvery, int64(len(state)))
	}
	k.by = place{at.counts.Instructions, at.line, at.offset}
	at.last = at.line
	at.counts.Instructions++
	k.count++
}

// write notes what a register holds on both sides.
func (k *skipRun) write(register uint32, value uint64, wide []byte) {
	k.a.state.setEqual(uint64(register), value, wide, k.by, k.there(k.by))
}

// lastMark returns the last mark that is behind no more than so many instructions, nil for none.
func (k *skipRun) lastMark(count int64) *mark {
	for i := 1; i <= min(k.marked, len(k.marks)); i++ {
		if m := &k.marks[(k.marked-i)%len(k.marks)]; m.count <= count {
			return m
		}
	}
	return nil
}

// finish ends the skip at a mark behind which there are as many instructions as the history is long.
func (k *skipRun) finish() {
	to := k.start
	if k.a != nil {
		if m := k.lastMark(k.count - 1 - int64(k.a.queue[reference].history)); m != nil && m.count > 0 {
			to = *m
			k.a.last = to.last
			k.a.parting = parting{}
		}
	}
	counts := to.counts.minus(k.start.counts)
	k.c.skipper.skipped += counts.Instructions
	k.c.report.Compared.add(counts)
	if left := to.zero - k.start.zero; left > 0 {
		k.c.report.Compared.Registers -= left
		k.reference.adapt.zero.fired += 2 * left
	}
	for n, s := range k.c.sides {
		if k.a != nil {
			k.a.queue[n].passed += counts.Instructions
			k.a.records[n] += counts.Instructions + counts.Registers + counts.Memory - (to.zero - k.start.zero)
		}
		k.c.delivered[n] += counts.Instructions
		s.trace.Records.add(counts)
		s.trace.Unknown = k.unknown[n] + to.unknown - k.start.unknown
		s.trace.Samples = s.trace.Samples[:min(len(s.trace.Samples), int(s.trace.Unknown))]
	}
	k.reference.reader.Go(to.line, to.offset, to.state)
	k.reference.records = k.reference.records[:0]
	behind := k.there(place{line: to.line, offset: to.offset})
	k.other.reader.Go(behind.line, behind.offset, to.state)
	for n, s := range k.c.sides {
		s.trace.Lines, s.trace.Bytes = s.position()
		k.c.report.Traces[n] = s.trace
	}
}

func (c *Counts) add(d Counts) {
	c.Instructions += d.Instructions
	c.Registers += d.Registers
	c.Memory += d.Memory
}

func (c Counts) minus(d Counts) Counts {
	return Counts{c.Instructions - d.Instructions, c.Registers - d.Registers, c.Memory - d.Memory}
}
