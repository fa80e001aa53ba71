//go:build linux

package linux

import (
	"encoding/binary"
	"fmt"
	"io"

	"tracewell/arch"
)

// raise is raise in the memory of a process, which the guard takes note of.
func (s *addrSpace) raise(location *location) error {
	if err := raise(s.mem, location); err != nil {
		return err
	}
	for _, addr := range location.Semaphores {
		s.guard.Raise(addr)
	}
	return nil
}

// lower takes it back.
func (s *addrSpace) lower(location *location) {
	for _, addr := range location.Semaphores {
		s.guard.Lower(addr)
	}
	lower(s.mem, location.Semaphores)
}

// raise tells the program that a location is traced, by its semaphores; all of them or none.
func raise(mem readWriterAt, location *location) error {
	for i, addr := range location.Semaphores {
		if err := count(mem, addr, 1); err != nil {
			lower(mem, location.Semaphores[:i])
			return fmt.Errorf("cannot raise the semaphore at %s: %w", addr, err)
		}
	}
	return nil
}

// lower takes it back. A semaphore that is not there any more went with its library.
func lower(mem readWriterAt, semaphores []arch.Addr) {
	for _, addr := range semaphores {
		_ = count(mem, addr, ^uint16(0))
	}
}

// count adds to a semaphore. The program itself only reads it.
func count(mem readWriterAt, addr arch.Addr, by uint16) error {
	var b [2]byte
	if _, err := mem.ReadAt(b[:], int64(addr)); err != nil {
		return err
	}
	binary.LittleEndian.PutUint16(b[:], binary.LittleEndian.Uint16(b[:])+by)
	_, err := mem.WriteAt(b[:], int64(addr))
	return err
}

// readWriterAt is the memory of a program.
type readWriterAt interface {
	io.ReaderAt
	io.WriterAt
}
