package tfile

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/trace"
)

// Checker finds out whether frames are whole, for those who see every frame as it is made: it does what ParseFrame and Check do,
// in a few nanoseconds. A view of each frame, and a call through the interface of the byte order for each number, would cost
// several times as much. It is for one goroutine at a time.
type Checker struct {
	order        arch.ByteOrder
	little       bool
	registerSize int
	known        [8]knownShape // by the last bits of the tracepoint's number
}

// knownShape is the shape of frames that were found whole.
type knownShape struct {
	Shape
	number trace.Number
	kinds  Kinds
	length int // of the last frame that was gone through, whose shape it may not be
}

// NewChecker returns a Checker for frames in a byte order with R blocks of a length.
func NewChecker(order arch.ByteOrder, registerSize int) Checker {
	return Checker{order: order, little: order == arch.ByteOrder(binary.LittleEndian), registerSize: registerSize}
}

// Kinds is a set of kinds of block.
type Kinds uint32

// Has reports whether there is a block of the kind.
func (k Kinds) Has(kind BlockKind) bool { return k>>(kind-'A')&1 != 0 }

// Check returns the number of the tracepoint that made a frame, and which kinds of block the frame has. The error, a *FormatError,
// is that of ParseFrame or Frame.Check.
func (c *Checker) Check(frame []byte) (n trace.Number, kinds Kinds, err error) {
	if len(frame) < FrameHeader {
		return 0, 0, c.fault(frame)
	}
	n = trace.Number(int16(c.uint16(frame)))
	known := &c.known[uint(n)%uint(len(c.known))]
	if known.Match(frame) {
		return known.number, known.kinds, nil
	}
	if int64(c.uint32(frame[2:])) != int64(len(frame)-FrameHeader) {
		return 0, 0, c.fault(frame)
	}
	for at := FrameHeader; at < len(frame); {
		length := c.length(frame[at:])
		if length == 0 || length > len(frame)-at {
			return 0, 0, c.fault(frame)
		}
		kinds |= 1 << (frame[at] - 'A')
		at += length
	}
	known.number, known.kinds = n, kinds
	c.learn(known, frame)
	return n, kinds, nil
}

// learn keeps the shape of a whole frame, if the one before had the same length: frames of which each has a length of its own are
// not worth it.
func (c *Checker) learn(known *knownShape, frame []byte) {
	again := known.length == len(frame)
	known.length = len(frame)
	known.Reset(0)
	if !again {
		return
	}
	known.Reset(len(frame))
	known.Fix(0, frame[:FrameHeader])
	for at := FrameHeader; at < len(frame); at += c.length(frame[at:]) {
		known.Fix(at, frame[at:at+1])
		switch BlockKind(frame[at]) {
		case BlockMemory:
			known.Fix(at+memoryHead-2, frame[at+memoryHead-2:at+memoryHead])
		case BlockStatic:
			known.Fix(at+1, frame[at+1:at+staticHead])
		}
	}
}

// length is that of the block that rest begins with, 0 if nothing tells.
func (c *Checker) length(rest []byte) int {
	switch BlockKind(rest[0]) {
	case BlockRegisters:
		if c.registerSize > 0 {
			return registersHead + c.registerSize
		}
	case BlockVariable:
		return variableHead
	case BlockMemory:
		if len(rest) >= memoryHead {
			return memoryHead + int(c.uint16(rest[memoryHead-2:]))
		}
	case BlockStatic:
		if len(rest) >= staticHead {
			return staticHead + int(c.uint16(rest[staticHead-2:]))
		}
	}
	return 0
}

// fault says what is wrong with a frame.
func (c *Checker) fault(frame []byte) error {
	f, err := ParseFrame(frame, c.order, c.registerSize)
	if err != nil {
		return err
	}
	return f.Check()
}

func (c *Checker) uint16(b []byte) uint16 {
	if c.little {
		return binary.LittleEndian.Uint16(b)
	}
	return c.order.Uint16(b)
}

func (c *Checker) uint32(b []byte) uint32 {
	if c.little {
		return binary.LittleEndian.Uint32(b)
	}
	return c.order.Uint32(b)
}
