package inferior

import (
	"bytes"
	"fmt"
	"io"

	"tracewell/arch"
)

// Process is a stopped process, as far as this package needs one.
type Process interface {
	// ReadMemory reads the readable prefix of p at addr and returns its length. A stub may return less than that without an
	// error; the rest is then read by another call.
	ReadMemory(addr arch.Addr, p []byte) (int, error)
	// ReadAuxv returns the auxiliary vector as it is in the process: pairs of words in its byte order.
	ReadAuxv() ([]byte, error)
	// Open opens a file by its path in the file system that the process sees.
	Open(path string) (File, error)
}

// File is an open file of the process's file system.
type File interface {
	io.ReaderAt
	io.Closer
}

// ProgramSpace is the files of one process and their places, in GDB's word. It holds from the moment that the process has executed
// its program until it executes another. Its methods are for one goroutine.
type ProgramSpace struct {
	process Process
	isa     *arch.ISA
	auxv    map[uint64]uint64
	headers *headers // of the program, nil until they have been read
}

// New reads the auxiliary vector of a process whose pointers and byte order are those of isa.
func New(p Process, isa *arch.ISA) (*ProgramSpace, error) {
	b, err := p.ReadAuxv()
	if err != nil {
		return nil, fmt.Errorf("reading the auxiliary vector: %w", err)
	}
	return &ProgramSpace{process: p, isa: isa, auxv: parseAuxv(b, isa)}, nil
}

// wrap is an address after addition or subtraction: with pointers of 32 bits both wrap around there, as the linker's sums do. The
// bias of a library that was linked above the place where it is loaded is negative.
func (s *ProgramSpace) wrap(addr arch.Addr) arch.Addr {
	if s.isa.AddrSize == 4 {
		return addr & 0xffff_ffff
	}
	return addr
}

// read fills b from memory.
func (s *ProgramSpace) read(addr arch.Addr, b []byte) error {
	_, err := s.readPrefix(addr, b)
	return err
}

// readPrefix reads the readable prefix of b, however many calls that takes. The error says why there is no more.
func (s *ProgramSpace) readPrefix(addr arch.Addr, b []byte) (done int, err error) {
	for done < len(b) {
		at := s.wrap(addr + arch.Addr(done))
		n, err := s.process.ReadMemory(at, b[done:])
		done += n
		switch {
		case done >= len(b):
			return len(b), nil
		case err != nil:
			return done, err
		case n <= 0:
			return done, fmt.Errorf("cannot read memory at %s", at)
		}
	}
	return done, nil
}

// words reads n words of the size of a pointer.
func (s *ProgramSpace) words(addr arch.Addr, n int) ([]uint64, error) {
	b := make([]byte, n*s.isa.AddrSize)
	if err := s.read(addr, b); err != nil {
		return nil, err
	}
	return s.split(b), nil
}

// split makes words of bytes. What is left over of an incomplete word is dropped.
func (s *ProgramSpace) split(b []byte) []uint64 {
	words := make([]uint64, len(b)/s.isa.AddrSize)
	for i := range words {
		words[i] = arch.Uint(b[i*s.isa.AddrSize:][:s.isa.AddrSize], s.isa.Order)
	}
	return words
}

// int32At reads a C int.
func (s *ProgramSpace) int32At(addr arch.Addr) (uint32, error) {
	var b [4]byte
	err := s.read(addr, b[:])
	return s.isa.Order.Uint32(b[:]), err
}

// Pieces in which memory is read whose length is not known: pageSize is no larger than a page anywhere, so that no piece reaches
// into a page that need not exist, for which stubs reject a read as a whole; and pieceSize fits into a packet of small stubs.
const (
	pageSize  = 4096
	pieceSize = 256
)

// until reads forward in memory until end returns the length of what was looked for, which is negative while more is needed.
func (s *ProgramSpace) until(addr arch.Addr, limit int, end func([]byte) int) ([]byte, error) {
	var b []byte
	for len(b) < limit {
		at := addr + arch.Addr(len(b))
		piece := make([]byte, min(pieceSize, limit-len(b), pageSize-int(at%pageSize)))
		n, err := s.readPrefix(at, piece)
		b = append(b, piece[:n]...)
		if n := end(b); n >= 0 {
			return b[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("what begins at %s has no end within %d bytes", addr, limit)
}

// maxName is Linux's PATH_MAX.
const maxName = 4096

// text reads a string that ends with a zero byte, "" if it cannot be read as a whole: half a path would name another file.
func (s *ProgramSpace) text(addr arch.Addr) string {
	if addr == 0 {
		return ""
	}
	b, err := s.until(addr, maxName, func(b []byte) int { return bytes.IndexByte(b, 0) })
	if err != nil {
		return ""
	}
	return string(b)
}
