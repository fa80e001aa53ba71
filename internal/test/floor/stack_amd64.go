//go:build linux

package floor

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/sys"
)

// stack is the memory of the program as an emulated push or pop sees it.
type stack struct {
	pid    int
	vector sys.Vector
	word   [8]byte
}

var _ amd64.Memory = (*stack)(nil)

// ReadUint64 implements amd64.Memory.
func (s *stack) ReadUint64(addr arch.Addr) (uint64, bool) {
	s.vector.Reset()
	s.vector.Add(uint64(addr), s.word[:])
	n, err := s.vector.Read(s.pid)
	return binary.LittleEndian.Uint64(s.word[:]), err == nil && n == len(s.word)
}

// WriteUint64 implements amd64.Memory.
func (s *stack) WriteUint64(addr arch.Addr, v uint64) bool {
	binary.LittleEndian.PutUint64(s.word[:], v)
	n, err := sys.WriteVM(s.pid, uint64(addr), s.word[:])
	return err == nil && n == len(s.word)
}
