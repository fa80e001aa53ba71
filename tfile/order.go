package tfile

import (
	"encoding/binary"
	"strings"

	"tracewell/arch"
)

// OrderSource says how the byte order of the frames became known.
type OrderSource uint8

// How the byte order became known, from the surest way to none at all.
const (
	OrderGiven        OrderSource = iota // the caller said so
	OrderArchitecture                    // the target description's architecture has one only, and the frames do not contradict
	OrderFrames                          // the frames make sense in one only
	OrderAssumed                         // nothing tells: little endian
)

// String says it in words.
func (s OrderSource) String() string {
	return [...]string{"given", "of the architecture", "found from the frames", "assumed"}[s]
}

// architectureOrders has the byte order of those architectures that are of one only, by BFD's name up to the first colon.
var architectureOrders = map[string]arch.ByteOrder{
	"avr":         binary.LittleEndian,
	"i386":        binary.LittleEndian,
	"Loongarch32": binary.LittleEndian,
	"Loongarch64": binary.LittleEndian,
	"m68k":        binary.BigEndian,
	"riscv":       binary.LittleEndian,
	"s390":        binary.BigEndian,
	"sparc":       binary.BigEndian,
}

// architectureOrder returns the byte order that a target description implies, nil if none.
func architectureOrder(description string) arch.ByteOrder {
	_, rest, _ := strings.Cut(description, "<architecture>")
	name, _, closed := strings.Cut(rest, "</architecture>")
	if !closed {
		return nil
	}
	family, _, _ := strings.Cut(strings.TrimSpace(name), ":")
	return architectureOrders[family]
}

// settleOrder finds the byte order of the frames, which begin at start. GDB goes by the architecture alone, and so misreads
// files of a big-endian target whose architecture can be both.
func (f *File) settleOrder(w *window, start int64, given arch.ByteOrder) error {
	if given != nil {
		f.header.Order, f.orderFrom = given, OrderGiven
		return nil
	}
	little, err := f.sense(w, start, binary.LittleEndian)
	if err != nil {
		return err
	}
	big, err := f.sense(w, start, binary.BigEndian)
	if err != nil {
		return err
	}
	implied := architectureOrder(f.header.Description)
	switch {
	case little == big && implied == nil:
		f.header.Order, f.orderFrom = binary.LittleEndian, OrderAssumed
		return nil
	case little == big:
		f.header.Order, f.orderFrom = implied, OrderArchitecture
		return nil
	case little > big:
		f.header.Order = binary.LittleEndian
	default:
		f.header.Order = binary.BigEndian
	}
	f.orderFrom = OrderFrames
	if implied == f.header.Order {
		f.orderFrom = OrderArchitecture
	} else if implied != nil {
		f.findings = append(f.findings, Finding{start, RuleByteOrder,
			"the frames make sense in " + f.header.Order.String() + " only, which is not the order of the target description's architecture"})
	}
	return nil
}

// senseFrames is how many frames are looked at to find the byte order. In the wrong order hardly ever one makes sense: a
// number below 256 becomes one of 256 or more, a length below 64 kB one of 64 kB or more.
const senseFrames = 8

// sense says how much sense the frames from start on make in an order: 2 for each frame that lies in the file and is of a
// tracepoint that is defined, 1 for an end marker or a frame cut off. If no tracepoint is defined any number will do.
func (f *File) sense(w *window, start int64, order arch.ByteOrder) (sense int, err error) {
	defined := make(map[uint16]bool)
	for _, t := range f.header.Tracepoints {
		defined[uint16(t.Number)] = true
	}
	for range senseFrames {
		h, err := w.at(start, frameHeader)
		if err != nil {
			return 0, err
		}
		if len(h) < frameHeader {
			return sense, nil
		}
		n := order.Uint16(h)
		if n == 0 {
			return sense + 1, nil
		}
		if len(defined) > 0 && !defined[n] {
			return sense, nil
		}
		start += frameHeader + int64(order.Uint32(h[2:]))
		if start > f.source.size {
			return sense + 1, nil
		}
		sense += 2
	}
	return sense, nil
}
