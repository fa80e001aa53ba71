package rsp

import "math"

// What stands in a thread-id in place of a number.
const (
	AnyThread  = 0  // the stub may pick one; as process: the current one
	AllThreads = -1 // all of them
)

// Thread is a thread-id as a packet has it: PID and TID are numbers, AnyThread or AllThreads. Without Multiprocess, which the
// two ends agree on by qSupported, only the thread is in the packet, and PID is AnyThread.
type Thread struct {
	PID, TID     int
	Multiprocess bool
}

// Thread expects a thread-id in any form of the GDB manual, section Packets:
//
//	p1a.1b       thread 0x1b of process 0x1a
//	p1a, p1a.-1  all threads of process 0x1a
//	p-1.-1       all threads of all processes
//	1b, 0, -1    thread 0x1b, any, all (without multiprocess extensions)
//
// One thread of all processes is an error. So is a negative number other than -1.
func (s *Scanner) Thread() (t Thread) {
	start := s.pos
	if t.Multiprocess = s.Accept('p'); !t.Multiprocess {
		t.TID = s.threadNumber()
	} else if t.PID, t.TID = s.threadNumber(), AllThreads; s.Accept('.') {
		t.TID = s.threadNumber()
	}
	if t.PID == AllThreads && t.TID > 0 {
		s.failAt(start, "a process with the thread")
	}
	if s.err != nil {
		return Thread{}
	}
	return t
}

func (s *Scanner) threadNumber() int {
	if s.AcceptText("-1") {
		return AllThreads
	}
	return int(s.HexUpTo(math.MaxInt))
}

// Append appends the thread-id, in the form p<pid>.<tid> where it has a process.
func (t Thread) Append(dst []byte) []byte {
	if t.Multiprocess {
		dst = append(appendThreadNumber(append(dst, 'p'), t.PID), '.')
	}
	return appendThreadNumber(dst, t.TID)
}

func appendThreadNumber(dst []byte, n int) []byte {
	if n == AllThreads {
		return append(dst, "-1"...)
	}
	return AppendHex(dst, uint64(n))
}

// String returns the thread-id.
func (t Thread) String() string { return string(t.Append(nil)) }
