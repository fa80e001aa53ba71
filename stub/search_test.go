package stub

import (
	"fmt"
	"hash/crc32"
	"math/bits"
	"testing"

	"tracewell/arch"
	"tracewell/target/fake"
)

// TestSearchAcrossChunks looks for a pattern at every place around the border between two chunks, in memory that two mappings
// with a border of their own hold.
func TestSearchAcrossChunks(t *testing.T) {
	const start, length = 0x10000, 3 * memoryChunk
	p := toyProgram()
	memory := make([]byte, length)
	const cut = 2*memoryChunk - 5
	p.Memory = []fake.Region{{Start: start, Bytes: memory[:cut]}, {Start: start + cut, Bytes: memory[cut:]}}
	f, err := fake.New(p)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{Target: f})
	defer s.Close()
	c, conn, served := serve(s)
	pattern := []byte("\xffneedle")
	search := fmt.Sprintf("qSearch:memory:%x;%x;%s", start, length, pattern)
	for _, border := range []int{0, memoryChunk, cut, 2 * memoryChunk, length - len(pattern)} {
		for at := max(border-len(pattern), 0); at <= min(border+1, length-len(pattern)); at++ {
			copy(memory[at:], pattern)
			exchange(t, c, search, fmt.Sprintf("1,%x", start+at))
			clear(memory[at : at+len(pattern)])
		}
	}
	exchange(t, c, search, "0")
	for i := range memory {
		memory[i] = byte(i * i / 7)
	}
	exchange(t, c, fmt.Sprintf("qCRC:%x,%x", start, length), fmt.Sprintf("C%x", mostSignificantFirst(memory)))
	conn.Close()
	wait(t, served)
}

// mostSignificantFirst is a checksum by way of the package that goes by the least significant bit first.
func mostSignificantFirst(b []byte) uint32 {
	var mirrored []byte
	for _, c := range b {
		mirrored = append(mirrored, bits.Reverse8(c))
	}
	return bits.Reverse32(^crc32.ChecksumIEEE(mirrored))
}

// TestChunkAtEndOfMemory looks where addresses end.
func TestChunkAtEndOfMemory(t *testing.T) {
	p := toyProgram()
	p.Memory = []fake.Region{{Start: arch.Addr(1<<64 - 16), Bytes: []byte("0123456789abcdef")}}
	f, err := fake.New(p)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{Target: f})
	defer s.Close()
	c, conn, served := serve(s)
	exchange(t, c, "qSearch:memory:fffffffffffffff0;10;ef", "1,fffffffffffffffe")
	exchange(t, c, "qSearch:memory:fffffffffffffff0;100;01234567890", "E.no memory at 0x0")
	conn.Close()
	wait(t, served)
}
