package stub

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/rsp/request"
)

// errNoLength refuses to read nothing: the reply would be the empty one, which says that the packet is not known.
var errNoLength = errors.New("a length of 0 reads nothing")

// readMemory reads for m and x, at most limit bytes. Fewer than asked for are a reply, too, none are an error.
func (x *session) readMemory(e request.Extent, limit int) ([]byte, error) {
	// The length is the client's and may be anything: no more is allocated than a reply holds.
	b := make([]byte, min(e.Length, uint64(limit)))
	if len(b) == 0 {
		return nil, nil
	}
	n, err := x.memoryAt(e.Addr, b)
	if n == 0 {
		return nil, err
	}
	return b[:n], nil
}

// memoryAt reads the readable prefix of b at addr, from the selected frame if there is one. The error says why nothing could
// be read.
func (x *session) memoryAt(addr arch.Addr, b []byte) (int, error) {
	var n int
	var err error
	// While a frame is selected memory is that of the frame: GDB does not say which of the two it wants.
	if x.frame != nil {
		n, err = x.readFrameMemory(addr, b)
	} else {
		n, err = x.readLiveMemory(addr, b)
	}
	switch {
	// What could be read is the reply; GDB asks for the rest by itself and gets the error then.
	case n > 0:
		err = nil
	case err == nil:
		err = fmt.Errorf("no memory at %v", addr)
	}
	return n, err
}

// readLiveMemory reads from the process of the selected thread.
func (x *session) readLiveMemory(addr arch.Addr, b []byte) (int, error) {
	id, err := x.thread()
	if err != nil {
		return 0, err
	}
	return x.target.ReadMemory(id, addr, b)
}

// readMemoryHex is m.
func (x *session) readMemoryHex(e request.Extent) ([]byte, error) {
	// Two digits for each byte.
	b, err := x.readMemory(e, x.packetSize/2)
	if err == nil && len(b) == 0 {
		err = errNoLength
	}
	return b, err
}

// readMemoryBinary is x. Not all that was read may fit, but what fits is a valid reply.
func (x *session) readMemoryBinary(e request.Extent) ([]byte, error) {
	b, err := x.readMemory(e, x.packetSize-1)
	if err != nil {
		return nil, err
	}
	return b[:x.fit(b, len("b"))], nil
}

// writeMemory is M, and X, one of which without bytes is GDB's probe for the packet.
func (x *session) writeMemory(m request.Memory) error {
	// A packet that was cut short must not be written in part.
	if uint64(len(m.Bytes)) != m.Length {
		return fmt.Errorf("%d bytes, expected %d", len(m.Bytes), m.Length)
	}
	// GDB sends X with length 0 before its first write, to learn whether the packet is supported.
	if m.Length == 0 {
		return nil
	}
	id, err := x.thread()
	if err != nil {
		return err
	}
	return x.target.WriteMemory(id, m.Addr, m.Bytes)
}
