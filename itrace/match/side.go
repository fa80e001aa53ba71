package match

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strconv"

	"tracewell/itrace"
)

// Input is a trace to compare.
type Input struct {
	Name    string // as the report calls it
	Reader  io.Reader
	Dialect *itrace.Dialect // nil to find it out
	// Interrupt, unless nil, makes a Read that waits return, with any error, and those that follow as well. It is called at the end
	// of every comparison, of which it may be the cause: no more is wanted, or the context is done.
	Interrupt func()
	// Ready says that Read takes neither long nor much work, like that of a file. It is then not read ahead, which saves copying
	// it.
	Ready bool

	why string // it was taken for its dialect
}

// side reads one of the two traces and makes groups of its records, as many as are wanted.
type side struct {
	input Input
	rules *rules
	adapt adapting

	defers int // instructions that an effect may come behind its own

	names  *nameCache
	reader *itrace.Reader
	err    error // why reading ended, io.EOF at the end of the trace

	records []itrace.Record // read ahead
	next    int             // of those that are still to be taken
	taken   int64           // where the line of the latest is

	trace   Trace
	gap     int64 // line of the first instruction behind which some may be missing, 0 if there is none
	streams map[int32]*stream
	current *stream  // of the processor of the latest record
	ready   []*group // complete
	spare   []*group // compared, to be used again
	skip    skipping
	last    struct { // for SkipEqual: what the record before has said, and room for what the next says
		before, said []byte
	}
}

// stream is what is read of one processor.
type stream struct {
	cpu  int32
	open *group // that may get more effects
	// behind are the instructions before that may get some as well, as the dialect defers them, the oldest first; nil is one that was
	// left out. There are no more than the dialect says (itrace.Dialect.Defers).
	behind []*group
	begun  bool // there has been an instruction
}

// skipping is what is left out at the beginning of a trace.
type skipping struct {
	boot    int64 // instructions of the boot section that are still to come
	bounded bool  // the start address is looked for only there, or right behind
	started bool
	failed  bool // the start address is not where it has to be
}

const (
	recordBatch = 128     // records that are read at once
	mostSpare   = 1 << 12 // groups that are kept to be used again
)

func newSide(in Input, f *feed, r *rules, n *names) *side {
	s := &side{
		input: in, rules: r, adapt: newAdapting(r), defers: in.Dialect.Defers, names: newNameCache(n),
		reader:  itrace.NewReader(f, in.Dialect),
		records: make([]itrace.Record, 0, recordBatch), streams: make(map[int32]*stream), current: &stream{cpu: -1},
	}
	s.trace.File, s.trace.Dialect, s.trace.Why = in.Name, in.Dialect.String(), in.why
	s.skip = skipping{boot: r.options.Boot, bounded: r.options.Boot > 0, started: r.options.Start == nil}
	return s
}

// advance reads until so many groups are complete or the trace has ended, and returns those that are, until the next call. Of
// a trace that may have to be waited for it returns those that there are.
func (s *side) advance(want int) []*group {
	s.ready = s.ready[:0]
	for len(s.ready) < want {
		if s.next == len(s.records) {
			waits := s.input.Interrupt != nil && len(s.records) < cap(s.records)
			if waits && len(s.ready) > 0 || !s.read() {
				break
			}
		}
		s.record(&s.records[s.next])
		s.taken = s.records[s.next].Offset
		s.next++
	}
	s.trace.Lines, s.trace.Bytes = s.position()
	return s.ready
}

// complete reads until the next record is an instruction, and no other is of its lines, or the trace has ended, and returns the
// groups that are complete with that.
func (s *side) complete() []*group {
	s.ready = s.ready[:0]
	for s.next < len(s.records) || s.read() {
		r := &s.records[s.next]
		if r.Kind == itrace.Instruction && s.taken < r.Offset {
			s.turnTo(r.CPU)
			s.finish(s.current)
			break
		}
		s.record(r)
		s.taken = r.Offset
		s.next++
	}
	s.trace.Lines, s.trace.Bytes = s.position()
	return s.ready
}

// read reads records ahead, and reports whether there are more. At the end it completes the last groups.
func (s *side) read() bool {
	if s.err == nil && s.skip.failed {
		s.err = s.unstarted()
	}
	if s.err != nil {
		return false
	}
	n, err := s.reader.Read(s.records[:cap(s.records)])
	s.records, s.next = s.records[:n], 0
	switch {
	case err == nil:
		return true
	case err == io.EOF && !s.skip.started:
		err = s.unstarted()
	case err == io.EOF:
		s.finishAll()
	}
	s.err = err
	return false
}

// position returns how many lines and bytes come before the next record.
func (s *side) position() (lines, bytes int64) {
	if s.next < len(s.records) {
		r := &s.records[s.next]
		return r.Line - 1, r.Offset
	}
	return s.reader.Position()
}

// unstarted says that the trace does not come to the start address.
func (s *side) unstarted() error {
	where := ""
	if s.skip.bounded {
		where = fmt.Sprintf(" in its boot section of %d instructions or right behind", s.rules.options.Boot)
	}
	return fmt.Errorf("%s has no instruction at the start address 0x%x%s", s.input.Name, *s.rules.options.Start, where)
}

// record takes one record.
func (s *side) record(r *itrace.Record) {
	switch r.Kind {
	case itrace.Unknown:
		s.unknown(r)
		return
	case itrace.Remark:
		return
	}
	if s.rules.options.SkipEqual && s.repeated(r) {
		return
	}
	if s.current.cpu != r.CPU {
		if r.Kind == itrace.Instruction && s.trace.Records.Instructions == 0 && !s.input.Dialect.EffectsTellCPU {
			s.adopt(r.CPU)
		}
		s.turnTo(r.CPU)
	}
	if r.Kind == itrace.Instruction {
		s.instruction(r)
		return
	}
	s.effect(r)
}

// adopt gives the effects ahead of the first instruction to its processor, in a dialect whose effects tell of none.
func (s *side) adopt(cpu int32) {
	if t := s.current; t.open != nil {
		delete(s.streams, t.cpu)
		t.cpu, t.open.cpu, s.streams[cpu] = cpu, cpu, t
	}
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

// Of unreadable lines the first are quoted, and their beginnings.
const (
	samples     = 5
	sampleBytes = 80
)

func (s *side) unknown(r *itrace.Record) {
	if s.trace.Unknown++; s.trace.Unknown <= samples {
		text := r.Text[:min(len(r.Text), sampleBytes)]
		s.trace.Samples = append(s.trace.Samples, fmt.Sprintf("%s:%d: %v: %q", s.input.Name, r.Line, r.Problem, text))
	}
}

// repeated reports whether a record says what the one before has said, but for the time.
func (s *side) repeated(r *itrace.Record) bool {
	said := appendSaid(s.last.said[:0], r)
	same := bytes.Equal(said, s.last.before)
	s.last.said, s.last.before = s.last.before, said
	if same {
		s.rules.equal.fire()
	}
	return same
}

// appendSaid appends what a record says but for the time, so that no two that say different things come to the same bytes.
func appendSaid(dst []byte, r *itrace.Record) []byte {
	dst = binary.AppendUvarint(append(dst, byte(r.Kind)), uint64(r.CPU))
	dst = appendWord(dst, r.Digits)
	switch r.Kind {
	case itrace.Register:
		return appendWord(dst, r.Name)
	case itrace.Memory:
		dst = strconv.AppendBool(append(dst, r.Privilege), r.Write)
		return binary.AppendUvarint(binary.AppendUvarint(dst, r.Addr), uint64(r.Size))
	case itrace.RegisterRead:
		return appendWord(dst, r.Name)
	case itrace.Event:
		return appendWord(binary.AppendUvarint(append(dst, byte(r.Event)), r.Addr), r.Name)
	}
	dst = strconv.AppendBool(append(dst, r.State), r.Skipped)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, r.Addr), r.ID)
	return appendWord(appendWord(appendWord(dst, r.Mode), r.Security), r.Disasm)
}

func appendWord(dst, word []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(word))), word...)
}

func (s *side) instruction(r *itrace.Record) {
	s.trace.Records.Instructions++
	s.seeGap(r, r.Line)
	s.finish(s.current)
	s.current.begun = true
	if !s.begun(r) {
		return
	}
	g := s.take()
	g.cpu, g.index, g.line, g.offset = r.CPU, s.trace.Records.Instructions-1, r.Line, r.Offset
	g.words = g.keepPart(r.Text, g.keep(r.Text), r.Disasm)
	g.pc, g.opcode, g.skipped, g.time, g.id = r.Addr, r.Value, r.Skipped, r.Time, r.ID
	g.scope, g.trapped = r.Scope, r.Trapped
	switch {
	case r.Scope&itrace.NoOpcode != 0:
		g.opcode = 0 // there may be one all the same that is not to be compared
	case r.Wild || len(r.Digits) > 16:
		g.wild = true
		g.opcodes = g.keepDigits(r.Digits)
	}
	if g.mode = 0; r.Scope&itrace.NoMode == 0 {
		g.mode = s.names.number(r.Mode)<<8 | uint32(r.State)
	}
	s.fields(g, r)
	if s.adapt.some {
		s.adapt.instruction(g)
	}
	if len(s.rules.ignores) > 0 && s.rules.instruction(g.pc) {
		s.spare = append(s.spare, g)
		return
	}
	s.current.open = g
}

// seeGap notes that instructions may be missing behind one at a line.
func (s *side) seeGap(r *itrace.Record, line int64) {
	if s.gap == 0 && r.Scope&itrace.Gaps != 0 {
		s.gap = line
	}
}

// seed is that of the hashes of disassemblies.
var seed = maphash.MakeSeed()

// fields takes what is compared only when asked for.
func (s *side) fields(g *group, r *itrace.Record) {
	for _, f := range s.rules.options.Fields {
		switch f {
		case FieldTime:
			g.scale = s.names.number(r.Scale)
		case FieldSecurity:
			g.security = s.names.number(r.Security)
		case FieldDisasm:
			g.disasm = maphash.Bytes(seed, bytes.Join(bytes.Fields(r.Disasm), []byte{' '}))
		}
	}
}

// begun reports whether an instruction is behind what is left out at the beginning: the boot section, and what comes before the
// start address, which is in the boot section or right behind if there is one.
func (s *side) begun(r *itrace.Record) bool {
	k := &s.skip
	booting := k.boot > 0
	if booting {
		k.boot--
	}
	switch {
	case !k.started && r.Addr == *s.rules.options.Start:
		k.started, k.boot = true, 0
		return true
	case !k.started:
		k.failed = k.bounded && !booting
		s.rules.start.fire()
		return false
	case booting:
		s.rules.boot.fire()
	}
	return !booting
}

// effect adds a line of memory or of a register to the instruction that is open. Lines above the first instruction, as when a trace
// begins in the middle, belong to a group without an instruction; one of very many effects goes on as another group.
func (s *side) effect(r *itrace.Record) {
	switch r.Kind {
	case itrace.Register, itrace.RegisterRead:
		s.trace.Records.Registers++
	case itrace.Memory:
		s.trace.Records.Memory++
	}
	if s.adapt.flow != nil {
		s.adapt.flow.fire()
		return
	}
	g := s.current.open
	if r.Back > 0 && s.defers > 0 {
		if g = s.current.before(int(r.Back)); g == nil {
			return
		}
	}
	if g == nil {
		if g = s.headless(r); g == nil {
			return
		}
	}
	// Where effects are deferred each is one that an instruction has waited for, so that there are few.
	if len(g.effects) == mostEffects && s.defers == 0 {
		g = s.goOn(g, r)
	}
	e := effect{value: r.Value, line: r.Line, offset: r.Offset, system: r.System}
	switch {
	case r.Kind == itrace.Register:
		e.kind, e.at = writesRegister, uint64(s.names.number(r.Name))
	case r.Kind == itrace.RegisterRead:
		e.kind, e.at = readsRegister, uint64(s.names.number(r.Name))
	case r.Kind == itrace.Event:
		e.kind, e.at, e.value = happens, uint64(r.Event), r.Addr
		if len(r.AddrDigits) == 0 { // it is not told where: any address is that
			e.wide, e.digits = true, g.keepDigits(anyAddress)
		}
	case r.Write:
		e.kind, e.at, e.size = stores, r.Addr, r.Size
	default:
		e.kind, e.at, e.size = loads, r.Addr, r.Size
	}
	if e.kind == writesRegister && !g.bare {
		// A write that its instruction is not said to tell may be of any before, as of a dump behind several instructions.
		if _, some, _ := e.told(g.scope); !some {
			return
		}
	}
	switch {
	case r.Zero && s.adapt.zero != nil:
		s.adapt.zero.fire()
		return
	case s.adapt.some && s.adapt.effect(g, &e, r):
		return
	}
	if s.rules.options.compares(FieldPrivilege) {
		e.privilege = r.Privilege
	}
	if r.Kind != itrace.Event && (r.Wild || len(r.Digits) > 16) {
		e.wide, e.digits = true, g.keepDigits(r.Digits)
	}
	if e.kind == loads && g.scope&itrace.NoLoaded != 0 || e.kind == stores && g.scope&itrace.NoStored != 0 {
		e = e.without()
	}
	if len(s.rules.ignores) > 0 && s.rules.effect(g, &e, func() string { return s.names.names.word(uint32(e.at)) }) {
		return
	}
	e.text = g.keepLine(r)
	g.effects = append(g.effects, e)
}

// anyAddress is as many digits that are not known as an address may have.
var anyAddress = []byte("xxxxxxxxxxxxxxxx")

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

// mostEffects bounds a group. What comes behind so many effects is a group of its own, without an instruction.
const mostEffects = 512

// goOn returns a group for more effects of an instruction.
func (s *side) goOn(full *group, r *itrace.Record) *group {
	pc, index := full.pc, full.index
	s.finish(s.current)
	g := s.take()
	*g = group{text: g.text, wide: g.wide, effects: g.effects, bare: true, cpu: r.CPU, pc: pc, index: index, line: r.Line,
		offset: r.Offset, scope: full.scope}
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
	return &group{text: make([]byte, 0, usualText), effects: make([]effect, 0, usualEffects)}
}

// What groups have room for at first.
const (
	usualText    = 192 // bytes
	usualEffects = 3
)

// release takes a group back that has been compared.
func (s *side) release(g *group) {
	if len(s.spare) < mostSpare {
		s.spare = append(s.spare, g)
	}
}

// before returns the group of an instruction so many before the latest, nil if it was left out, has been forgotten, or cannot have
// more effects.
func (t *stream) before(n int) *group {
	if n > len(t.behind) {
		return nil
	}
	if g := t.behind[len(t.behind)-n]; g != nil && len(g.effects) < mostEffects {
		return g
	}
	return nil
}

// finish makes the open group of a stream ready, which gets no more effects. In a dialect that defers some it may, and the oldest
// of those that were waited for becomes ready.
func (s *side) finish(t *stream) {
	g := t.open
	if t.open = nil; s.defers > 0 {
		if t.begun || g != nil {
			t.behind = append(t.behind, g)
		}
		if len(t.behind) <= s.defers {
			return
		}
		g, t.behind = t.behind[0], t.behind[1:]
	}
	s.deliver(g)
}

// deliver makes a group ready, unless there is none.
func (s *side) deliver(g *group) {
	if g == nil {
		return
	}
	if s.adapt.some {
		s.adapt.finish(g)
	}
	g.finish()
	s.ready = append(s.ready, g)
}

// finishAll makes the last groups of all processors ready, in the order of these.
func (s *side) finishAll() {
	for _, cpu := range slices.Sorted(maps.Keys(s.streams)) {
		t := s.streams[cpu]
		s.finish(t)
		for _, g := range t.behind {
			s.deliver(g)
		}
		t.behind = nil
	}
}
