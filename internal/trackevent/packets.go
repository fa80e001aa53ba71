// Package trackevent writes packets of Perfetto's traces (https://perfetto.dev): tracks, and what begins, ends and happens on them.
// It has the numbers of the fields, and what all who write such packets have in common.
package trackevent

import "tracewell/internal/protobuf"

// sequence is the number of the one writer that the packets come from; 0 would be none.
const sequence = 1

// Packets are packets that are to be written together. The zero value has none.
type Packets struct {
	message, inner protobuf.Message
}

// Add adds a packet with a content, at a time in nanoseconds.
func (p *Packets) Add(field int, content []byte, time uint64) {
	p.inner = p.inner[:0]
	p.inner.Uint(PacketTimestamp, time)
	p.inner.Uint(PacketSequence, sequence)
	p.inner.Bytes(field, content)
	p.message.Bytes(TracePacket, p.inner)
}

// Reset takes away all packets.
func (p *Packets) Reset() { p.message = p.message[:0] }

// Bytes are the packets as they are written, valid until the next change.
func (p *Packets) Bytes() []byte { return p.message }
