package fake

import (
	"tracewell/arch"
	"tracewell/tracepoint"
)

// snapshot is a thread during a hit. The run goroutine, which made it, holds the target's mutex.
type snapshot struct {
	t  *Target
	th *thread
}

func (s snapshot) Thread() int64                           { return int64(s.th.ID.TID) }
func (s snapshot) PC() arch.Addr                           { return s.t.pc(s.th) }
func (s snapshot) Register(r arch.Reg) (uint64, error)     { return s.t.register(s.th, r) }
func (s snapshot) Registers(block []byte) error            { copy(block, s.th.block); return nil }
func (s snapshot) ReadMemory(addr arch.Addr, p []byte) int { return s.t.read(addr, p) }

func (s snapshot) ReadBatch(reads []tracepoint.Read) {
	for i := range reads {
		reads[i].N = s.t.read(reads[i].Addr, reads[i].Dst)
	}
}
