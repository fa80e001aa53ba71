package fake

import (
	"tracewell/arch"
	"tracewell/target"
)

// snapshot is a thread during a hit. The run goroutine, which made it, holds the target's mutex, but for the time that it waits
// for a silent program.
type snapshot struct {
	t  *Target
	th *thread
}

func (s snapshot) Thread() int64                       { return int64(s.th.ID.TID) }
func (s snapshot) ID() target.ThreadID                 { return s.th.ID }
func (s snapshot) PC() arch.Addr                       { return s.t.pc(s.th) }
func (s snapshot) Register(r arch.Reg) (uint64, error) { return s.t.register(s.th, r) }
func (s snapshot) Registers(block []byte) error        { copy(block, s.th.block); return nil }
func (s snapshot) Err() error                          { return s.t.lost }

// ReadMemory waits while the program is silent, without the mutex: everything else can be asked of the target meanwhile, as package
// tracepoint promises of a session. A connection that is lost ends the wait with nothing read, and Err says so afterwards.
func (s snapshot) ReadMemory(addr arch.Addr, p []byte) int {
	for s.t.silent && s.t.lost == nil {
		s.t.reading = true
		s.t.changed.Broadcast()
		s.t.changed.Wait()
	}
	s.t.reading = false
	if s.t.lost != nil {
		return 0
	}
	return s.t.read(addr, p)
}

func (s snapshot) ReadBatch(reads []target.Read) {
	for i := range reads {
		reads[i].N = s.ReadMemory(reads[i].Addr, reads[i].Dst)
	}
}

// Silence has the program no longer answer a tracer that reads its memory at a hit, as one at the far end of a connection that
// hangs; or answer again.
func (t *Target) Silence(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.silent = on
	t.changed.Broadcast()
}

// AwaitRead waits until a hit has come to a read that a silent program does not answer.
func (t *Target) AwaitRead() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.reading {
		t.changed.Wait()
	}
}

// Lose has the connection to the program be lost as far as hits are concerned, for a reason.
func (t *Target) Lose(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = why
	if t.collector.count(target.All) > 0 {
		t.collector.lose(why)
	}
	t.changed.Broadcast()
}
