package fakestub

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// mostLines is how much of a transcript is kept.
const mostLines = 10000

// note keeps a line of the transcript, and counts packets.
func (s *Stub) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if packet, ok := strings.CutPrefix(line, "> "); ok {
		s.packets++
		s.seen[nameOf(packet)]++
	}
	if len(s.lines) == mostLines {
		s.lines = slices.Clone(s.lines[mostLines/2:])
	}
	s.lines = append(s.lines, line)
}

// nameOf is a packet up to its arguments: a word of letters, or one letter with what belongs to it.
func nameOf(packet string) string {
	if packet == "" || strings.IndexByte("qQv", packet[0]) < 0 {
		n := 1
		if packet != "" && strings.IndexByte("ZzH", packet[0]) >= 0 {
			n = 2
		}
		return packet[:min(n, len(packet))]
	}
	if i := strings.IndexAny(packet, ":;,"); i >= 0 {
		return packet[:i]
	}
	return packet
}

func (s *Stub) breach(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.breaches) < mostLines {
		s.breaches = append(s.breaches, fmt.Sprintf(format, args...))
	}
}

// Transcript returns the last packets received (>) and replies sent (<).
func (s *Stub) Transcript() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

// Breaches returns what the client did that a stub of this kind cannot stand: bytes while the machine runs, packets that are too long.
func (s *Stub) Breaches() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.breaches)
}

// Answers are those to the program's requests, such as "F17".
func (s *Stub) Answers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answers)
}

// Packets is how many packets have come in all.
func (s *Stub) Packets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.packets
}

// Received is how many packets of a name have come: a letter, with the digit of Z0 and z0, or a word such as qXfer or vCont.
func (s *Stub) Received(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[name]
}

// Passes is how many passes a hart has completed, by the program's own count.
func (s *Stub) Passes(hart int) uint64 { return binary.LittleEndian.Uint64(s.Memory(area(hart), 8)) }

// Record returns what the program kept of a pass, from 1 on: of the last Kept ones that it has completed.
func (s *Stub) Record(hart int, pass uint64) (Record, bool) {
	done := s.Passes(hart)
	if pass == 0 || pass > done || pass+Kept <= done {
		return Record{}, false
	}
	b := s.Memory(s.RecordAt(hart, pass), recorded)
	var words [4]uint64
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return Record{words[0], words[1], words[2], words[3]}, true
}

// RecordAt is where the record of a pass is: a structure of four numbers of 64 bits.
func (s *Stub) RecordAt(hart int, pass uint64) uint64 {
	return area(hart) + firstOne + (pass-1)%Kept*recorded
}

// Memory returns memory as it is, breakpoints in it included, without counting as a read; nil where there is none.
func (s *Stub) Memory(at uint64, n int) []byte {
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	return slices.Clone(s.machine.at(at, n))
}

// Register returns a register of a hart by its remote number: 0 to 31, and 32 for the pc.
func (s *Stub) Register(hart, r int) uint64 {
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	return s.machine.register(hart, r)
}

// DeviceReads is how often clients have read the device, with how many packets.
func (s *Stub) DeviceReads() uint64 {
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	return s.machine.deviceReads
}

// Running reports whether the machine runs, for a client or for nobody.
func (s *Stub) Running() bool {
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	return s.machine.running
}

// Executed is how many instructions all harts have executed.
func (s *Stub) Executed() uint64 {
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	return s.machine.executed
}

// Inserted returns the breakpoints that are inserted, as "KIND ADDRESS", and "ebreak ADDRESS" where the client has written the
// program's memory and not undone it.
func (s *Stub) Inserted() []string {
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	var all []string
	for p := range s.machine.breakpoints {
		all = append(all, fmt.Sprintf("%d %#x", p.kind, p.at))
	}
	for i, at := range s.program.places {
		end := s.program.pc()
		if i+1 < len(s.program.places) {
			end = s.program.places[i+1]
		}
		should := s.program.code[at-s.program.org : end-s.program.org]
		if is := s.machine.peekQuietly(at, len(should)); !slices.Equal(is, should) {
			all = append(all, fmt.Sprintf("ebreak %#x", at))
		}
	}
	slices.Sort(all)
	return all
}

// Symbol is the address of a label of the program: start, loop, work, body, inner, stored, kept, end. See program.
func (s *Stub) Symbol(name string) uint64 {
	at, ok := s.program.labels[name]
	if !ok {
		panic("fakestub: the program has no label " + name)
	}
	return at
}

// Instructions are the addresses of all instructions of the program, in order.
func (s *Stub) Instructions() []uint64 { return slices.Clone(s.program.places) }

// Description is the target description, whether the stub has it or not.
func (s *Stub) Description() []byte { return slices.Clone(s.description) }
