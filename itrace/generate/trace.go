package generate

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/matcher"
)

// Options say what trace to write. The zero value, but for Instructions, is a trace as QEMU4V writes it.
type Options struct {
	Instructions int64 // of each processor
	CPUs         int32 // processors, whose instructions alternate in runs; 0 is one
	Faults       []Fault

	// Observe, unless nil, is shown the processor in front of every instruction: what it is, whatever the trace tells of it.
	Observe func(Position)

	// What follows makes no difference to what a trace means.

	Upper     bool   // digits in upper case
	Digits    int    // of addresses and values, 8 if 0
	TimeBase  uint64 // of the first instruction
	TimeScale string // clk if empty
	IDBase    uint64 // of the first instruction
	Security  string // suffix of the mode
	CRLF      bool
	Shuffle   bool   // effects in any order within their instruction
	Split     bool   // some accesses to memory as several, of fewer bytes
	Late      int    // effects up to so many records late
	Seed      uint64 // of Shuffle, Split and Late, and of how processors alternate
	// PlainNames writes registers as MIPS numbers them, r8, instead of as its assembler names them, t0.
	PlainNames bool
}

// Position is a processor in front of an instruction.
type Position struct {
	Instruction int64 // how many instructions of all processors the trace has before it
	CPU         int32
	PC          uint32
	Registers   *[32]uint32
	Memory      *[memorySize]byte // from address 0 on
}

// Write writes a trace and says where the faults are that were planted, in the order of the trace. A fault behind the end is not
// among them. Errors are those of w.
func Write(w io.Writer, o Options) ([]Planted, error) {
	t := newTracer(w, o)
	for !t.done() {
		for _, p := range t.processors {
			for range t.run() {
				p.instruction(t)
			}
		}
	}
	t.flushLate()
	return t.planted, t.out.Flush()
}

// tracer writes the trace.
type tracer struct {
	o          Options
	out        *bufio.Writer
	random     *rand.Rand
	processors []*processor
	planted    []Planted
	names      [32][]byte
	scale      []byte
	security   []byte
	time       uint64
	lines      int64
	heads      int64  // of instructions written
	scratch    []byte // digits of the instruction at hand
	line       []byte
	late       lateLine
	speaking   int32 // the processor of the instruction record written last
	failed     bool  // out takes no more
}

// lateLine is the line of an effect on a register that is written later.
type lateLine struct {
	text     []byte // nil for none
	register []byte
	due      int64 // when so many lines have been written
}

// processor is one processor and what is planted in it.
type processor struct {
	*machine
	cpu      int32
	count    int64 // instructions of the program executed
	id       uint64
	faults   []Fault // still to come, in their order
	longer   int64   // instructions more than Options says, so that the trace ends where it would have
	ended    bool
	dropping int // instructions still to be left out
	held     []heldEffects
}

// heldEffects are effects that come behind some more instructions.
type heldEffects struct {
	records []itrace.Record
	left    int
}

func newTracer(w io.Writer, o Options) *tracer {
	if o.Digits == 0 {
		o.Digits = 8
	}
	if o.TimeScale == "" {
		o.TimeScale = "clk"
	}
	t := &tracer{o: o, out: bufio.NewWriterSize(w, 1<<16), random: rand.New(rand.NewPCG(o.Seed, 7)), time: o.TimeBase,
		scale: []byte(o.TimeScale), security: []byte(o.Security)}
	for i, name := range registerNames {
		if t.names[i] = []byte(name); o.PlainNames {
			t.names[i] = fmt.Appendf(nil, "r%d", i)
		}
	}
	for cpu := range max(o.CPUs, 1) {
		p := &processor{machine: newMachine(uint64(cpu) + 1), cpu: cpu, id: o.IDBase}
		for _, f := range o.Faults {
			if f.CPU == cpu {
				p.faults = append(p.faults, f)
			}
		}
		slices.SortStableFunc(p.faults, func(a, b Fault) int { return int(min(max(a.At-b.At, -1), 1)) })
		t.processors = append(t.processors, p)
	}
	return t
}

func (t *tracer) done() bool {
	return t.failed || !slices.ContainsFunc(t.processors, func(p *processor) bool { return !p.over(t) })
}

func (p *processor) over(t *tracer) bool { return p.ended || p.count >= t.o.Instructions+p.longer }

// run is how many instructions a processor executes before another has its turn.
func (t *tracer) run() int {
	if len(t.processors) == 1 {
		return 1024
	}
	return 1 + t.random.IntN(6)
}

// instruction executes one instruction of the program and writes its records.
func (p *processor) instruction(t *tracer) {
	if p.over(t) {
		return
	}
	for _, f := range p.due(true) {
		f.kind().before(p, t, f)
	}
	if p.ended {
		return
	}
	t.time++
	in, pc := p.observed(t)
	r := p.records(t, in, pc)
	for _, f := range p.due(false) {
		f.kind().after(p, t, f, &r)
	}
	p.count++
	if p.dropping > 0 {
		p.dropping--
	} else {
		p.write(t, &r)
	}
	p.release(t)
}

// observed executes an instruction that may be looked at before.
func (p *processor) observed(t *tracer) (instruction, uint32) {
	if t.o.Observe != nil {
		t.o.Observe(Position{t.heads, p.cpu, p.pc, &p.registers, &p.memory})
	}
	return p.step()
}

// supervisor is the mode that the program runs in.
var supervisor = []byte("svc")

// records makes the records of an instruction.
func (p *processor) records(t *tracer, in instruction, pc uint32) (r records) {
	word := in.encode(pc)
	t.scratch = t.scratch[:0]
	r.head = itrace.Record{
		Kind: itrace.Instruction, Time: t.time, Scale: t.scale, CPU: p.cpu, ID: p.id,
		Addr: uint64(pc), AddrDigits: t.digits(pc), Value: uint64(word), Digits: t.hex(uint64(word), 8),
		State: 'A', Mode: supervisor, Security: t.security, Disasm: in.words,
	}
	p.id++
	for _, e := range p.effects {
		r.effects = append(r.effects, p.effect(t, e))
	}
	return r
}

func (p *processor) effect(t *tracer, e effect) itrace.Record {
	r := itrace.Record{Time: t.time, Scale: t.scale, CPU: p.cpu, Value: uint64(e.value)}
	if !e.memory {
		r.Kind, r.Digits, r.Name = itrace.Register, t.digits(e.value), t.names[e.number]
		return r
	}
	r.Kind, r.Write, r.Size, r.Addr = itrace.Memory, e.write, uint32(e.size), uint64(e.addr)
	r.AddrDigits, r.Digits = t.digits(e.addr), t.hex(uint64(e.value), 2*e.size)
	return r
}

func (t *tracer) digits(value uint32) []byte { return t.hex(uint64(value), t.o.Digits) }

// hex gives a number in so many digits. The bytes are valid until the next instruction.
func (t *tracer) hex(value uint64, digits int) []byte {
	alphabet := "0123456789abcdef"
	if t.o.Upper {
		alphabet = "0123456789ABCDEF"
	}
	start := len(t.scratch)
	for i := digits - 1; i >= 0; i-- {
		t.scratch = append(t.scratch, alphabet[value>>(4*i)&15]) // a shift by 64 or more leaves 0
	}
	return t.scratch[start:len(t.scratch):len(t.scratch)]
}

// write writes an instruction and its effects.
func (p *processor) write(t *tracer, r *records) {
	t.heads++
	t.record(&r.head)
	if t.o.Split {
		t.split(r)
	}
	if t.o.Shuffle {
		t.random.Shuffle(len(r.effects), func(i, j int) { r.effects[i], r.effects[j] = r.effects[j], r.effects[i] })
	}
	for i := range r.effects {
		e := &r.effects[i]
		if t.o.Late > 0 && t.late.text == nil && e.Kind == itrace.Register && t.random.IntN(4) == 0 {
			t.late = lateLine{matcher.Append(nil, e), e.Name, t.lines + 1 + int64(t.random.IntN(t.o.Late))}
			continue
		}
		t.record(&r.effects[i])
	}
}

// split makes two of some accesses to memory, or four. The machine is big endian: the first digits are those of the lowest address.
func (t *tracer) split(r *records) {
	var effects []itrace.Record
	for _, e := range r.effects {
		parts := uint32(1)
		if e.Kind == itrace.Memory && e.Size == 4 {
			parts = 1 << t.random.IntN(3)
		}
		size := e.Size / parts
		for i := range parts {
			piece := e
			if parts > 1 {
				piece.Size, piece.Addr = size, e.Addr+uint64(i*size)
				piece.AddrDigits, piece.Digits = t.digits(uint32(piece.Addr)), e.Digits[2*i*size:2*(i+1)*size]
			}
			effects = append(effects, piece)
		}
	}
	r.effects = effects
}

// release writes effects that were held back long enough.
func (p *processor) release(t *tracer) {
	for len(p.held) > 0 {
		if p.held[0].left--; p.held[0].left >= 0 {
			return
		}
		for i := range p.held[0].records {
			t.record(&p.held[0].records[i])
		}
		p.held = p.held[1:]
	}
}

// record writes a record, behind one that was late and is due or must not be overtaken.
func (t *tracer) record(r *itrace.Record) {
	turn := r.Kind == itrace.Instruction && r.CPU != t.speaking // effects go with the processor that spoke last
	if t.late.text != nil && (turn || t.lines >= t.late.due || r.Kind == itrace.Register && bytes.Equal(r.Name, t.late.register)) {
		t.flushLate()
	}
	t.speaking = r.CPU
	t.line = matcher.Append(t.line[:0], r)
	t.write(t.line)
}

// flushLate writes the line that is late, if there is one.
func (t *tracer) flushLate() {
	if t.late.text != nil {
		t.write(t.late.text)
		t.late.text = nil
	}
}

// write writes one line.
func (t *tracer) write(line []byte) {
	t.lines++
	t.out.Write(line)
	if t.o.CRLF {
		t.out.WriteByte('\r')
	}
	t.failed = t.out.WriteByte('\n') != nil // an error before would come again
}
