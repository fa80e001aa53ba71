package ctf

import (
	"encoding/binary"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// repeated is the frames of another Content several times over.
type repeated struct {
	tfile.Content
	times int
}

func (c repeated) NumFrames() int { return c.times * c.Content.NumFrames() }

func (c repeated) Tracepoint(i int) trace.Number {
	return c.Content.Tracepoint(i % c.Content.NumFrames())
}

func (c repeated) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	return c.Content.ReadFrame(i%c.Content.NumFrames(), buf)
}

// made is frames from a Builder.
type made struct {
	header tfile.Header
	frames []tfile.Frame
}

func (m *made) Header() tfile.Header { return m.header }

func (m *made) NumFrames() int { return len(m.frames) }

func (m *made) Tracepoint(i int) trace.Number { return m.frames[i].Tracepoint() }

func (m *made) ReadFrame(i int, _ []byte) (tfile.Frame, error) { return m.frames[i], nil }

// add makes a frame of tracepoint 1 of what fill adds.
func (m *made) add(t testing.TB, fill func(b *tfile.Builder)) {
	t.Helper()
	b := tfile.Builder{Order: m.header.Order}
	b.Begin(nil, 1)
	if fill != nil {
		fill(&b)
	}
	m.raw(t, b.Finish())
}

// raw adds a frame of such bytes.
func (m *made) raw(t testing.TB, frame []byte) {
	t.Helper()
	f, err := tfile.ParseFrame(frame, m.header.Order, m.header.RegisterSize)
	if err != nil {
		t.Fatal(err)
	}
	m.frames = append(m.frames, f)
}

// fullHeader is a header in which everything is told.
func fullHeader(order arch.ByteOrder, registerSize int) tfile.Header {
	return tfile.Header{
		Order:        order,
		RegisterSize: registerSize,
		Status: &trace.Status{Reason: trace.ReasonError, Description: "bad \"memory\"\n\\ at ä", Tracepoint: 7, Frames: 3, Created: 1 << 40,
			Free: 500, Size: 0x7fffffff + 1, Circular: true, Disconnected: true, StartTime: 1 << 50, StopTime: 1<<50 + 1, User: "ada", Notes: "notes\x00\xff"},
		Variables: []trace.Variable{{Number: 1, Builtin: true, Name: "trace_timestamp"}, {Number: 65535, Initial: -5, Name: "my"}},
		Tracepoints: []trace.Tracepoint{
			{Number: 7, Addr: 0xffffffff80001000, Enabled: true, Step: 3, Pass: 1 << 33, Fast: true, FastLength: 5, Hits: 1 << 40, Usage: 1 << 50,
				Condition: []byte{0x22, 0x01, 0x27},
				Actions: []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff, 0x01}},
					{Kind: trace.CollectMemory, Base: 3, Offset: 0x7ffffffffffffff8, Length: 65535}},
				StepActions: []trace.Action{{Kind: trace.CollectExpression, Code: []byte{0x22, 0x02, 0x27}}, {Kind: trace.CollectStatic}},
				Source:      trace.Source{At: "a.c:5", Cond: "x > 3", Commands: []string{"collect $regs", "while-stepping 3", "collect x", "end"}}},
			{Number: 1, Addr: 0x1000, Static: true},
			{Number: 1, Addr: 0x2000},
		},
		Description: "<?xml version=\"1.0\"?>\n<target>\n\t<architecture>powerpc:common</architecture>\n</target>\n",
		Other:       []string{"future line", "nospace"},
	}
}

// extremes is a trace of everything that frames can be made of, with register blocks of this size.
func extremes(t testing.TB, order arch.ByteOrder, registerSize int) *made {
	m := &made{header: fullHeader(order, registerSize)}
	fill := func(p []byte, from byte) {
		for i := range p {
			p[i] = from + byte(i*7)
		}
	}
	m.add(t, nil)
	m.add(t, func(b *tfile.Builder) { b.Variable(65535, -1<<63) })
	m.add(t, func(b *tfile.Builder) {
		fill(b.Memory(0xffffffffffffffff, 1), 0xff)
		fill(b.Memory(0x1000, 0), 0)
		fill(b.Memory(0x1001, tfile.MaxBlock), 1)
		b.Variable(2, 5)
		fill(b.Registers(registerSize), 3)
		b.Variable(2, 6)
		fill(b.Registers(registerSize), 4)
		fill(b.Memory(3, 3), 5)
	})
	m.add(t, func(b *tfile.Builder) {
		b.AppendStatic(nil)
		b.AppendStatic([]byte("data of a static tracepoint"))
		b.Variable(2, 5)
		b.AppendStatic(make([]byte, tfile.MaxBlock))
	})
	m.raw(t, order.AppendUint32(order.AppendUint16(nil, trace.MaxNumber), 0))
	// A block whose number of a variable has more bits than expressions can name, and two frames of which the end is no block.
	m.raw(t, order.AppendUint64(order.AppendUint32(append(order.AppendUint32(order.AppendUint16(nil, 2), 13), 'V'), 1<<31), 9))
	m.raw(t, append(order.AppendUint32(order.AppendUint16(nil, 3), 5), "Q\x00\x01\x02\x03"...))
	m.raw(t, append(order.AppendUint32(order.AppendUint16(nil, 3), 6), "S\x00\x00M12"...))
	return m
}

// orders are both byte orders, by what metadata call them.
var orders = map[string]arch.ByteOrder{"le": binary.LittleEndian, "be": binary.BigEndian}
