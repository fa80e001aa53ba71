//go:build linux

package guard

import (
	"encoding/binary"
	"os"

	"tracewell/arch"
)

// Space is the memory of a process, as the guard is to have it. A nil Space is that of a process that needs no guard: one that
// ends with its tracer, or where there is no guard to be had. Its methods are for the tracer's goroutine. None but Open and
// Close makes a system call, and none takes time that grows with the table.
type Space struct {
	guard   *Guard
	id      uint32
	pid     int
	mem     *os.File
	entries map[arch.Addr]uint32 // of the traps
	raised  map[arch.Addr]uint32 // of the semaphores
}

// Set enters a trap, before it is written, or changes the entry of one.
func (s *Space) Set(addr arch.Addr, original, written byte) {
	if s == nil {
		return
	}
	e := entry{kind: aTrap, space: s.id, original: original, written: written}
	i, found := s.entries[addr]
	if !found {
		if i, found = s.guard.take(); !found {
			return
		}
		s.entries[addr] = i
	}
	s.guard.table.put(i, uint64(addr), e)
}

// Unset withdraws a trap, after the program has its byte back.
func (s *Space) Unset(addr arch.Addr) {
	if s == nil {
		return
	}
	if i, found := s.entries[addr]; found {
		delete(s.entries, addr)
		s.guard.release(i)
	}
}

// Touch notes a hit of a trap.
func (s *Space) Touch(addr arch.Addr) {
	if i, found := s.entries[addr]; found {
		s.guard.table.touch(i)
	}
}

// Raise enters that a semaphore was raised by one.
func (s *Space) Raise(addr arch.Addr) { s.count(addr, 1) }

// Lower enters that it will be lowered by one.
func (s *Space) Lower(addr arch.Addr) { s.count(addr, ^uint16(0)) }

func (s *Space) count(addr arch.Addr, by uint16) {
	if s == nil {
		return
	}
	i, found := s.raised[addr]
	e := entry{kind: semaphore, space: s.id}
	if found {
		_, e = s.guard.table.read(i)
	} else if i, found = s.guard.take(); !found {
		return
	}
	s.raised[addr] = i
	if e.raised += by; e.raised != 0 {
		s.guard.table.put(i, uint64(addr), e)
		return
	}
	delete(s.raised, addr)
	s.guard.release(i)
}

// Open is Guard.Open for another process whose memory is to be guarded as this one is.
func (s *Space) Open(pid int, mem *os.File) *Space {
	if s == nil {
		return nil
	}
	return s.guard.Open(pid, mem)
}

// Close withdraws all that there is of a space. The memory file is not used any more. With the last space the guard ends.
func (s *Space) Close() {
	if s == nil {
		return
	}
	for _, i := range s.entries {
		s.guard.release(i)
	}
	for _, i := range s.raised {
		s.guard.release(i)
	}
	clear(s.entries)
	clear(s.raised)
	s.guard.forget(s)
}

// message is what the tracer tells the guard of a space: that it has one, with the memory file, or has it no more.
type message struct {
	space uint32
	pid   uint32 // 0 for no more
}

const messageSize = 8

func (m message) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, m.space)
	return binary.LittleEndian.AppendUint32(b, m.pid)
}

func parseMessage(b []byte) message {
	return message{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
}
