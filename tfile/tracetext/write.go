package tracetext

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"tracewell/arch"
	"tracewell/tfile"
)

// maxFiles is how many files that lie one behind the other are each shown as a file; what follows is the rest of the last.
// To look into a file has a price however short it is, and there could be any number of short ones.
const maxFiles = 1000

// readBytes is how much of a trace file is read at once.
const readBytes = 1 << 18

// writer reads a trace file, which may have others behind it, and writes the text.
type writer struct {
	textWriter
	progress progress
	source   io.ReaderAt
	size     int64
	order    arch.ByteOrder // as given; nil to find it out
	in       *bufio.Reader
	broken   error  // of in
	reason   error  // why tfile.Open did not read the last file to its end
	at       int64  // of the byte that in gives next
	frame    []byte // its bytes
}

// files writes the text of one file after the other.
func (w *writer) files() error {
	for n := 1; ; n++ {
		if err := w.file(); err != nil {
			return err
		}
		more, err := w.rest(n < maxFiles)
		if err != nil {
			return err
		}
		if !more {
			return w.flush()
		}
		w.buf = append(w.buf, '\n')
	}
}

// file writes the text of the file that begins where the last one ended, up to its end marker or to what makes no sense.
func (w *writer) file() error {
	section := io.NewSectionReader(w.source, w.at, w.size-w.at)
	var opts []tfile.Option
	if w.order != nil {
		opts = append(opts, tfile.WithOrder(w.order))
	}
	f, err := tfile.Open(section, section.Size(), opts...)
	if f == nil {
		return err
	}
	w.reason = err
	head := make([]byte, f.DefinitionsEnd())
	if _, err := section.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	w.skip(len(head))
	w.header(f.Header(), f.Definitions())
	next, err := w.peek(1)
	if err != nil || len(next) == 0 || next[0] != '\n' {
		return err
	}
	said, err := readHeader(head, w.setup.order)
	if err != nil {
		return nil // so long that Open gave up; the rest is no frames then
	}
	w.skip(1)
	w.beginFrames(said.RegisterSize)
	return w.frames()
}

// readHeader reads what definitions say by themselves: head is a trace file up to the empty line that ends them. It fails
// if they are longer than any that tfile.Open reads.
func readHeader(head []byte, order arch.ByteOrder) (tfile.Header, error) {
	whole := append(head[:len(head):len(head)], "\n\x00\x00\x00\x00"...)
	f, err := tfile.OpenBytes(whole, tfile.WithOrder(order))
	if err != nil {
		return tfile.Header{}, err
	}
	return f.Header(), nil
}

// frames writes the text of frames up to the end marker or to what is no frame.
func (w *writer) frames() error {
	for {
		head, err := w.peek(tfile.FrameHeader)
		switch {
		case err != nil:
			return err
		case len(head) >= 2 && head[0]|head[1] == 0:
			return w.endMarker()
		case len(head) < tfile.FrameHeader:
			return nil
		}
		n := tfile.FrameHeader + int64(w.setup.order.Uint32(head[2:]))
		if n > w.size-w.at {
			return nil
		}
		w.frame = slices.Grow(w.frame[:0], int(n))[:n]
		if _, err := io.ReadFull(w.in, w.frame); err != nil {
			return fmt.Errorf("reading %d bytes of the trace file at offset %d: %w", n, w.at, err)
		}
		w.advance(n)
		frame, err := tfile.ParseFrame(w.frame, w.setup.order, w.setup.size)
		if err != nil {
			return err
		}
		if w.showFrame(frame); w.err != nil {
			return w.err
		}
	}
}

// endMarker takes the end marker: two zeros, and as many as follow them up to the fourth.
func (w *writer) endMarker() error {
	marker, err := w.peek(4)
	if err != nil {
		return err
	}
	n := 2
	for n < len(marker) && marker[n] == 0 {
		n++
	}
	w.skip(n)
	w.showEnd(n)
	return nil
}

// rest writes as it is what is left, or what there is ahead of another file if that shall be told from it. It reports
// whether there is one.
func (w *writer) rest(stop bool) (more bool, err error) {
	for offset := int64(0); ; {
		b, err := w.peek(restBytes)
		if err != nil || len(b) == 0 {
			return false, err
		}
		n := len(b)
		if n == restBytes {
			n -= rowBytes // the magic may begin in these
		}
		if i := bytes.Index(b, []byte(tfile.Magic)); i >= 0 && i <= n && stop {
			n, more = i, true
		}
		if offset == 0 && n > 0 {
			w.buf = append(w.buf, '\n')
			w.showReason("", w.reason)
		}
		w.showRest(offset, b[:n])
		w.skip(n)
		if offset += int64(n); more || w.err != nil {
			return more, w.err
		}
	}
}

// restBytes is how much of the rest is looked at at once. It is made of whole rows.
const restBytes = 1 << 12 * rowBytes

// peek returns the next n bytes, or fewer at the end of the file.
func (w *writer) peek(n int) ([]byte, error) {
	if w.broken != nil {
		return nil, w.broken
	}
	b, err := w.in.Peek(n)
	if err == io.EOF {
		err = nil
	}
	return b, err
}

// skip passes over bytes that peek returned.
func (w *writer) skip(n int) {
	_, w.broken = w.in.Discard(n)
	w.advance(int64(n))
}

func (w *writer) advance(n int64) {
	w.at += n
	w.progress.reached(w.at)
}
