package stub

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/rsp"
)

// errNoLength refuses to read nothing: the reply would be the empty one, which says that the packet is not known.
var errNoLength = errors.New("a length of 0 reads nothing")

// extent reads ADDRESS,LENGTH.
func extent(in *rsp.Scanner) (arch.Addr, uint64) {
	addr := in.HexField()
	in.Literal(',')
	return arch.Addr(addr), in.HexField()
}

// readMemory reads for m and x, at most limit bytes. Fewer than asked for are a reply, too, none are an error.
func (x *session) readMemory(args string, limit int) ([]byte, error) {
	in := rsp.NewScanner(args)
	addr, length := extent(in)
	if err := in.End(); err != nil {
		return nil, err
	}
	b := make([]byte, min(length, uint64(limit)))
	if len(b) == 0 {
		return nil, nil
	}
	n, err := x.memoryAt(addr, b)
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
	if x.frame != nil {
		n, err = x.readFrameMemory(addr, b)
	} else {
		n, err = x.readLiveMemory(addr, b)
	}
	switch {
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
func (x *session) readMemoryHex(args string) ([]byte, error) {
	b, err := x.readMemory(args, x.packetSize/2)
	if err == nil && len(b) == 0 {
		err = errNoLength
	}
	return rsp.AppendHexBytes(nil, b), err
}

// readMemoryBinary is x. Not all that was read may fit, but what fits is a valid reply.
func (x *session) readMemoryBinary(args string) ([]byte, error) {
	b, err := x.readMemory(args, x.packetSize-1)
	if err != nil {
		return nil, err
	}
	return append([]byte{'b'}, b[:x.fit(b, len("b"))]...), nil
}

// writeMemoryHex is M.
func (x *session) writeMemoryHex(args string) ([]byte, error) {
	in := rsp.NewScanner(args)
	addr, length := extent(in)
	in.Literal(':')
	b := in.HexBytes()
	if err := in.End(); err != nil {
		return nil, err
	}
	return x.writeMemory(addr, length, b)
}

// writeMemoryBinary is X. One without bytes is GDB's probe for the packet.
func (x *session) writeMemoryBinary(args string) ([]byte, error) {
	in := rsp.NewScanner(args)
	addr, length := extent(in)
	in.Literal(':')
	b := in.Rest()
	if err := in.Err(); err != nil {
		return nil, err
	}
	return x.writeMemory(addr, length, []byte(b))
}

func (x *session) writeMemory(addr arch.Addr, length uint64, b []byte) ([]byte, error) {
	if uint64(len(b)) != length {
		return nil, fmt.Errorf("%d bytes, expected %d", len(b), length)
	}
	if length == 0 {
		return replyOK, nil
	}
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	return replyOK, x.target.WriteMemory(id, addr, b)
}
