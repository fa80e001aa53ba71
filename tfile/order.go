package tfile

import (
	"cmp"
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

// architectureOrder returns the byte order that a target description implies, nil if its architecture has both.
func architectureOrder(description string) arch.ByteOrder {
	_, rest, _ := strings.Cut(description, "<architecture>")
	name, _, closed := strings.Cut(rest, "</architecture>")
	if m := arch.ByArchitecture(strings.TrimSpace(name)); closed && m != nil && m.OneOrder {
		return m.Order
	}
	return nil
}

// detectOrder finds the byte order of the frames, which begin at start. GDB 13.1 takes them for little endian unless a program
// or "set endian" tells it otherwise, even where the architecture is big endian only.
func (f *File) detectOrder(w *window, start int64, given arch.ByteOrder) error {
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
	complete := digit(little.complete) - digit(big.complete)
	switch better := cmp.Or(complete, little.points-big.points, little.low-big.low); {
	case better == 0 && implied == nil:
		f.header.Order, f.orderFrom = binary.LittleEndian, OrderAssumed
		return nil
	case better == 0:
		f.header.Order, f.orderFrom = implied, OrderArchitecture
		return nil
	case better > 0:
		f.header.Order = binary.LittleEndian
	default:
		f.header.Order = binary.BigEndian
	}
	f.orderFrom = OrderFrames
	if implied == f.header.Order {
		f.orderFrom = OrderArchitecture
	} else if implied != nil {
		f.findings = append(f.findings, Finding{start, RuleByteOrder,
			"the frames make sense as " + arch.OrderName(f.header.Order) + " endian only, which the target description's architecture is not"})
	}
	return nil
}

const (
	// senseFrames is how many frames with blocks are looked at to learn how frames are to be read. In the wrong order hardly
	// ever one makes sense: a number below 256 becomes one of 256 or more, a length below 64 kB one of 64 kB or more.
	senseFrames = 8
	// senseLimit bounds how many frames are looked at in all, and how many blocks of one.
	senseLimit = 4096
)

// sense is how much sense frames make in a byte order.
type sense struct {
	// complete says that whole frames lead to an end marker at the end of the file, which in the wrong order only empty ones do.
	complete bool
	points   int
	low      int // frames of tracepoints below 256, which is what most are: counts where the points are equal
}

// What makes sense, in points.
const (
	senseDefined = 2 // the frame is of a tracepoint that is defined, or none is
	senseFits    = 1 // it lies in the file, or is an end marker
	senseBlocks  = 2 // its blocks, of which there are some, end where it does; or as many of them fit into a file that is cut
)

// sense looks at the frames from start on.
func (f *File) sense(w *window, start int64, order arch.ByteOrder) (s sense, err error) {
	defined := newNumberSet(f.header.Tracepoints)
	layout := Frame{order: order, registerSize: f.header.RegisterSize}
	filled, whole := 0, true
	for range senseLimit {
		h, ok, err := w.headerAt(order, start)
		switch {
		case err != nil || filled == senseFrames:
			return s, err
		case !ok || h.number == 0:
			s.points += digit(ok) * senseFits
			ends, err := w.endsAt(start)
			s.complete = whole && ends
			return s, err
		}
		if h.number < 256 {
			s.low++
		}
		if defined.has(h.number) {
			s.points += senseDefined
		}
		in, err := w.look(layout, h.start+FrameHeader, min(h.end, f.source.size), senseLimit)
		if err != nil {
			return s, err
		}
		if h.end > f.source.size {
			s.points += min(in.blocks, senseBlocks)
			return s, nil
		}
		s.points += senseFits
		whole = whole && in.whole
		if in.blocks > 0 {
			filled++
			if in.whole {
				s.points += senseBlocks
			}
		}
		start = h.end
	}
	return s, nil
}
