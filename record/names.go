package record

import (
	"slices"
	"sync"
	"time"

	"tracewell/tfile"
	"tracewell/trace"
)

// threadNames are those of the threads that make frames. Nothing tells of a thread that names itself, so names are read: that of
// the first thread of a process when the process is new, and stands still; all others, and these again, when frames come, which
// is some milliseconds after the hit. A name that has changed counts from the middle of the time in which it did. A thread that is
// gone by the time its first frame comes has none.
type threadNames struct {
	find func(tid int64) string

	mu    sync.Mutex
	known map[int64]*threadName
	fresh []tfile.Thread // for the file
	all   int
}

// threadName is the names of a thread, one after the other, and when they were read last.
type threadName struct {
	read  time.Time
	names []tfile.Thread
}

const (
	// readEvery is how often the name of a thread is read while it makes frames. It takes about 10 µs, so that of many threads names
	// are read less often: each adds readShare.
	readEvery = 5 * time.Millisecond
	readShare = 200 * time.Microsecond
	// mostNames is how many names are kept.
	mostNames = 1 << 14
)

// newThreadNames has names read by a function, which returns "" for a thread that is gone.
func newThreadNames(find func(tid int64) string) *threadNames {
	return &threadNames{find: find, known: make(map[int64]*threadName)}
}

// seen takes note of a frame of a thread.
func (n *threadNames) seen(tid int64, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known := n.known[tid]; known == nil || now.Sub(known.read) >= max(readEvery, time.Duration(len(n.known))*readShare) {
		n.read(tid, now)
	}
}

// learn reads the name of a thread.
func (n *threadNames) learn(tid int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.read(tid, time.Now())
}

// read is learn. One that has ended keeps the name that it had.
func (n *threadNames) read(tid int64, now time.Time) {
	known := n.known[tid]
	if known == nil {
		if n.all >= mostNames {
			return
		}
		known = new(threadName)
		n.known[tid] = known
	}
	name, before := n.find(tid), known.read
	known.read = now
	last := len(known.names) - 1
	if name == "" || last >= 0 && known.names[last].Name == name || n.all >= mostNames {
		return
	}
	t := tfile.Thread{TID: tid, Name: name}
	if last >= 0 {
		t.From = before.Add(now.Sub(before) / 2).UnixMicro()
	}
	known.names, n.fresh = append(known.names, t), append(n.fresh, t)
	n.all++
}

// take returns the names that have come since it was called last.
func (n *threadNames) take() []tfile.Thread {
	n.mu.Lock()
	defer n.mu.Unlock()
	fresh := n.fresh
	n.fresh = nil
	return fresh
}

// at is the name that a thread had at a time, in microseconds since 1970.
func (n *threadNames) at(tid, microseconds int64) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.known[tid]
	if known == nil || len(known.names) == 0 {
		return "", false
	}
	for _, t := range slices.Backward(known.names) {
		if t.From <= microseconds {
			return t.Name, true
		}
	}
	return known.names[0].Name, true
}

// ThreadName is the name that a thread had at a time, in microseconds since 1970, false if nobody knows it. It is for threads that
// have made frames, and any goroutine may call it.
func (s *Session) ThreadName(tid, microseconds int64) (string, bool) {
	return s.names.at(tid, microseconds)
}

// name has the names of the threads that have made the frames of the writer's half read, and kept in the file.
func (s *stream) name() error {
	if s.names == nil {
		return nil
	}
	now := time.Now()
	last, some := int64(0), false
	for _, frame := range s.each() {
		tid, ok := frame.Variable(trace.ThreadID)
		if !ok || some && tid == last {
			continue
		}
		last, some = tid, true
		s.names.seen(tid, now)
	}
	for _, t := range s.names.take() {
		if s.file != nil {
			if err := s.file.Name(t); err != nil {
				return err
			}
		}
	}
	return nil
}
