package tracetext

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"

	"tracewell/arch"
	"tracewell/tfile"
)

// section is a part of a text, by what has been read of it.
type section uint8

const (
	inNothing     section = iota // no line yet
	inDefinitions                // behind the first line
	inFrames                     // behind the line frames
	inEnd                        // behind the end marker
	inRest                       // in the bytes that follow all that can be read
)

// reader reads a text and writes the trace file.
type reader struct {
	cursor // in the line at hand

	in       *bufio.Reader
	long     []byte // the line at hand, if in has no room for it
	done     int64  // bytes read
	progress progress
	out      *bufio.Writer

	section     section
	order       arch.ByteOrder // nil until it is told
	head        []byte         // the file up to the frames
	definitions definer
	frames      framer
	rest        uint64 // bytes of the rest so far
}

func newReader(in io.Reader, out io.Writer, report func(int64)) *reader {
	r := &reader{
		in:       bufio.NewReaderSize(in, flushBytes),
		out:      bufio.NewWriterSize(out, flushBytes),
		progress: progress{report: report, step: reportBytes},
	}
	r.definitions.emit = r.define
	r.frames.finished = r.write
	return r
}

// fileStatements are the statements that tell the sections apart. They are known in all sections.
var fileStatements = map[string]func(*reader) error{
	"tracewell":  (*reader).beginFile,
	"byte-order": (*reader).byteOrder,
	"frames":     (*reader).beginFrames,
	"frame":      (*reader).beginFrame,
	"end":        (*reader).endMarker,
	"rest":       (*reader).beginRest,
}

// read reads the whole text.
func (r *reader) read() error {
	for {
		switch err := r.readLine(); {
		case err == io.EOF:
			return r.finish()
		case err != nil:
			return err
		}
		if word := r.next(); len(word) > 0 {
			if err := r.statement(word); err != nil {
				return err
			}
		}
	}
}

// readLine reads the next line for the cursor. The line end, of which a carriage return may be a part, is not in it.
func (r *reader) readLine() error {
	text, err := r.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = append(r.long[:0], text...)
		for err == bufio.ErrBufferFull {
			text, err = r.in.ReadSlice('\n')
			r.long = append(r.long, text...)
		}
		text = r.long
	}
	if len(text) == 0 || err != nil && err != io.EOF {
		return err
	}
	r.done += int64(len(text))
	r.progress.reached(r.done)
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	r.cursor = cursor{text: text, line: r.line + 1}
	return nil
}

// statement takes a statement, of which word is the first word.
func (r *reader) statement(word []byte) error {
	if r.section == inNothing && string(word) != "tracewell" {
		r.fail("the first line, " + firstLine)
		return r.end()
	}
	if read := fileStatements[string(word)]; read != nil {
		return read(r)
	}
	switch r.section {
	case inDefinitions:
		return r.definitions.statement(word, &r.cursor)
	case inFrames:
		return r.frames.statement(word, &r.cursor)
	case inRest:
		return r.restRow(word)
	}
	r.fail("rest, the first line of another file, or nothing more")
	return r.end()
}

// finish completes what the lines so far describe and writes it.
func (r *reader) finish() error {
	if r.section == inNothing {
		r.cursor = cursor{line: r.line + 1}
		r.fail("the first line, " + firstLine)
		return r.end()
	}
	if err := r.complete(); err != nil {
		return err
	}
	return r.out.Flush()
}

// complete makes the bytes of the definition or the frame that may go on no further.
func (r *reader) complete() error {
	if err := r.definitions.flush(); err != nil {
		return err
	}
	return r.frames.finish()
}

func (r *reader) write(p []byte) error {
	_, err := r.out.Write(p)
	return err
}

// define takes a definition line.
func (r *reader) define(line []byte) error {
	start := len(r.head)
	r.head = append(append(r.head, line...), '\n')
	return r.write(r.head[start:])
}

func (r *reader) beginFile() error {
	r.literal("trace", "text", "1")
	if err := r.end(); err != nil {
		return err
	}
	if r.section != inNothing {
		if err := r.complete(); err != nil {
			return err
		}
	}
	r.section, r.order = inDefinitions, nil
	r.definitions.keyed, r.definitions.measured = false, false
	r.head = append(r.head[:0], tfile.Magic...)
	return r.write(r.head)
}

func (r *reader) byteOrder() error {
	r.expect(inDefinitions, "among the definitions")
	r.order = orders[r.choice("little", "big")]
	return r.end()
}

// expect expects to be in a section. Where tells where that is.
func (r *reader) expect(s section, where string) {
	if r.section != s {
		r.misplaced(where)
	}
}

// misplaced makes an error about the word at hand that it stands where it cannot.
func (r *reader) misplaced(where string) {
	r.failure(fmt.Sprintf("found %q out of place, expected it %s", r.text[r.at:r.pos], where))
}

func (r *reader) beginFrames() error {
	r.expect(inDefinitions, "once, behind the definitions")
	size := -1
	if r.accept("register-size") {
		size = int(r.unsigned("the bytes of a register block", math.MaxInt32))
	}
	if err := r.end(); err != nil {
		return err
	}
	return r.openFrames(size)
}

// openFrames ends the definitions. size is that of a register block, -1 if it is as they say.
func (r *reader) openFrames(size int) error {
	if err := r.definitions.flush(); err != nil {
		return err
	}
	if r.order == nil {
		r.failure("the byte order is not known, expected byte-order little or byte-order big before the frames")
		return r.end()
	}
	h, err := readHeader(r.head, r.order)
	if err != nil {
		r.failure(fmt.Sprintf("no frames can follow: %v", err))
		return r.end()
	}
	if r.definitions.measured {
		if h.RegisterSize, err = r.measure(h.Description); err != nil {
			return err
		}
	}
	if size >= 0 {
		h.RegisterSize = size
	}
	r.frames.setup = newSetup(h)
	r.section = inFrames
	return r.write([]byte("\n"))
}

// measure makes the R line of the size of the registers of a target description.
func (r *reader) measure(description string) (size int, err error) {
	size = layoutOf(description).Size
	if size == 0 || size > math.MaxInt32 {
		r.failure("the size of a register block cannot be told from the target description, expected register-size with a number")
		return 0, r.end()
	}
	return size, r.define(fmt.Appendf(nil, "R %x", size))
}

// toFrames makes sure that frames can follow, and completes the one before.
func (r *reader) toFrames() error {
	if r.section == inDefinitions {
		return r.openFrames(-1)
	}
	if r.expect(inFrames, "behind the definitions and before the end marker"); r.err != nil {
		return r.err
	}
	return r.frames.finish()
}

func (r *reader) beginFrame() error {
	if err := r.toFrames(); err != nil {
		return err
	}
	return r.frames.begin(&r.cursor)
}

func (r *reader) endMarker() error {
	if err := r.toFrames(); err != nil {
		return err
	}
	n := uint64(markerBytes)
	if r.peek() != 0 {
		if n = r.unsigned("a length", markerBytes); n < 2 {
			r.fail("a length from 2 to 4")
		}
		r.literal("bytes")
	}
	if err := r.end(); err != nil {
		return err
	}
	r.section = inEnd
	return r.write(make([]byte, n))
}

func (r *reader) beginRest() error {
	if r.section == inNothing || r.section == inRest {
		r.misplaced("once, at the end of a file")
		return r.err
	}
	if err := r.complete(); err != nil {
		return err
	}
	r.section, r.rest = inRest, 0
	if r.peek() != '+' {
		return r.restBytes()
	}
	return r.restRow(r.next())
}

// restRow takes a row of the rest, of which word is the offset.
func (r *reader) restRow(word []byte) error {
	n, ok := parseNumber(bytes.TrimPrefix(word, []byte("+")))
	if !ok || word[0] != '+' || n != r.rest {
		r.fail(fmt.Sprintf("+%#x, where the bytes above end, or the first line of another file", r.rest))
	}
	return r.restBytes()
}

func (r *reader) restBytes() error {
	row := r.bytes(r.frames.scratch[:0])
	r.frames.scratch = row
	if err := r.end(); err != nil {
		return err
	}
	r.rest += uint64(len(row))
	return r.write(row)
}
