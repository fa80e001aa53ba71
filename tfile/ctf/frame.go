package ctf

import (
	"fmt"

	"tracewell/arch"
	"tracewell/tfile"
)

// ReadFrame returns frame i, counted from 0, with its bytes in buf if that has the capacity. The error is that of the stream,
// a *tfile.FormatError of kind ErrDamaged, or that there is no such frame.
func (t *Trace) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	if i < 0 || i >= len(t.numbers) {
		return tfile.Frame{}, fmt.Errorf("CTF trace: no frame %d, there are %d", i, len(t.numbers))
	}
	r := t.readers.Get().(*frameReader)
	defer t.readers.Put(r)
	start := t.starts[i]
	packet, err := read(t.stream, r.packet, start, int(t.starts[i+1]-start))
	if err == nil {
		r.packet = packet
		buf, err = r.frame(buf, start)
	}
	if err != nil {
		return tfile.Frame{}, fmt.Errorf("frame %d: %w", i, err)
	}
	return tfile.ParseFrame(buf, t.layout.order, t.layout.registerSize)
}

// frameReader is what the reading of a frame takes, kept for the next one.
type frameReader struct {
	packet []byte
	events events
}

// frame makes the frame of the packet as trace files have it, in buf.
func (r *frameReader) frame(buf []byte, offset int64) ([]byte, error) {
	e := &r.events
	order := e.layout.order
	h, err := e.layout.head(r.packet, offset)
	if err != nil {
		return nil, err
	}
	buf = order.AppendUint16(buf[:0], uint16(h.number))
	buf = order.AppendUint32(buf, 0)
	e.content, e.offset, e.at = r.packet[:h.content], offset, h.events
	for first := true; e.more(); first = false {
		c, args, err := e.next()
		if err != nil {
			return nil, err
		}
		if begins := c.name == "frame"; begins != first {
			return nil, e.damaged("event "+c.name, "one event frame, at the start of the packet")
		}
		if c.role != nil && c.role.block != nil {
			buf = c.role.block(buf, order, args)
		}
	}
	order.PutUint32(buf[2:], uint32(len(buf)-tfile.FrameHeader))
	return buf, nil
}

// events walks over the events of a packet.
type events struct {
	layout  *layout
	content []byte // the packet up to the end of its content
	offset  int64  // of the packet
	at      int    // place of the next event, but for its alignment
	from    int    // place of the event that came last

	values values
	args   [maxFields]value
}

func (e *events) more() bool { return e.at < len(e.content) }

// next reads an event. The values are those of the fields of its role, and valid until the next call.
func (e *events) next() (*class, []value, error) {
	l := e.layout
	e.from = e.at
	at, failed := l.event.decode(&e.values, e.content, e.at, l.order)
	if failed != nil {
		return nil, nil, e.short("the header of an event", failed)
	}
	id := e.values[l.idAt].number
	c := l.classes[id]
	if c == nil {
		return nil, nil, e.damaged(fmt.Sprintf("an event of id %d", id), "one that the metadata declare")
	}
	if e.at, failed = c.fields.decode(&e.values, e.content, at, l.order); failed != nil {
		return nil, nil, e.short("event "+c.name, failed)
	}
	for i, at := range c.at {
		e.args[i] = e.values[at]
	}
	return c, e.args[:len(c.at)], nil
}

func (e *events) short(what string, f *field) error {
	return e.damaged(fmt.Sprintf("%d bytes to the end of the packet", len(e.content)-e.from), what+" with its field "+f.name)
}

// damaged says what is wrong with the event that came last.
func (e *events) damaged(found, expected string) error {
	return &tfile.FormatError{Kind: ErrDamaged, Offset: e.offset + int64(e.from), Found: found, Expected: expected}
}

// The functions of roles that append an event to a frame as a block.

func registersBlock(frame []byte, _ arch.ByteOrder, v []value) []byte {
	return append(append(frame, byte(tfile.BlockRegisters)), v[0].bytes...)
}

func memoryBlock(frame []byte, order arch.ByteOrder, v []value) []byte {
	frame = order.AppendUint64(append(frame, byte(tfile.BlockMemory)), v[0].number)
	frame = order.AppendUint16(frame, uint16(v[1].number))
	return append(frame, v[1].bytes...)
}

func variableBlock(frame []byte, order arch.ByteOrder, v []value) []byte {
	frame = order.AppendUint32(append(frame, byte(tfile.BlockVariable)), uint32(v[0].number))
	return order.AppendUint64(frame, v[1].number)
}

func staticBlock(frame []byte, order arch.ByteOrder, v []value) []byte {
	frame = order.AppendUint16(append(frame, byte(tfile.BlockStatic)), uint16(v[0].number))
	return append(frame, v[0].bytes...)
}

func restBlock(frame []byte, _ arch.ByteOrder, v []value) []byte { return append(frame, v[0].bytes...) }
