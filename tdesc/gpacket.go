package tdesc

import (
	"encoding/hex"
	"fmt"
	"strings"

	"tracewell/arch"
)

// ParseG takes apart the payload of a reply to the packet g, or of a packet G: hexadecimal digits, or x in place of those of a
// register that is not available. As GDB does, it takes a payload that ends before some register, and none that ends within
// one or goes on behind the last.
func (l *Layout) ParseG(payload string, order arch.ByteOrder) (*Block, error) {
	b := &Block{Layout: l, Order: order, unknown: make(map[*Slot]bool)}
	if len(payload) > 2*l.Size {
		return nil, fmt.Errorf("registers: %d digits, more than the %d of all registers", len(payload), 2*l.Size)
	}
	for i := range l.Slots {
		s := &l.Slots[i]
		digits := payload[min(2*s.Offset, len(payload)):min(2*(s.Offset+s.Size), len(payload))]
		switch {
		case digits == "":
			continue
		case len(digits) < 2*s.Size:
			return nil, fmt.Errorf("registers: they end with %q, within register %s, which has %d digits", digits, s.Reg.Name, 2*s.Size)
		case strings.Trim(digits, "x") == "":
			b.unknown[s] = true
			b.Bytes = append(b.Bytes, make([]byte, s.Size)...)
			continue
		}
		known, err := hex.AppendDecode(b.Bytes, []byte(digits))
		if err != nil {
			return nil, fmt.Errorf("registers: register %s: %q: %w", s.Reg.Name, digits, err)
		}
		b.Bytes = known
	}
	return b, nil
}

// AppendG appends the payload of a reply to g, which is also that of a packet G: what ParseG takes apart.
func (b *Block) AppendG(dst []byte) []byte {
	for i := range b.Layout.Slots {
		s := &b.Layout.Slots[i]
		value, ok := s.Bytes(b.Bytes)
		switch {
		case !ok:
			return dst
		case b.unknown[s]:
			dst = append(dst, strings.Repeat("x", 2*s.Size)...)
		default:
			dst = hex.AppendEncode(dst, value)
		}
	}
	return dst
}
