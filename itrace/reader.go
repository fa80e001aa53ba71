package itrace

import (
	"bytes"
	"errors"
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
	parser  Parser

	block  []byte // buffer, with swar.Lookahead behind what is read into it
	next   int    // of what is unread in block[:filled]
	filled int
	ended  error // what in has ended with

	offset int64 // of block[next] in the input
	line   int64 // lines before it
	batch  []Record
}

const (
	blockSize      = 1 << 18 // stays in the second-level cache
	defaultMaxLine = 1 << 20
)

// NewReader returns a Reader of a trace in a dialect.
func NewReader(in io.Reader, d *Dialect) *Reader {
	return &Reader{MaxLine: defaultMaxLine, in: in, dialect: d, parser: d.New(), block: make([]byte, blockSize)}
}

// Read reads up to len(records) records and returns how many. The error, io.EOF at the end of the trace, comes alone. It waits
// for input only if there is no whole line to return, so that a trace can be followed as it is written. The bytes of the records
// are valid until the next call.
func (r *Reader) Read(records []Record) (n int, err error) {
	for n < len(records) {
		end := bytes.IndexByte(r.block[r.next:r.filled], '\n')
		if end >= 0 && end <= r.MaxLine {
			if r.take(&records[n], r.block[r.next:r.next+end], end+1) {
				n++
			}
			continue
		}
		switch {
		case n > 0:
			return n, nil
		case end >= 0 || r.filled-r.next > r.MaxLine:
			return 1, r.overlong(&records[0])
		case r.ended != nil && r.next < r.filled:
			if rest := r.block[r.next:r.filled]; r.take(&records[0], rest, len(rest)) {
				n++
			}
		case r.ended != nil:
			return 0, r.ended
		default:
			r.fill()
		}
	}
	return n, nil
}

// Position returns how many lines and bytes of the input have been read, blank lines and what could not be read included.
func (r *Reader) Position() (lines, bytes int64) { return r.line, r.offset }

// take makes a record of a line, whose end included it is length bytes long, unless it is blank, and goes behind it unless it tells of
// more than that. A byte order mark in front of the first is no part of it.
func (r *Reader) take(record *Record, line []byte, length int) bool {
	number := r.line + 1
	if number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	line = trimEnd(line)
	if len(line) > 0 {
		record.Line, record.Offset, record.Text, record.Problem, record.More = number, r.offset, line, nil, false
		if problem := r.parser.Parse(line, record); problem != nil {
			record.Kind, record.Problem, record.More = Unknown, problem, false
		}
		if record.More {
			return true
		}
	}
	r.offset += int64(length)
	r.next += length
	r.line = number
	return len(line) > 0
}

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
	text := bytes.Clone(r.block[r.next : r.next+r.MaxLine])
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
		if r.batch == nil {
			r.batch = make([]Record, batchSize)
		}
		for {
			n, err := r.Read(r.batch)
			for i := range n {
				if !yield(&r.batch[i], nil) {
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

// FastPath reads the next lines, as many as there are briefs, up to an offset, which is the end of a line and in the Rest. It returns
// how many it has read; see Dialect.
func (r *Reader) FastPath(briefs []Brief, end int64) int {
	if r.dialect.FastPath == nil {
		return 0
	}
	lines, n := r.dialect.FastPath(r.parser, r.block[r.next:r.next+int(end-r.offset)], briefs)
	r.Pass(int64(lines), int64(n))
	return lines
}

// Back goes back to a line by its offset, which is in the Rest of a record of the last Read. The dialect must allow to begin there.
func (r *Reader) Back(line, offset int64) {
	r.next -= int(r.offset - offset)
	r.offset, r.line = offset, line-1
}

// Pass passes over the next lines, so many and so many bytes, which have been read of the input.
func (r *Reader) Pass(lines, bytes int64) {
	r.next += int(bytes)
	r.offset += bytes
	r.line += lines
}

// Extend reads more of the input, if there is more and room for it, and reports whether it has. It may wait. The bytes of the
// records of the last Read are not valid any more.
func (r *Reader) Extend() bool {
	had := r.filled - r.next
	if r.ended != nil || had == len(r.block)-swar.Lookahead {
		return false
	}
	r.fill()
	return r.filled > had
}
