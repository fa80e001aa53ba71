package ctf

import (
	"errors"
	"fmt"
	"io"

	"tracewell/tfile"
	"tracewell/trace"
)

// packetHead is what a packet says ahead of its events.
type packetHead struct {
	content, size int64 // in bytes, from the start of the packet
	number        uint64
	events        int // place of the first event, but for its alignment
}

// headRoom is how many bytes the header and the context of a packet are looked for in. GDB's take 14.
const headRoom = 512

// head reads the head of a packet, of which data hold the beginning. The error is a *tfile.FormatError; offset is that of the
// packet.
func (l *layout) head(data []byte, offset int64) (packetHead, error) {
	var v values
	at, failed := l.header.decode(&v, data, 0, l.order)
	if failed != nil {
		return packetHead{}, shortHead(data, offset, failed)
	}
	if l.magic >= 0 && v[l.magic].number != magic {
		return packetHead{}, &tfile.FormatError{Kind: ErrDamaged, Offset: offset, Found: fmt.Sprintf("%#x", v[l.magic].number),
			Expected: fmt.Sprintf("%#x, which begins a packet", magic)}
	}
	at, failed = l.context.decode(&v, data, at, l.order)
	if failed != nil {
		return packetHead{}, shortHead(data, offset, failed)
	}
	content, size := v[l.content].number, v[l.packet].number
	if size == 0 || content > size || size%8 != 0 || content%8 != 0 || content/8 < uint64(at) {
		return packetHead{}, badSizes(content, size, at, offset)
	}
	return packetHead{int64(content / 8), int64(size / 8), v[l.tpnum].number, at}, nil
}

func shortHead(data []byte, offset int64, f *field) error {
	return &tfile.FormatError{Kind: ErrTruncated, Offset: offset, Found: fmt.Sprintf("%d bytes", len(data)),
		Expected: "a packet, with a field " + f.name}
}

// badSizes is the error of a packet of impossible sizes, in bits, whose events begin at a place in it. GDB writes the sizes
// last, so that a packet that it did not finish is of none.
func badSizes(content, size uint64, at int, offset int64) error {
	e := &tfile.FormatError{Kind: ErrDamaged, Offset: offset,
		Found:    fmt.Sprintf("%d bits of content in a packet of %d", content, size),
		Expected: fmt.Sprintf("whole bytes, and from %d bits to those of the packet", 8*at)}
	if size == 0 {
		e.Kind, e.Expected = ErrTruncated, "a packet that was finished"
	}
	return e
}

// index finds the packets, and reads the definitions in the first one if read is set.
func (t *Trace) index(w *window, read bool, progress func(int64)) error {
	var told int64
	t.starts = []int64{0}
	for offset := int64(0); offset < w.size || offset == 0; {
		data, err := w.at(offset, headRoom)
		if err != nil {
			return err
		}
		h, err := t.layout.head(data, offset)
		if err != nil {
			return err
		}
		if left := w.size - offset; h.size > left {
			return &tfile.FormatError{Kind: ErrTruncated, Offset: offset, Found: fmt.Sprintf("%d bytes to the end of the stream", left),
				Expected: fmt.Sprintf("a packet of %d, of tracepoint %d", h.size, h.number)}
		}
		switch {
		case h.number == 0 && offset == 0:
			if read {
				err = t.define(h)
			}
		case h.number < 1 || h.number > trace.MaxNumber:
			err = &tfile.FormatError{Kind: ErrDamaged, Offset: offset, Found: fmt.Sprintf("a packet of tracepoint %d", h.number),
				Expected: fmt.Sprintf("one of 1 to %d, or of 0 at the start of the stream", trace.MaxNumber)}
		default:
			t.numbers = append(t.numbers, uint16(h.number))
			t.starts = append(t.starts, offset+h.size)
		}
		if err != nil {
			return err
		}
		offset += h.size
		if len(t.numbers) == 0 {
			t.starts[0] = offset
		}
		if offset-told >= progressBytes {
			progress(offset)
			told = offset
		}
	}
	return nil
}

// isPartial reports whether err leaves what is whole before it.
func isPartial(err error) bool {
	var format *tfile.FormatError
	return errors.As(err, &format)
}

// read returns n bytes of the stream, in buf if it has the capacity.
func read(r io.ReaderAt, buf []byte, offset int64, n int) ([]byte, error) {
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if got, err := r.ReadAt(buf, offset); got < n {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // the size that Open was told is not the stream's
		}
		return nil, fmt.Errorf("reading %d bytes of the CTF stream at offset %d: %w", n, offset, err)
	}
	return buf, nil
}

// windowStep is how much is read at once when the packets are found.
const windowStep = 1 << 16

// window is the part of a stream that was read last. It makes big reads of the small ones of a walk that goes forward, and
// skips over what the walk skips if that is more than a window.
type window struct {
	r    io.ReaderAt
	size int64
	base int64
	buf  []byte
}

// at returns n bytes at offset, or fewer if the stream ends before. They are valid until the next call.
func (w *window) at(offset int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.size-offset))
	if skip := offset - w.base; skip < 0 || skip+int64(n) > int64(len(w.buf)) {
		buf, err := read(w.r, w.buf, offset, int(min(windowStep, w.size-offset)))
		if err != nil {
			return nil, err
		}
		w.base, w.buf = offset, buf
	}
	return w.buf[offset-w.base:][:n], nil
}
