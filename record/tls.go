package record

import (
	"tracewell/arch"
	"tracewell/symbol"
	"tracewell/target"
)

// staticRoom is more than the C library reserves below the thread pointer for the variables of libraries, and less than how far
// away it allocates those that it has no room for there.
const staticRoom = 64 << 10

// threadLocals tells how far below the thread pointer the thread-local variables of a library begin. That is the same for all
// threads only if they lie in what is reserved with each thread, as those of libraries that the program starts with do.
func (s *Session) threadLocals(o *symbol.Object) (below int64, ok bool) {
	if s.target.ThreadLocals() == nil {
		return 0, false
	}
	for _, p := range s.processes {
		for entry, known := range p.loaded {
			if known == o {
				return s.belowThreads(p.pid, entry.LM)
			}
		}
	}
	return 0, false
}

func (s *Session) belowThreads(pid int, object arch.Addr) (below int64, ok bool) {
	// Any thread will do: the offset of an object that was loaded at the start is the same in all of them.
	for _, id := range s.target.Threads() {
		if id.PID != pid {
			continue
		}
		here, known := s.belowThread(id, object)
		if !known || ok && here != below {
			return 0, false
		}
		below, ok = here, true
	}
	return below, ok
}

func (s *Session) belowThread(id target.ThreadID, object arch.Addr) (int64, bool) {
	pointer, err := s.target.ThreadLocals().ThreadPointer(id)
	if err != nil {
		return 0, false
	}
	at, err := s.target.ThreadLocals().ThreadLocal(id, object, 0)
	below := int64(pointer - at)
	return below, err == nil && below > 0 && below <= staticRoom
}
