package itrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"tracewell/itrace/internal/swar"
)

// Reader reads the records of a trace.
type Reader struct {
	// MaxLine is how many bytes a line may have in front of its line feed. Of a longer one the beginning is kept, in a record of
	// kind Unknown.
	MaxLine int

	in      io.Reader
	dialect *Dialect
	decoder Decoder
	fast    FastPather // the decoder, if it is one
	again   Decoder    // another, for Back, since the records of the last Read may be views of what the decoder keeps

	block  []byte // buffer, with swar.Lookahead behind what is read into it
	next   int    // of what is unread in block[:filled]
	filled int
	ended  error // what in has ended with

	offset int64 // of block[next] in the input
	line   int64 // lines before it
	batch  Batch
	handed int // of the batch's records for which there was no room, those that were handed out since
	all    []Record

	before place // where the last Read began, if states are kept
	keep   bool
}

// place is where a decoder can go on.
type place struct {
	line, offset int64
	state        []byte
}

const (
	blockSize      = 1 << 18 // stays in the second-level cache
	defaultMaxLine = 1 << 20
	// mostUnit is how many bytes may have to be looked at together. Of more a Decoder is told that nothing follows.
	mostUnit = 1 << 24
)

// NewReader returns a Reader of a trace in a dialect.
func NewReader(in io.Reader, d *Dialect) *Reader {
	r := &Reader{MaxLine: defaultMaxLine, in: in, dialect: d, decoder: d.Decoder(), block: make([]byte, blockSize)}
	r.fast, _ = r.decoder.(FastPather)
	r.batch.binary = d.Binary != nil
	return r
}

// Reset has the reader read another trace in its dialect, from the beginning on, with the memory that it has.
func (r *Reader) Reset(in io.Reader) {
	r.in, r.ended = in, nil
	r.next, r.filled, r.offset, r.line = 0, 0, 0, 0
	r.handed, r.batch.over, r.batch.used = 0, r.batch.over[:0], 0
	restore(r.decoder, nil)
}

// Begin has the input begin within a trace, behind so many lines and bytes, in the state that the decoder has there.
func (r *Reader) Begin(lines, bytes int64, state []byte) error {
	r.line, r.offset = lines, bytes
	return r.decoder.Restore(state)
}

// Read reads up to len(records) records and returns how many. The error, io.EOF at the end of the trace, comes alone. It waits
// for input only if there is nothing certain to return, so that a trace can be followed as it is written. The bytes of the records
// are valid until the next call.
func (r *Reader) Read(records []Record) (n int, err error) {
	if !r.Between() {
		n = copy(records, r.batch.over[r.handed:])
		r.handed += n
		return n, nil
	}
	if r.keep {
		r.before = place{r.line, r.offset, r.decoder.AppendState(r.before.state[:0])}
	}
	r.batch.used = 0
	for {
		taken := 0
		if r.next < r.filled || r.ended != nil {
			taken = r.decode(records, r.block[r.next:r.filled], r.ended != nil)
		}
		switch n := r.batch.used; {
		case n > 0:
			return min(n, len(records)), nil
		case taken > 0:
			continue
		}
		text := r.block[r.next:r.filled]
		switch end := bytes.IndexByte(text, '\n'); {
		case !r.batch.binary && (end > r.MaxLine || end < 0 && len(text) > r.MaxLine):
			return 1, r.overlong(&records[0])
		case r.ended != nil && len(text) == 0:
			return 0, r.ended
		case (r.ended != nil || len(text) > mostUnit) && r.decode(records, text, true) == 0 && r.batch.used == 0:
			return 1, r.overlong(&records[0]) // the decoder refuses what it has to read
		case r.batch.used > 0:
			return min(r.batch.used, len(records)), nil
		case r.ended == nil && len(text) <= mostUnit:
			r.fill()
		}
	}
}

// ReadTo is Read up to an offset, which is the end of a line and in the Rest, and never reads more of the input. It returns 0
// where not even that much is certain.
func (r *Reader) ReadTo(records []Record, end int64) int {
	if !r.Between() {
		n := copy(records, r.batch.over[r.handed:])
		r.handed += n
		return n
	}
	r.batch.used = 0
	for r.offset < end && r.decode(records, r.block[r.next:r.next+int(end-r.offset)], false) > 0 && r.batch.used == 0 {
	}
	return min(r.batch.used, len(records))
}

// decode has the decoder read from a text, goes behind what it has read, and returns how many bytes that is.
func (r *Reader) decode(records []Record, text []byte, last bool) int {
	b := &r.batch
	b.records, b.used, b.over, r.handed, b.longest = records, 0, b.over[:0], 0, r.MaxLine
	b.begin(text, r.offset, r.line)
	n := r.decoder.Decode(b, text, last)
	r.line = b.linesTo(n)
	if n > 0 && text[n-1] != '\n' && !b.binary { // the last line of a trace without an end
		r.line++
	}
	r.offset += int64(n)
	r.next += n
	return n
}

// Between reports whether all that has been decoded has been read, so that AppendState and Position are of one and the same place.
func (r *Reader) Between() bool { return r.handed == len(r.batch.over) }

// AppendState appends the state of the decoder at Position; see Between.
func (r *Reader) AppendState(dst []byte) []byte { return r.decoder.AppendState(dst) }

// AppendTimeless is AppendState but for a time that lines without one would have.
func (r *Reader) AppendTimeless(dst []byte) []byte {
	if k, ok := r.decoder.(TimeKeeper); ok {
		return k.AppendTimeless(dst)
	}
	return r.decoder.AppendState(dst)
}

// Position returns how many lines and bytes of the input have been read, blank lines and what could not be read included.
func (r *Reader) Position() (lines, bytes int64) { return r.line, r.offset }

// fill reads more behind what is unread, which it moves to the front.
func (r *Reader) fill() {
	r.filled = copy(r.block, r.block[r.next:r.filled])
	r.next = 0
	if r.filled == len(r.block)-swar.Lookahead {
		r.block = append(r.block, make([]byte, len(r.block))...)
	}
	// A reader may return nothing and no error, but not for ever.
	for range 100 {
		n, err := r.in.Read(r.block[r.filled : len(r.block)-swar.Lookahead])
		r.filled += n
		r.ended = err
		if n > 0 || err != nil {
			return
		}
	}
	r.ended = io.ErrNoProgress
}

// overlong makes a record of the beginning of a line that is too long, and passes over the rest. The error is that of the input.
func (r *Reader) overlong(record *Record) error {
	text := bytes.Clone(r.block[r.next:min(r.next+r.MaxLine, r.filled)])
	r.line++
	*record = Record{Line: r.line, Offset: r.offset, Text: text,
		Problem: &SyntaxError{Column: r.MaxLine + 1, Found: "a line that goes on", Expected: "its end"}}
	for {
		end := bytes.IndexByte(r.block[r.next:r.filled], '\n')
		length := end + 1
		if end < 0 {
			length = r.filled - r.next
		}
		r.offset += int64(length)
		r.next += length
		if end >= 0 || r.ended != nil {
			return nil
		}
		r.fill()
	}
}

// batchSize is how many records All reads at once.
const batchSize = 512

// All yields the records one by one, each valid until the next, and ends with the error of the input unless that is io.EOF.
func (r *Reader) All() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if r.all == nil {
			r.all = make([]Record, batchSize)
		}
		for {
			n, err := r.Read(r.all)
			for i := range n {
				if !yield(&r.all[i], nil) {
					return
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(nil, err)
				}
				return
			}
		}
	}
}

// Rest returns what has been read of the input from an offset on, which is that of a record of the last Read, or that of Position.
// It is valid until the next call of any method but this.
func (r *Reader) Rest(offset int64) []byte { return r.block[r.next-int(r.offset-offset) : r.filled] }

// FastPath reads the next lines, as many as there are briefs, up to an offset, which is the end of a line and in the Rest. It
// returns how many it has read, none if the dialect has no fast path.
func (r *Reader) FastPath(briefs []Brief, end int64) int {
	if r.fast == nil || !r.Between() {
		return 0
	}
	lines, n := r.fast.FastPath(r.block[r.next:r.next+int(end-r.offset)], briefs)
	r.next += n
	r.offset += int64(n)
	r.line += int64(lines)
	return lines
}

// HasFastPath reports whether the dialect has a fast path.
func (r *Reader) HasFastPath() bool { return r.fast != nil }

// KeepStates has Back possible from the next Read on, which costs an AppendState for each.
func (r *Reader) KeepStates(keep bool) { r.keep = keep }

// Back goes back to a line by its offset, which is that of a record of the last Read, or to Position. It reports whether it could:
// states are kept, and a unit begins there. If it could not, nothing has changed.
func (r *Reader) Back(line, offset int64) bool {
	if offset == r.offset {
		return r.Between()
	}
	if !r.keep {
		return false
	}
	if r.again == nil {
		r.again = r.dialect.Decoder()
	}
	b, from := &Batch{binary: r.batch.binary}, r.next-int(r.offset-r.before.offset)
	text := r.block[from : from+int(offset-r.before.offset)]
	b.records, b.longest = make([]Record, batchSize), r.MaxLine
	restore(r.again, r.before.state)
	for n := 0; n < len(text); {
		b.used, b.over = 0, b.over[:0]
		b.begin(text[n:], r.before.offset+int64(n), 0)
		read := r.again.Decode(b, text[n:], false)
		if n += read; read == 0 && b.used == 0 {
			return false
		}
	}
	restore(r.decoder, r.again.AppendState(nil))
	r.handed, r.batch.over = 0, r.batch.over[:0]
	r.next -= int(r.offset - offset)
	r.offset, r.line = offset, line-1
	return true
}

// restore restores a state that a decoder of the dialect has given.
func restore(d Decoder, state []byte) {
	if err := d.Restore(state); err != nil {
		panic(fmt.Sprintf("itrace: a decoder refuses its own state: %v", err))
	}
}

// Go goes to a line by its offset, which is in the Rest of a record of the last Read or was read since, in the state that the
// decoder has there.
func (r *Reader) Go(line, offset int64, state []byte) {
	restore(r.decoder, state)
	r.handed, r.batch.over = 0, r.batch.over[:0]
	r.next -= int(r.offset - offset)
	r.offset, r.line = offset, line-1
}

// Extend reads more of the input, if there is more and room for it, and reports whether it has. It may wait. The bytes of the
// records of the last Read are not valid any more.
func (r *Reader) Extend() bool {
	had := r.filled - r.next
	if r.ended != nil || had == len(r.block)-swar.Lookahead {
		return false
	}
	r.fill()
	r.before.offset = -1
	return r.filled > had
}
