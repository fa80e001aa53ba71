package fakestub

import (
	"net"
	"strings"
)

// Kind is what a fault does.
type Kind uint8

const (
	// Silence: the packet is executed; neither it nor any that follows on the connection is answered, and those are not executed.
	Silence Kind = iota + 1
	// Nonsense: the reply is one that no packet has.
	Nonsense
	// Damage: the reply has a wrong checksum, once.
	Damage
	// Half: the first half of the reply comes, and then nothing any more.
	Half
	// ConsoleOnly: console text comes in place of the reply.
	ConsoleOnly
	// Reset: the connection ends before the packet is executed.
	Reset
	// ResetAfter: the connection ends when it has been executed, or when the machine runs, in place of the reply.
	ResetAfter
	// Bogus: the reply is an error, and the packet is not executed.
	Bogus
)

// Fault is something that goes wrong once.
type Fault struct {
	Kind   Kind
	Packet string // only packets that begin with this count
	At     int    // which of them it is, from 1 on; those before Inject do not count
}

// nonsense is no reply to anything: not hexadecimal, no stop, no error.
const nonsense = "!?nonsense"

// Inject adds a fault.
func (s *Stub) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}

// due counts a packet, and returns the fault that goes off at it.
func (s *Stub) due(packet string) Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kind Kind
	for i := range s.faults {
		f := &s.faults[i]
		if f.At > 0 && strings.HasPrefix(packet, f.Packet) {
			if f.At--; f.At == 0 {
				kind = f.Kind
			}
		}
	}
	return kind
}

// reset ends a connection at once: with TCP, what was not sent yet is lost.
func (ss *session) reset() {
	if c, ok := ss.link.conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	ss.over = true
}

// spoiled sends a reply with a fault.
func (ss *session) spoiled(kind Kind, payload []byte) {
	frame := ss.link.frame(payload)
	switch kind {
	case Silence:
		ss.silent = true
	case Nonsense:
		ss.link.send(ss.link.frame([]byte(nonsense)))
	case Damage:
		ss.link.sendDamaged(frame)
	case Half:
		ss.link.write(frame[:len(frame)/2])
		ss.silent = true
	case ConsoleOnly:
		ss.link.send(ss.link.frame([]byte(ss.console())))
	case ResetAfter:
		ss.reset()
	}
}
