// Package protobuf writes messages of Protocol Buffers, for formats that are made of a few of them: Perfetto's traces and pprof's
// profiles. Fields have numbers only; their names stand where they are written.
package protobuf

import (
	"encoding/binary"
	"math"
)

// Message is a message while it is made: each method appends a field. Fields may stand in any order, and more than once if they are
// repeated.
type Message []byte

// How a field is written, which a reader has to know to pass over it.
const (
	wireVarint = 0
	wireFixed  = 1 // 8 bytes, little endian
	wireBytes  = 2 // a length in front
)

func (m *Message) begin(field, wire int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(wire))
}

// Uint appends a field of type uint64, uint32 or enum, or a bool as 0 or 1.
func (m *Message) Uint(field int, n uint64) {
	m.begin(field, wireVarint)
	*m = binary.AppendUvarint(*m, n)
}

// Int appends a field of type int64 or int32.
func (m *Message) Int(field int, n int64) { m.Uint(field, uint64(n)) }

// Fixed appends a field of type fixed64.
func (m *Message) Fixed(field int, n uint64) {
	m.begin(field, wireFixed)
	*m = binary.LittleEndian.AppendUint64(*m, n)
}

// Double appends a field of type double.
func (m *Message) Double(field int, f float64) { m.Fixed(field, math.Float64bits(f)) }

// Bytes appends a field of type bytes or string, which must be UTF-8, or a message.
func (m *Message) Bytes(field int, b []byte) {
	m.begin(field, wireBytes)
	*m = append(binary.AppendUvarint(*m, uint64(len(b))), b...)
}

// Text appends a field of type string.
func (m *Message) Text(field int, s string) { m.Bytes(field, []byte(s)) }
