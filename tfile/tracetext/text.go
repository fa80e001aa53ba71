package tracetext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"tracewell/arch"
	"tracewell/tfile"
)

// flushBytes is how much text is gathered before it is written.
const flushBytes = 1 << 16

// A textWriter writes statements.
type textWriter struct {
	setup
	out     io.Writer
	buf     []byte // text that is not written yet
	err     error  // the first one of out
	implied int    // bytes of the R blocks of a frame so far
}

// room makes sure that the buffer does not grow without end.
func (t *textWriter) room() {
	if len(t.buf) >= flushBytes {
		t.flush()
	}
}

// flush writes what is gathered and returns the first error.
func (t *textWriter) flush() error {
	if t.err == nil {
		_, t.err = t.out.Write(t.buf)
	}
	t.buf = t.buf[:0]
	return t.err
}

// header writes the first line and the definitions, and takes over from h what the frames need.
func (t *textWriter) header(h tfile.Header, definitions []tfile.Definition) {
	t.setup = newSetup(h)
	t.buf = append(t.buf, firstLine+"\nbyte-order "...)
	t.buf = append(t.buf, arch.OrderName(h.Order)...)
	t.buf = append(t.buf, '\n')
	d := newDescriber(t.layout)
	for _, definition := range definitions {
		t.buf = d.line(t.buf, definition.Text)
		t.room()
	}
}

// beginFrames writes the line between definitions and frames. size is that of a register block by the definitions alone.
func (t *textWriter) beginFrames(size int) {
	t.buf = append(t.buf, "\nframes"...)
	if size != t.size {
		t.buf = strconv.AppendInt(append(t.buf, " register-size "...), int64(t.size), 10)
	}
	t.buf = append(t.buf, '\n')
}

// showFrame writes a frame.
func (t *textWriter) showFrame(f tfile.Frame) {
	t.buf = append(t.buf, "\nframe of tracepoint "...)
	t.buf = strconv.AppendInt(t.buf, int64(f.Tracepoint()), 10)
	t.buf = append(t.buf, '\n')
	t.implied = 0
	read := tfile.FrameHeader
	for b := range f.Blocks() {
		t.showBlock(f, b)
		read = b.End()
	}
	if left := f.Bytes()[read:]; len(left) > 0 {
		t.showReason("  ", f.Check())
		t.showRaw(left)
	}
}

// showReason writes a comment with what tfile found wrong, without the offset, so that texts of like damage are alike.
func (t *textWriter) showReason(indent string, err error) {
	if format := (*tfile.FormatError)(nil); errors.As(err, &format) {
		t.buf = fmt.Appendf(t.buf, "%s# found %s, expected %s\n", indent, format.Found, format.Expected)
	}
}

func (t *textWriter) showBlock(f tfile.Frame, b tfile.Block) {
	switch b.Kind {
	case tfile.BlockRegisters:
		if t.implied += len(b.Bytes); t.implied > maxImplied {
			t.showRaw(f.Bytes()[b.Offset:b.End()])
			return
		}
		t.showRegisters(b.Bytes)
	case tfile.BlockMemory:
		t.showMemory(uint64(b.Addr), b.Bytes)
	case tfile.BlockVariable:
		t.showVariable(b.Number, b.Value)
	case tfile.BlockStatic:
		t.buf = append(t.buf, "  static"...)
		t.showRows(len("  static "), b.Bytes)
	}
	t.room()
}

// showRegisters writes the registers of a block that are not zero.
func (t *textWriter) showRegisters(block []byte) {
	t.buf = append(t.buf, "  registers\n"...)
	for _, r := range t.registers.parts {
		value := block[r.offset:][:r.size]
		if r.name == "" {
			t.showNameless(r.offset, value)
			continue
		}
		if isZero(value) {
			continue
		}
		t.buf = append(append(t.buf, "    "...), r.name...)
		t.buf = appendBlanks(t.buf, t.registers.width+2-len(r.name))
		if r.size > 8 {
			t.buf = appendHex(t.buf, value)
		} else {
			t.buf = appendNumber(t.buf, arch.Uint(value, t.order))
		}
		t.buf = append(t.buf, '\n')
	}
}

// showNameless writes the rows that are not zero of a range of a register block that begins at an offset.
func (t *textWriter) showNameless(offset int, value []byte) {
	for len(value) > 0 {
		row := value[:min(rowBytes, len(value))]
		if !isZero(row) {
			t.buf = appendOffset(append(t.buf, "    "...), int64(offset))
			t.buf = appendHex(append(t.buf, "  "...), row)
			t.buf = append(t.buf, '\n')
			t.room()
		}
		value = value[len(row):]
		offset += len(row)
	}
}

var zeros [64]byte

func isZero(p []byte) bool {
	for len(p) > len(zeros) {
		if !bytes.Equal(p[:len(zeros)], zeros[:]) {
			return false
		}
		p = p[len(zeros):]
	}
	return bytes.Equal(p, zeros[:len(p)])
}

func (t *textWriter) showMemory(addr uint64, p []byte) {
	t.buf = appendNumber(append(t.buf, "  memory "...), addr)
	row := p[:min(rowBytes, len(p))]
	if len(row) > 0 {
		t.showRow(row, len(p) > rowBytes)
	}
	t.buf = append(t.buf, '\n')
	for p = p[len(row):]; len(p) > 0; p = p[len(row):] {
		addr += uint64(len(row))
		row = p[:min(rowBytes, len(p))]
		t.buf = appendNumber(append(t.buf, "         "...), addr)
		t.showRow(row, true)
		t.buf = append(t.buf, '\n')
	}
}

func (t *textWriter) showVariable(n int32, value int64) {
	t.buf = append(t.buf, "  variable "...)
	if name, ok := t.names[n]; ok {
		t.buf = append(append(t.buf, '$'), name...)
	} else {
		t.buf = strconv.AppendInt(t.buf, int64(n), 10)
	}
	t.buf = strconv.AppendInt(append(t.buf, " = "...), value, 10)
	t.buf = append(t.buf, '\n')
}

// showRaw writes bytes in a frame that make no block.
func (t *textWriter) showRaw(p []byte) {
	t.buf = append(t.buf, "  raw"...)
	t.showRows(len("  raw "), p)
}

// showRows writes bytes behind a keyword that is written already, each row behind its offset and indented.
func (t *textWriter) showRows(indent int, p []byte) {
	blanks := 1
	for offset := 0; offset < len(p); offset += rowBytes {
		row := p[offset:min(offset+rowBytes, len(p))]
		t.buf = appendBlanks(t.buf, blanks)
		t.buf = appendOffset(t.buf, int64(offset))
		t.showRow(row, len(p) > rowBytes)
		if offset+rowBytes < len(p) {
			t.buf = append(t.buf, '\n')
			t.room()
		}
		blanks = indent
	}
	t.buf = append(t.buf, '\n')
}

// showRow writes the bytes of a row and, as a comment, the characters that they are; aligned with those of full rows if asked.
func (t *textWriter) showRow(row []byte, aligned bool) {
	t.buf = appendHex(append(t.buf, "  "...), row)
	if aligned {
		t.buf = appendBlanks(t.buf, hexWidth(rowBytes)-hexWidth(len(row)))
	}
	t.buf = appendShown(t.buf, row)
}

func appendBlanks(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}

// showEnd writes the end marker, of n bytes.
func (t *textWriter) showEnd(n int) {
	t.buf = append(t.buf, "\nend"...)
	if n != markerBytes {
		t.buf = append(strconv.AppendInt(append(t.buf, ' '), int64(n), 10), " bytes"...)
	}
	t.buf = append(t.buf, '\n')
}

// showRest writes rows of the rest of a file that begin at an offset in it.
func (t *textWriter) showRest(offset int64, p []byte) {
	for ; len(p) > 0; p = p[min(rowBytes, len(p)):] {
		if offset == 0 {
			t.buf = append(t.buf, "rest "...)
		} else {
			t.buf = append(t.buf, "     "...)
		}
		t.buf = appendOffset(t.buf, offset)
		t.showRow(p[:min(rowBytes, len(p))], true)
		t.buf = append(t.buf, '\n')
		t.room()
		offset += rowBytes
	}
}
