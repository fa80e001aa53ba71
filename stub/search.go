package stub

import (
	"bytes"
	"errors"
	"math"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// memoryChunk is how much memory is looked at in one piece.
const memoryChunk = 64 << 10

// errNoPattern refuses to look for nothing, which is everywhere.
var errNoPattern = errors.New("there is no pattern to search for")

// searchMemory is qSearch:memory.
func (x *session) searchMemory(s request.Search) (reply.Match, error) {
	// GDB's find command sends none.
	if len(s.Pattern) == 0 {
		return reply.Match{}, errNoPattern
	}
	at, found, err := x.find(s.Addr, s.Length, s.Pattern)
	return reply.Match{Found: found, Addr: at}, err
}

// find looks for the first place of pattern among length bytes. Memory that cannot be read ends the search with an error,
// unless the pattern is found in front of it.
//
// The window holds one chunk, and in front of it the end of the last one, in which the pattern may have begun.
func (x *session) find(addr arch.Addr, length uint64, pattern []byte) (at arch.Addr, found bool, err error) {
	window := make([]byte, 0, memoryChunk+len(pattern)-1)
	err = x.eachChunk(addr, length, func(behind arch.Addr, chunk []byte) bool {
		keep := min(len(window), len(pattern)-1)
		copy(window, window[len(window)-keep:])
		window = append(window[:keep], chunk...)
		// The window may hold the whole pattern at most len(pattern)-1 bytes in front of the chunk, so nothing is found
		// twice or missed.
		i := bytes.Index(window, pattern)
		found = i >= 0
		at = behind - arch.Addr(len(window)-i)
		return !found
	})
	return at, found, err
}

// checksum is qCRC.
func (x *session) checksum(e request.Extent) (uint32, error) {
	crc := uint32(math.MaxUint32)
	err := x.eachChunk(e.Addr, e.Length, func(_ arch.Addr, chunk []byte) bool {
		for _, b := range chunk {
			crc = crc<<8 ^ crcTable[byte(crc>>24)^b]
		}
		return true
	})
	return crc, err
}

// crcTable serves the polynomial 0x04c11db7 with the most significant bit first, which hash/crc32 does not (GDB manual, qCRC).
var crcTable = func() (table [256]uint32) {
	const polynomial = 0x04c11db7
	for i := range table {
		crc := uint32(i) << 24
		for range 8 {
			carry := crc >> 31
			crc = crc<<1 ^ carry*polynomial
		}
		table[i] = crc
	}
	return table
}()

// eachChunk calls f with length bytes of memory in pieces, and with the address behind each, until f returns false. All the
// bytes in front of those that cannot be read are seen first.
func (x *session) eachChunk(addr arch.Addr, length uint64, f func(behind arch.Addr, chunk []byte) bool) error {
	buf := make([]byte, min(length, memoryChunk))
	for length > 0 {
		n, err := x.memoryAt(addr, buf[:min(length, uint64(len(buf)))])
		// The error is about the first byte that cannot be read.
		if n == 0 {
			return err
		}
		addr += arch.Addr(n)
		length -= uint64(n)
		if !f(addr, buf[:n]) {
			return nil
		}
	}
	return nil
}
