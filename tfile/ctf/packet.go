package ctf

import (
	"fmt"
	"math"
	"strings"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// packetBuilder makes one packet at a time, in the bytes that GDB 13.1 writes.
type packetBuilder struct {
	order arch.ByteOrder
	buf   []byte
	added bool // an event was written that GDB does not have
}

// Where the sizes of a packet are, and how many bytes GDB leaves empty behind the content.
const (
	contentSizeAt = 4
	packetSizeAt  = 8
	packetTail    = 4
)

// begin starts a packet with the event that begins every frame; number 0 is that of the packet with the definitions.
func (p *packetBuilder) begin(n trace.Number) {
	p.buf = p.order.AppendUint32(p.buf[:0], magic)
	p.buf = append(p.buf, make([]byte, 8)...)
	p.u16(uint16(n))
	p.event(eventFrame, 1)
}

// finish completes the packet. Its sizes are in bits, so that it cannot be of 512 MiB or more.
func (p *packetBuilder) finish() ([]byte, error) {
	const limit = math.MaxUint32 / 8
	content := len(p.buf)
	if content+packetTail > limit {
		return nil, fmt.Errorf("CTF: a frame takes a packet of %d bytes, of which the format allows at most %d", content+packetTail,
			limit)
	}
	p.buf = append(p.buf, make([]byte, packetTail)...)
	p.order.PutUint32(p.buf[contentSizeAt:], uint32(content*8))
	p.order.PutUint32(p.buf[packetSizeAt:], uint32(len(p.buf)*8))
	return p.buf, nil
}

// event adds the header of an event whose fields begin at a multiple of align bytes from the start of the packet.
func (p *packetBuilder) event(id uint32, align int) {
	p.u32(id)
	p.align(align)
}

// align adds zeros up to a multiple of n bytes, n a power of two.
func (p *packetBuilder) align(n int) {
	var zeros [8]byte
	p.buf = append(p.buf, zeros[:-len(p.buf)&(n-1)]...)
}

func (p *packetBuilder) u16(v uint16) {
	p.align(2)
	p.buf = p.order.AppendUint16(p.buf, v)
}

func (p *packetBuilder) u32(v uint32) {
	p.align(4)
	p.buf = p.order.AppendUint32(p.buf, v)
}

func (p *packetBuilder) u64(v uint64) {
	p.align(8)
	p.buf = p.order.AppendUint64(p.buf, v)
}

// i32 adds a number that GDB keeps in an int: one that is larger becomes the largest.
func (p *packetBuilder) i32(v int64) {
	p.u32(uint32(int32(max(math.MinInt32, min(v, math.MaxInt32)))))
}

// count is i32 for what is not negative.
func (p *packetBuilder) count(v uint64) { p.i32(int64(min(v, math.MaxInt32))) }

func (p *packetBuilder) flag(on bool) {
	if on {
		p.u32(1)
	} else {
		p.u32(0)
	}
}

// text adds a string, which ends with its first zero.
func (p *packetBuilder) text(s string) {
	s, _, _ = strings.Cut(s, "\x00")
	p.buf = append(append(p.buf, s...), 0)
}

func (p *packetBuilder) texts(list []string) {
	p.u32(uint32(len(list)))
	for _, s := range list {
		p.text(s)
	}
}

// block adds a block of a frame.
func (p *packetBuilder) block(b tfile.Block) {
	switch b.Kind {
	case tfile.BlockRegisters:
		p.event(eventRegister, 1)
	case tfile.BlockMemory:
		p.event(eventMemory, 8)
		p.u64(uint64(b.Addr))
		p.u16(uint16(len(b.Bytes)))
	case tfile.BlockVariable:
		p.event(eventTSV, 8)
		p.u64(uint64(b.Value))
		p.u32(uint32(b.Number))
	case tfile.BlockStatic:
		p.event(eventStatic, 2)
		p.u16(uint16(len(b.Bytes)))
		p.added = true
	}
	p.buf = append(p.buf, b.Bytes...)
}

// rest adds the end of a frame that cannot be read as blocks.
func (p *packetBuilder) rest(b []byte) {
	p.event(eventRest, 4)
	p.u32(uint32(len(b)))
	p.buf = append(p.buf, b...)
	p.added = true
}
