package tfile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tracewell/trace"
)

// TestOrderFromFrames finds the order of frames of which the headers tell little.
func TestOrderFromFrames(t *testing.T) {
	memory := bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 2}, 100)
	empty := func(n trace.Number) func(b *Builder) { return func(b *Builder) { b.Begin(b.buf, n) } }
	filled := func(n trace.Number, size int) func(b *Builder) {
		return func(b *Builder) {
			b.Begin(b.buf, n)
			clear(b.Registers(16))
			b.AppendMemory(0x1000, memory[:size])
			b.Variable(2, 7)
		}
	}
	many := func(n int, frame func(b *Builder)) (frames []func(b *Builder)) {
		for range n {
			frames = append(frames, frame)
		}
		return frames
	}
	small := func(b *Builder) {
		b.Begin(b.buf, 0x100)
		b.Variable(2, 7)
	}
	tests := []struct {
		name    string
		defined []trace.Number
		frames  []func(b *Builder)
		cut     int
		source  OrderSource
	}{
		{"only empty", []trace.Number{3}, many(3, empty(3)), 0, OrderFrames},
		{"only empty, more than are looked at", []trace.Number{3}, many(senseLimit+9, empty(3)), 0, OrderFrames},
		{"only empty, none defined", nil, many(3, empty(3)), 0, OrderFrames},
		{"only empty, both defined", []trace.Number{0x102, 0x201}, many(3, empty(0x102)), 0, OrderAssumed},
		{"empty ones first", []trace.Number{0x102, 0x201}, append(many(100, empty(0x102)), filled(0x102, 20)), 0, OrderFrames},
		{"both defined", []trace.Number{1, 0x100}, many(1, filled(1, 700)), 0, OrderFrames},
		{"equal either way", []trace.Number{0x101}, many(1, filled(0x101, 700)), 0, OrderFrames},
		{"not defined", []trace.Number{9}, many(2, filled(3, 20)), 0, OrderFrames},
		{"large numbers", []trace.Number{0x7ffe}, many(2, filled(0x7ffe, 20)), 0, OrderFrames},
		{"large number, not defined", nil, many(2, filled(0x100, 20)), 0, OrderFrames},
		{"only the other order's number defined", []trace.Number{1}, many(1, small), 0, OrderFrames},
		{"only the other order's number defined, more frames than are looked at", []trace.Number{1}, many(20, small), 0, OrderFrames},
		{"cut in the first", nil, many(1, filled(0x101, 300)), 10, OrderFrames},
		{"cut in the header", []trace.Number{3}, many(1, empty(3)), 4, OrderAssumed},
		{"none", []trace.Number{3}, nil, 0, OrderAssumed},
	}
	for _, test := range tests {
		for name, order := range orders {
			b := Builder{Order: order}
			for _, frame := range test.frames {
				frame(&b)
				b.Finish()
			}
			var head strings.Builder
			head.WriteString(Magic + "R 10\n")
			for _, n := range test.defined {
				fmt.Fprintf(&head, "tp T%x:10:E:0:0\n", int(n))
			}
			data := append([]byte(head.String()+"\n"), b.buf...)
			if data = data[:len(data)-test.cut]; test.cut == 0 {
				data = append(data, 0, 0, 0, 0)
			}
			f, _ := OpenBytes(data)
			if f.OrderSource() != test.source || (test.source == OrderFrames && f.Header().Order != order) {
				t.Errorf("%s, %s endian: %v, %v; want %v", test.name, name, f.Header().Order, f.OrderSource(), test.source)
			}
		}
	}
}
