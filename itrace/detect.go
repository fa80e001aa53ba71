package itrace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode"
)

// DetectBytes is how much of a trace Detect looks at, at most.
const DetectBytes = 1 << 16

// Detection is what Detect has found.
type Detection struct {
	Dialect *Dialect // nil if no line is in any: then Undetected says what there is
	Known   int      // lines in the dialect
	Lines   int      // of how many, blank ones and those of no meaning not counted
	Why     string   // in words: what shows it, and how sure that is
}

// Detect returns the dialect that most lines of the beginning of a trace are in. Of what is as long as DetectBytes, or
// has several lines, the last line counts only if it is whole. A file of binary data is in a dialect that says so, or in none.
func (r Registry) Detect(head []byte) (best Detection) {
	for _, d := range r {
		if d.Binary != nil && d.Binary.Is(head) {
			best.Dialect = d
			best.Known, best.Lines = d.packets(head[:min(len(head), DetectBytes)])
			best.Why = fmt.Sprintf("%s; %d of %d packets can be read", d.Why(head), best.Known, best.Lines)
			return best
		}
	}
	if isBinary(head) {
		return best
	}
	cut := len(head) >= DetectBytes
	head = head[:min(len(head), DetectBytes)]
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
		head = head[:end+1]
	} else if cut {
		head = nil
	}
	text := append(make([]byte, 0, len(head)+Lookahead), head...)
	for _, d := range r {
		if d.Binary != nil {
			continue
		}
		known, lines := d.fits(text)
		switch {
		case known > best.Known:
			best = Detection{Dialect: d, Known: known, Lines: lines}
		case best.Dialect == nil:
			best.Lines = max(best.Lines, lines)
		}
	}
	if d := best.Dialect; d != nil {
		best.Why = fmt.Sprintf("%d of %d lines can be read", best.Known, best.Lines)
		if d.Why != nil {
			best.Why = d.Why(head) + "; " + best.Why
		}
	}
	return best
}

// packets returns how many packets of the beginning of a trace of binary data can be read, of how many. That which the beginning
// cuts does not count, nor do those of no meaning.
func (d *Dialect) packets(head []byte) (known, all int) {
	b := &Batch{records: make([]Record, batchSize), longest: defaultMaxLine, binary: true}
	behind := int64(0)
	b.decode(d, append(make([]byte, 0, len(head)+Lookahead), head...), false, func(r *Record) {
		if r.Line != behind && r.Kind != Remark {
			behind = r.Line
			if all++; r.Kind != Unknown {
				known++
			}
		}
	})
	return known, all
}

// decode has visit see all records of a text by a decoder of a dialect, each valid until the next.
func (b *Batch) decode(d *Dialect, text []byte, last bool, visit func(*Record)) {
	decoder := d.Decoder()
	for n := 0; ; {
		b.used, b.over = 0, b.over[:0]
		b.begin(text[n:], int64(n), b.lines)
		read := decoder.Decode(b, text[n:], last)
		b.linesTo(read)
		for i := range b.used {
			visit(b.Record(i))
		}
		if n += read; b.used == 0 && (read == 0 || n == len(text)) {
			return
		}
	}
}

// isBinary reports whether a file begins with a control character that no text begins with, as trace files, programs and files of
// archives do. Of some hundred lines of such data one may look like a line of a dialect.
func isBinary(head []byte) bool {
	return len(head) > 0 && (head[0] < ' ' && !unicode.IsSpace(rune(head[0])) || head[0] == 0x7f)
}

// fits returns how many lines of a text are in the dialect. A line of no meaning does not count, and if there is nothing else
// none does.
func (d *Dialect) fits(text []byte) (known, lines int) {
	b := &Batch{records: make([]Record, batchSize), longest: defaultMaxLine}
	for line := range bytes.Lines(bytes.TrimPrefix(text, byteOrderMark)) {
		if len(trimEnd(line)) > 0 {
			lines++
		}
	}
	some, behind := false, int64(-1)
	known = lines
	b.decode(d, text, true, func(r *Record) {
		switch {
		case r.Kind != Unknown && r.Kind != Remark:
			some = true
		case r.Offset != behind: // a line that is refused in the middle counts once
			behind = r.Offset
			if known--; r.Kind == Remark {
				lines--
			}
		}
	})
	if !some {
		return 0, lines
	}
	return known, lines
}

// Decode returns the records of a text by itself, as that of a line that has been quoted. They stay valid.
func (d *Dialect) Decode(text []byte) (records []Record) {
	if d.Binary != nil {
		return d.Binary.Quoted.Decode(text)
	}
	b := &Batch{records: make([]Record, 1), longest: defaultMaxLine}
	b.decode(d, append(make([]byte, 0, len(text)+Lookahead), text...), true, func(r *Record) { records = append(records, r.Clone()) })
	return records
}

// Sniff is Detect for what a reader, whose buffer holds DetectBytes or more, is about to give. It looks at what there is at
// first, and waits for more only as long as that has no line in any dialect, so that a trace can be followed as it is written. It
// returns the beginning that it has looked at, which is still to be read, and the error of reading unless that is io.EOF.
func (r Registry) Sniff(in *bufio.Reader) (d Detection, head []byte, err error) {
	for wanted := 1; ; wanted = 2 * len(head) {
		_, err = in.Peek(min(wanted, DetectBytes))
		head, _ = in.Peek(min(in.Buffered(), DetectBytes))
		if d = r.Detect(head); d.Dialect != nil {
			return d, head, nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return d, head, nil
		case err != nil:
			return d, head, err
		case len(head) == DetectBytes:
			return d, head, nil
		}
	}
}
