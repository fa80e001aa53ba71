package rsp

import "math"

// What stands in a thread-id in place of a number.
const (
	AnyThread  = 0  // the stub may pick one; as process: the current one
	AllThreads = -1 // all of them
)

// ThreadID expects a thread-id in any form of the GDB manual, section Packets, and returns the process and the thread it
// names, each a number, AnyThread or AllThreads:
//
//	p1a.1b       0x1a, 0x1b
//	p1a, p1a.-1  0x1a, AllThreads
//	1b           AnyThread, 0x1b           (without multiprocess extensions)
//	0            AnyThread, AnyThread
//	-1, p-1.-1   AllThreads, AllThreads
//
// One thread of all processes is an error. So is a negative number other than -1.
func (s *Scanner) ThreadID() (pid, tid int) {
	start := s.pos
	if !s.Accept('p') {
		tid = s.threadNumber()
		if tid == AllThreads {
			pid = AllThreads
		}
		return pid, tid
	}
	pid, tid = s.threadNumber(), AllThreads
	if s.Accept('.') {
		tid = s.threadNumber()
	}
	if s.err == nil && pid == AllThreads && tid > 0 {
		s.failAt(start, "a process with the thread")
	}
	if s.err != nil {
		return 0, 0
	}
	return pid, tid
}

func (s *Scanner) threadNumber() int {
	if s.AcceptText("-1") {
		return AllThreads
	}
	return int(s.HexUpTo(math.MaxInt))
}

// ParseThreadID reads text as one thread-id, see Scanner.ThreadID. Its error is a *SyntaxError.
func ParseThreadID(text string) (pid, tid int, err error) {
	s := NewScanner(text)
	pid, tid = s.ThreadID()
	if err := s.End(); err != nil {
		return 0, 0, err
	}
	return pid, tid, nil
}

// AppendThreadID appends a thread-id: p<pid>.<tid>, or only the thread if pid is AnyThread, which is the form for a GDB
// without multiprocess extensions.
func AppendThreadID(dst []byte, pid, tid int) []byte {
	if pid != AnyThread {
		dst = appendThreadNumber(append(dst, 'p'), pid)
		dst = append(dst, '.')
	}
	return appendThreadNumber(dst, tid)
}

func appendThreadNumber(dst []byte, n int) []byte {
	if n == AllThreads {
		return append(dst, "-1"...)
	}
	return AppendHex(dst, uint64(n))
}

// Thread is a thread-id as a packet has it: PID and TID are numbers, AnyThread or AllThreads. Without Multiprocess, which the
// two ends agree on by qSupported, only the thread is in the packet, and PID is AnyThread.
type Thread struct {
	PID, TID     int
	Multiprocess bool
}

// Append appends the thread-id.
func (t Thread) Append(dst []byte) []byte {
	if !t.Multiprocess {
		return appendThreadNumber(dst, t.TID)
	}
	dst = appendThreadNumber(append(dst, 'p'), t.PID)
	return appendThreadNumber(append(dst, '.'), t.TID)
}

// String returns the thread-id.
func (t Thread) String() string { return string(t.Append(nil)) }
