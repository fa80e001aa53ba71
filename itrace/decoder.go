package itrace

import (
	"bytes"
	"errors"

	"tracewell/itrace/internal/swar"
)

// Decoder reads a trace from its beginning, or from any place at which it was given the state that it had there. Records and lines
// need not correspond: a line may be several records or none, and a record may take several lines.
type Decoder interface {
	// Decode adds to b the records of as much of text as is certain, and returns how much that is. It stops between two units, a
	// unit being as many lines as have to be looked at together, when b is full or when what is left may be the beginning of a
	// unit; the caller then comes again with the rest and what follows. With last nothing follows, and all of text is read. It may
	// return 0 with records: the caller comes again with the same text. Lookahead bytes behind the text are there to be looked at.
	Decode(b *Batch, text []byte, last bool) (n int)
	// AppendState appends all that the meaning of what follows depends on, between two units. A decoder of the same dialect whose
	// state is the same bytes reads the same in the same text. What only makes reading faster is no state.
	AppendState(dst []byte) []byte
	// Restore goes on from a state, for which no bytes at all are that of the beginning. The error says that these are none.
	Restore(state []byte) error
}

// TimeKeeper is a Decoder whose state has a time, that of lines without one.
type TimeKeeper interface {
	// AppendTimeless is AppendState but for the time.
	AppendTimeless(dst []byte) []byte
}

// Lookahead is how many bytes there are behind a text that a Decoder may look at.
const Lookahead = swar.Lookahead

// FastPather is a Decoder, or a Parser, that can read lines and keep hardly anything of them. Lines that it accepts do not change
// its state.
type FastPather interface {
	// FastPath reads lines from the beginning of a text, as many as there are briefs. It stops at a line that Decode has to look
	// at: one that is not like those before, is not of the same processor, or may be cut off. It returns how many lines it has
	// read, and where in the text the next begins. Lookahead bytes behind the text are there.
	FastPath(text []byte, briefs []Brief) (lines, next int)
}

// Brief is a line as FastPath reads it: the line is known to be well-formed, and this is what it changes.
type Brief struct {
	Kind  Kind
	At    int    // where it begins in the text
	Name  uint64 // of a register, its bytes, the first lowest; there are at most 8
	Addr  uint64 // Memory: of the first byte
	Size  uint32 // Memory: bytes accessed
	Value uint64 // Register: what was written
}

// Batch is where a Decoder puts records. It tells them their places: lines are taken by Line, or Place says what the next
// records are of.
type Batch struct {
	records []Record // the caller's room
	over    []Record // of the last unit what there was no room for
	used    int

	offset int64 // of the text in the input
	text   []byte
	at     int   // a place in the text up to which lines have been counted
	lines  int64 // in front of it

	peeked peeked

	from    Record // Line, Offset and Text of the records to come
	longest int    // that a line may be

	binary      bool  // there are packets, not lines
	firstPacket int64 // the number of the first that Packets has taken
}

// begin makes the batch ready for a text that begins at a place in the input.
func (b *Batch) begin(text []byte, offset, lines int64) {
	b.text, b.offset, b.at, b.lines, b.peeked = text, offset, 0, lines, peeked{}
}

// Full reports whether a Decoder has to stop before the next unit.
func (b *Batch) Full() bool { return b.used >= len(b.records) }

// linesTo returns how many lines there are in front of a place of the text. Packets are counted as they are taken.
func (b *Batch) linesTo(at int) int64 {
	switch {
	case b.binary:
		return b.lines
	case at > b.at:
		b.lines += int64(bytes.Count(b.text[b.at:at], lineFeed))
	case at < b.at:
		b.lines -= int64(bytes.Count(b.text[at:b.at], lineFeed))
	}
	b.at = at
	return b.lines
}

var lineFeed = []byte{'\n'}

// peeked is lines that have been looked at and not been taken: they are soon, and their ends are not searched for again. The slot
// of a line follows from a hash of where it begins.
type peeked [1 << peekedBits]extent

const peekedBits = 4

// extent is where a line begins, and the one behind it; 0 for none.
type extent struct{ at, next int }

func (p *peeked) slot(at int) *extent { return &p[uint32(at)*0x9e3779b1>>(32-peekedBits)] }

// end returns where the line at a place of the text ends, and where that behind it begins, which is negative if the line is not
// known to be whole or is longer than the reader allows.
func (b *Batch) end(at int, last bool) (end, next int) {
	if seen := b.peeked.slot(at); seen.at == at && seen.next > 0 {
		return seen.next - 1, seen.next
	}
	length := bytes.IndexByte(b.text[at:], '\n')
	if uint(length) <= uint(b.longest) {
		return at + length, at + length + 1
	}
	if length >= 0 || !last || at == len(b.text) || len(b.text)-at > b.longest {
		return at, -1
	}
	return len(b.text), len(b.text)
}

// Line takes the line at a place of the text, without its end, the blanks before that and a byte order mark, and has the next
// records be of it. next is where the line behind it begins, negative if it is not known to be whole. A line that is longer than
// the reader allows is not taken: the Decoder stops before it.
func (b *Batch) Line(at int, last bool) (line []byte, next int) {
	end, next := b.end(at, last)
	if next < 0 {
		return nil, -1
	}
	line = b.text[at:end]
	if at != b.at {
		b.linesTo(at)
	}
	b.from.Line = b.lines + 1
	if b.from.Line == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if len(line) > 0 && line[len(line)-1] <= ' ' {
		line = trimEnd(line)
	}
	b.from.Offset, b.from.Text = b.offset+int64(at), line
	if b.at = next; next > end {
		b.lines++
	}
	return line, next
}

// Peek is Line for a Decoder that has to know what comes behind a unit: the next records are still of the line that was taken. It
// does not take off a byte order mark, which is in front of all lines.
func (b *Batch) Peek(at int, last bool) (line []byte, next int) {
	end, next := b.end(at, last)
	if next < 0 {
		return nil, -1
	}
	if next > end {
		*b.peeked.slot(at) = extent{at, next}
	}
	return trimEnd(b.text[at:end]), next
}

// Place has the next records be of a part of the text, a line without its end.
func (b *Batch) Place(from, to int) {
	b.from.Line = b.linesTo(from) + 1
	b.from.Offset, b.from.Text = b.offset+int64(from), trimEnd(b.text[from:to])
}

// Packet takes what begins at a place of binary data, and has the next records be of it; words are what is quoted of it, text
// without a line feed. A Decoder takes the packets in their order, and only those that it has read when it returns.
func (b *Batch) Packet(at int, words []byte) {
	b.Packets(1)
	b.Among(0, at, words)
}

// Packets takes some packets at once. Among says which of them the next records are of, by its number, from 0 on: so an effect can
// be added in front of what it stands behind.
func (b *Batch) Packets(n int) { b.firstPacket, b.lines = b.lines+1, b.lines+int64(n) }

// Among has the next records be of a packet; see Packets and Packet.
func (b *Batch) Among(i, at int, words []byte) {
	b.from.Line, b.from.Offset, b.from.Text = b.firstPacket+int64(i), b.offset+int64(at), words
}

// Add adds a record that says nothing yet but its place and kind. It is the decoder's to fill until the next is added.
func (b *Batch) Add(kind Kind) *Record {
	r := b.room()
	*r = Record{} // in place: a literal with fields would be made elsewhere and copied
	r.Kind, r.Line, r.Offset, r.Text = kind, b.from.Line, b.from.Offset, b.from.Text
	return r
}

// Record returns a record that has been added, by its number of them. It is the decoder's to change until the next is added, as
// when lines behind an instruction tell something of it.
func (b *Batch) Record(i int) *Record {
	if i < len(b.records) {
		return &b.records[i]
	}
	return &b.over[i-len(b.records)]
}

// Len is how many records have been added, and Truncate takes back those behind so many: a Decoder that finds out within a unit
// that the text ends before it gives up what it has added of it.
func (b *Batch) Len() int { return b.used }

// Truncate takes records back; see Len.
func (b *Batch) Truncate(n int) {
	b.used = n
	b.over = b.over[:max(0, n-len(b.records))]
}

// Fail adds that there is something that cannot be read.
func (b *Batch) Fail(problem *SyntaxError) { b.Add(Unknown).Problem = problem }

// reuse is Add for those that set every field that means something, which is faster: the others hold what they held.
func (b *Batch) reuse() *Record {
	r := b.room()
	r.Line, r.Offset, r.Text, r.Problem, r.Extra = b.from.Line, b.from.Offset, b.from.Text, nil, Extra{}
	return r
}

// room returns where the next record is to be.
func (b *Batch) room() *Record {
	b.used++
	if b.used <= len(b.records) {
		return &b.records[b.used-1]
	}
	b.over = append(b.over, Record{})
	return &b.over[len(b.over)-1]
}

// Parser reads the lines of a trace of which each is a record, in their order; it remembers what lines inherit from earlier ones.
type Parser interface {
	// Parse sets Kind and all fields of r that mean something for it, but for Line, Offset, Text and Problem, which are set, and
	// Extra, which is zero. The others hold whatever they held. It does not allocate unless the line is wrong.
	Parse(line []byte, r *Record) *SyntaxError
	// AppendState and Restore are those of Decoder.
	AppendState(dst []byte) []byte
	Restore(state []byte) error
}

// Lines returns the Decoder of a Parser. Blank lines are no records, and lines that cannot be read are of kind Unknown.
func Lines(p Parser) Decoder {
	d := &lineDecoder{Parser: p}
	if f, ok := p.(FastPather); ok {
		return &fastLineDecoder{d, f}
	}
	return d
}

type lineDecoder struct{ Parser }

type fastLineDecoder struct {
	*lineDecoder
	FastPather
}

// Decode implements Decoder.
func (d *lineDecoder) Decode(b *Batch, _ []byte, last bool) (n int) {
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			break
		}
		n = next
		if len(line) == 0 {
			continue
		}
		r := b.reuse()
		if problem := d.Parse(line, r); problem != nil {
			r.Kind, r.Problem = Unknown, problem
		}
	}
	return n
}

// LineReader reads the lines of a trace one by one; each may be several records or none. It remembers what the meaning of later
// lines depends on, and copies what it keeps of a line.
type LineReader interface {
	// Line adds the records of a line. With a problem an Unknown record comes behind those that it has added.
	Line(b *Batch, line []byte) *SyntaxError
	// AppendState and Restore are those of Decoder.
	AppendState(dst []byte) []byte
	Restore(state []byte) error
}

// EachLine returns the Decoder of a LineReader, which is not shown blank lines.
func EachLine(l LineReader) Decoder { return &eachLine{l} }

type eachLine struct{ LineReader }

// Decode implements Decoder.
func (d *eachLine) Decode(b *Batch, _ []byte, last bool) (n int) {
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			break
		}
		n = next
		if len(line) == 0 {
			continue
		}
		if problem := d.Line(b, line); problem != nil {
			b.Fail(problem)
		}
	}
	return n
}

// UnitReader reads units of a trace, each of which begins with a line that is not blank.
type UnitReader interface {
	// Unit adds the records of the unit that begins with a line, behind which the next line begins at a place of the text. It returns
	// where the next unit begins, negative, with nothing added or changed, if that is not certain yet.
	Unit(b *Batch, line []byte, next int, last bool) int
}

// Units is a Decoder's Decode by units that begin with any line.
func (b *Batch) Units(r UnitReader, last bool) (n int) {
	for !b.Full() {
		line, next := b.Line(n, last)
		if next < 0 {
			break
		}
		if len(line) > 0 {
			if next = r.Unit(b, line, next, last); next < 0 {
				break
			}
		}
		n = next
	}
	return n
}

// Stateless is to be embedded by what remembers nothing.
type Stateless struct{}

// AppendState implements Decoder.
func (Stateless) AppendState(dst []byte) []byte { return dst }

// Restore implements Decoder.
func (Stateless) Restore(state []byte) error {
	if len(state) > 0 {
		return ErrState
	}
	return nil
}

// ErrState is the error of a Restore that is given what is no state.
var ErrState = errors.New("this is no state of the dialect")
