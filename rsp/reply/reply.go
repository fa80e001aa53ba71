// Package reply is the grammar of what stubs of GDB's remote protocol send: one form for each kind of reply, which reads a reply
// into a value and writes such a value as a reply. A stub writes by it, a client reads by it, so that no reply is spelled in two
// places. It is to replies what rsp/request is to the packets that they answer.
//
// Three replies come to every packet and are in no form: the empty one, which says that the stub does not support the packet,
// E and two digits, and E. with a text. A client looks for these first.
//
// All bytes here are plain, see package rsp. Reading is strict, and its error is a *rsp.SyntaxError with an offset in the reply;
// writing gives the bytes that gdbserver sends where it has the packet.
package reply

import (
	"math"
	"slices"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/trace"
)

// Form is the grammar of one kind of reply, whose content is an R.
type Form[R any] struct {
	// Syntax describes the reply for a reader, as request.Grammar does: CAPITALS are fields. It is also what errors of a client
	// say that they expected.
	Syntax string
	fields func(f *rsp.Fields, r *R)
}

// Parse reads a reply. With an error the value is zero.
func (g *Form[R]) Parse(text string) (r R, err error) {
	f := rsp.ReadFields(text)
	if g.fields(f, &r); f.End() != nil {
		return *new(R), f.End()
	}
	return r, nil
}

// Append appends the reply.
func (g *Form[R]) Append(dst []byte, r R) []byte {
	f := rsp.WriteFields(dst)
	g.fields(f, &r)
	return f.Written()
}

// Replies about the session, threads and the program.
var (
	OK        = &Form[None]{"OK", func(f *rsp.Fields, _ *None) { literal(f, "OK") }}
	Current   = &Form[rsp.Thread]{"QC THREAD", func(f *rsp.Fields, t *rsp.Thread) { literal(f, "QC"); f.Thread(t) }}
	Threads   = listOf("THREAD", (*rsp.Fields).Thread)
	Attached  = &Form[bool]{"1 or 0", (*rsp.Fields).Flag}
	Text      = &Form[string]{"HEXTEXT", rsp.HexRest[string]}
	Bytes     = &Form[[]byte]{"HEXBYTES, as many as there are", rsp.HexRest[[]byte]}
	Binary    = &Form[[]byte]{"b BINARY, as many as there are", func(f *rsp.Fields, b *[]byte) { f.Literal('b'); rsp.Rest(f, b) }}
	Registers = &Form[Block]{"HEXBLOCK, xx for bytes that are not available", block}
	Address   = &Form[arch.Addr]{"ADDRESS", addr}
	Written   = &Form[uint64]{"bytes written, in hex", count}
	Shortest  = &Form[uint64]{"LENGTH in bytes, in hex", count}
	Checksum  = &Form[uint32]{"C CHECKSUM", func(f *rsp.Fields, sum *uint32) { f.Literal('C'); rsp.Hex(f, sum, math.MaxUint32) }}
	Items     = &Form[[]Item]{"KEY:VALUE;...", items}
	Search    = &Form[Match]{"0 or 1,ADDRESS", match}
	Object    = &Form[Part]{"m BINARY or l BINARY", part}
	File      = &Form[Result]{"F RESULT[;BINARY] or F-1,ERRNO", result}
)

// Replies about tracepoints.
var (
	Status  = &Form[trace.Status]{"T1 or T0 with ;KEY:VALUE...", status}
	Hits    = &Form[Counts]{"V HITS:BYTES, both in hex", counts}
	Value   = &Form[Variable]{"V VALUE or U", variable}
	Frame   = &Form[Selection]{"F NUMBER T TRACEPOINT, F-1, or OK after leaving frames", selection}
	Buffer  = &Form[[]byte]{"HEXBYTES or l", buffer}
	Markers = listOf("ADDRESS:HEXID:HEXTEXT", marker)
	// Variables has one variable in each reply.
	Variables = &Form[[]trace.Variable]{"NUMBER:VALUE:BUILTIN:HEXNAME or l", variables}
)

// What a stub sends in front of a reply: text of the program or of a monitor command, and the question whether the client copies
// an instruction for it, which the client answers by request.Relocated or request.NotRelocated.
var (
	Console    = &Form[string]{"O HEXTEXT", func(f *rsp.Fields, text *string) { f.Literal('O'); rsp.HexRest(f, text) }}
	Relocation = &Form[Copy]{"qRelocInsn:FROM;TO", func(f *rsp.Fields, c *Copy) {
		literal(f, "qRelocInsn:")
		addr(f, &c.From)
		f.Literal(';')
		addr(f, &c.To)
	}}
)

// Notification is the name of the one notification that stubs send, with the separator that follows; a stop reply comes behind.
const Notification = "Stop:"

// None is the content of a reply that has none.
type None struct{}

// literal is text that is always there.
func literal(f *rsp.Fields, text string) {
	if !f.Option(text, true) {
		f.Fail(text)
	}
}

func addr(f *rsp.Fields, v *arch.Addr) { rsp.Hex(f, v, math.MaxUint64) }

func count(f *rsp.Fields, n *uint64) { rsp.Hex(f, n, math.MaxUint64) }

// listOf is a list that a client fetches in several replies, as many as it takes: m and some of the items in each, or l, which is
// no items, behind the last.
func listOf[T any](syntax string, item func(*rsp.Fields, *T)) *Form[[]T] {
	return &Form[[]T]{"m " + syntax + ",... or l", func(f *rsp.Fields, list *[]T) {
		if !f.Option("l", len(*list) == 0) {
			f.Literal('m')
			rsp.Some(f, list, ',', item)
		}
	}}
}

// Block is bytes of registers in the target's order, and which of them are available: nil for all. The others are 0 and sent as
// xx, which GDB shows as <unavailable>: in a traceframe most registers are.
type Block struct {
	Bytes     []byte
	Available []bool
}

// Has reports whether all of size bytes at an offset are available.
func (b Block) Has(offset, size int) bool {
	for i := offset; i < offset+size && b.Available != nil; i++ {
		if !b.Available[i] {
			return false
		}
	}
	return true
}

// Part returns size bytes at an offset: one register of several.
func (b Block) Part(offset, size int) Block {
	part := Block{Bytes: b.Bytes[offset : offset+size]}
	if b.Available != nil {
		part.Available = b.Available[offset : offset+size]
	}
	return part
}

func block(f *rsp.Fields, b *Block) {
	// The usual case, and the one that comes with every step: digits of a whole block at once.
	if !f.Reading() && b.Available == nil {
		rsp.HexRest(f, &b.Bytes)
		return
	}
	for i := 0; f.More(i < len(b.Bytes)); i++ {
		if f.Reading() {
			b.Bytes, b.Available = append(b.Bytes, 0), append(b.Available, true)
		}
		if f.Option("xx", !b.Has(i, 1)) {
			b.Available[i] = false
		} else {
			rsp.HexDigits(f, &b.Bytes[i], 2)
		}
	}
	if !slices.Contains(b.Available, false) {
		b.Available = nil
	}
}

// Item is one thing that is told by its name. Neither text holds a semicolon: texts that might are told in hexadecimal.
type Item struct{ Key, Value string }

// items are at least one, each with a semicolon behind it.
func items(f *rsp.Fields, all *[]Item) {
	for i := 0; i == 0 && f.Reading() || f.More(i < len(*all)); i++ {
		if f.Reading() {
			*all = append(*all, Item{})
		}
		one := &(*all)[i]
		f.Until(':', &one.Key)
		f.Literal(':')
		f.Until(';', &one.Value)
		f.Literal(';')
	}
}

// Match is where a pattern was found, if it was.
type Match struct {
	Found bool
	Addr  arch.Addr
}

func match(f *rsp.Fields, m *Match) {
	if f.Flag(&m.Found); m.Found {
		f.Literal(',')
		addr(f, &m.Addr)
	}
}

// Part is bytes of an object of qXfer. More says that others follow them.
type Part struct {
	More  bool
	Bytes []byte
}

// part: m without a byte would have a client ask for the same bytes for ever. A stub sends it where it is asked for none.
func part(f *rsp.Fields, p *Part) {
	if p.More = !f.Option("l", !p.More); p.More {
		if f.Literal('m'); !f.More(true) {
			f.Fail("at least one byte")
		}
	}
	rsp.Rest(f, &p.Bytes)
}

// Result is that of an operation on a file (vFile): a number that is not negative, or, if it Failed, why. Content is the bytes that
// come with the number where the packet has any, even if they are none, as at the end of a file.
type Result struct {
	Number  int64
	Failed  bool
	Errno   int // of File-I/O (GDB manual, Errno Values), 0 if it is not told
	Has     bool
	Content []byte
}

func result(f *rsp.Fields, r *Result) {
	f.Literal('F')
	if r.Failed = f.Option("-1", r.Failed); !r.Failed {
		rsp.Hex(f, &r.Number, math.MaxInt64)
	}
	// Whatever the number in front of it, an errno says that the operation has failed.
	if f.Option(",", r.Errno != 0) {
		r.Failed = true
		rsp.Hex(f, &r.Errno, math.MaxInt32)
	}
	if r.Has = f.Option(";", r.Has); r.Has {
		rsp.Rest(f, &r.Content)
	}
}

func status(f *rsp.Fields, s *trace.Status) {
	f.Literal('T')
	f.Parsed(func(rest string) (err error) {
		*s, err = trace.ParseStatus(rest)
		return err
	}, func(dst []byte) []byte { return append(dst, s.Reply()...) })
}

// Counts are how often a tracepoint was hit, and how many bytes of the trace buffer its frames take.
type Counts struct{ Hits, Usage uint64 }

func counts(f *rsp.Fields, c *Counts) {
	f.Literal('V')
	count(f, &c.Hits)
	f.Literal(':')
	count(f, &c.Usage)
}

// Variable is the value of a trace state variable, if it is Known: in a frame only those that were collected are. A negative value
// is sent as its 64 bits of two's complement.
type Variable struct {
	Known bool
	Value int64
}

func variable(f *rsp.Fields, v *Variable) {
	if v.Known = !f.Option("U", !v.Known); v.Known {
		f.Literal('V')
		rsp.Hex(f, &v.Value, math.MaxUint64)
	}
}

// Selection is what became of the search for a frame. The zero Selection says that there is none such, and that the selected frame
// is the one of before.
type Selection struct {
	Live       bool // no frame is selected: the program as it is now
	Found      bool
	Number     int // of the frame
	Tracepoint int
}

func selection(f *rsp.Fields, s *Selection) {
	if s.Live = f.Option("OK", s.Live); s.Live {
		return
	}
	f.Literal('F')
	if s.Found = !f.Option("-1", !s.Found); s.Found {
		rsp.Hex(f, &s.Number, math.MaxInt32)
		f.Literal('T')
		rsp.Hex(f, &s.Tracepoint, math.MaxInt32)
	}
}

func variables(f *rsp.Fields, list *[]trace.Variable) {
	if f.Option("l", len(*list) == 0) {
		return
	}
	f.Parsed(func(rest string) error {
		v, err := trace.ParseVariable(rest)
		*list = []trace.Variable{v}
		return err
	}, func(dst []byte) []byte { return append(dst, (*list)[0].String()...) })
}

// buffer is bytes of the trace buffer. None are its end.
func buffer(f *rsp.Fields, b *[]byte) {
	if !f.Option("l", len(*b) == 0) {
		// The empty reply would be one of a stub that does not support the packet.
		if rsp.HexRest(f, b); len(*b) == 0 {
			f.Fail("bytes of the trace buffer")
		}
	}
}

// Marker is a static tracepoint marker: where it is, its id, and what else the stub says of it.
type Marker struct {
	Addr     arch.Addr
	ID, Text string
}

func marker(f *rsp.Fields, m *Marker) {
	addr(f, &m.Addr)
	f.Literal(':')
	rsp.HexBytes(f, &m.ID)
	f.Literal(':')
	rsp.HexBytes(f, &m.Text)
}

// Copy is an instruction and where its copy shall be.
type Copy struct{ From, To arch.Addr }
