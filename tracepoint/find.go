package tracepoint

import "tracewell/tfile"

// findBatch is how many frames are looked at before hits are let through.
const findBatch = 4096

// Find returns the number of the first frame from number from on that a query describes; false if there is none. The pc
// of a frame is the one at which it was made, whether or not registers were collected: the index keeps it, so that frames of
// while-stepping and of tracepoints with several locations are found rightly, too. What a search of the same frames in a
// trace file finds can differ, as a frame without registers does not tell its pc there.
func (e *Engine) Find(q tfile.Query, from int) (n int, ok bool) {
	e.state.Lock()
	defer e.state.Unlock()
	runs, next := e.runs, e.buffer.first+uint64(max(from, 0))
	for looked := 1; e.runs == runs; looked++ {
		if next = max(next, e.buffer.first); next >= e.buffer.next {
			break
		}
		if at := e.buffer.entry(next); q.Match(at.tracepoint(), at.pc) {
			return int(next - e.buffer.first), true
		}
		next++
		if looked%findBatch == 0 {
			e.state.Unlock()
			e.state.Lock()
		}
	}
	return 0, false
}
